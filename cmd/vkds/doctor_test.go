package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/doctor"
)

func TestDoctor(t *testing.T) {
	needDevice(t)
	stdout, stderr := answer(t, "", "doctor")
	require.Empty(t, stderr)
	for _, part := range []string{"locks by fences", "message passing", "subgroups of", "On this device vkds will use:",
		"Nothing wrong was found."} {
		require.Contains(t, stdout, part)
	}
	for _, line := range strings.Split(stdout, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 130, line)
	}
}

func TestDoctorJSON(t *testing.T) {
	needDevice(t)
	stdout, _ := answer(t, "", "doctor", "--json", "--seed", "7")
	var r struct {
		doctor.Report
		Plan struct {
			Protocol     string
			SubgroupSize int `json:"subgroup_size"`
			FindTile     int `json:"find_tile"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.True(t, r.Trusted)
	require.Equal(t, uint64(7), r.Seed)
	require.NotEmpty(t, r.Results)
	require.Equal(t, r.Device.Int64Atomics, r.Plan.Protocol == "64-bit")
	require.LessOrEqual(t, r.Device.MinSubgroup, r.Plan.SubgroupSize)
	require.LessOrEqual(t, r.Plan.SubgroupSize, r.Device.MaxSubgroup)
	require.Positive(t, r.Plan.FindTile)
}

func TestDoctorOfNoDevice(t *testing.T) {
	needDevice(t)
	require.Contains(t, refusal(t, "", "doctor", "--device", "no such device"), "no such device")
}
