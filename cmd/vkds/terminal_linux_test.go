package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Only text is written to a terminal.
func TestTerminalShowsText(t *testing.T) {
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	defer control.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal := fmt.Sprintf("/dev/pts/%d", number)
	dir := filepath.Dir(write(t, "t.csv", "1,10\n"))
	for _, command := range []string{"vkds build t.csv -o " + terminal, "vkds build t.csv -o /dev/stdout > " + terminal,
		"vkds dump t.csv --output-format parquet -o " + terminal,
		"vkds dump t.csv --output-format arrow -o /dev/fd/3 3> " + terminal} {
		_, said, status := shell(t, dir, command)
		assert.Equal(t, 2, status, command)
		assert.Regexp(t, "^vkds: /dev/.* is a terminal, which shows text only\n$", said, command)
	}
}
