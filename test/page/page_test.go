// Package page tests the pages of traces in a browser, headless Chromium. It is a module of its own, so that what
// drives the browser is no dependency of whoever imports the library.
package page

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/draw"
	"github.com/vkds/vkds/shaders/traced"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/structures/view"
	"github.com/vkds/vkds/vk"
)

// The scripts say what types they have, and the compiler of TypeScript finds no contradiction.
func TestTypes(t *testing.T) {
	scripts, err := filepath.Glob("../../internal/tool/draw/page/*.js")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	scripts = append(scripts, "../../structures/view/view.js", "../../internal/tool/serve/page.js")
	compiler := exec.Command("tsc", append([]string{"--allowJs", "--checkJs", "--noEmit", "--strict",
		"--target", "es2021", "--lib", "es2022,dom,dom.iterable"}, scripts...)...)
	out, err := compiler.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

var browser context.Context

func TestMain(m *testing.M) {
	// The first start from a cold disk, beside compilers, takes long.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1200, 800),
		chromedp.WSURLReadTimeout(3*time.Minute))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	var quit context.CancelFunc
	browser, quit = chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil { // it starts the browser, which ends with the context of the first call
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	quit()
	stop()
	os.Exit(code)
}

// tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// show opens a page, at a moment that its address may name ("#at=7").
func show(t *testing.T, p *draw.Page, moment string) tab {
	path := filepath.Join(t.TempDir(), "trace.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, p.Write(f))
	require.NoError(t, f.Close())
	ctx, closed := chromedp.NewContext(browser)
	t.Cleanup(closed)
	ctx, late := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(late)
	b := tab{t, ctx}
	b.do(chromedp.Navigate("file://" + path + moment))
	b.drawn()
	return b
}

func (b tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, actions...))
}

// eval evaluates an expression of the page.
func (b tab) eval(expression string, into any) {
	b.t.Helper()
	encoded, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("JSON.stringify("+expression+")"))
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal([]byte(encoded), into))
}

// drawn waits until what was asked for is on the screen.
func (b tab) drawn() {
	b.t.Helper()
	const done = "!stale && !playing && listed.startsWith(model.at + ' ')"
	b.do(chromedp.Poll[chromedp.Void](done, chromedp.WithPollingInterval(20*time.Millisecond)))
}

func (b tab) key(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
	b.drawn()
}

func (b tab) now() (text string) {
	b.t.Helper()
	b.eval("element('now').textContent", &text)
	return text
}

func decimal(w uint64) string { return strconv.FormatUint(w, 10) }

func open(t *testing.T) *vk.Device {
	d, err := vk.Open(vk.Options{Trace: traced.Kernels(1 << 20)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func take(t *testing.T, d *vk.Device) *trace.Trace {
	all, err := trace.Take(t.Context(), d)
	require.NoError(t, err)
	require.Zero(t, all.Dropped)
	return all
}

// mixed returns insertions and deletions of some keys. A key always has the same value: of two changes that race, the
// second may be numbered first.
func mixed(n, keys int) (b structures.Batch[uint32, uint32]) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		key := 1 + uint32(rng.IntN(keys))
		kind := structures.Insert
		if rng.IntN(3) == 0 {
			kind = structures.Delete
		}
		b.Kinds = append(b.Kinds, kind)
		b.Keys, b.Values = append(b.Keys, key), append(b.Values, 7*key)
	}
	return b
}

// tree traces a batch on a tree that has pairs, between two snapshots.
func tree(t *testing.T) (*draw.Page, *btree.Tree[uint32, uint32]) {
	d := open(t)
	keys, values := make([]uint32, 1000), make([]uint32, 1000)
	for i := range keys {
		keys[i] = uint32(3*i + 2)
		values[i] = 7 * keys[i]
	}
	m, err := btree.Build(t.Context(), d, keys, values, btree.Options{Path: btree.Concurrent})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	p := &draw.Page{Title: "A <tree>", Slots: btree.SlotsAt(structures.Bits32), Key: decimal, Value: decimal}
	p.Nodes = nodes(t, m)
	snapshot, err := m.Snapshot(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, snapshot.Close()) })
	_, err = m.Apply(t.Context(), mixed(3000, 4000))
	require.NoError(t, err)
	p.Trace = take(t, d)
	return p, m
}

func nodes(t *testing.T, m *btree.Tree[uint32, uint32]) []draw.Node {
	all, err := m.Inspect().Nodes(t.Context())
	require.NoError(t, err)
	return all
}

