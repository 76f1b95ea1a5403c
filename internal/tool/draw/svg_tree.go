package draw

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/vkds/vkds/structures/btree"
)

// Tree is a tree to draw.
type Tree struct {
	Title  string
	Notes  []string // lines below the title
	Slots  int      // slots of a node
	Levels [][]Node // from the root's level to the leaves; the nodes of each in key order
	Near   uint64   // a key; nodes of lower levels are drawn one by one only near its leaf

	// Key formats a key; nil: in decimal.
	Key func(uint64) string

	// Versions returns the earlier versions of a leaf, the newest first; nil: there are none.
	Versions func(leaf Node) []btree.Version
}

func (t *Tree) key(k uint64) string {
	if t.Key == nil {
		return fmt.Sprint(k)
	}
	return t.Key(k)
}

// WriteSVG draws the tree: first the nodes of all levels and how full they are, several of them as one if there are too
// many; then the path from the root to one leaf, with all children of the nodes on it.
func (t *Tree) WriteSVG(w io.Writer) error {
	c := &canvas{}
	c.title(t.Title, t.Notes)
	c.heading("All levels")
	c.key([2]string{"leaf", "slots of leaves in use"}, [2]string{"inner", "slots of inner nodes in use"},
		[2]string{"room", "free slots"},
		[2]string{"spread", "from the fullest of several nodes down to the emptiest"})
	for i, level := range t.Levels {
		t.overview(c, len(t.Levels)-1-i, level)
	}
	if len(t.Levels) != 0 {
		c.heading("From the root to the leaf of key " + t.key(t.Near))
		t.zoom(c)
	}
	return c.write(w, t.Title)
}

func (t *Tree) fill(n Node) float64 { return float64(len(n.Keys)) / float64(max(t.Slots, 1)) }

const (
	labels = 170.0 // width of the labels on the left
	bar    = 36.0  // height of a full bar
)

// overview draws one level, with a bar for each node or run of nodes.
func (t *Tree) overview(c *canvas, level int, nodes []Node) {
	used := 0
	for _, n := range nodes {
		used += len(n.Keys)
	}
	kind, spread := "inner", "spread-inner"
	name := fmt.Sprintf("level %d", level)
	if level == 0 {
		kind, spread, name = "leaf", "spread", "leaves"
	}
	c.text("", margin, c.y+14, fmt.Sprintf("%s: %s", name, grouped(len(nodes))))
	c.text("small", margin, c.y+28, fmt.Sprintf("%s in use, fill %.3f", grouped(used),
		float64(used)/float64(max(len(nodes)*t.Slots, 1))))
	starts := parts(len(nodes), columns)
	each := (inner - labels) / float64(max(len(starts)-1, 1))
	gap := min(2, each/4)
	room := boxes{w: each - gap, h: bar}
	for i := range len(starts) - 1 {
		room.add(margin+labels+float64(i)*each, c.y)
	}
	c.boxes("room", &room)
	for i := range len(starts) - 1 {
		run := nodes[starts[i]:starts[i+1]]
		least, most, sum := 1.0, 0.0, 0.0
		for _, n := range run {
			f := t.fill(n)
			least, most, sum = min(least, f), max(most, f), sum+f
		}
		mean := sum / float64(len(run))
		x := margin + labels + float64(i)*each
		note := fmt.Sprintf("%s nodes from key %s to %s, mean fill %.3f, %.3f to %.3f", grouped(len(run)),
			t.key(run[0].Low), t.key(run[len(run)-1].High), mean, least, most)
		if len(run) == 1 {
			note = t.summary(run[0])
		}
		c.begin("bar", note)
		if most > mean {
			c.rect(spread, x, c.y+bar*(1-most), each-gap, bar*(most-mean))
		}
		c.rect(kind, x, c.y+bar*(1-mean), each-gap, bar*mean)
		if least < mean {
			c.rect(spread, x, c.y+bar*(1-least), each-gap, 1)
		}
		c.end()
	}
	c.y += bar + 10
}

// summary describes a node in one line.
func (t *Tree) summary(n Node) string {
	text := fmt.Sprintf("node %d: keys %s to %s, %d of %d slots in use", n.Ref, t.key(n.Low), t.key(n.High),
		len(n.Keys), t.Slots)
	if n.Latched {
		text += ", LATCHED"
	}
	return text
}

