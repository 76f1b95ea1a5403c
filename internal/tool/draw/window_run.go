//go:build glfw

package draw

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-gl/glfw/v3.3/glfw"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// Show is what a window shows.
type Show struct {
	Title string
	// Scene makes the scene of the structure as it is: it calls Makes.Tree or Makes.Table.
	Scene func(ctx context.Context, m *Maker) (*Scene, error)
	Steps []Step
	Every time.Duration // between two steps that play
}

// Step is a change of the structure.
type Step struct {
	Name string
	// Do does it, in a goroutine of its own. The context ends when the window is closed.
	Do func(ctx context.Context) error
}

// Maker makes scenes.
type Maker struct{ maker *maker }

// Tree makes the scene of a tree, described in one line. Nothing may change the tree until the next Step.
func (m *Maker) Tree(ctx context.Context, t btree.InShaders, l Look, about string) (*Scene, error) {
	return m.maker.named(about)(m.maker.tree(ctx, t, l))
}

// Table makes the scene of a hash table, as Tree.
func (m *Maker) Table(ctx context.Context, t structures.InShaders[slabhash.Description], l Look,
	about string) (*Scene, error) {
	return m.maker.named(about)(m.maker.table(ctx, t, l))
}

func (m *maker) named(about string) func(*Scene, error) (*Scene, error) {
	return func(s *Scene, err error) (*Scene, error) {
		if err != nil {
			return nil, err
		}
		s.about = about
		return s, nil
	}
}

// player is a window that shows a structure.
type player struct {
	*Window
	Show
	ctx    context.Context
	maker  *Maker
	camera camera
	err    error // that ends it

	scenes  []*Scene // before each step that was done, and now; old ones may be missing
	at      int      // the index of the scene that is shown
	done    int      // steps
	busy    bool     // a step is being done
	results chan result
	worker  sync.WaitGroup

	playing bool
	next    time.Time // when the next step is due
	dirty   bool      // the window doesn't show what it should
	drag    bool      // a button is down
	x, y    float64   // the pointer, in pixels
}

type result struct {
	scene *Scene
	err   error
}

// keptBytes is how much memory the scenes of earlier steps take.
const keptBytes = 1 << 30

// Run shows a structure on the device of Adopt until the window is closed or the context ends, neither of which is an
// error. Errors: those of a scene or a step, and *WindowError if the device can't draw.
func (w *Window) Run(ctx context.Context, d *vk.Device, show Show) (err error) {
	m, err := newMaker(d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &player{Window: w, Show: show, ctx: ctx, maker: &Maker{m}, results: make(chan result, 1), dirty: true}
	defer func() {
		cancel()
		p.worker.Wait()
		p.free()
		err = errors.Join(err, m.close())
	}()
	first, err := show.Scene(ctx, p.maker)
	if err != nil {
		return err
	}
	p.scenes = []*Scene{first}
	p.listen()
	p.change()
	w.glfw.Show()
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { wake(); close(woken) })
	defer func() {
		if !stop() {
			<-woken
		}
	}()
	for !w.glfw.ShouldClose() && ctx.Err() == nil {
		p.turn()
		if p.err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return p.err
		}
	}
	return nil
}

// turn does what is due, and waits for what happens next.
func (p *player) turn() {
	select {
	case r := <-p.results:
		p.finish(r)
	default:
	}
	if p.playing && !p.busy && !time.Now().Before(p.next) {
		p.next = time.Now().Add(p.Every)
		p.forward()
	}
	if p.dirty && p.err == nil {
		drawn, err := p.draw(p.scenes[p.at], &p.camera)
		p.dirty, p.err = !drawn, err
	}
	switch {
	case p.err != nil:
	case p.dirty: // the window is hidden, or changes its size
		glfw.WaitEventsTimeout(0.2)
	case p.playing && !p.busy:
		glfw.WaitEventsTimeout(max(time.Until(p.next), time.Millisecond).Seconds())
	default:
		glfw.WaitEvents()
	}
}

// forward shows the next step, and does it if it isn't done.
func (p *player) forward() {
	switch {
	case p.busy:
		return
	case p.at+1 < len(p.scenes):
		p.at++
		p.change()
		return
	case p.done == len(p.Steps):
		p.playing = false
		p.change()
		return
	}
	// What is shown meanwhile must not change.
	if p.err = p.maker.maker.keep(p.ctx, p.scenes[p.at]); p.err != nil {
		return
	}
	p.maker.maker.before = p.scenes[p.at]
	p.busy = true
	p.change()
	step := p.Steps[p.done]
	p.worker.Go(func() {
		var r result
		if r.err = step.Do(p.ctx); r.err == nil {
			r.scene, r.err = p.Scene(p.ctx, p.maker)
		}
		p.results <- r
		wake()
	})
}

