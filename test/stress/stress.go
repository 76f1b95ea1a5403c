// Package stress says how long tests run.
package stress

import (
	"os"
	"strconv"
)

// Level is 0 in everyday runs. At VKDS_STRESS=1 and above, which "make stress" sets to STRESS, tests run in their long
// forms: all that there is to try is tried, and what is left to chance is drawn that many times as often.
var Level = level()

func level() int {
	is := os.Getenv("VKDS_STRESS")
	if is == "" {
		return 0
	}
	n, err := strconv.Atoi(is)
	if err != nil || n < 0 {
		panic("VKDS_STRESS=" + is + " is no level: 0, 1, and so on")
	}
	return n
}
