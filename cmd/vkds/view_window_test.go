//go:build glfw

package main_test

import (
	"bytes"
	"image/color"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/xserver"
)

const tags = "glfw" // of the tool

// The window shows a tree or a table, and operations step by step, until a key closes it.
func TestWindow(t *testing.T) {
	needDevice(t)
	t.Setenv("WAYLAND_DISPLAY", "")
	x, err := xserver.Start()
	require.NoError(t, err)
	defer x.Close()
	t.Setenv("DISPLAY", x.Display)
	table := write(t, "t.csv", rows(1000))
	ops := write(t, "ops.csv", "insert,3,30\ninsert,4,40\n\ndelete,0\ninsert,5,1\nfind,7\n")
	snapshots := write(t, "snapshots.csv", "insert,3,30\ninsert,4,40\nsnapshot\ndelete,0\n")
	for _, w := range []struct{ structure, about, after, ops, steps string }{
		{"btree", "t.csv: a B-link-tree of 1,000 pairs, ", "a B-link-tree of 1,002 pairs, ", ops, "2"},
		{"slabhash", "t.csv: a slab hash of 1,000 pairs in ", "a slab hash of 1,002 pairs in ", ops, "2"},
		{"btree", "t.csv: a B-link-tree of 1,000 pairs, ", "a B-link-tree of 1,002 pairs, ", snapshots, "3"},
	} {
		c := command(t.Context(), "--validation", "view", table, "--structure", w.structure, "--window", "--ops", w.ops)
		var output bytes.Buffer
		c.Stdout, c.Stderr = &output, &output
		require.NoError(t, c.Start())
		id, err := x.Window(w.about)
		require.NoError(t, err, output.String())
		assert.Eventually(t, func() bool {
			picture, err := x.Picture(id)
			require.NoError(t, err)
			used := 0
			for i := range picture.Rect.Dx() * picture.Rect.Dy() {
				if picture.RGBAAt(i%picture.Rect.Dx(), i/picture.Rect.Dx()) == (color.RGBA{0x3b, 0x7d, 0xd8, 255}) {
					used++
				}
			}
			return used > 20_000 && used < 900_000
		}, time.Minute, 50*time.Millisecond)
		require.NoError(t, x.Type('n'))
		_, err = x.Window("step 1 of " + w.steps + ": 2 operations")
		assert.NoError(t, err)
		title, err := x.Title(id)
		assert.NoError(t, err)
		assert.Contains(t, title, w.after)
		require.NoError(t, x.Type('q'))
		assert.NoError(t, c.Wait())
		assert.Empty(t, output.String())
	}
}

func TestWindowRefusals(t *testing.T) {
	needDevice(t)
	t.Setenv("WAYLAND_DISPLAY", "")
	table := write(t, "t.csv", rows(10))
	t.Setenv("DISPLAY", "")
	assert.Equal(t, "--window: a window needs a display: neither DISPLAY nor WAYLAND_DISPLAY is set",
		refusal(t, "", "view", table, "--window"))
	t.Setenv("DISPLAY", ":9999")
	assert.Contains(t, refusal(t, "", "view", table, "--window"), "--window: the display can't be opened: ")
	x, err := xserver.Start()
	require.NoError(t, err)
	defer x.Close()
	t.Setenv("DISPLAY", x.Display)
	assert.Contains(t, refusal(t, "", "view", table, "--window", "--structure", "lsm"), "lsm can't be drawn")
	assert.Contains(t, refusal(t, "", "view", table, "--window", "--device", "none"), "--device none")
	assert.Contains(t, refusal(t, "", "view", table, "--window", "--device", "absent"), "absent")
	text := write(t, "text.csv", "a,1\nb,2\n")
	assert.Contains(t, refusal(t, "", "view", text, "--window", "--ops", table), "has text")
	assert.Contains(t, refusal(t, "", "view", table, "--window", "--ops", write(t, "ops.csv", "jump,1\n")), "line 1")

	// To interrupt it is a way to close it.
	c := command(t.Context(), "view", table, "--window")
	require.NoError(t, c.Start())
	_, err = x.Window("t.csv")
	require.NoError(t, err)
	require.NoError(t, c.Process.Signal(os.Interrupt))
	assert.NoError(t, c.Wait())
}
