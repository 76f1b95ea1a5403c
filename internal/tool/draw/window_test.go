//go:build glfw

package draw

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/xserver"
	"github.com/vkds/vkds/vk"
)

// x is the server of all tests.
var x *xserver.Server

func TestMain(m *testing.M) {
	pass.Host.Begin()
	var err error
	if x, err = xserver.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Unsetenv("WAYLAND_DISPLAY")
	os.Setenv("DISPLAY", x.Display)
	status := m.Run()
	x.Close()
	os.Exit(status)
}

// The colors of the style of SVG.
var (
	paper = rgb(0xffffff)
	room  = rgb(0xe6eaef)
	leaf  = rgb(0x3b7dd8)
	above = rgb(0x2a9d77)
	gone  = rgb(0xd9a441)
	fresh = rgb(0x7c3aed) // since the last step: pictures have no steps
	full  = rgb(0x14365f)
)

func rgb(c uint32) color.RGBA { return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255} }

// near reports whether two colours are equal but for rounding.
func near(a, b color.RGBA) bool {
	d := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 2 }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B)
}

// heat is that of picture.glsl.
func heat(fill float64, kind color.RGBA) color.RGBA {
	from, to := room, kind
	if fill > 1 {
		from, to, fill = kind, full, min(fill-1, 1)
	}
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-fill) + float64(b)*fill)) }
	return color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 255}
}

// session is a window that a goroutine shows.
type session struct {
	t      *testing.T
	id     uint32 // the X server's
	ended  chan error
	camera camera // what the window's must be
}

// device opens a window and its device. Everything that t has to do with the window is in one thread.
func device(t *testing.T, indirect bool) (*Window, *vk.Device) {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	w, err := OpenWindow(WindowOptions{Validation: true})
	require.NoError(t, err)
	if indirect {
		w.c.always_indirect = 1
	}
	d, err := w.Adopt(vk.Options{CacheDir: "none"})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		require.Zero(t, w.Complaints())
		require.NoError(t, w.Close())
	})
	return w, d
}

// user runs a window, and beside it what a user does and sees. The session's camera is that of the first scene.
func user(t *testing.T, w *Window, d *vk.Device, show Show, do func(s *session)) {
	show.Title = t.Name()
	ended := make(chan error, 1)
	done := make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	go func() {
		defer close(done)
		defer cancel() // whatever happens, the window ends
		s := &session{t: t, ended: ended}
		var err error
		if s.id, err = x.Window(t.Name()); err != nil {
			t.Error(err)
			return
		}
		s.camera.resize(1280, 720)
		if err := x.Move(800, 1100); err != nil { // outside of the window
			t.Error(err)
			return
		}
		do(s)
	}()
	err := w.Run(ctx, d, show)
	ended <- err
	cancel()
	<-done
	require.NoError(t, err)
}

// do sends the user's input.
func (s *session) do(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		s.t.Error(err)
		runtime.Goexit()
	}
}

// wheel turns the wheel at a point of the window.
func (s *session) wheel(px, py, times int) {
	s.do(x.Move(px, py))
	button, by := byte(4), zoomStep
	if times < 0 {
		button, by, times = 5, 1/zoomStep, -times
	}
	for range times {
		s.do(x.Press(button, true), x.Press(button, false))
		s.camera.zoom(by, float64(px), float64(py))
	}
}

// drag moves the pointer from one point to another one with the left button down.
func (s *session) drag(fx, fy, tx, ty int) {
	s.do(x.Move(fx, fy), x.Press(1, true), x.Move((fx+tx)/2, (fy+ty)/2), x.Move(tx, ty), x.Press(1, false))
	s.camera.pan(float64(tx-fx), float64(ty-fy))
}

// center drags a point of the scene to the middle of the window, as far as that goes.
func (s *session) center(x, y float64) {
	for range 100 {
		dx, dy := s.camera.w/2-(x-s.camera.x)/s.camera.sx, s.camera.h/2-(y-s.camera.y)/s.camera.sy
		before := s.camera
		const most = 200
		fx, fy := int(s.camera.w/2), int(s.camera.h/2)
		s.drag(fx, fy, fx+int(min(max(dx, -most), most)), fy+int(min(max(dy, -most), most)))
		if s.camera == before {
			return
		}
	}
}

// spot is what a pixel of the window must be.
type spot struct {
	what   string
	px, py float64
	want   color.RGBA
}

