package pass

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// Each function runs a test in the passes that it names, and always where there are none. None leaves out all passes:
// of some packages "make test" has that at 8 lanes or that under validation alone.
func TestPasses(t *testing.T) {
	level := stress.Level
	t.Cleanup(func() { stress.Level = level })
	stress.Level = 0
	for name, test := range map[string]struct {
		leave func(testing.TB, string)
		runs  []string
	}{
		"OneWidth":         {OneWidth, []string{"", "8"}},
		"OneDriver":        {OneDriver, []string{"", "4", "8", "16"}},
		"OneLavapipe":      {OneLavapipe, []string{"", "8", "swiftshader", "validated"}},
		"NotWidest":        {NotWidest, []string{"", "4", "8", "swiftshader", "validated"}},
		"Unvalidated":      {Unvalidated, []string{"", "4", "8", "16", "swiftshader"}},
		"NarrowUnlessLong": {NarrowUnlessLong, []string{"", "4", "swiftshader", "validated"}},
	} {
		var runs []string
		for _, pass := range []string{"", "4", "8", "16", "swiftshader", "validated"} {
			t.Setenv("VKDS_PASS", pass)
			t.Run(name+" in "+pass, func(t *testing.T) {
				test.leave(t, "a test of what is skipped")
				runs = append(runs, pass)
			})
		}
		require.Equal(t, test.runs, runs, name)
	}
	stress.Level = 1
	t.Setenv("VKDS_PASS", "16")
	NarrowUnlessLong(t, "long forms run at each width")
	require.False(t, OneProtocol())
}
