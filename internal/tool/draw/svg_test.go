package draw

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/slabhash"
)

// svg is what is looked at of one: its elements by name and class, and its text.
type svg struct {
	count map[string]int
	text  string
	bytes int
}

// parsed parses a picture, which so is well-formed XML.
func parsed(t *testing.T, draw func(io.Writer) error) svg {
	t.Helper()
	var b strings.Builder
	require.NoError(t, draw(&b))
	p := svg{count: map[string]int{}, bytes: b.Len()}
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return p
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			class := ""
			for _, a := range x.Attr {
				if a.Name.Local == "class" {
					class = a.Value
				}
				require.NotContains(t, a.Value, "NaN")
				require.NotContains(t, a.Value, "Inf")
			}
			p.count[x.Name.Local+" "+class]++
		case xml.CharData:
			p.text += string(x) + "\n"
		}
	}
}

// grown makes a tree over leaves of each keys, at most fan children a node.
func grown(leaves, each, fan int) *Tree {
	t := &Tree{Title: "A <tree> & more", Notes: []string{"note one", "note two"}, Slots: 14}
	step := 1 << 32 / uint64(leaves+1) &^ 15
	var level []Node
	ref := uint32(0)
	for i := range leaves {
		n := Node{Ref: ref, Low: uint64(i) * step, High: uint64(i+1)*step - 1, Link: ref + 1}
		for k := range each {
			n.Keys = append(n.Keys, n.Low+uint64(k))
		}
		level, ref = append(level, n), ref+1
	}
	level[leaves-1].High = 1<<32 - 1
	for t.Levels = [][]Node{level}; len(level) > 1; {
		var next []Node
		for first := 0; first < len(level); first += fan {
			run := level[first:min(first+fan, len(level))]
			n := Node{Ref: ref, Low: run[0].Low, High: run[len(run)-1].High, Link: ref + 1, Level: len(t.Levels)}
			for _, child := range run {
				n.Keys, n.Values = append(n.Keys, child.Low), append(n.Values, uint64(child.Ref))
			}
			next, ref = append(next, n), ref+1
		}
		level, t.Levels = next, append([][]Node{next}, t.Levels...)
	}
	return t
}

func TestTreeSVG(t *testing.T) {
	small := grown(8, 6, 14)
	p := parsed(t, small.WriteSVG)
	require.Equal(t, 1+8, p.count["g node"])
	require.Equal(t, 1+8, p.count["g bar"])
	require.Equal(t, 7, p.count["path line"], "from the root to the leaves that the way does not go to")
	require.Equal(t, 1, p.count["path way"])
	require.Equal(t, 7, p.count["path link"])
	require.Equal(t, 2, p.count["rect frame chosen"])
	for _, want := range []string{"A <tree> & more", "note two", "leaves: 8", "level 1: 1", "48 in use, fill 0.429",
		"node 3: keys "} {
		require.Contains(t, p.text, want)
	}

	// Very many leaves make a picture of the size of a small one: bars for runs of nodes, and the children on one way.
	large := grown(100_000, 7, 10)
	large.Near = 1 << 31
	large.Key = func(k uint64) string { return fmt.Sprintf("%08x", k) }
	p = parsed(t, large.WriteSVG)
	require.Len(t, large.Levels, 6)
	require.Equal(t, 1+5*10, p.count["g node"])
	require.Equal(t, 3*columns+100+10+1, p.count["g bar"], "levels of 100,000 to 1000, of 100, of 10, of 1")
	require.Equal(t, 5, p.count["path way"])
	require.Equal(t, 6, p.count["rect frame chosen"])
	require.Contains(t, p.text, "leaves: 100,000")
	require.Contains(t, p.text, "From the root to the leaf of key 80000000")
	require.Less(t, p.bytes, 300_000)
}

// What is wrong with a tree shows: a node that no parent knows of, and one that is latched.
func TestSVGOfTreeThatIsNotAsItShouldBe(t *testing.T) {
	tree := grown(6, 3, 14)
	root := &tree.Levels[0][0]
	root.Keys, root.Values = append(root.Keys[:2:2], root.Keys[3:]...), append(root.Values[:2:2], root.Values[3:]...)
	tree.Levels[1][4].Latched = true
	p := parsed(t, tree.WriteSVG)
	require.Equal(t, 1+6, p.count["g node"])
	require.Equal(t, 1, p.count["rect frame orphan"])
	require.Equal(t, 1, p.count["rect frame latched"])
	require.Equal(t, 4, p.count["path line"])
	require.Contains(t, p.text, "LATCHED")
	tree.Near = tree.Levels[1][2].Low
	p = parsed(t, tree.WriteSVG)
	require.Equal(t, 1, p.count["rect frame chosen orphan"])
	require.Zero(t, p.count["path way"])
	require.NotEmpty(t, parsed(t, (&Tree{Title: "nothing", Slots: 14}).WriteSVG).text)
}

func TestTableSVG(t *testing.T) {
	table := &Table{Title: "table", Slots: 15}
	for i := range 1000 {
		pairs := i % 40
		table.Buckets = append(table.Buckets,
			slabhash.BucketLoad{Slabs: max(1, (pairs+2+14)/15), Pairs: pairs, Tombstones: 2})
	}
	p := parsed(t, table.WriteSVG)
	require.Equal(t, chains, p.count["g bucket"])
	require.Equal(t, 40+columns, p.count["g bar"])
	require.Equal(t, 1, p.count["path expected"])
	require.Contains(t, p.text, "39 pairs: 25 buckets, ")
	require.Contains(t, p.text, "mean 19.50")
	require.Contains(t, p.text, "2 slabs")
	require.Less(t, p.bytes, 1<<19)

	// One bucket with very many pairs among empty ones.
	table.Buckets = make([]slabhash.BucketLoad, 5)
	table.Buckets[3] = slabhash.BucketLoad{Slabs: 2000, Pairs: 30000}
	p = parsed(t, table.WriteSVG)
	require.Equal(t, 5, p.count["g bucket"])
	require.LessOrEqual(t, p.count["g bar"], columns+1+5)
	require.NotEmpty(t, parsed(t, (&Table{Title: "nothing", Slots: 15}).WriteSVG).text)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestErrorsOfTheWriterAreTold(t *testing.T) {
	require.ErrorContains(t, grown(3, 3, 14).WriteSVG(broken{}), "no room")
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		require.Equal(t, want, grouped(n))
	}
}