// sees waits until all spots have their colours, and says what is wrong if they never get them. There must be at least
// so many spots in the window.
func (s *session) sees(what string, least int, spots []spot) *image.RGBA {
	s.t.Helper()
	var picture *image.RGBA
	s.until(func() string {
		var err error
		if picture, err = x.Picture(s.id); err != nil {
			return err.Error()
		}
		if picture.Rect.Dx() != int(s.camera.w) || picture.Rect.Dy() != int(s.camera.h) {
			return fmt.Sprintf("the window has the size %v", picture.Rect)
		}
		wrong, seen, first := 0, 0, ""
		for _, p := range spots {
			if p.px < 2 || p.py < 2 || p.px > s.camera.w-2 || p.py > s.camera.h-2 {
				continue
			}
			seen++
			if have := picture.RGBAAt(int(p.px), int(p.py)); !near(have, p.want) {
				if wrong++; wrong == 1 {
					first = fmt.Sprintf("%s at %.1f,%.1f is %v and not %v", p.what, p.px, p.py, have, p.want)
				}
			}
		}
		if seen < least {
			return fmt.Sprintf("only %d spots are in the window", seen)
		}
		if wrong > 0 {
			return fmt.Sprintf("%s: %d of %d spots are wrong: %s", what, wrong, seen, first)
		}
		return ""
	})
	return picture
}

