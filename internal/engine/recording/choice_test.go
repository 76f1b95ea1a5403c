package recording_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// An option comes before the device's choice, and that before what measured best. No number is more than a subgroup.
func TestTile(t *testing.T) {
	d := testdevice.Open(t, vk.Options{Tuning: vk.Tuning{"two": 2, "three": 3, "many": 16, "below": -4, "most": 8}})
	for _, c := range []struct {
		wish   int
		choice string
		want   int
	}{{0, "two", 2}, {0, "three", 4}, {0, "many", 4}, {0, "below", 4}, {0, "none", 4}, {1, "two", 1}, {1, "none", 1},
		{0, "most", min(8, d.SubgroupSize())}, {8, "two", min(8, d.SubgroupSize())}} {
		require.Equal(t, c.want, recording.Tile(d, c.wish, c.choice, 4, 8), "%+v", c)
	}
}
