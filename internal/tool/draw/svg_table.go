package draw

import (
	"fmt"
	"io"
	"math"

	"github.com/vkds/vkds/structures/slabhash"
)

// Table is a hash table to draw. Each bucket is a list of slabs.
type Table struct {
	Title   string
	Notes   []string // lines below the title
	Slots   int      // slots of a slab
	Base    int      // slabs that a bucket has at least
	Buckets []slabhash.BucketLoad
}

// chains is the number of buckets drawn slab by slab.
const chains = 48

// WriteSVG draws how many buckets have how many pairs, with the numbers expected for random hash values; the loads of
// all buckets in order, several of them as one if there are too many; and some buckets slab by slab.
func (t *Table) WriteSVG(w io.Writer) error {
	c := &canvas{}
	c.title(t.Title, t.Notes)
	c.heading("Buckets by their number of pairs")
	t.histogram(c)
	c.heading("The buckets in their order")
	c.key([2]string{"leaf", "pairs: the mean of several buckets"}, [2]string{"spread", "up to the fullest of them"},
		[2]string{"gone", "erased slots, the mean"})
	t.strip(c)
	c.heading(fmt.Sprintf("%s buckets slab by slab", grouped(min(len(t.Buckets), chains))))
	c.key([2]string{"leaf", "pairs"}, [2]string{"gone", "erased slots"}, [2]string{"room", "free slots"})
	t.lists(c)
	return c.write(w, t.Title)
}

func (t *Table) pairs() (sum, most int) {
	for _, b := range t.Buckets {
		sum += b.Pairs
		most = max(most, b.Pairs)
	}
	return sum, most
}

const plotHeight = 180.0

func (t *Table) histogram(c *canvas) {
	sum, most := t.pairs()
	mean := float64(sum) / float64(max(len(t.Buckets), 1))
	// There is a bar for each number of pairs, or for several numbers if there are too many.
	wide := max(1, (most+columns)/columns)
	bars := most/wide + 1
	counts, expected, highest := make([]uint64, bars), make([]float64, bars), 1.0
	for _, b := range t.Buckets {
		counts[b.Pairs/wide]++
	}
	for i := range bars {
		for k := i * wide; k < (i+1)*wide; k++ {
			expected[i] += float64(len(t.Buckets)) * poisson(mean, k)
		}
		highest = max(highest, float64(counts[i]), expected[i])
	}
	left, each := margin+60, (inner-60)/float64(bars)
	bottom := c.y + plotHeight
	height := func(x float64) float64 { return plotHeight * x / highest }
	c.text("small end", left-6, c.y+8, grouped(int(highest)))
	c.text("small end", left-6, bottom, "0")
	curve := ""
	for i, n := range counts {
		x := left + float64(i)*each
		numbers := fmt.Sprintf("%d pairs", i)
		if wide > 1 {
			numbers = fmt.Sprintf("%d to %d pairs", i*wide, (i+1)*wide-1)
		}
		c.begin("bar", fmt.Sprintf("%s: %s buckets, %.1f expected", numbers, grouped(n), expected[i]))
		c.rect("leaf", x, bottom-height(float64(n)), each-min(2, each/4), height(float64(n)))
		c.end()
		if i%max(1, bars/20) == 0 {
			c.text("small middle", x+each/2, bottom+12, fmt.Sprint(i*wide))
		}
		command := "L"
		if i == 0 {
			command = "M"
		}
		curve += fmt.Sprintf("%s%s %s", command, number(x+each/2), number(bottom-height(expected[i])))
	}
	c.add(`<path class="expected" d="%s"/>`, curve)
	c.line("line", left, bottom, left+inner-60, bottom)
	for slabs := max(t.Base, 1); slabs*t.Slots <= most; slabs++ { // where a bucket needs another slab
		x := left + float64(slabs*t.Slots+1)/float64(wide)*each
		c.line("line", x, c.y, x, bottom)
		c.text("small", x+3, c.y+8, fmt.Sprintf("%d slabs", slabs+1))
	}
	c.text("small", left, bottom+26, fmt.Sprintf("mean %.2f; the line is what random hash values give", mean))
	c.y = bottom + 30
}

// poisson returns the expected share of buckets with k pairs, if each pair falls into a random bucket.
func poisson(mean float64, k int) float64 {
	if mean == 0 {
		if k == 0 {
			return 1
		}
		return 0
	}
	log, _ := math.Lgamma(float64(k) + 1)
	return math.Exp(float64(k)*math.Log(mean) - mean - log)
}

func (t *Table) strip(c *canvas) {
	const high = 90.0
	_, most := t.pairs()
	starts := parts(len(t.Buckets), columns)
	each := inner / float64(max(len(starts)-1, 1))
	gap := min(2, each/4)
	scale := high / float64(max(most, t.Slots, 1))
	for i := range len(starts) - 1 {
		run := t.Buckets[starts[i]:starts[i+1]]
		pairs, gone, fullest := 0.0, 0.0, 0
		for _, b := range run {
			pairs, gone, fullest = pairs+float64(b.Pairs), gone+float64(b.Tombstones), max(fullest, b.Pairs)
		}
		pairs, gone = pairs/float64(len(run)), gone/float64(len(run))
		x, bottom := margin+float64(i)*each, c.y+high
		c.begin("bar", fmt.Sprintf("buckets %s to %s: %.2f pairs on the average, at most %d", grouped(starts[i]),
			grouped(starts[i+1]-1), pairs, fullest))
		c.rect("spread", x, bottom-scale*float64(fullest), each-gap, scale*float64(fullest))
		c.rect("leaf", x, bottom-scale*pairs, each-gap, scale*pairs)
		if gone > 0 {
			c.rect("gone", x, bottom-min(high, scale*(pairs+gone)), each-gap, min(scale*gone, high-scale*pairs))
		}
		c.end()
	}
	c.line("line", margin, c.y+high, margin+inner, c.y+high)
	c.y += high + 12
}

// lists draws some buckets in two columns. They are spread evenly over all buckets.
func (t *Table) lists(c *canvas) {
	n := min(len(t.Buckets), chains)
	longest := 1
	for i := range n {
		longest = max(longest, t.Buckets[i*len(t.Buckets)/n].Slabs)
	}
	rows := (n + 1) / 2
	slot := min(5.0, (inner/2-80)/float64(longest*t.Slots+3*longest))
	for i := range n {
		at := i * len(t.Buckets) / n
		b := t.Buckets[at]
		x, y := margin+float64(i/rows)*(inner/2), c.y+float64(i%rows)*14
		c.begin("bucket", fmt.Sprintf("bucket %s: %d slabs, %d pairs, %d erased slots", grouped(at), b.Slabs, b.Pairs,
			b.Tombstones))
		c.text("small end", x+60, y+9, grouped(at))
		used, gone, free := boxes{w: slot * 0.8, h: 9}, boxes{w: slot * 0.8, h: 9}, boxes{w: slot * 0.8, h: 9}
		for s := range b.Slabs {
			left := x + 66 + float64(s)*(slot*float64(t.Slots)+4)
			for j := range t.Slots {
				to, place := &free, s*t.Slots+j
				switch {
				case place < b.Pairs:
					to = &used
				case place < b.Pairs+b.Tombstones:
					to = &gone
				}
				to.add(left+float64(j)*slot, y)
			}
		}
		c.boxes("leaf", &used)
		c.boxes("gone", &gone)
		c.boxes("room", &free)
		c.end()
	}
	c.y += float64(rows)*14 + 4
}