// until waits until a condition holds: it returns what is wrong.
func (s *session) until(wrong func() string) {
	s.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		text := wrong()
		if text == "" {
			return
		}
		select {
		case err := <-s.ended:
			s.t.Errorf("the window has closed: %v", err)
			runtime.Goexit()
		default:
		}
		if time.Now().After(deadline) {
			s.t.Error(text)
			runtime.Goexit()
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// receive waits for what a step sends.
func receive[T any](s *session, from chan T) (x T) {
	select {
	case x = <-from:
	case <-time.After(30 * time.Second):
		s.t.Error("the step isn't done")
		runtime.Goexit()
	}
	return x
}

// closes presses a key, and waits for the window's end.
func (s *session) closes(key rune) {
	s.do(x.Type(key))
	select {
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(30 * time.Second):
		s.t.Error("the window doesn't close")
	}
}

// tall is a tree as package btree copies it to the host, level by level from the root.
type tall struct {
	levels     [][]btree.Node[uint64]
	slots      int
	key, value func(uint64) string // as the window writes them
}

func nodesOf[W structures.Word](t *testing.T, tree *btree.Tree[W, W], slots int) tall {
	nodes, err := tree.Inspect().Nodes(t.Context())
	require.NoError(t, err)
	decimal := func(n uint64) string { return fmt.Sprint(n) }
	all := tall{slots: slots, key: decimal, value: decimal}
	for i, n := range nodes {
		if i == 0 || n.Level != nodes[i-1].Level {
			all.levels = append(all.levels, nil)
		}
		last := &all.levels[len(all.levels)-1]
		*last = append(*last, n)
	}
	return all
}

func (m tall) leaves() []btree.Node[uint64] { return m.levels[len(m.levels)-1] }

// view has the session's camera show the tree.
func (m tall) view(s *session) {
	s.camera.show(float64(len(m.leaves())), float64(len(m.levels)), true, 1/float64(200*m.slots))
}

// under returns the leaves below a node: the first one, and the one behind the last.
func (m tall) under(n btree.Node[uint64]) (first, end int) {
	leaves := m.leaves()
	at := func(key uint64) int {
		return slices.IndexFunc(leaves, func(l btree.Node[uint64]) bool { return l.Low <= key && key <= l.High })
	}
	return at(n.Low), at(n.High) + 1
}

// spots are the middles of the tree's parts: of the children of inner nodes, and of the slots of leaves, or of the bars
// of leaves if they are narrow.
func (m tall) spots(c camera) (all []spot) {
	for row, level := range m.levels {
		top := (float64(row) + 0.12) / c.sy
		height := 0.76 / c.sy
		for i, n := range level {
			fill := float64(len(n.Keys)) / float64(m.slots)
			if n.Level > 0 {
				for j, child := range m.levels[row+1] {
					if child.Low < n.Low || child.Low > n.High {
						continue
					}
					first, end := m.under(child)
					left, wide := (float64(first)-c.x)/c.sx, float64(end-first)/c.sx
					if wide < 6 {
						continue
					}
					want := heat(fill, above)
					if !slices.Contains(n.Values, uint64(child.Ref)) {
						want = rgb(0xc2410c)
					}
					what := fmt.Sprintf("child %d of node %d", j, n.Ref)
					all = append(all, spot{what, left + 0.5*wide, top + 0.8*height, want})
				}
				continue
			}
			wide := 1 / c.sx
			left, gap := (float64(i)-c.x)/c.sx, min(max(0.04*wide, 1), 6)
			if wide-gap < 3*float64(m.slots)-1 {
				if wide > 3 && fill > 0.02 && fill < 0.98 { // a bar, and what is above it
					all = append(all, spot{fmt.Sprintf("leaf %d", i), left + 0.4*wide, top + height*(1-fill) + 2, leaf},
						spot{fmt.Sprintf("the room of leaf %d", i), left + 0.4*wide, top + height*(1-fill) - 2, room})
				}
				continue
			}
			if wide-gap < 3*float64(m.slots)+1 {
				continue // just between bars and slots
			}
			for slot := range m.slots {
				want := room
				if slot < len(n.Keys) {
					want = leaf
				}
				each := (wide - gap) / float64(m.slots)
				all = append(all, spot{fmt.Sprintf("slot %d of leaf %d", slot, i), left + each*(float64(slot)+0.4),
					top + 0.8*height, want})
			}
		}
	}
	return all
}

// evens are n ascending keys, and values that tell them.
func evens[W structures.Word](n int) (keys, values []W) {
	for i := range n {
		keys, values = append(keys, W(2*i+2)), append(values, W(7*i))
	}
	return keys, values
}

func look(w structures.Width) Look { return Look{Width: w} }

func TestTree(t *testing.T) { testTree(t, false) }

// The picture is the same if the window's images can't be written, but only copied to.
func TestTreeIndirect(t *testing.T) { testTree(t, true) }

func testTree(t *testing.T, indirect bool) {
	w, d := device(t, indirect)
	keys, values := evens[uint32](1500)
	tree, err := btree.Build(t.Context(), d, keys, values, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	m := nodesOf(t, tree, btree.Slots)
	require.Greater(t, len(m.leaves()), 100)
	show := Show{Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
		return k.Tree(ctx, tree.InShaders(), look(structures.Bits32), "about")
	}}
	user(t, w, d, show, func(s *session) {
		m.view(s)
		s.sees("all of the tree", len(m.leaves()), m.spots(s.camera))
		s.wheel(300, 500, 12)
		s.sees("zoomed in", 4*btree.Slots, m.spots(s.camera))
		s.drag(300, 500, 700, 450)
		s.sees("dragged", 4*btree.Slots, m.spots(s.camera))
		s.do(x.Type(xserver.Right))
		s.camera.pan(-panStep, 0)
		s.sees("panned by a key", 4*btree.Slots, m.spots(s.camera))
		s.do(x.Resize(s.id, 900, 1000))
		s.camera.resize(900, 1000)
		s.sees("resized", 3*btree.Slots, m.spots(s.camera))
		s.do(x.Unmap(s.id), x.Map(s.id))
		s.sees("hidden and shown again", 3*btree.Slots, m.spots(s.camera))
		s.do(x.Type('-'))
		s.camera.zoom(1/zoomStep, s.camera.w/2, s.camera.h/2)
		s.sees("zoomed out by a key", 3*btree.Slots, m.spots(s.camera))
		s.do(x.Type('0'))
		s.camera.fit()
		s.sees("all again", len(m.leaves()), m.spots(s.camera))
		s.wheel(640, 800, 25)
		s.sees("as near as it can be", btree.Slots/2, m.spots(s.camera))
		s.reads(m.mislabelled)
		s.closes('q')
	})
}

// reads waits until nothing is wrong with the numbers in the window.
func (s *session) reads(wrong func(s *session, picture *image.RGBA) string) {
	s.t.Helper()
	s.until(func() string {
		picture, err := x.Picture(s.id)
		if err != nil {
			return err.Error()
		}
		return wrong(s, picture)
	})
}

// mislabelled compares the numbers in the window with the keys and values of the slots.
func (m tall) mislabelled(s *session, picture *image.RGBA) string {
	wide, row := 1/s.camera.sx, len(m.levels)-1
	each := (wide - min(max(0.04*wide, 1), 6)) / float64(m.slots)
	top := math.Ceil((float64(row) + 0.12) / s.camera.sy)
	read := 0
	for i, n := range m.leaves() {
		for slot, key := range n.Keys {
			left := (float64(i)-s.camera.x)/s.camera.sx + each*float64(slot)
			if left < 1 || left+each > s.camera.w-1 {
				continue
			}
			for line, want := range []string{m.key(key), m.value(n.Values[slot])} {
				if have := text(picture, int(math.Round(left)), int(top)+14*line); have != want {
					return fmt.Sprintf("slot %d of leaf %d shows %q and not %q", slot, i, have, want)
				}
				read++
			}
		}
	}
	if read < 6 {
		return fmt.Sprintf("only %d numbers are in the window", read)
	}
	return ""
}

// glyphs are the characters of picture.glsl, row by row.
var glyphs = map[string]string{
	"### #.# #.# #.# ###": "0", ".#. ##. .#. .#. ###": "1", "### ..# ### #.. ###": "2", "### ..# ### ..# ###": "3",
	"#.# #.# ### ..# ..#": "4", "### #.. ### ..# ###": "5", "### #.. ### #.# ###": "6", "### ..# ..# ..# ..#": "7",
	"### #.# ### #.# ###": "8", "### #.# ### ..# ###": "9", "### #.# ### #.# #.#": "a", "##. #.# ##. #.# ##.": "b",
	"### #.. #.. #.. ###": "c", "##. #.# #.# #.# ##.": "d", "### #.. ### #.. ###": "e", "### #.. ### #.. #..": "f",
	"... ... ### ... ...": "-",
}

// text reads white characters, the first of which is near a box's left top: within two pixels.
func text(picture *image.RGBA, left, top int) string {
	best := ""
	for dy := -2; dy <= 2; dy++ {
		for dx := -2; dx <= 2; dx++ {
			if t := textAt(picture, left+3+dx, top+4+dy); len(t) > len(best) {
				best = t
			}
		}
	}
	return best
}

func textAt(picture *image.RGBA, left, top int) (text string) {
	const dot = 2
	for ; ; left += 4 * dot {
		var rows []string
		for y := range 5 {
			row := ""
			for x := range 3 {
				ink := 0
				for i := range dot * dot {
					if picture.RGBAAt(left+dot*x+i%dot, top+dot*y+i/dot) == paper {
						ink++
					}
				}
				switch ink {
				case 0:
					row += "."
				case dot * dot:
					row += "#"
				default:
					row += "?"
				}
			}
			rows = append(rows, row)
		}
		c, ok := glyphs[strings.Join(rows, " ")]
		if !ok {
			return text
		}
		text += c
	}
}

// Keys of 64 bits, and numbers with a sign.
func TestWideTree(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint64](300)
	for i := range keys {
		keys[i] += 1<<63 - 300 // around the middle, which is 0 as a number with a sign
		values[i] += 1 << 60
	}
	tree, err := btree.Build(t.Context(), d, keys, values, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	slots := btree.SlotsAt(structures.Bits64)
	m := nodesOf(t, tree, slots)
	m.key = func(n uint64) string { return fmt.Sprint(int64(n ^ 1<<63)) }
	m.value = func(n uint64) string { return fmt.Sprintf("%x", n) }
	show := Show{Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
		return k.Tree(ctx, tree.InShaders(), Look{structures.Bits64, Signed64, Hex}, "about")
	}}
	user(t, w, d, show, func(s *session) {
		m.view(s)
		s.sees("all of the tree", len(m.leaves()), m.spots(s.camera))
		s.wheel(640, 600, 25)
		s.sees("near", slots/2, m.spots(s.camera))
		s.reads(m.mislabelled)
		s.closes(xserver.Escape)
	})
}

// flat is a hash table as package slabhash measures it.
type flat struct {
	loads            []slabhash.BucketLoad
	slots, columns   int
	longest          int
	wide, high       float64 // of a bucket
	across, downward float64 // of all
}

func loadsOf(t *testing.T, m *slabhash.Map[uint32, uint32]) flat {
	f := flat{slots: slabhash.SlotsAt(structures.Bits32, false)}
	for l, err := range m.Inspect().Loads(t.Context()) {
		require.NoError(t, err)
		f.loads = append(f.loads, l)
		f.longest = max(f.longest, l.Slabs)
	}
	f.wide, f.high = bucketSize(f.slots, f.longest)
	return f.in(columnsOf(len(f.loads), f.wide, f.high))
}

// in has so many buckets be side by side.
func (f flat) in(columns int) flat {
	f.columns = columns
	f.across = f.wide * float64(f.columns)
	f.downward = f.high * float64((len(f.loads)+f.columns-1)/f.columns)
	return f
}

func (f flat) view(s *session) { s.camera.show(f.across, f.downward, false, 1.0/72) }

// spots are the middles of all slots, or of all buckets if they are small. Slots are as pictures have them: the
// used ones first.
func (f flat) spots(c camera) (all []spot) {
	unit := 1 / c.sx
	for b, l := range f.loads {
		left := (float64(b%f.columns)*f.wide - c.x) * unit
		top := (float64(b/f.columns)*f.high - c.y) * unit
		if unit < 0.99 {
			all = append(all, spot{fmt.Sprintf("bucket %d", b), left + 0.4*f.wide*unit, top + 0.4*f.high*unit,
				heat(float64(l.Pairs)/float64(f.slots), leaf)})
			continue
		}
		for i := range f.longest * f.slots {
			want := room
			switch {
			case i >= l.Slabs*f.slots:
				want = paper
			case i < l.Pairs:
				want = leaf
			case i < l.Pairs+l.Tombstones:
				want = gone
			}
			all = append(all, spot{fmt.Sprintf("slot %d of bucket %d", i, b),
				left + slotUnits*(float64(i%f.slots)+0.4)*unit,
				top + float64(i/f.slots)*unit + min(0.45*unit, 2.5), want}) // above the text
		}
	}
	return all
}

func TestTable(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint32](6000)
	table, err := slabhash.Build(t.Context(), d, keys, values, slabhash.Options{Buckets: 400})
	require.NoError(t, err)
	defer table.Close()
	f := loadsOf(t, table)
	require.Greater(t, f.longest, 1)
	show := Show{Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
		return k.Table(ctx, table.InShaders(), look(structures.Bits32), "about")
	}}
	user(t, w, d, show, func(s *session) {
		f.view(s)
		s.sees("all of the table", 400, f.spots(s.camera))
		s.wheel(200, 200, 4)
		s.sees("zoomed in", 200, f.spots(s.camera))
		s.drag(600, 300, 350, 420)
		s.sees("dragged", 200, f.spots(s.camera))
		s.do(x.Resize(s.id, 700, 500))
		s.camera.resize(700, 500)
		s.sees("resized", 100, f.spots(s.camera))
		for s.camera.sx > 1.0/36 { // until there is room for two lines of numbers
			s.wheel(100, 100, 1)
		}
		s.sees("near", 30, f.spots(s.camera))
		numbers := func(s *session, picture *image.RGBA) string { return f.mislabelled(s, picture, keys) }
		s.reads(numbers)
		h := table.InShaders().Description()
		for _, bucket := range []uint32{h.SpecialZero, h.SpecialOnes} { // keys are stored in another form there
			s.center(f.wide*(float64(int(bucket)%f.columns)+0.3), f.high*(float64(int(bucket)/f.columns)+0.5))
			s.sees("a special bucket", 20, f.spots(s.camera))
			s.reads(numbers)
		}
		s.do(x.Type(xserver.Home))
		s.camera.fit()
		s.sees("all again", 400, f.spots(s.camera))
		s.closes('q')
	})
}

