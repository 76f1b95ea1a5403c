package main_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// Tune measures, keeps what it finds for the device beside what it was not asked for, and forgets it.
func TestTune(t *testing.T) {
	needDevice(t)
	cache := t.TempDir()
	t.Setenv("VKDS_TUNING", "")
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("LocalAppData", cache)
	opened := func() (kept vk.Tuning, save func(vk.Tuning)) {
		d, err := vk.Open(vk.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d.Tuning(), func(k vk.Tuning) {
			_, err := d.SaveTuning(k)
			require.NoError(t, err)
		}
	}
	_, save := opened()
	save(vk.Tuning{"hash.find": 8, "tree.find": 2})
	var rows []struct {
		Name, Best, Measured string
		Faster               float64
	}
	for _, dry := range []bool{true, false} {
		arguments := []string{"tune", "--n", "10", "--json", "--only", "hash.find"}
		if dry {
			arguments = append(arguments, "--dry-run")
		}
		stdout, _ := answer(t, "", arguments...)
		require.NoError(t, json.Unmarshal([]byte(stdout), &rows))
		require.Len(t, rows, 1)
		require.Equal(t, "hash.find", rows[0].Name)
		require.Equal(t, rows[0].Best == "", rows[0].Faster == 1)
		kept, _ := opened()
		require.Equal(t, 2, kept["tree.find"])
		if dry {
			require.Equal(t, 8, kept["hash.find"])
		} else if rows[0].Best == "" {
			require.NotContains(t, kept, "hash.find")
		}
	}
	answer(t, "", "tune", "--reset")
	files, err := filepath.Glob(filepath.Join(cache, "vkds", "tuning-*"))
	require.NoError(t, err)
	require.Empty(t, files)
	require.Contains(t, refusal(t, "", "tune", "--n", "40"), "not from 10 to 28")
	t.Setenv("XDG_CACHE_HOME", write(t, "file", ""))
	stdout, stderr, code := runTool("", "tune", "--n", "10", "--json", "--only", "hash.find")
	require.NotZero(t, code, stderr)
	require.Contains(t, stdout, "hash.find", "what was measured is told before it can't be kept")
	require.Contains(t, refusal(t, "", "tune", "--reset", "--dry-run"), "--reset and --dry-run exclude each other")
}
