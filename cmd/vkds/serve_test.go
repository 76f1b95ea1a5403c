package main_test

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The server answers until it is asked to end, which is no error, and goes on where it was.
func TestServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nobody asks a process of Windows to end")
	}
	dir := filepath.Join(t.TempDir(), "data")
	for _, say := range []string{"SET x 70\r\nQUIT\r\n", "GET x\r\nVK.SNAPSHOT now\r\nQUIT\r\n"} {
		arguments := []string{"serve", "--data", dir, "--listen", "0", "--device", "none", "-q"}
		if say[0] == 'S' { // later the folder says it
			arguments = append(arguments, "--key", "text")
		}
		c := command(t.Context(), arguments...)
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		address, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		client, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(address, "redis://"), "\n"))
		require.NoError(t, err)
		_, err = client.Write([]byte(say))
		require.NoError(t, err)
		lines := bufio.NewScanner(client)
		var got []string
		for lines.Scan() {
			got = append(got, lines.Text())
		}
		require.NoError(t, client.Close())
		if say[0] == 'S' {
			assert.Equal(t, []string{"+OK", "+OK"}, got)
		} else {
			assert.Equal(t, []string{"$2", "70"}, got[:2])
		}
		require.NoError(t, c.Process.Signal(os.Interrupt))
		require.NoError(t, c.Wait())
	}
	stdout, stderr, status := runTool("", "get", filepath.Join(dir, "exported", "now.vkds"), "x")
	assert.Zero(t, status, stderr)
	assert.Equal(t, "key,value\nx,70\n", stdout)
	assert.Contains(t, refusal(t, "", "serve", "--data", dir, "--listen", "0", "--device", "none", "--key", "u64"),
		"the data has keys of type text and values of type i64, not keys of type u64")
}

func TestServeRefusals(t *testing.T) {
	dir := t.TempDir()
	empty := write(t, "empty", "\nsecret\n")
	three := "localhost:1,localhost:2,localhost:3"
	for _, x := range []struct {
		want      string
		arguments []string
	}{
		{"--listen 0.0.0.0:1: other machines could reach it", []string{"--listen", "0.0.0.0:1"}},
		{"--flight 0.0.0.0:1: other machines could reach it", []string{"--flight", "0.0.0.0:1", "--listen", "0"}},
		{"its first line is empty", []string{"--password-file", empty}},
		{"absent", []string{"--password-file", filepath.Join(dir, "absent")}},
		{"3 to 9 servers, not 2", []string{"--peers", "localhost:1,localhost:2"}},
		{"is none of the peers", []string{"--peers", three, "--listen", "0"}},
		{"are for --peers", []string{"--stale", "1s"}},
		{"are for --peers", []string{"--rejoin"}},
		{"through the peers' port of 0.0.0.0:1", []string{"--peers", "0.0.0.0:1,localhost:2,localhost:3",
			"--listen", "0.0.0.0:1", "--password-file", write(t, "secret", "secret")}},
		{"at least 100ms", []string{"--peers", three, "--stale", "1ms"}},
		{"go together", []string{"--tls-cert", empty}},
		{"empty", []string{"--tls-cert", empty, "--tls-key", empty}},
		{"at least 1024", []string{"--max-request", "10"}},
		{"--shard: 2 to 64 times, not 1", []string{"--shard", "localhost:1"}},
		{"exclude each other", []string{"--peers", three, "--shard", "localhost:1", "--shard", "localhost:2"}},
		{"one server or 3 to 9, not 2", []string{"--shard", "localhost:1,localhost:2", "--shard", "localhost:3"}},
		{"localhost:1 is there twice", []string{"--shard", "localhost:1", "--shard", "localhost:1"}},
		{"localhost:0 is in no --shard", []string{"--listen", "0", "--shard", "localhost:1", "--shard", "localhost:2"}},
		{"for shards of several servers", []string{"--listen", "1", "--stale", "1s", "--shard", "localhost:1",
			"--shard", "localhost:2"}},
		{`":1" is not an address and a port`, []string{"--shard", ":1", "--shard", "localhost:2"}},
		{`"localhost:x" is not an address and a port`, []string{"--shard", "localhost:x", "--shard", "localhost:2"}},
		{`" localhost:3" is not an address and a port`, []string{"--shard", "localhost:1, localhost:3,localhost:4",
			"--shard", "localhost:2"}},
	} {
		arguments := append([]string{"serve", "--data", dir, "--device", "none"}, x.arguments...)
		assert.Contains(t, refusal(t, "", arguments...), x.want)
	}
	assert.Contains(t, refusal(t, "", "serve"), "serve needs --data DIR")
	for _, secret := range []string{"nats://user:secret@localhost/S", "nats://user:sec/ret@localhost/S"} {
		said := refusal(t, "", "serve", "--data", dir, "--device", "none", "--changes", secret)
		assert.Contains(t, said, "--changes: ")
		assert.NotContains(t, said, "@localhost", "logs keep it")
	}
}

// Flags that don't go with a server, or go with one alone, are refused before it is asked.
func TestRemoteRefusals(t *testing.T) {
	table := write(t, "table.csv", "1,2\n")
	for _, x := range []struct {
		want      string
		arguments []string
	}{
		{"--server localhost: no port", []string{"get", "--server", "localhost", "1"}},
		{"--server http://localhost:1: grpc:// or grpc+tls:// may stand before", []string{"get", "--server",
			"http://localhost:1", "1"}},
		{"localhost:1: dial tcp", []string{"get", "--server", "localhost:1", "1"}},
		{"--server is given, but empty", []string{"get", "--server", "", "1"}},
		{"--key-type is not for --server", []string{"get", "--server", "localhost:1", "--key-type", "u32", "1"}},
		{"--structure is not for --server", []string{"get", "--server", "localhost:1", "--structure", "lsm", "1"}},
		{"--tls-ca is for --server", []string{"get", table, "--tls-ca", table, "1"}},
		{"absent", []string{"get", "--server", "localhost:1", "--password-file", "absent", "1"}},
		{"update takes one TABLE with --server", []string{"update", "--server", "localhost:1", table, table}},
		{"--combine is not for --server", []string{"update", "--server", "localhost:1", table, "--combine", "add"}},
		{"absent.csv", []string{"update", "--server", "localhost:1", "absent.csv"}},
		{"--output is not for --server", []string{"delete", "--server", "localhost:1", "1", "-o", "x.vkds"}},
		{"--password-file is for --server", []string{"delete", table, "1", "--password-file", table}},
	} {
		assert.Contains(t, refusal(t, "", x.arguments...), x.want)
	}
}
