package draw

import (
	"fmt"

	"github.com/vkds/vkds/structures/btree"
)

// leafAt is a leaf and the position at which it was drawn.
type leafAt struct {
	Node
	x, y float64
}

const versionApart = 34.0 // from one version to the next older one

// versions draws the versions of leaves below them: each once, below the first leaf that leads to it.
func (t *Tree) versions(c *canvas, leaves []leafAt) {
	width := cell*float64(t.Slots) + 4
	top, deepest := c.y+8, 0
	places := map[uint32][2]float64{}
	for _, n := range leaves {
		x, y := n.x, n.y
		for i, v := range t.Versions(n.Node) {
			to, shared := places[v.Number]
			if !shared {
				to = [2]float64{n.x, top + float64(i)*versionApart}
				places[v.Number] = to
				t.version(c, v, to[0], to[1])
				deepest = max(deepest, i+1)
			}
			c.line("link", x+width/2, y+deep, to[0]+width/2, to[1])
			if shared {
				break // the older ones are drawn
			}
			x, y = to[0], to[1]
		}
	}
	if deepest != 0 {
		c.text("", margin, top+11, "versions")
		c.text("small", margin, top+24, fmt.Sprintf("%d kept of these", len(places)))
		c.y = top + float64(deepest)*versionApart + 8
	}
}

func (t *Tree) version(c *canvas, v btree.Version, x, y float64) {
	note := fmt.Sprintf("version %d: since time %d, until %d, %d of %d slots in use", v.Number, v.Since, v.Until,
		len(v.Keys), t.Slots)
	for _, k := range v.Keys {
		note += "\n" + t.key(k)
	}
	c.begin("version", note)
	used, free := boxes{w: cell - 1, h: deep - 4}, boxes{w: cell - 1, h: deep - 4}
	for i := range t.Slots {
		to := &free
		if i < len(v.Keys) {
			to = &used
		}
		to.add(x+2.5+cell*float64(i), y+2)
	}
	c.boxes("spread", &used)
	c.boxes("room", &free)
	c.rect("frame", x, y, cell*float64(t.Slots)+4, deep)
	c.text("small low", x, y+deep+10, fmt.Sprintf("%d – %d", v.Since, v.Until))
	c.end()
}