// What the events of a batch make of the tree before it is the tree behind it, node by node; and back.
func TestTreeAtTheLastMoment(t *testing.T) {
	p, m := tree(t)
	b := show(t, p, "")
	type shown struct {
		ID           uint32
		Level        int
		Keys, Values []string
		Orphan       bool
		Latched      int
		Versions     int
	}
	const content = `[...model.nodes.values()].map(n => ({id: n.id, level: n.level, orphan: n.orphan,
		latched: n.latched, versions: n.versions.length, keys: n.keys.map(k => k < 0 ? '0' : data.keys[k]),
		values: n.values.map(v => n.level ? String(v) : data.values[v])})).sort((a, b) => a.id - b.id)`
	var first, last, again []shown
	b.eval(content, &first)
	b.eval("(seek(count), "+content+")", &last)
	b.eval("(seek(0), "+content+")", &again)
	require.Equal(t, first, again)
	require.NotEqual(t, first, last)

	is := map[uint32]draw.Node{}
	for _, n := range nodes(t, m) {
		is[n.Ref] = n
	}
	require.Len(t, last, len(is))
	kept := 0
	for _, n := range last {
		want := is[n.ID]
		require.Equal(t, want.Level, n.Level, "node %d", n.ID)
		require.False(t, n.Orphan)
		require.Equal(t, -1, n.Latched)
		require.Len(t, n.Keys, len(want.Keys), "node %d", n.ID)
		for i, k := range want.Keys {
			require.Equal(t, decimal(k), n.Keys[i])
			require.Equal(t, decimal(want.Values[i]), n.Values[i])
		}
		kept += n.Versions
	}
	versions, err := m.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.NotZero(t, versions.Kept)
	require.GreaterOrEqual(t, kept, versions.Kept) // leaves that were split share some
}

// The same of a hash table, whose slabs the host can't see: its pairs.
func TestTableAtTheLastMoment(t *testing.T) {
	d := open(t)
	m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Buckets: 20, MaxLoad: -1})
	require.NoError(t, err)
	defer m.Close()
	_, err = m.Apply(t.Context(), mixed(2000, 1000))
	require.NoError(t, err)
	p := &draw.Page{Title: "A table", Trace: take(t, d), List: "bucket", Width: structures.Bits32,
		Slots: slabhash.SlotsAt(structures.Bits32, false), Key: decimal, Value: decimal}
	b := show(t, p, "")
	const content = `[...model.nodes.values()].flatMap(n => n.keys.map((k, i) =>
		k < 0 ? undefined : [data.keys[k], data.values[n.values[i]]])).filter(x => x)`
	var first, last, again [][2]string
	b.eval(content, &first)
	require.Empty(t, first)
	b.eval("(seek(count), "+content+")", &last)
	got := map[string]string{}
	for _, pair := range last {
		require.NotContains(t, got, pair[0])
		got[pair[0]] = pair[1]
	}
	want := map[string]string{}
	for pair, err := range m.All(t.Context()) {
		require.NoError(t, err)
		want[decimal(uint64(pair.Key))] = decimal(uint64(pair.Value))
	}
	require.Equal(t, want, got)
	lists, slabs := 0, 0
	b.eval("model.heads.length", &lists)
	b.eval("(model.layout(), model.rows[0].length)", &slabs)
	stats, err := m.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 20, lists)
	require.EqualValues(t, stats.Slabs, slabs)
	b.eval("(seek(0), "+content+")", &again)
	require.Empty(t, again)
}

