package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vkds/vkds/structures"
)

// Op is an operation that a benchmark measures.
type Op struct {
	Name    string // in the command line
	About   string
	Default bool   // measured unless others are asked for
	Axes    string // what its figures differ by, beside n: names of axes (Options), split by blanks
}

// Has says whether an operation's figures differ by an axis.
func (p Op) Has(axis string) bool {
	return axis == "n" || slices.Contains(strings.Fields(p.Axes), axis)
}

// cell is an operation of one structure, and how it is measured.
type cell struct {
	Op
	measure func(*session, context.Context) error
}

// row is an operation, by the field's term, with a cell for each structure that it is measured of.
type row struct {
	term  string
	cells map[string]cell
}

// What the figures of a structure differ by whatever is measured.
const (
	hashAxes    = "load tile width"
	treeAxes    = "order fill tile width"
	lsmAxes     = "order batch width"
	arrayAxes   = "order width"
	latchedAxes = "kind node tile"
)

// table is all that is measured, operations by structures. Of each structure the operations are measured in the order
// of the rows.
var table = slices.Concat([]row{
	{"build", map[string]cell{
		"slabhash": {Op{"build", "Insert of n new pairs into an empty map, keys unique", true, hashAxes},
			insertion(structures.Insert)},
		"btree": {Op{"build", "bulk build from n pairs in the order of their keys' sequence", true, treeAxes},
			(*session).bulkBuild},
	}},
	{"build, duplicates not looked for", map[string]cell{
		"slabhash": {Op{"build-duplicates", "InsertDuplicate of n pairs into an empty map, nothing checked for", false,
			hashAxes}, insertion(structures.InsertDuplicate)},
	}},
	{"insert, batch by batch", map[string]cell{
		"btree": {Op{"insert", "n pairs into an empty tree, in batches that are no larger than it", true,
			treeAxes + " batch path statuses"}, (*session).insertFromEmpty},
		"lsm": {Op{"insert", "n pairs into an empty LSM, batch by batch", true, lsmAxes}, (*session).series},
		"sortedarray": {Op{"insert", "n pairs into an empty array, batch by batch", true, arrayAxes + " batch"},
			(*session).series},
		"latched": {Op{"insert", "n pairs into an empty tree, in batches that are no larger than it", true,
			latchedAxes + " wait batch"}, (*session).latchedInsert},
	}},
	{"insert, batch by batch, ascending keys", map[string]cell{
		"latched": {Op{"insert-ascending", "the same of n keys that ascend", true, latchedAxes + " wait batch"},
			(*session).latchedInsertAscending},
	}},
	{"insert, one batch", map[string]cell{
		"latched": {Op{"insert-at-once", "n pairs into an empty tree, all in one batch", true, latchedAxes + " wait"},
			(*session).latchedInsertAtOnce},
	}},
	{"find, present", map[string]cell{
		"slabhash": {Op{"find-all", "search of n keys, all present", true, hashAxes}, (*session).findPresent},
		"btree": {Op{"find-exist", "search of n keys, all present", true, treeAxes + " lookup"},
			(*session).findPresent},
		"lsm": {Op{"find-exist", "search of n keys, all present, from every level", true,
			lsmAxes + " levels lookup"}, (*session).findPresent},
		"sortedarray": {Op{"find-exist", "search of n keys, all present", true, arrayAxes + " lookup"},
			(*session).findPresent},
		"latched": {Op{"find", "search of n keys, all present, in a tree that nobody changes", true, latchedAxes},
			(*session).findPresent},
	}},
	{"find, present, in the oldest level", map[string]cell{
		"lsm": {Op{"find-oldest", "search of n keys, all in the largest level", true, lsmAxes + " levels lookup"},
			(*session).findOldest},
	}},
	{"find, absent", map[string]cell{
		"slabhash": {Op{"find-none", "search of n keys, none present", true, hashAxes}, (*session).findAbsent},
		"btree": {Op{"find-none", "search of n keys, none present", true, treeAxes + " lookup"},
			(*session).findAbsent},
		"lsm": {Op{"find-none", "search of n keys, none present", true, lsmAxes + " levels lookup"},
			(*session).findAbsent},
		"sortedarray": {Op{"find-none", "search of n keys, none present", true, arrayAxes + " lookup"},
			(*session).findAbsent},
	}},
	{"find, concurrent", map[string]cell{
		"slabhash": {Op{"find-beside", "search of n keys, all present, by the kernel that may be concurrent with " +
			"updates", false, hashAxes}, (*session).findConcurrent},
		"btree": {Op{"find-beside", "search of n keys, all present, by the kernel that may be concurrent with " +
			"updates", true, treeAxes}, (*session).findConcurrent},
	}},
	{"insert, a batch", map[string]cell{
		"btree": {Op{"insert-batch", "a batch of new pairs into a tree of n", true,
			treeAxes + " batch path statuses"}, (*session).insertBatch},
		"latched": {Op{"insert-batch", "a batch of new pairs into a tree of n", true, latchedAxes + " wait batch"},
			(*session).latchedInsertBatch},
	}},
	{"assign", map[string]cell{
		"slabhash": {Op{"replace", "Insert of n keys that are there", true, hashAxes}, (*session).assignAll},
		"btree": {Op{"assign", "a batch of other values to keys that are there", true,
			treeAxes + " batch path statuses"}, (*session).assignBatch},
	}},
	{"delete", map[string]cell{
		"slabhash": {Op{"delete", "deletion of all n keys", true, hashAxes}, (*session).deleteAll},
		"btree": {Op{"delete", "deletion of a batch of keys that are there", true,
			treeAxes + " batch path statuses"}, (*session).deleteBatch},
	}},
	{"delete, ranges", map[string]cell{
		"btree": {Op{"delete-ranges", "deletion of the keys of ranges, a quarter of all n, by wall time", false,
			treeAxes + " length"}, ofWidth(deleteRanges[uint32], deleteRanges[uint64])},
		"lsm": {Op{"delete-ranges", "deletion of the keys of ranges, a quarter of all n, by wall time", false,
			lsmAxes + " length"}, ofWidth(deleteRanges[uint32], deleteRanges[uint64])},
		"sortedarray": {Op{"delete-ranges", "deletion of the keys of ranges, a quarter of all n, by wall time", false,
			arrayAxes + " length"}, ofWidth(deleteRanges[uint32], deleteRanges[uint64])},
	}},
}, mixes("slabhash", hashAxes, gammas), []row{
	{"add, skewed", map[string]cell{
		"slabhash": {Op{"add-skewed", "InsertAdd of n pairs to an empty map, one key taking a share", false,
			hashAxes + " skew"}, skewed(structures.InsertAdd)},
	}},
	{"add, repeated", map[string]cell{
		"slabhash": {Op{"add-repeated", "InsertAdd of n pairs to an empty map, each key four times", false, hashAxes},
			(*session).addRepeated},
	}},
	{"min, skewed", map[string]cell{
		"slabhash": {Op{"min-skewed", "InsertMin of n pairs, one key taking a share", false, hashAxes + " skew"},
			skewed(structures.InsertMin)},
	}},
	{"insert, skewed", map[string]cell{
		"slabhash": {Op{"insert-skewed", "Insert of n pairs, one key taking a share", false, hashAxes + " skew"},
			skewed(structures.Insert)},
	}},
	{"find, skewed", map[string]cell{
		"slabhash": {Op{"find-skewed", "search of n keys, one taking a share", false, hashAxes + " skew"},
			(*session).findSkewed},
	}},
	{"count", map[string]cell{
		"btree": {Op{"count", "how many keys are in each of n ranges", true, treeAxes + " length"},
			(*session).count},
		"lsm": {Op{"count", "how many keys are in each of n ranges", true, lsmAxes + " levels length"},
			(*session).count},
		"sortedarray": {Op{"count", "how many keys are in each of n ranges", true, arrayAxes + " length"},
			(*session).count},
	}},
	{"range", map[string]cell{
		"btree": {Op{"range", "the pairs of n ranges, in order", true, treeAxes + " length"}, (*session).list},
		"lsm": {Op{"range", "the pairs of n ranges, in order", true, lsmAxes + " levels length"},
			(*session).list},
		"sortedarray": {Op{"range", "the pairs of n ranges, in order", true, arrayAxes + " length"}, (*session).list},
	}},
	{"range, a limit of pairs", map[string]cell{
		"btree": {Op{"range-first", "the first pairs from each of n keys on, as many as a range is long, at places " +
			"known beforehand", true, treeAxes + " length"}, (*session).listFirst},
	}},
	{"neighbour", map[string]cell{
		"btree": {Op{"successor", "the next key above each of n keys", true, treeAxes}, (*session).successor},
	}},
	{"rank", map[string]cell{
		"btree": {Op{"rank", "how many keys are less than each of n keys", true, treeAxes}, (*session).rank},
		"lsm": {Op{"rank", "how many keys are less than each of n keys", true, lsmAxes + " levels"},
			(*session).rank},
		"sortedarray": {Op{"rank", "how many keys are less than each of n keys", true, arrayAxes}, (*session).rank},
	}},
	{"select", map[string]cell{
		"btree":       {Op{"select", "the pairs of n ranks", true, treeAxes}, (*session).selectPairs},
		"lsm":         {Op{"select", "the pairs of n ranks", true, lsmAxes + " levels"}, (*session).selectPairs},
		"sortedarray": {Op{"select", "the pairs of n ranks", true, arrayAxes}, (*session).selectPairs},
	}},
	{"export", map[string]cell{
		"slabhash":    {Op{"export", "all n pairs, in no order", false, hashAxes}, (*session).export},
		"btree":       {Op{"export", "all n pairs in key order", true, treeAxes}, (*session).export},
		"lsm":         {Op{"export", "all n pairs in key order", true, lsmAxes + " levels"}, (*session).export},
		"sortedarray": {Op{"export", "all n pairs in key order", true, arrayAxes}, (*session).export},
	}},
	{"compaction", map[string]cell{
		"slabhash": {Op{"flush", "compaction of a map of n pairs of which half are deleted", false, hashAxes},
			(*session).flush},
		"lsm": {Op{"cleanup", "removal of a share of n elements that are stale", true, lsmAxes + " stale"},
			(*session).cleanup},
	}},
	{"rehash, fewer buckets", map[string]cell{
		"slabhash": {Op{"rehash-half", "n pairs into half the buckets", false, hashAxes}, rehash(0.5)},
	}},
	{"rehash, more buckets", map[string]cell{
		"slabhash": {Op{"rehash-double", "n pairs into twice the buckets", false, hashAxes}, rehash(2)},
	}},
	{"clear", map[string]cell{
		"slabhash": {Op{"clear", "Clear of a map of n pairs with a pool of its own", false, hashAxes},
			(*session).clear},
	}},
	{"from slices to slices", map[string]cell{
		"slabhash": {Op{"end-to-end", "Map.Insert and Map.Find of n pairs from Go slices to Go slices, beside the " +
			"copies alone", false, hashAxes}, ofWidth(mapEndToEnd[uint32], mapEndToEnd[uint64])},
		"btree": {Op{"end-to-end", "Tree.Insert of a batch on the path that it chooses, Tree.Find of n keys; from " +
			"Go slices to Go slices", false, treeAxes + " batch"}, ofWidth(treeEndToEnd[uint32], treeEndToEnd[uint64])},
	}},
	{"insert, a batch from slices", map[string]cell{
		"slabhash": {Op{"insert-slices", "Map.UpdateInto of a batch into n pairs: keys new, there, a tenth of them " +
			"twice", false, hashAxes + " batch"}, ofWidth(insertBatches[uint32], insertBatches[uint64])},
	}},
	{"compaction of a tree", map[string]cell{
		"btree": {Op{"compact", "n pairs into as few nodes as there can be, by wall time", false, treeAxes},
			(*session).compact},
	}},
	{"build of a set", map[string]cell{
		"slabhash": {Op{"set-build", "Insert of n new keys into an empty set", false, hashAxes},
			ofSet(insertion(structures.Insert))},
	}},
	{"find in a set, present", map[string]cell{
		"slabhash": {Op{"set-find", "search of n keys in a set, all present", false, hashAxes},
			ofSet((*session).findPresent)},
	}},
}, mixes("btree", "fill tile width", treeMixes), mixes("mvbtree", "fill tile width", momentMixes), []row{
	{"insert, snapshots taken", map[string]cell{
		"mvbtree": {Op{"insert-snapshots", "8 batches of new pairs into a tree of n, each behind a snapshot of its own",
			true, treeAxes + " batch path statuses"}, (*session).insertSnapshots},
	}},
	{"find, at a snapshot", map[string]cell{
		"mvbtree": {Op{"find-snapshot", "search of n keys, all present: of the newest pairs, and of a snapshot " +
			"behind changes", true, treeAxes + " changed"}, atSnapshot((*session).findPresent)},
	}},
	{"range, at a snapshot", map[string]cell{
		"mvbtree": {Op{"range-snapshot", "the pairs of n ranges, likewise", true, treeAxes + " length changed"},
			atSnapshot((*session).list)},
	}},
	{"differences of snapshots", map[string]cell{
		"mvbtree": {Op{"diff", "DiffOn of two snapshots of n pairs, of which a share got other values " +
			"between them", true, treeAxes + " changed"}, (*session).diff},
	}},
	{"snapshots", map[string]cell{
		"mvbtree": {Op{"snapshots", "100,000 snapshots taken and closed, by wall time", true, "width"},
			(*session).snapshots},
	}},
	{"sort", map[string]cell{
		"sort": {Op{"keys", "radix sort of n keys", true, "width order form"}, sortOf(false)},
	}},
	{"sort, pairs", map[string]cell{
		"sort": {Op{"pairs", "radix sort of n keys with values as wide", true, "width order form"}, sortOf(true)},
	}},
	{"top k", map[string]cell{
		"sort": {Op{"top-k", "the 1000 greatest of n keys, with their numbers", true, "width form"}, (*session).topK},
	}},
	{"scan", map[string]cell{
		"scan": {Op{"exclusive", "exclusive prefix sums of n numbers", true, "form width"}, scanOf(false)},
	}},
	{"scan, inclusive", map[string]cell{
		"scan": {Op{"inclusive", "inclusive prefix sums of n numbers", false, "form width"}, scanOf(true)},
	}},
	{"reduce", map[string]cell{
		"scan": {Op{"reduce", "the sum of n numbers", false, "width"}, (*session).reduce},
	}},
	{"compact", map[string]cell{
		"scan": {Op{"compact", "n pairs, of which a bit each keeps half", false, "width"}, (*session).compactPairs},
	}},
	{"merge", map[string]cell{
		"merge": {Op{"keys", "merge of two runs of n/2 keys each", false, "width"}, mergeOf(false)},
	}},
	{"merge, pairs", map[string]cell{
		"merge": {Op{"pairs", "merge of two runs of n/2 pairs each", true, "width"}, mergeOf(true)},
	}},
	{"lower bound", map[string]cell{
		"search": {Op{"random", "lower bound of n queries, in random order, in n sorted keys", true, "width"},
			(*session).searchRandom},
	}},
	{"lower bound, sorted queries", map[string]cell{
		"search": {Op{"sorted", "lower bound of n queries that ascend", true, "width"}, (*session).searchSorted},
	}},
	{"sort and lower bound", map[string]cell{
		"search": {Op{"sort-search", "sort of n queries, and their lower bounds", true, "width form"},
			(*session).sortSearch},
	}},
	{"build of a graph", map[string]cell{
		"graph": {Op{"build", "bulk build of a graph of n edges from device buffers, unsorted", true, "graph tile"},
			onGraph(true, (*graphRun).buildGraph)},
	}},
	{"insert, edges", map[string]cell{
		"graph": {Op{"insert", "a batch of edges into a graph of n", true, "graph batch tile"},
			onGraph(true, (*graphRun).insertEdges)},
	}},
	{"delete, edges", map[string]cell{
		"graph": {Op{"delete", "deletion of a batch of edges that are there", true, "graph batch tile"},
			onGraph(false, (*graphRun).deleteEdges)},
	}},
	{"find, edges", map[string]cell{
		"graph": {Op{"find", "search of a batch of edges that are there", true, "graph batch tile"},
			onGraph(false, (*graphRun).findEdges)},
	}},
	{"insert, sorted edges", map[string]cell{
		"graph": {Op{"insert-sorted", "insert, of a batch that is brought into the order of its vertices first", false,
			"graph batch tile"}, onGraph(true, (*graphRun).sortedInsert)},
	}},
	{"insert, ordered edges", map[string]cell{
		"graph": {Op{"insert-ordered", "a batch of edges into an ordered graph of n, which has them in a tree", false,
			"graph batch path"}, onGraph(true, (*graphRun).insertOrdered)},
	}},
	{"delete, ordered edges", map[string]cell{
		"graph": {Op{"delete-ordered", "deletion of a batch of edges that are there, from an ordered graph", false,
			"graph batch path"}, onGraph(false, (*graphRun).deleteOrdered)},
	}},
	{"find, ordered edges", map[string]cell{
		"graph": {Op{"find-ordered", "search of a batch of edges that are there, in an ordered graph", false,
			"graph batch"}, onGraph(false, (*graphRun).findOrdered)},
	}},
	{"rows of a graph", map[string]cell{
		"graph": {Op{"rows", "a graph of n edges as sorted rows in device memory", false, "graph tile"},
			onGraph(true, (*graphRun).hashedRows)},
	}},
	{"rows of an ordered graph", map[string]cell{
		"graph": {Op{"rows-ordered", "an ordered graph of n edges as rows in device memory", false, "graph"},
			onGraph(true, (*graphRun).orderedRows)},
	}},
	{"delete, vertices", map[string]cell{
		"graph": {Op{"delete-vertices", "deletion of a batch of vertices with all their edges", true,
			"graph batch tile"}, onGraph(true, (*graphRun).deleteVertices)},
	}},
	{"allocate and free", map[string]cell{
		"alloc": {Op{"allocate", "n slabs, one a thread, from an empty pool of eight times as many, and their return",
			true, ""}, (*session).slabs},
	}},
	{"replace slabs", map[string]cell{
		"alloc": {Op{"replace", "n slabs, each by a copy; the old ones freed at once, and retired", false, ""},
			(*session).replaceSlabs},
	}},
	{"read slabs", map[string]cell{
		"alloc": {Op{"read", "n slabs in random order, without epochs and in them", false, ""}, (*session).readSlabs},
	}},
}, analyses)

