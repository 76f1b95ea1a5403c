package draw

import "math"

// camera is the part of a scene that is in the window.
type camera struct {
	x, y   float64 // the point of the scene that is at the window's left top
	sx, sy float64 // units of the scene per pixel
	w, h   float64 // the window's size, in pixels

	wide, high float64 // the scene's size
	stretched  bool    // the scene fills the window's height, and only its width is zoomed
	closest    float64 // the least sx
	moved      bool    // the user has chosen the part
}

// ratio is the greatest part of the scene in the window, of all: it then has a margin.
const ratio = 1.5

// show shows a scene of that size. It keeps the part that the user has chosen.
func (c *camera) show(wide, high float64, stretched bool, closest float64) {
	c.wide, c.high, c.stretched, c.closest = wide, high, stretched, closest
	if !c.moved {
		c.fit()
		return
	}
	c.keepIn()
}

// resize is called when the window has another size.
func (c *camera) resize(w, h int) {
	c.w, c.h = float64(w), float64(h)
	if !c.moved {
		c.fit()
		return
	}
	c.keepIn()
}

// fit shows the whole scene.
func (c *camera) fit() {
	c.moved = false
	c.sx = c.most()
	c.sy = c.sx
	c.x, c.y = (c.wide-c.w*c.sx)/2, (c.high-c.h*c.sy)/2
	c.keepIn()
}

// most is the sx at which the scene just fits.
func (c *camera) most() float64 {
	if c.stretched {
		return c.wide / c.w
	}
	return max(c.wide/c.w, c.high/c.h)
}

// pan moves the scene by so many pixels.
func (c *camera) pan(dx, dy float64) {
	c.moved = true
	c.x, c.y = c.x-dx*c.sx, c.y-dy*c.sy
	c.keepIn()
}

// zoom makes the scene larger by a factor. The point at these pixels stays where it is.
func (c *camera) zoom(by, px, py float64) {
	c.moved = true
	most := c.most()
	x, y := c.x+px*c.sx, c.y+py*c.sy
	c.sx = min(max(c.sx/by, min(c.closest, most)), ratio*most)
	c.sy = c.sx
	c.x, c.y = x-px*c.sx, y-py*c.sy
	c.keepIn()
}

// keepIn keeps half of the window, or all of the scene, in sight.
func (c *camera) keepIn() {
	if c.stretched {
		c.y, c.sy = 0, c.high/c.h
	}
	c.x = inside(c.x, c.wide, c.w*c.sx)
	c.y = inside(c.y, c.high, c.h*c.sy)
}

// inside limits where a window of that length begins on a scene of that length.
func inside(at, scene, window float64) float64 {
	if window >= scene {
		return min(max(at, scene-window), 0)
	}
	return min(max(at, -window/2), scene-window/2)
}

// origin is the left top point as shaders take it: its whole part and the rest. Of a point that is very far, because a
// large scene has a column of pixels, the whole part has a limit.
func (c *camera) origin() (whole [2]int32, rest [2]float32) {
	const most = 1 << 30
	for i, at := range []float64{c.x, c.y} {
		floor := min(max(math.Floor(at), -most), most)
		whole[i], rest[i] = int32(floor), float32(at-floor)
	}
	return whole, rest
}

// columnsOf returns how many buckets of a table are side by side, so that the whole is about as wide as windows are.
func columnsOf(buckets int, wide, high float64) int {
	const aspect = 16.0 / 9
	return max(1, int(math.Round(math.Sqrt(float64(buckets)*aspect*high/wide))))
}

// slotUnits is SLOT_UNITS of draw_table.comp.
const slotUnits = 3

// bucketSize returns the size of a bucket, with the space to its neighbours.
func bucketSize(slots, longest int) (wide, high float64) {
	return float64(slotUnits*slots + 3), float64(longest + 1)
}
