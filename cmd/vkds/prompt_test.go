package main_test

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who writes a key to a pipe and waits gets its answer before writing the next one.
func TestPromptAnswers(t *testing.T) {
	t.Parallel()
	needDevice(t)
	numbers := write(t, "n.csv", "1,10\n2,20\n5,50\n")
	texts := write(t, "t.csv", "key,value\nApple,1\nVine,2\né,3\nBZ,4\nP,5\n")
	for _, c := range []struct {
		arguments []string
		answers   string // key and answer, line by line
	}{
		{[]string{"get", numbers, "--keys", "-"}, "1=1,10 2=2,20 3=3, 1=1,10"},
		{[]string{"get", numbers, "--json"}, `5={"key":5,"value":50} 0={"key":0,"value":null}`},
		{[]string{"successor", numbers}, "1=1,2,20 2=2,5,50"},
		{[]string{"count", numbers, "--keys", "-"}, "1:2=1,2,2 0:9=0,9,3"},
		{[]string{"range", numbers, "--keys", "-"}, "1:1=1,10 5:9=5,50"},
		{[]string{"get", texts}, "Apple=Apple,1 Vine=Vine,2 é=é,3 BZ=BZ,4 P=P,5 Arrow=Arrow,"},
	} {
		command := strings.Join(c.arguments[:1], " ")
		run := exec.Command(tool, append(c.arguments, "-q")...)
		questions, err := run.StdinPipe()
		require.NoError(t, err)
		out, err := run.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, run.Start())
		watch := time.AfterFunc(2*time.Minute, func() { _ = run.Process.Kill() })
		answers, fastest := bufio.NewReader(out), time.Hour
		for i, pair := range strings.Fields(c.answers) {
			key, want, _ := strings.Cut(pair, "=")
			asked := time.Now()
			_, err := questions.Write([]byte(key + "\n"))
			require.NoError(t, err)
			got, err := answers.ReadString('\n')
			if i == 0 && err == nil && !strings.Contains(c.answers, "{") {
				got, err = answers.ReadString('\n') // behind the line of names
			}
			require.NoError(t, err, "%s %s", command, key)
			require.Equal(t, want+"\n", got, command)
			if i > 0 { // the first one waits for the table
				fastest = min(fastest, time.Since(asked))
			}
		}
		assert.Less(t, fastest, 100*time.Millisecond, command)
		require.NoError(t, questions.Close())
		require.NoError(t, run.Wait())
		watch.Stop()
	}
}

// Half a line is no key: it is waited for, and what came before it is answered.
func TestPromptHalfLine(t *testing.T) {
	t.Parallel()
	needDevice(t)
	run := exec.Command(tool, "get", write(t, "n.csv", "1,10\n23,20\n"), "-q")
	questions, err := run.StdinPipe()
	require.NoError(t, err)
	out, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	defer time.AfterFunc(2*time.Minute, func() { _ = run.Process.Kill() }).Stop()
	answers := bufio.NewReader(out)
	for _, step := range [][2]string{{"1\n2", "key,value\n1,10\n"}, {"3\n", "23,20\n"}} {
		_, err := questions.Write([]byte(step[0]))
		require.NoError(t, err)
		for want := range strings.Lines(step[1]) {
			got, err := answers.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
	require.NoError(t, questions.Close())
	require.NoError(t, run.Wait())
}