// mislabelled checks that the numbers in the window are pairs that the table has, in their buckets' slots.
func (f flat) mislabelled(s *session, picture *image.RGBA, keys []uint32) string {
	unit, read := 1/s.camera.sx, map[uint32]bool{}
	for b, l := range f.loads {
		for i := range l.Pairs {
			left := (float64(b%f.columns)*f.wide + slotUnits*float64(i%f.slots) - s.camera.x) * unit
			top := (float64(b/f.columns)*f.high + float64(i/f.slots) - s.camera.y) * unit
			if left < 1 || top < 1 || left+slotUnits*unit > s.camera.w-1 || top+unit > s.camera.h-1 {
				continue
			}
			var key, value uint32
			_, err := fmt.Sscan(text(picture, int(math.Round(left)), int(math.Round(top))), &key)
			_, err2 := fmt.Sscan(text(picture, int(math.Round(left)), int(math.Round(top))+14), &value)
			at := slices.Index(keys, key)
			if err != nil || err2 != nil || at < 0 || value != uint32(7*at) || read[key] {
				return fmt.Sprintf("slot %d of bucket %d shows key %d, value %d: %v, %v", i, b, key, value, err, err2)
			}
			read[key] = true
		}
	}
	if len(read) < 10 {
		return fmt.Sprintf("only %d pairs are in the window", len(read))
	}
	return ""
}