// What events make of an LSM's rows is how many pairs its front and its levels have, after each batch.
func TestLevelsAfterEachBatch(t *testing.T) {
	d := open(t)
	m, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: 256})
	require.NoError(t, err)
	defer m.Close()
	p := &draw.Page{Title: "An LSM", Trace: &trace.Trace{}, List: draw.Runs, Slots: 256}
	var moments []int
	var want []map[int]int // pairs by rows
	rng := rand.New(rand.NewPCG(5, 6))
	for batch := range 24 {
		keys := make([]uint32, []int{256, rng.IntN(256), 256 + rng.IntN(2000), 2048}[batch%4])
		for i := range keys {
			keys[i] = uint32(rng.IntN(5000))
		}
		switch {
		case batch%11 == 10:
			require.NoError(t, m.Cleanup(t.Context()))
		case batch%5 == 4:
			_, err = m.Delete(t.Context(), keys)
		default:
			_, err = m.Insert(t.Context(), keys, keys)
		}
		require.NoError(t, err)
		some := take(t, d)
		p.Trace.Kernels, p.Trace.Events = some.Kernels, append(p.Trace.Events, some.Events...)
		stats, err := m.Inspect().Stats(t.Context())
		require.NoError(t, err)
		pairs := map[int]int{}
		if stats.Front > 0 {
			pairs[0] = stats.Front
		}
		for _, l := range stats.Levels {
			pairs[l.Number+1] = l.Pairs
		}
		moments, want = append(moments, len(p.Trace.Events)), append(want, pairs)
	}
	b := show(t, p, "")
	const content = `Object.fromEntries([...model.nodes.values()].filter(n => n.level >= 0 && n.keys.length > 0)
		.map(n => [n.level, n.pairs]))`
	for _, order := range [][]int{{0, 1, 2, 3, 11, 10, 5}, {23, 22, 21, 12, 0}} { // forward and back
		for _, i := range order {
			var got map[int]int
			b.eval(fmt.Sprintf("(seek(%d), %s)", moments[i], content), &got)
			require.Equal(t, want[i], got, "after batch %d", i)
		}
	}
	var passing int // at rest, nothing is on its way
	b.eval("(seek(count), model.layout(), model.rows[0].filter(n => n.level < 0).length)", &passing)
	require.Zero(t, passing)
	require.Equal(t, 256, draw.BatchOf(p.Trace))
}

// few is a trace of two operations, made by hand: a leaf is split, and its parent learns of that.
func few() *draw.Page {
	leaf, other := uint32(1), uint32(2)
	all := &trace.Trace{Device: "by hand", Kernels: []string{"btree/apply"}, Events: []trace.Event{
		{What: trace.Begin, Operation: 0, Other: uint32(structures.Insert), Key: 25, Value: 5},
		{What: trace.Visit, Place: 0},
		{What: trace.Visit, Place: leaf},
		{What: trace.Begin, Operation: 1, Other: uint32(structures.Insert), Key: 70, Value: 6},
		{What: trace.Latch, Place: leaf},
		{What: trace.Latched, Operation: 1, Place: leaf},
		{What: trace.Split, Place: leaf, Other: other, Key: 30},
		{What: trace.Write, Place: leaf, Other: 2, Key: 25, Value: 5},
		{What: trace.Release, Place: leaf},
		{What: trace.Latch, Place: 0, Other: 1},
		{What: trace.Separator, Place: 0, Other: other, Key: 30, Value: 1},
		{What: trace.Release, Place: 0},
		{What: trace.End, Other: uint32(structures.Inserted)},
		{What: trace.Restart, Operation: 1, Place: 0},
		{What: trace.End, Operation: 1, Other: uint32(structures.Pending)},
	}}
	return &draw.Page{Title: "By hand", Trace: all, Slots: 4, Key: decimal, Value: decimal, Nodes: []draw.Node{
		{Ref: 0, Level: 1, Last: true, Keys: []uint64{0}, Values: []uint64{uint64(leaf)}},
		{Ref: leaf, Last: true, Keys: []uint64{10, 20, 30, 40}, Values: []uint64{1, 2, 3, 4}}}}
}

