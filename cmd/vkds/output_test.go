package main_test

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
)

// An interrupt while answers are printed, to whoever reads them or not, ends the
// command at once.
func TestInterruptPrinting(t *testing.T) {
	pass.NotInWine(t, "there is no Ctrl-C")
	needDevice(t)
	const n = 500_000
	table := write(t, "t.csv", rows(n))
	keys := write(t, "keys", strings.Repeat("7\n", n))
	for _, c := range []struct {
		name      string
		arguments []string
		read      bool // slowly
	}{
		{"nobody reads", []string{"get", table, "--keys", keys}, false},
		{"nobody reads JSON", []string{"get", table, "--keys", keys, "--json"}, false},
		{"somebody reads", []string{"range", table, "0:4294967295"}, true},
		{"nobody reads a tally", []string{"tally", table, "--column", "1"}, false},
		{"nobody reads a tally's JSON", []string{"tally", table, "--column", "1", "--json", "--top", "1000000"}, false},
		{"nobody reads a dump", []string{"dump", table, "--output-format", "parquet"}, false},
		{"nobody reads a picture", []string{"inspect", table, "--svg", "-"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, tool, c.arguments...)
			interruptible(run)
			answers, err := run.StdoutPipe()
			require.NoError(t, err)
			var notes bytes.Buffer
			run.Stderr = &notes
			require.NoError(t, run.Start())
			some := make([]byte, 9)
			_, err = io.ReadFull(answers, some) // it prints
			require.NoError(t, err, notes.String())
			if c.read {
				go func() {
					for err := error(nil); err == nil; _, err = answers.Read(some) {
						time.Sleep(time.Millisecond)
					}
				}()
			}
			time.Sleep(200 * time.Millisecond) // the pipe is full
			interrupted := time.Now()
			require.NoError(t, interrupt(run))
			state, err := run.Process.Wait()
			took := time.Since(interrupted)
			require.NoError(t, err)
			assert.Equal(t, 130, state.ExitCode())
			_ = run.Wait() // for the notes
			t.Logf("ended after %v", took)
			assert.Less(t, took, 20*time.Second, "100 ms, where the machine is idle")
			assert.Contains(t, notes.String(), "vkds: interrupted\n")
		})
	}
}

// More keys than memory may be asked for: answers come as keys do.
func TestEndlessKeys(t *testing.T) {
	hostSuffices(t)
	run := exec.Command(tool, "get", write(t, "t.csv", "1,10\n"), "-q")
	run.Stdin = &endlessKeys{}
	answers, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	got := make([]byte, len("key,value\n")+5*3<<20) // those of three million keys
	_, err = io.ReadFull(answers, got)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(got), "key,value\n1,10\n1,10\n"))
	answers.Close() // as head does
	_ = run.Wait()
	assert.False(t, run.ProcessState.Success())
}

type endlessKeys struct{}

func (endlessKeys) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat("1\n", len(p)/2))
	return max(n, min(1, len(p))), nil
}
