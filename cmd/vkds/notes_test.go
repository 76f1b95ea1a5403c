package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Notes and progress, by where standard error goes and what the flags say.
func TestNotesRule(t *testing.T) {
	for _, c := range []struct{ terminal, quiet, verbose, notes, progress bool }{
		{terminal: true, notes: true, progress: true},
		{terminal: true, verbose: true, notes: true, progress: true},
		{terminal: true, quiet: true},
		{terminal: false},
		{verbose: true, notes: true},
		{quiet: true},
	} {
		var to bytes.Buffer
		g := &global{quiet: c.quiet, verbose: c.verbose, out: io.Discard, err: &to, isTerminal: func(file any) bool {
			return c.terminal && file == &to // what standard output is doesn't count
		}}
		g.note("loaded %d pairs", 7)
		if c.notes {
			assert.Equal(t, "vkds: loaded 7 pairs\n", to.String(), c)
		} else {
			assert.Empty(t, to.String(), c)
		}
		to.Reset()
		show, end := g.progress("loading")
		assert.Equal(t, c.progress, show != nil, c)
		if c.progress {
			show(1, 2)
			assert.Contains(t, to.String(), "loading")
		}
		end()
	}
}

// What writes its answer line by line shows progress where that goes elsewhere than to the terminal.
func TestNoProgressAmongLines(t *testing.T) {
	var out, notes bytes.Buffer
	for _, seen := range []bool{false, true} {
		g := &global{out: &out, err: &notes, isTerminal: func(file any) bool { return file == &notes || seen }}
		show, end := g.progressBeside("replaying")
		assert.Equal(t, !seen, show != nil)
		end()
	}
}