// Steps, jumps, breakpoints and play, by keyboard and by pointer.
func TestSteps(t *testing.T) {
	b := show(t, few(), "")
	require.Equal(t, "Before the first of 15 events", b.now())
	b.key(kb.ArrowRight)
	require.Equal(t, "1 of 15: #0 insert of 25 begins", b.now())
	b.key("s")
	require.Equal(t, "7 of 15: #0 insert of 25 splits node 1: from 30 on its content is in node 2", b.now())
	b.key(kb.ArrowLeft)
	require.Equal(t, "6 of 15: #1 insert of 70 finds the latch of node 1 taken", b.now())
	b.key(kb.Home)
	b.key("l")
	require.Contains(t, b.now(), "6 of 15")
	b.key("r")
	require.Equal(t, "14 of 15: #1 insert of 70 goes back to the root, node 0", b.now())
	b.key(kb.End)
	require.Equal(t, "15 of 15: #1 insert of 70 ends: pending", b.now())
	b.key("o")
	require.Equal(t, "There is no further one.", b.now())
	b.key(kb.Home)
	b.key("r")
	b.key("r") // the moment stays
	require.Equal(t, "There is no further one.", b.now())
	b.key(kb.ArrowRight)
	require.Contains(t, b.now(), "15 of 15")

	for stop, want := range map[string]string{"split": "7 of 15", "node 2": "7 of 15", "key 70": "4 of 15",
		"#1": "4 of 15", "release, Split": "7 of 15", "node 9": "15 of 15", "node": "15 of 15"} {
		b.key(kb.Home)
		b.do(chromedp.SetValue(chromedp.CSS("#stops"), stop), chromedp.SetValue(chromedp.CSS("#speed"), "1000"),
			chromedp.Click(chromedp.CSS("#play")))
		b.drawn()
		require.Contains(t, b.now(), want, stop)
	}

	// A click on the new leaf shows what it has, and its history leads back to the split.
	b.key(kb.End)
	var at struct{ X, Y, Left, Top float64 }
	b.eval(`(n => { const b = view.box(n), r = view.canvas.getBoundingClientRect();
		return {x: b.x + b.w / 2, y: b.y + b.h / 2, left: r.left, top: r.top}; })(model.nodes.get(2))`, &at)
	b.do(chromedp.MouseClickXY(at.Left+at.X, at.Top+at.Y))
	b.drawn()
	var text string
	b.eval("element('node').textContent", &text)
	require.Contains(t, text, "Node 2level 0, from 30 on, 50% full")
	b.do(chromedp.Click(chromedp.CSS("#node ol button")))
	b.drawn()
	require.Contains(t, b.now(), "7 of 15")

	// The operations say where each is, and choosing one follows it.
	b.eval("element('operations').textContent", &text)
	require.Equal(t, "#0 insert 25 · node 1#1 insert 70 · node 1", text)
	b.do(chromedp.Click(chromedp.CSS(`#operations [data-number="1"]`)))
	b.key("o")
	require.Contains(t, b.now(), "14 of 15")
}

// The page of a live structure shows what the structure has, and what it had some samples ago.
func TestLive(t *testing.T) {
	d := open(t)
	m, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(view.Handler("A <tree>", m.Inspect(), view.Options{Every: 20 * time.Millisecond}))
	defer server.Close()
	b := visit(t, server.URL)
	const pairs = `document.querySelector('#sizes [data-name="Pairs"] b')?.textContent`
	shows := b.shows
	shows(pairs, "'0'")
	keys := make([]uint32, 1234)
	for i := range keys {
		keys[i] = uint32(i)
	}
	_, err = m.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	shows(pairs, "'1,234'")
	shows(`document.querySelector('#lists [data-name="Levels: Nodes"] b') !== null`, "true")
	seek := func(moment string) {
		b.eval("(m => { m.value = "+moment+"; m.dispatchEvent(new Event('input')); return 0; })"+
			"(document.querySelector('#moment'))", new(int))
	}
	seek("0")
	shows(pairs, "'0'")
	require.NoError(t, m.Close())
	seek("m.max")
	shows(`document.querySelector('#error').textContent.includes('closed')`, "true")
}

// colours counts the picture's pixels by colour.
func (b tab) colours() (n map[string]int) {
	b.t.Helper()
	b.eval(`(() => { const n = {}, c = view.canvas, p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		for (let i = 0; i < p.length; i += 4) {
			const name = '#' + [p[i], p[i+1], p[i+2]].map(x => x.toString(16).padStart(2, '0')).join('');
			n[name] = (n[name] || 0) + 1;
		}
		return n; })()`, &n)
	return n
}

// A leaf is red from its split until its parent knows it; latched nodes and those that operations look at are marked.
// What the picture shows depends on the moment alone, not on the way there.
func TestPicture(t *testing.T) {
	b := show(t, few(), "")
	const red, brown, yellow = "#d1242f", "#b45309", "#ffd43b"
	require.Zero(t, b.colours()[red]+b.colours()[brown]+b.colours()[yellow])
	b.eval("(seek(5), 0)", new(int))
	b.drawn()
	require.NotZero(t, b.colours()[brown])
	require.NotZero(t, b.colours()[yellow])
	pictures := map[int]map[string]int{}
	for at := range 16 {
		b.eval("(seek("+strconv.Itoa(at)+"), 0)", new(int))
		b.drawn()
		pictures[at] = b.colours()
		require.Equal(t, at >= 7 && at < 11, pictures[at][red] > 100, "moment %d", at)
		require.Equal(t, at >= 5 && at < 9 || at >= 10 && at < 12, pictures[at][brown] > 100, "moment %d", at)
	}
	for at := 15; at >= 0; at-- {
		b.key(map[bool]string{true: kb.End, false: kb.ArrowLeft}[at == 15])
		require.Equal(t, pictures[at], b.colours(), "moment %d", at)
	}
	b.eval("(element('heat').value = 'fill', refresh(), 0)", new(int))
	b.drawn()
	require.NotEqual(t, pictures[0], b.colours())
	var scale string
	b.eval("element('scale').hidden ? '' : element('least').textContent + '-' + element('most').textContent", &scale)
	require.Equal(t, "empty-full", scale)
}

