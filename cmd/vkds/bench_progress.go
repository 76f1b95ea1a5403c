package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// steps returns a function that shows, on a terminal, how many of some steps are done and what comes next, and one
// that ends the showing.
func (g *global) steps() (show func(done, total int, next string), end func()) {
	if !g.watched() {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	show = func(done, total int, next string) {
		if bar == nil {
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(g.err),
				progressbar.OptionShowCount(),
				progressbar.OptionSetWidth(30),
				progressbar.OptionSetPredictTime(false),
				progressbar.OptionThrottle(50*time.Millisecond),
				progressbar.OptionClearOnFinish(),
			)
		}
		bar.Describe(next)
		_ = bar.Set(done) // a bar that can't be drawn is no failure
	}
	return show, func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
}