// Of a large table several buckets share a pixel, and have the colour of their mean.
func TestManyBuckets(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint32](1 << 18)
	table, err := slabhash.Build(t.Context(), d, keys, values, slabhash.Options{Buckets: 1 << 17})
	require.NoError(t, err)
	defer table.Close()
	f := loadsOf(t, table)
	show := Show{Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
		return k.Table(ctx, table.InShaders(), look(structures.Bits32), "about")
	}}
	user(t, w, d, show, func(s *session) {
		f.view(s)
		s.do(x.Resize(s.id, 200, 150))
		s.camera.resize(200, 150)
		require.Less(t, f.wide/s.camera.sx, 3.0)
		var all []spot
		for line := range 100 {
			px, py := 50+line, 25+line
			at := s.camera.y + (float64(py)+0.5)*s.camera.sy
			from, to := s.camera.x+float64(px)*s.camera.sx, s.camera.x+float64(px+1)*s.camera.sx
			first, last := int(from/f.wide), int(to/f.wide)
			a := int(at/f.high)*f.columns + first
			pairs, n := 0, max(last-first, 1)
			for _, l := range f.loads[a:][:n] {
				pairs += l.Pairs
			}
			all = append(all, spot{fmt.Sprintf("buckets %d to %d", a, a+n), float64(px), float64(py),
				heat(float64(pairs)/float64(n*f.slots), leaf)})
		}
		picture := s.sees("many buckets", 100, all)
		colours := map[color.RGBA]bool{}
		for _, p := range all {
			colours[picture.RGBAAt(int(p.px), int(p.py))] = true
		}
		if len(colours) < 3 {
			t.Errorf("%d colours", len(colours))
		}
		s.closes('q')
	})
}