// finish takes what a step has led to.
func (p *player) finish(r result) {
	p.busy = false
	if p.err = r.err; p.err != nil {
		return
	}
	p.done++
	p.scenes = append(p.scenes, r.scene)
	p.at = len(p.scenes) - 1
	kept := uint64(0)
	for _, s := range p.scenes {
		kept += s.bytes
	}
	for kept > keptBytes && len(p.scenes) > 1 {
		kept -= p.scenes[0].bytes
		p.scenes[0].free()
		p.scenes, p.at = p.scenes[1:], p.at-1
	}
	p.change()
}

// back shows the step before.
func (p *player) back() {
	p.playing = false
	if p.at > 0 && !p.busy {
		p.at--
	}
	p.change()
}

// change has the window show the scene that is chosen.
func (p *player) change() {
	s := p.scenes[p.at]
	p.camera.show(s.wide, s.high, s.stretched, s.closest)
	text := p.Title + ": " + s.about
	if shown := p.done - (len(p.scenes) - 1 - p.at); len(p.Steps) != 0 {
		text += fmt.Sprintf(" – step %d of %d", shown, len(p.Steps))
		if shown > 0 {
			text += ": " + p.Steps[shown-1].Name
		}
		switch {
		case p.busy:
			text += ", working"
		case p.playing:
			text += ", playing"
		}
	}
	p.glfw.SetTitle(text)
	p.dirty = true
}

// free frees the scenes. The worker has ended.
func (p *player) free() {
	select {
	case r := <-p.results:
		if r.scene != nil {
			r.scene.free()
		}
	default:
	}
	for _, s := range p.scenes {
		s.free()
	}
}

// listen has GLFW call the player.
func (p *player) listen() {
	p.glfw.SetFramebufferSizeCallback(func(_ *glfw.Window, _, _ int) { p.stale, p.dirty = true, true })
	p.glfw.SetRefreshCallback(func(*glfw.Window) { p.dirty = true })
	p.glfw.SetMouseButtonCallback(func(_ *glfw.Window, b glfw.MouseButton, a glfw.Action, _ glfw.ModifierKey) {
		if b == glfw.MouseButtonLeft {
			p.drag = a == glfw.Press
		}
	})
	p.glfw.SetCursorPosCallback(func(_ *glfw.Window, x, y float64) {
		x, y = p.pixels(x, y)
		if p.drag {
			p.camera.pan(x-p.x, y-p.y)
			p.dirty = true
		}
		p.x, p.y = x, y
	})
	p.glfw.SetScrollCallback(func(_ *glfw.Window, _, by float64) {
		for ; by >= 1; by-- {
			p.zoom(zoomStep, p.x, p.y)
		}
		for ; by <= -1; by++ {
			p.zoom(1/zoomStep, p.x, p.y)
		}
		p.zoom(1+by*(zoomStep-1), p.x, p.y) // of a touchpad
	})
	p.glfw.SetKeyCallback(func(_ *glfw.Window, k glfw.Key, _ int, a glfw.Action, _ glfw.ModifierKey) {
		if a != glfw.Release {
			p.key(k)
		}
	})
	p.glfw.SetCharCallback(func(_ *glfw.Window, char rune) { p.char(char) })
}

// pixels converts GLFW's coordinates, which may have another unit.
func (p *player) pixels(x, y float64) (px, py float64) {
	w, h := p.glfw.GetSize()
	fw, fh := p.glfw.GetFramebufferSize()
	return x * float64(fw) / float64(max(w, 1)), y * float64(fh) / float64(max(h, 1))
}

const (
	zoomStep = 1.25
	panStep  = 64.0 // pixels
)

func (p *player) zoom(by, x, y float64) {
	p.camera.zoom(by, x, y)
	p.dirty = true
}

// key handles keys that have no character.
func (p *player) key(k glfw.Key) {
	switch k {
	case glfw.KeyEscape:
		p.glfw.SetShouldClose(true)
	case glfw.KeyLeft:
		p.camera.pan(panStep, 0)
	case glfw.KeyRight:
		p.camera.pan(-panStep, 0)
	case glfw.KeyUp:
		p.camera.pan(0, panStep)
	case glfw.KeyDown:
		p.camera.pan(0, -panStep)
	case glfw.KeyHome:
		p.camera.fit()
	default:
		return
	}
	p.dirty = true
}

// char handles keys by their character, wherever the keyboard has them.
func (p *player) char(c rune) {
	switch c {
	case 'q':
		p.glfw.SetShouldClose(true)
	case '+', '=':
		p.zoom(zoomStep, p.camera.w/2, p.camera.h/2)
	case '-':
		p.zoom(1/zoomStep, p.camera.w/2, p.camera.h/2)
	case '0':
		p.camera.fit()
		p.dirty = true
	case 'n':
		p.playing = false
		p.forward()
	case 'p':
		p.back()
	case ' ':
		p.playing = !p.playing && len(p.Steps) != 0
		p.next = time.Now()
		p.change()
	}
}
