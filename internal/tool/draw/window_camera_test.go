package draw

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever is done to it, a camera shows some of the scene, neither too near nor too far; and the point below the
// pointer stays there when the scene is zoomed, unless the scene would leave the window.
func TestCamera(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stretched := rapid.Bool().Draw(t, "stretched")
		wide := rapid.Float64Range(1, 1e9).Draw(t, "wide")
		high := rapid.Float64Range(1, 1e6).Draw(t, "high")
		closest := rapid.Float64Range(1e-4, 1).Draw(t, "closest")
		var c camera
		c.resize(1280, 720)
		c.show(wide, high, stretched, closest)
		require.LessOrEqual(t, c.x, wide*1e-9)
		require.GreaterOrEqual(t, c.x+c.w*c.sx, wide*(1-1e-9), "the whole scene fits")
		for range rapid.IntRange(1, 30).Draw(t, "times") {
			px, py := rapid.Float64Range(0, c.w).Draw(t, "px"), rapid.Float64Range(0, c.h).Draw(t, "py")
			before := c
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				c.zoom(rapid.Float64Range(0.1, 10).Draw(t, "by"), px, py)
				if x := before.x + px*before.sx; c.x == x-px*c.sx {
					require.InDelta(t, x, c.x+px*c.sx, 1e-6*wide)
				} else {
					require.True(t, c.x == 0 || c.x <= 0 && c.w*c.sx >= wide || atEdge(c), "%+v", c)
				}
			case 1:
				c.pan(px-c.w/2, py-c.h/2)
			case 2:
				c.resize(1+rapid.IntRange(0, 3000).Draw(t, "w"), 1+rapid.IntRange(0, 3000).Draw(t, "h"))
			case 3:
				wide = rapid.Float64Range(1, 1e9).Draw(t, "wide")
				c.show(wide, high, stretched, closest)
			case 4:
				c.fit()
				require.False(t, c.moved)
			}
			require.Less(t, c.x, wide, "%+v", c)
			require.Greater(t, c.x+c.w*c.sx, 0.0)
			require.Less(t, c.y, high)
			require.Greater(t, c.y+c.h*c.sy, 0.0)
			if stretched {
				require.Zero(t, c.y)
				require.InEpsilon(t, high, c.h*c.sy, 1e-9, "its levels fill the height")
			}
			whole, rest := c.origin()
			for i, at := range []float64{c.x, c.y} {
				require.InDelta(t, at, float64(whole[i])+float64(rest[i]), 1e-6+1e-7*math.Abs(at))
				require.True(t, math.Abs(at) > 1<<30 || rest[i] >= 0 && rest[i] <= 1)
			}
		}
	})
}

// atEdge reports whether half of the window shows the scene's end.
func atEdge(c camera) bool {
	half := c.w * c.sx / 2
	return c.x <= -half*(1-1e-9) || c.x >= (c.wide-half)*(1-1e-9)
}

// Panning follows the pointer: what was below it still is.
func TestPanFollowsThePointer(t *testing.T) {
	var c camera
	c.resize(1000, 500)
	c.show(100, 50, false, 1.0/72)
	c.zoom(4, 500, 250)
	x, y := c.x+300*c.sx, c.y+200*c.sy
	c.pan(37, -21)
	require.InDelta(t, x, c.x+337*c.sx, 1e-9)
	require.InDelta(t, y, c.y+179*c.sy, 1e-9)
	sx := c.sx
	c.show(120, 50, false, 1.0/72)
	require.Equal(t, sx, c.sx, "a part that was chosen stays")
	c.fit()
	c.show(200, 50, false, 1.0/72)
	require.InDelta(t, 200, c.sx*1000, 1e-9, "and the whole scene stays whole")
}

func TestColumns(t *testing.T) {
	for _, buckets := range []int{100, 12345, 1 << 20} {
		wide, high := bucketSize(15, 3)
		columns := columnsOf(buckets, wide, high)
		lines := (buckets + columns - 1) / columns
		aspect := wide * float64(columns) / (high * float64(lines))
		require.InEpsilon(t, 16.0/9, aspect, 0.4, "%d buckets in %d columns", buckets, columns)
	}
}
