package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Notes are written if standard error is a terminal or --verbose is given. Progress is shown on a terminal only.
// --quiet turns off both. So scripts see only errors by default.

// note prints one line for the user that is neither an answer nor an error.
func (g *global) note(format string, arguments ...any) {
	if g.notes() {
		fmt.Fprintf(g.err, "vkds: "+format+"\n", arguments...)
	}
}

// notes reports whether notes are written.
func (g *global) notes() bool { return g.verbose || g.watched() }

// watched reports whether progress is shown.
func (g *global) watched() bool { return !g.quiet && g.terminal(g.err) }

// terminal reports whether a file, or the file of an output, is a terminal.
func (g *global) terminal(file any) bool {
	if g.isTerminal == nil {
		return isTerminal(file)
	}
	return g.isTerminal(file)
}

func isTerminal(file any) bool {
	if o, ok := file.(*output); ok {
		file = o.to
	}
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress returns a function that shows how far a file was read, and one that removes that from the screen. If
// progress is not shown, show is nil.
func (g *global) progress(what string) (show func(read, size int64), end func()) {
	if !g.watched() {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	show = func(read, size int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(size,
				progressbar.OptionSetWriter(g.err),
				progressbar.OptionSetDescription(what),
				progressbar.OptionShowBytes(size < 0), // else the percentage says more
				progressbar.OptionSetWidth(30),
				progressbar.OptionThrottle(100*time.Millisecond),
				progressbar.OptionClearOnFinish(),
			)
		}
		_ = bar.Set64(read) // a bar that can't be drawn is not a failure
	}
	return show, func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
}

// progressBeside is progress for a command that prints its answer while it works. If the answer goes to a terminal, it
// shows by itself how far the command is, so no progress is shown.
func (g *global) progressBeside(what string) (show func(read, size int64), end func()) {
	if g.terminal(g.out) {
		return nil, func() {}
	}
	return g.progress(what)
}

// rate describes how many of something were done in a time and, if they are enough to tell, how fast.
func rate[N int | int64 | uint64](n N, what string, took time.Duration) string {
	text := fmt.Sprintf("%s %s in %.3g s", grouped(n), what, took.Seconds())
	switch perSecond := float64(n) / took.Seconds(); {
	case n < 1000 || took <= 0:
	case perSecond < 1e6:
		text += fmt.Sprintf(" (%s/s)", grouped(int64(perSecond)))
	default:
		text += fmt.Sprintf(" (%.3g M/s)", perSecond/1e6)
	}
	return text
}

// andSkipped ends a note by the number of rows that were skipped, if there are some.
func andSkipped(rows int64) string {
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("; %s skipped", grouped(rows))
}

// grouped writes a number with commas between its thousands.
func grouped[N int | int64 | uint64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