// Of a large tree several leaves share a pixel.
func TestManyLeaves(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint32](60_000)
	tree, err := btree.Build(t.Context(), d, keys, values, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	few := make([]uint32, 0, 10_000) // one end of the tree is less full than the other one
	for i := range keys[:20_000] {
		if i%5 != 0 {
			few = append(few, keys[i])
		}
	}
	_, err = tree.Delete(t.Context(), few)
	require.NoError(t, err)
	m := nodesOf(t, tree, btree.Slots)
	leaves := m.leaves()
	require.Greater(t, len(leaves), 3*1280)
	show := Show{Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
		return k.Tree(ctx, tree.InShaders(), look(structures.Bits32), "about")
	}}
	user(t, w, d, show, func(s *session) {
		m.view(s)
		var all []spot
		top, height := (float64(len(m.levels)-1)+0.12)/s.camera.sy, 0.76/s.camera.sy
		for px := 5; px < 1270; px++ {
			a, b := int(s.camera.x+float64(px)*s.camera.sx), int(s.camera.x+float64(px+1)*s.camera.sx)
			used := 0
			for _, n := range leaves[a:b] {
				used += len(n.Keys)
			}
			fill := float64(used) / float64((b-a)*m.slots)
			all = append(all, spot{fmt.Sprintf("leaves %d to %d", a, b), float64(px), top + height*(1-fill) + 2, leaf},
				spot{fmt.Sprintf("the room of leaves %d to %d", a, b), float64(px), top + height*(1-fill) - 2, room})
		}
		s.sees("many leaves", 2000, all)
		for s.camera.sx > 1.0/100 {
			s.wheel(900, 600, 1)
		}
		s.sees("some of many leaves", 100, m.spots(s.camera))
		s.closes('q')
	})
}

// Steps are shown one by one, forward and back, and play to the end. A tree's deletions and splits show.
func TestSteps(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint32](200)
	tree, err := btree.Build(t.Context(), d, keys, values, btree.Options{Path: btree.Batched})
	require.NoError(t, err)
	defer tree.Close()
	var lock sync.Mutex
	models := []tall{nodesOf(t, tree, btree.Slots)} // after each step
	show := Show{Every: 10 * time.Millisecond, Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
		return k.Tree(ctx, tree.InShaders(), look(structures.Bits32), "about")
	}}
	for i := range 4 {
		var batch structures.Batch[uint32, uint32]
		for k := range uint32(60) {
			batch.Kinds = append(batch.Kinds, structures.Insert)
			batch.Keys = append(batch.Keys, uint32(100*i)+k+1)
			batch.Values = append(batch.Values, k)
		}
		show.Steps = append(show.Steps, Step{fmt.Sprintf("batch %d", i), func(ctx context.Context) error {
			if _, err := tree.Apply(ctx, batch); err != nil {
				return err
			}
			m := nodesOf(t, tree, btree.Slots)
			lock.Lock()
			defer lock.Unlock()
			models = append(models, m)
			return nil
		}})
	}
	user(t, w, d, show, func(s *session) {
		titled := func(want string) {
			s.until(func() string {
				title, err := x.Title(s.id)
				if err != nil || !strings.HasSuffix(title, want) {
					return fmt.Sprintf("the title is %q, %v and not …%q", title, err, want)
				}
				return ""
			})
		}
		sees := func(i int, title string) {
			titled(title)
			lock.Lock()
			m := models[i]
			lock.Unlock()
			m.view(s)
			s.sees(title, 20, m.counts(s.camera))
		}
		sees(0, "step 0 of 4")
		s.do(x.Type('n'))
		sees(1, "step 1 of 4: batch 0")
		s.do(x.Type('n'))
		sees(2, "step 2 of 4: batch 1")
		s.do(x.Type('p'))
		sees(1, "step 1 of 4: batch 0")
		s.do(x.Type('p'), x.Type('p'))
		sees(0, "step 0 of 4")
		s.do(x.Type('n'))
		sees(1, "step 1 of 4: batch 0")
		s.do(x.Type(' '))
		sees(4, "step 4 of 4: batch 3")
		s.do(x.Type('n')) // there is none
		sees(4, "step 4 of 4: batch 3")
		s.closes('q')
	})
	require.Len(t, models, 5, "each step was done once")
	require.NotEqual(t, len(models[0].leaves()), len(models[1].leaves()))
}

// counts are spots that don't depend on which of its slots a leaf uses: its bar.
func (m tall) counts(c camera) []spot {
	return slices.DeleteFunc(m.spots(c), func(p spot) bool { return strings.HasPrefix(p.what, "slot") })
}

