package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/doctor"
	"github.com/vkds/vkds/vk"
)

// A device that isn't to be trusted is told so loudly, in either form, and by the status.
func TestReportOfAnUntrustedDevice(t *testing.T) {
	r := report{Report: doctor.Report{
		Device: doctor.Device{Name: "Some device"},
		Results: []doctor.Result{{Test: "locks", Required: true,
			Finding: doctor.Finding{Verdict: doctor.Fail, Found: "3 were lost", Meaning: "Locks don't lock."}}},
		Warnings: []string{"The test of locks failed."},
	}}
	var out bytes.Buffer
	g := &global{out: &out}
	require.ErrorIs(t, g.answerReport(r, false), errUntrusted)
	for _, part := range []string{"Some device", "FAIL", "3 were lost. Locks don't lock.", "NOT to be trusted",
		"The test of locks failed."} {
		require.Contains(t, out.String(), part)
	}
	out.Reset()
	require.ErrorIs(t, g.answerReport(r, true), errUntrusted)
	require.Contains(t, out.String(), `"trusted": false`)

	r.Trusted = true
	require.NoError(t, g.answerReport(r, true))
}

// Info and doctor say in the same words how pairs of each width are changed, with and without 64-bit atomics.
func TestProtocols(t *testing.T) {
	said := map[string]bool{}
	for _, features := range [][]vk.Feature{nil, {vk.Int64Atomics}} {
		device := describe(vk.Info{Features: features}, false)
		var out bytes.Buffer
		g := &global{out: &out}
		r := report{Report: doctor.Report{Trusted: true}, Plan: plan{Protocols: protocolsWith(features != nil)}}
		require.NoError(t, g.answerReport(r, false))
		for width, protocol := range map[int]string{32: device.Protocols.Bits32, 64: device.Protocols.Bits64} {
			require.Contains(t, out.String(), fmt.Sprintf("of %d bits: %s\n", width, protocol))
			said[fmt.Sprint(width, protocol)] = true
		}
	}
	require.Len(t, said, 4, "each width has another with 64-bit atomics")
}

// Info and doctor name what a device lacks of what vkds can do without, and doctor the platform.
func TestLacks(t *testing.T) {
	device := describe(vk.Info{Features: []vk.Feature{vk.Int64, vk.Timestamps}}, false)
	want := []vk.Feature{vk.Int64Atomics, vk.MemoryBudget, vk.ExecutableStatistics, vk.SubgroupSizes}
	require.Equal(t, want, device.Lacks)
	for lacks, said := range map[string]string{lacking(nil): "nothing", lacking(want): "shaderBufferInt64Atomics, " +
		"VK_EXT_memory_budget, pipelineExecutableInfo, requiredSubgroupSize"} {
		require.Equal(t, said, lacks)
	}
	var out bytes.Buffer
	g := &global{out: &out}
	r := report{Report: doctor.Report{Trusted: true}, Plan: plan{Platform: "plan9/mips", Lacks: want[:2]}}
	require.NoError(t, g.answerReport(r, false))
	require.Contains(t, out.String(), ", on plan9/mips\n")
	require.Contains(t, out.String(), "without     shaderBufferInt64Atomics, VK_EXT_memory_budget\n")
}
