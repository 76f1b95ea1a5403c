package recording

import "github.com/vkds/vkds/vk"

// Tile returns the number of lanes that work on a slab or a node together: the wish of an option, or the choice of the
// device's Tuning, or else the number that measured best. It is at most a subgroup.
func Tile(d *vk.Device, wish int, choice string, best, most int) int {
	if wish == 0 {
		wish = best
		if t := d.Tuning()[choice]; t > 0 && t <= most && t&(t-1) == 0 {
			wish = t
		}
	}
	return min(wish, d.SubgroupSize())
}
