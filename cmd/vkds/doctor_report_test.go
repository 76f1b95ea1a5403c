package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/doctor"
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
