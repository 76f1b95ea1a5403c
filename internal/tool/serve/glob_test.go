package serve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Patterns mean what they mean in Redis, whose own function was asked for these.
func TestMatches(t *testing.T) {
	for _, x := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "1", false}, {"*", "", true}, {"*", "123", true}, {"**", "1", true}, {"1*", "12", true},
		{"1*", "21", false}, {"*1*2", "31512", true}, {"*1*2", "3151", false}, {"?", "1", true}, {"?", "", false},
		{"1?3", "123", true}, {"[12]*", "2", true}, {"[12]*", "3", false}, {"[^12]", "3", true}, {"[^12]", "1", false},
		{"[!1]", "!", true}, {"[!1]", "2", false}, {"[3-1]", "2", true}, {"[1-3]5", "25", true}, {"[a-]", "^", true},
		{`\*`, "*", true}, {`\*`, "1", false}, {`[\]]`, "]", true}, {`[\-1]`, "-", true}, {`1\`, `1\`, true},
		{"[1", "1", true}, {"[1", "2", false}, {"[", "1", false}, {"[^", "1", true}, {"[]", "1", false},
		{"10.0.0.*", "10.0.0.7", true}, {"10/*", "10/24/7", true}, {"*:*", "2026-11-30T00:00:00Z", true},
		{"[1-", "-", true}, {"[1-", "2", false},
	} {
		require.Equal(t, x.want, matches(x.pattern, x.text), "%q %q", x.pattern, x.text)
	}
	require.False(t, matches(strings.Repeat("*1", 1<<12), strings.Repeat("1", 1<<12)+"2"), "in no time")
}
