package main_test

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page of each structure is served until the command is interrupted, which is no error.
func TestView(t *testing.T) {
	needDevice(t)
	table := write(t, "t.csv", rows(1000))
	for _, structure := range []string{"slabhash", "btree", "lsm", "sortedarray"} {
		c := command(t.Context(), "view", table, "--structure", structure, "--http", "0")
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		address, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		answer, err := http.Get(strings.TrimSuffix(address, "\n") + "sample")
		require.NoError(t, err)
		var sample struct{ Stats struct{ Pairs int } }
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&sample))
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, 1000, sample.Stats.Pairs, structure)
		if runtime.GOOS == "windows" {
			require.NoError(t, c.Process.Kill())
			_ = c.Wait() // killed
			continue
		}
		require.NoError(t, c.Process.Signal(os.Interrupt))
		assert.NoError(t, c.Wait(), structure)
	}
}

func TestViewRefusals(t *testing.T) {
	table := write(t, "t.csv", rows(10))
	taken, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, x := range []struct{ address, want string }{
		{":8080", "--http :8080: other machines could reach it (--anyone lets them)"},
		{"0.0.0.0:8080", "other machines could reach it"},
		{"example.com:8080", "other machines could reach it"},
		{"no", "--http no: no port"}, {"localhost", "--http localhost: no port"},
		{"localhost:99999", "--http localhost:99999: "},
		{taken.Addr().String(), "in use"},
	} {
		assert.Contains(t, refusal(t, "", "view", table, "--http", x.address), x.want)
	}
	assert.Contains(t, refusal(t, "", "view", table, "--http", "0", "--every", "0s"), "--every 0s: more than 0")
	assert.Contains(t, refusal(t, "", "view", table, "--http", "0", "--device", "none"), "--device none")
	assert.Contains(t, refusal(t, "", "view", table), "view needs --http ADDRESS or --window")
	assert.Contains(t, refusal(t, "", "view", table, "--http", "0", "--window"), "one of them")
	assert.Contains(t, refusal(t, "", "view", table, "--http", "0", "--ops", table), "--ops is for --window")
	assert.Contains(t, refusal(t, "", "view", table, "--window", "--anyone"), "--anyone is for --http")
	assert.Contains(t, refusal(t, "", "view", table, "--window", "--ops", "absent.csv"), "absent.csv")
	assert.Contains(t, refusal(t, "", "view", "-", "--window", "--ops", "-"), "standard input")
}