// note describes a node with all its keys and children.
func (t *Tree) note(n Node) string {
	keys := []string{t.summary(n)}
	for i, k := range n.Keys {
		if n.Level > 0 {
			keys = append(keys, fmt.Sprintf("%s → %d", t.key(k), n.Values[i]))
		} else {
			keys = append(keys, t.key(k))
		}
	}
	return strings.Join(keys, "\n")
}

const (
	cell  = 5.0  // width of a slot
	deep  = 14.0 // height of a node
	apart = 66.0 // from one level to the next
)

// zoom draws the path to the leaf of Near, each level with all children of the node above.
func (t *Tree) zoom(c *canvas) {
	nodeWidth := cell*float64(t.Slots) + 4
	shown := []int{at(t.Levels[0], t.Near)} // indices in the level
	var parent Node
	var above []float64 // the x coordinates of its slots
	var lows []func()   // drawn last, over the lines
	var drawn []leafAt
	y := c.y + 6
	for depth, level := range t.Levels {
		on := at(level, t.Near)
		step := min((inner-labels)/float64(len(shown)), nodeWidth*1.6)
		left := margin + labels + ((inner-labels)-step*float64(len(shown)))/2
		name := fmt.Sprintf("level %d", len(t.Levels)-1-depth)
		if depth == len(t.Levels)-1 {
			name = "leaves"
		}
		c.text("", margin, y+11, name)
		c.text("small", margin, y+24, fmt.Sprintf("%d of %s", len(shown), grouped(len(level))))
		var slots []float64
		for i, place := range shown {
			n := level[place]
			x := left + float64(i)*step
			from := slices.Index(parent.Values, uint64(n.Ref))
			orphan := depth > 0 && from < 0
			if from >= 0 && from < len(above) {
				class := "line"
				if place == on {
					class = "way"
				}
				c.line(class, above[from], y-apart+deep, x+nodeWidth/2, y)
			}
			here := t.node(c, n, x, y, depth == len(t.Levels)-1, place == on, orphan)
			if place == on {
				slots = here
			}
			if n.Level == 0 {
				drawn = append(drawn, leafAt{n, x, y})
			}
			if place+1 < len(level) {
				end := x + step
				if i == len(shown)-1 {
					end = x + nodeWidth + 14
				}
				if end-x-nodeWidth >= 3 {
					c.line("link", x+nodeWidth, y+deep/2, end, y+deep/2)
				}
			}
			low, under := t.key(n.Low), y+deep+10
			lows = append(lows, func() { c.text("small low", x, under, low) })
		}
		parent, above = level[on], slots
		y += apart
		if depth+1 < len(t.Levels) {
			shown = t.below(depth+1, level[on])
		}
	}
	for _, draw := range lows {
		draw()
	}
	c.y = y - apart + deep + 18
	if t.Versions != nil {
		t.versions(c, drawn)
	}
}

// node draws one node with its slots, and returns the x coordinates of the slots' centers.
func (t *Tree) node(c *canvas, n Node, x, y float64, leaf, chosen, orphan bool) (slots []float64) {
	class, kind := "frame", "inner"
	if leaf {
		kind = "leaf"
	}
	for _, mark := range []struct {
		is   bool
		name string
	}{{chosen, "chosen"}, {orphan, "orphan"}, {n.Latched, "latched"}} {
		if mark.is {
			class += " " + mark.name
		}
	}
	c.begin("node", t.note(n))
	used, free := boxes{w: cell - 1, h: deep - 4}, boxes{w: cell - 1, h: deep - 4}
	for i := range t.Slots {
		to := &free
		if i < len(n.Keys) {
			to = &used
			slots = append(slots, x+2+cell*float64(i)+cell/2)
		}
		to.add(x+2.5+cell*float64(i), y+2)
	}
	c.boxes(kind, &used)
	c.boxes("room", &free)
	c.rect(class, x, y, cell*float64(t.Slots)+4, deep)
	c.end()
	return slots
}

// at returns the index in a level of the node for a key.
func at(level []Node, key uint64) int {
	return max(0, sort.Search(len(level), func(i int) bool { return level[i].Low > key })-1)
}

// most is the greatest number of children drawn for a node: more than a node has, so some nodes without a parent fit,
// too.
const most = 20

// below returns the indices, in a level, of a node's children and of the nodes between them.
func (t *Tree) below(depth int, parent Node) (places []int) {
	level := t.Levels[depth]
	for i := at(level, parent.Low); i < len(level) && level[i].Low <= parent.High && len(places) < most; i++ {
		places = append(places, i)
	}
	if on := at(level, t.Near); !slices.Contains(places, on) {
		places = append(places, on) // the path continues in any case
	}
	return places
}