// someChanges are pairs, a batch, and how many pairs are new or changed after it, and how many are not.
func someChanges() (keys, values []uint32, batch structures.Batch[uint32, uint32], changed, same int) {
	keys, values = evens[uint32](120)
	put := func(k structures.Kind, key, value uint32) {
		batch.Kinds, batch.Keys = append(batch.Kinds, k), append(batch.Keys, key)
		batch.Values = append(batch.Values, value)
	}
	for i := range uint32(40) {
		put(structures.Insert, 4*i+1, i) // new; nodes split
	}
	put(structures.Insert, keys[9], values[9]+1) // another value
	put(structures.Insert, keys[99], values[99]) // the same
	put(structures.Delete, keys[50], 0)
	return keys, values, batch, 40 + 1, 120 - 2
}

// Slots have another colour after the step by which they got their pair. A leaf's slots are in any order, so how many
// they are is compared.
func TestFreshSlots(t *testing.T) {
	w, d := device(t, false)
	keys, values, batch, changed, same := someChanges()
	tree, err := btree.Build(t.Context(), d, keys, values, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	fan := make(chan tall, 1)
	show := Show{
		Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
			return k.Tree(ctx, tree.InShaders(), look(structures.Bits32), "about")
		},
		Steps: []Step{{"a batch", func(ctx context.Context) error {
			if _, err := tree.Apply(ctx, batch); err != nil {
				return err
			}
			fan <- nodesOf(t, tree, btree.Slots)
			return nil
		}}},
	}
	user(t, w, d, show, func(s *session) {
		s.do(x.Type('n'))
		m := receive(s, fan)
		m.view(s)
		s.do(x.Resize(s.id, 1590, 600)) // so that there is room for the slots of all leaves
		s.camera.resize(1590, 600)
		s.coloured(m.spots(s.camera), "slot", changed, same)
		s.do(x.Resize(s.id, 400, 600)) // and now there is not
		s.camera.resize(400, 600)
		var all []spot
		for i, n := range m.leaves() {
			want := room // nothing is that full
			for j, key := range n.Keys {
				if key%2 != 0 || n.Values[j] != 7*(key/2-1) {
					want = fresh
				}
			}
			if want == fresh || len(n.Keys) < m.slots {
				top := (float64(len(m.levels)-1) + 0.12) / s.camera.sy
				left := (float64(i) - s.camera.x) / s.camera.sx
				all = append(all, spot{fmt.Sprintf("leaf %d", i), left + 0.4/s.camera.sx, top + 1.5, want})
			}
		}
		s.sees("bars", 10, all)
		s.closes('q')
	})
}

func TestFreshSlotsOfTables(t *testing.T) {
	w, d := device(t, false)
	keys, values, batch, changed, same := someChanges()
	table, err := slabhash.Build(t.Context(), d, keys, values, slabhash.Options{Buckets: 20})
	require.NoError(t, err)
	defer table.Close()
	before, loads := loadsOf(t, table), make(chan flat, 1)
	show := Show{
		Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
			return k.Table(ctx, table.InShaders(), look(structures.Bits32), "about")
		},
		Steps: []Step{{"a batch", func(ctx context.Context) error {
			if _, err := table.Apply(ctx, batch); err != nil {
				return err
			}
			loads <- loadsOf(t, table)
			return nil
		}}},
	}
	user(t, w, d, show, func(s *session) {
		s.do(x.Type('n'))
		f := receive(s, loads).in(before.columns) // buckets stay where they are
		f.view(s)
		s.coloured(f.spots(s.camera), "slot", changed, same)
		s.closes('q')
	})
}

// coloured waits until so many spots with a name are of fresh slots, and so many of others that are in use.
func (s *session) coloured(spots []spot, name string, changed, same int) {
	s.until(func() string {
		picture, err := x.Picture(s.id)
		if err != nil {
			return err.Error()
		}
		have := map[color.RGBA]int{}
		for _, p := range spots {
			if strings.HasPrefix(p.what, name) {
				have[picture.RGBAAt(int(p.px), int(p.py))]++
			}
		}
		if have[fresh] != changed || have[leaf] != same {
			return fmt.Sprintf("%d slots are new and %d old, and not %d and %d", have[fresh], have[leaf], changed, same)
		}
		return ""
	})
}

// A step that was before shows the numbers of then.
func TestNumbersOfSteps(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint32](20)
	tree, err := btree.Build(t.Context(), d, keys, values, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	before := nodesOf(t, tree, btree.Slots)
	changed := make(chan tall, 1)
	show := Show{
		Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
			return k.Tree(ctx, tree.InShaders(), look(structures.Bits32), "about")
		},
		Steps: []Step{{"other values", func(ctx context.Context) error {
			others := slices.Clone(values)
			for i := range others {
				others[i] += 1000
			}
			if _, err := tree.Insert(ctx, keys, others); err != nil {
				return err
			}
			changed <- nodesOf(t, tree, btree.Slots)
			return nil
		}}},
	}
	user(t, w, d, show, func(s *session) {
		before.view(s)
		s.wheel(300, 600, 5)
		s.sees("before", 10, before.spots(s.camera))
		s.reads(before.mislabelled)
		s.do(x.Type('n'))
		after := receive(s, changed)
		s.reads(after.mislabelled)
		spots := after.spots(s.camera)
		for i := range spots {
			if strings.HasPrefix(spots[i].what, "slot") && spots[i].want == leaf {
				spots[i].want = fresh // all of them have another value
			}
		}
		s.sees("after", 10, spots)
		s.do(x.Type('p'))
		s.reads(before.mislabelled)
		s.sees("before", 10, before.spots(s.camera))
		s.do(x.Type('n'))
		s.reads(after.mislabelled)
		s.closes('q')
	})
}