// benchmark is a column of the table: a structure, or a family of primitives.
type benchmark struct {
	name string
	like string                                              // a column whose cells it has, too; none is a default
	size int                                                 // n unless others are asked for
	open func(context.Context, *session) (dictionary, error) // makes an empty one; nil: it is none that holds pairs
	ops  []cell
}

var columns = []benchmark{
	{name: "slabhash", size: 1 << 20, open: openMap},
	{name: "btree", size: 1 << 18, open: openTree},
	{name: "mvbtree", like: "btree", size: 1 << 18, open: openVersioned},
	{name: "lsm", size: 1 << 18, open: openLSM},
	{name: "sortedarray", size: 1 << 18, open: openSortedArray},
	{name: "latched", size: 1 << 16, open: openLatched},
	{name: "sort", size: 1 << 20},
	{name: "scan", size: 1 << 20},
	{name: "merge", size: 1 << 20},
	{name: "search", size: 1 << 20},
	{name: "alloc", size: 1 << 20},
	{name: "graph", size: 1 << 18},
}

// benchmarkOf returns a column with its cells.
func benchmarkOf(name string) (*benchmark, error) {
	i := slices.IndexFunc(columns, func(b benchmark) bool { return b.name == name })
	if i < 0 {
		return nil, &structures.OptionError{Option: "benchmark", Reason: fmt.Sprintf("none is named %q", name)}
	}
	b := columns[i]
	for _, r := range table {
		c, there := r.cells[name]
		if !there {
			c, there = r.cells[b.like]
			c.Default = false
		}
		if there {
			b.ops = append(b.ops, c)
		}
	}
	return &b, nil
}