// The picture has each node's content where the layout says that the node is: the leaf's slots are blue as far as they
// have keys, and after its split, half of them.
func TestPlaces(t *testing.T) {
	b := show(t, few(), "")
	const blue, grey, green = "#3b7dd8", "#e6eaef", "#2a9d77"
	slots := func(node int) (colours [4]string) {
		b.eval(fmt.Sprintf(`(() => {
			const b = view.box(model.nodes.get(%d)), {left, each} = view.slots(b), ratio = devicePixelRatio;
			const at = (x, y) => [...view.context.getImageData(x * ratio, y * ratio, 1, 1).data].slice(0, 3);
			const hex = rgb => '#' + rgb.map(x => x.toString(16).padStart(2, '0')).join('');
			return [1, 2, 3, 4].map(i => hex(at(left + each * i - 3, b.y + 6)));
		})()`, node), &colours)
		return colours
	}
	at := func(moment int) {
		b.eval(fmt.Sprintf("(seek(%d), 0)", moment), new(int))
		b.drawn()
	}
	require.Equal(t, [4]string{blue, blue, blue, blue}, slots(1))
	require.Equal(t, [4]string{green, grey, grey, grey}, slots(0))
	at(7)
	require.Equal(t, [4]string{blue, blue, grey, grey}, slots(1))
	require.Equal(t, [4]string{blue, blue, grey, grey}, slots(2))
	at(8)
	require.Equal(t, [4]string{blue, blue, blue, grey}, slots(1))
	at(15)
	require.Equal(t, [4]string{green, green, grey, grey}, slots(0))
	b.key("+")
	b.do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.drawn()
	require.Equal(t, [4]string{blue, blue, grey, grey}, slots(2), "moved")
}

// Nodes are selected by keyboard, in the order of the picture.
func TestSelection(t *testing.T) {
	b := show(t, few(), "#at=3")
	selected := func() (id int) { b.eval("view.selected", &id); return id }
	for _, step := range []struct {
		key  string
		want int
	}{{"n", 1}, {"n", 0}, {"n", 1}, {"b", 0}} {
		b.key(step.key)
		require.Equal(t, step.want, selected())
	}
	b.key(kb.End)
	b.key("b")
	require.Equal(t, 2, selected(), "the leaf to the right")
}

// A tree of 100,000 leaves is drawn fast enough to move it.
func TestLarge(t *testing.T) {
	p := few()
	p.Nodes = nil
	level := make([]draw.Node, 100_000)
	for i := range level {
		level[i] = draw.Node{Ref: uint32(i), Low: uint64(100 * i), Link: uint32(i + 1), Last: i+1 == len(level),
			Keys: []uint64{uint64(100*i + 1), uint64(100*i + 2)}, Values: []uint64{1, 2}}
	}
	all, place := level, uint32(len(level))
	for deep := 1; len(level) > 1; deep++ {
		var above []draw.Node
		for i, n := range level {
			if i%10 == 0 {
				above = append(above, draw.Node{Ref: place, Level: deep, Low: n.Low, Link: place + 1,
					Last: i+10 >= len(level)})
				place++
			}
			last := &above[len(above)-1]
			last.Keys, last.Values = append(last.Keys, n.Low), append(last.Values, uint64(n.Ref))
		}
		all, level = append(all, above...), above
	}
	p.Nodes = all
	b := show(t, p, "")
	var took []float64
	b.eval(`[1, 8, 100, 1000, 5000].map(factor => {
		view.fits = true; view.draw(); view.zoom(factor, 300, 300);
		const start = performance.now();
		for (let i = 0; i < 10; i++) { view.x += 1; view.draw(); }
		view.context.getImageData(0, 0, 1, 1);
		return (performance.now() - start) / 10; })`, &took)
	t.Logf("milliseconds a frame, from all leaves to a few: %.1f", took)
	for _, ms := range took {
		require.Less(t, ms, 200.0) // 33 on a machine that has nothing else to do
	}
}