// A table's erased slots, and pairs that come and go. Which slots they are is known by how many there are.
func TestTableSteps(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint32](500)
	table, err := slabhash.Build(t.Context(), d, keys, values, slabhash.Options{Buckets: 30})
	require.NoError(t, err)
	defer table.Close()
	show := Show{
		Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
			return k.Table(ctx, table.InShaders(), look(structures.Bits32), "about")
		},
		Steps: []Step{{"deletions", func(ctx context.Context) error {
			_, err := table.Delete(ctx, keys[:200])
			return err
		}}},
	}
	before := loadsOf(t, table)
	user(t, w, d, show, func(s *session) {
		before.view(s)
		s.sees("before", 400, before.spots(s.camera))
		s.do(x.Type('n'))
		after := flat{}
		s.until(func() string {
			if title, err := x.Title(s.id); err != nil || !strings.HasSuffix(title, "step 1 of 1: deletions") {
				return "the step isn't done"
			}
			after = loadsOf(t, table)
			picture, err := x.Picture(s.id)
			if err != nil {
				return err.Error()
			}
			used, erased := make([]int, len(after.loads)), make([]int, len(after.loads))
			for _, p := range after.spots(s.camera) {
				var slot, bucket int
				fmt.Sscanf(p.what, "slot %d of bucket %d", &slot, &bucket)
				switch c := picture.RGBAAt(int(p.px), int(p.py)); {
				case near(c, leaf):
					used[bucket]++
				case near(c, gone):
					erased[bucket]++
				}
			}
			for b, l := range after.loads {
				if used[b] != l.Pairs || erased[b] != l.Tombstones {
					return fmt.Sprintf("bucket %d shows %d pairs and %d erased, of %+v", b, used[b], erased[b], l)
				}
			}
			return ""
		})
		total := 0
		for _, l := range after.loads {
			total += l.Tombstones
		}
		require.Equal(s.t, 200, total)
		s.do(x.Type('p')) // copies, not what the table has now
		s.sees("back", 400, before.spots(s.camera))
		s.closes('q')
	})
}

// A window that is closed while a step runs ends the step, and doesn't wait for more.
func TestClosesDuringStep(t *testing.T) {
	w, d := device(t, false)
	keys, values := evens[uint32](200)
	tree, err := btree.Build(t.Context(), d, keys, values, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	m := nodesOf(t, tree, btree.Slots)
	began, ended := make(chan struct{}, 1), false
	show := Show{
		Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
			return k.Tree(ctx, tree.InShaders(), look(structures.Bits32), "about")
		},
		Steps: []Step{{"endless", func(ctx context.Context) error {
			began <- struct{}{}
			<-ctx.Done()
			ended = true
			return ctx.Err()
		}}},
	}
	user(t, w, d, show, func(s *session) {
		m.view(s)
		s.do(x.Type('n'))
		receive(s, began)
		s.wheel(500, 300, 3) // it can still be looked at
		s.sees("while the step runs", 5, m.spots(s.camera))
		s.closes('q')
	})
	require.True(t, ended)
}

// What goes wrong in a step ends the window with its error.
func TestStepFails(t *testing.T) {
	w, d := device(t, false)
	tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	broken := errors.New("broken")
	show := Show{Title: t.Name(), Every: time.Hour,
		Scene: func(ctx context.Context, k *Maker) (*Scene, error) {
			return k.Tree(ctx, tree.InShaders(), look(structures.Bits32), "an empty tree")
		},
		Steps: []Step{{"a step", func(context.Context) error { return broken }}},
	}
	go func() {
		if _, err := x.Window(t.Name()); err != nil {
			t.Error(err)
		}
		if err := x.Type('n'); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.ErrorIs(t, w.Run(ctx, d, show), broken)
}

// Without a display there is one clear line.
func TestNoDisplay(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, no := range []struct{ display, want string }{
		{"", "a window needs a display: neither DISPLAY nor WAYLAND_DISPLAY is set"},
		{":9999", "the display can't be opened: "},
	} {
		t.Setenv("DISPLAY", no.display)
		_, err := OpenWindow(WindowOptions{})
		require.ErrorContains(t, err, no.want)
		require.NotContains(t, err.Error(), "\n")
	}
}