// Ops lists what a benchmark can measure, by its name in the command line.
func Ops(name string) (ops []Op) {
	b, err := benchmarkOf(name)
	if err != nil {
		return nil
	}
	for _, c := range b.ops {
		ops = append(ops, c.Op)
	}
	return ops
}

// Size is how many elements a benchmark has unless others are asked for.
func Size(name string) int {
	b, err := benchmarkOf(name)
	if err != nil {
		return 0
	}
	return b.size
}

// Defaults names the operations that are measured unless others are asked for.
func Defaults(ops []Op) (names []string) {
	for _, p := range ops {
		if p.Default {
			names = append(names, p.Name)
		}
	}
	return names
}

// has says whether the figures of any operation differ by an axis.
func (b *benchmark) has(axis string) bool {
	return slices.ContainsFunc(b.ops, func(c cell) bool { return c.Has(axis) })
}

// Named checks names of some operations; none mean the defaults.
func Named(ops []Op, names []string) ([]string, error) {
	if len(names) == 0 {
		return Defaults(ops), nil
	}
	var there []string
	for _, p := range ops {
		there = append(there, p.Name)
	}
	for _, name := range names {
		if !slices.Contains(there, name) {
			return nil, fmt.Errorf("no operation %q; there are %s", name, strings.Join(there, ", "))
		}
	}
	return names, nil
}
