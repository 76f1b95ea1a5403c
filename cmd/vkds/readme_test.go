package main_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's commands do what it says: each has an answer, and the server answers what redis-cli would send.
func TestReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	blocks := strings.Join(regexp.MustCompile("(?ms)^```sh\n.*?^```").FindAllString(string(page), -1), "\n")
	lines := regexp.MustCompile(`(?m)^(vkds|redis-cli) (.*)$`).FindAllStringSubmatch(blocks, -1)
	require.GreaterOrEqual(t, len(lines), 7)
	word := regexp.MustCompile(`"[^"]*"|\S+`)
	server := ""
	for _, line := range lines {
		words := word.FindAllString(line[2], -1)
		for i := range words {
			words[i] = strings.Trim(words[i], `"`)
		}
		switch {
		case line[1] == "redis-cli":
			require.NotEmpty(t, server, "the server is started before")
			client, err := net.Dial("tcp", server)
			require.NoError(t, err)
			_, err = client.Write([]byte(line[2] + "\r\n"))
			require.NoError(t, err)
			reply, err := bufio.NewReader(client).ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, ":5\r\n", reply)
			require.NoError(t, client.Close())
		case words[0] == "serve":
			if runtime.GOOS == "windows" {
				t.Skip("the server's commands are not tried: nobody asks a process of Windows to end")
			}
			server = serveReadme(t, words)
		case len(words) > 1 && strings.HasPrefix(words[1], "testdata") || words[0] == "graph":
			if words[0] != "graph" { // which needs a device
				words = append(words, "--device", "none")
			}
			c := command(t.Context(), words...)
			c.Dir = root
			out, err := c.Output()
			require.NoError(t, err, line[0])
			require.Greater(t, strings.Count(string(out), "\n"), 1, "%s: a header and rows", line[0])
		default:
			t.Fatalf("%s is not tried", line[0])
		}
	}
	require.NotEmpty(t, server)
}

// serveReadme starts the README's server, at another port and in another folder, and returns its address.
func serveReadme(t *testing.T, words []string) string {
	c := command(context.Background(), append(words, "--listen", "0", "--device", "none", "-q")...)
	c.Dir = t.TempDir()
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		require.NoError(t, c.Process.Signal(os.Interrupt))
		require.NoError(t, c.Wait())
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(strings.TrimPrefix(address, "redis://"), "\n")
}
