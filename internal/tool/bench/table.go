package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Op is an operation of a benchmark.
type Op struct {
	Name    string // in the command line
	About   string
	Default bool   // measured if no operations are named
	axes    string // names of axes, separated by spaces
}

// Has reports whether the operation depends on an axis.
func (p Op) Has(axis string) bool {
	return axis == "n" || slices.Contains(strings.Fields(p.axes), axis)
}

// cell is an operation of one structure, and its measurement.
type cell struct {
	Op
	on      string // the structure: a name of openers; "": the benchmark's own
	measure func(*session)
}

// row is an operation of some benchmarks, separated by spaces. * marks those that measure it if no operations are
// named.
type row struct {
	of, name, axes, about string
	measure               func(*session)
}

const ordered3 = "btree* lsm* sortedarray*"

// table has all operations, in the order of the output. A row's axes are added to those of its Benchmark.
// "" is for one benchmark only, and "-order" removes an axis. "slabhash:set" is measured on the opener set.
var table = slices.Concat([]row{
	{"slabhash*", "build", "", "Insert of n new pairs into an empty map, keys unique", insertion(structures.Insert)},
	{"btree*", "build", "", "bulk build from n pairs in the order of their keys' sequence", (*session).bulkBuild},
	{"slabhash", "build-duplicates", "", "InsertDuplicate of n pairs into an empty map, nothing checked for",
		insertion(structures.InsertDuplicate)},
	{"btree*", "insert", "batch path", "n pairs into an empty tree, in batches that are no larger than it",
		(*session).insertFromEmpty},
	{"lsm* sortedarray*", "insert", "batch", "n pairs into an empty structure, batch by batch", (*session).insertRuns},
	{"lsm", "build", "", "n pairs into an empty LSM in one batch, which is one sort", (*session).bulkInsert},
	{"slabhash*", "find-all", "", "search of n keys, all present", (*session).findPresent},
	{ordered3, "find-exist", "lsm:levels", "search of n keys, all present", (*session).findPresent},
	{"slabhash*", "find-none", "", "search of n keys, none present", (*session).findAbsent},
	{ordered3, "find-none", "lsm:levels", "search of n keys, none present", (*session).findAbsent},
	{"slabhash btree*", "find-beside", "",
		"search of n keys, all present, by the kernel that may be concurrent with updates",
		(*session).findConcurrent},
	{"btree*", "insert-batch", "batch path", "a batch of new pairs into a tree of n", (*session).insertBatch},
	{"slabhash*", "replace", "", "Insert of n keys that are there", (*session).assignAll},
	{"btree*", "assign", "batch path", "a batch of other values to keys that are there",
		(*session).assignBatch},
	{"slabhash*", "delete", "", "deletion of all n keys", (*session).deleteAll},
	{"btree*", "delete", "batch path", "deletion of a batch of keys that are there", (*session).deleteBatch},
}, mixes("slabhash", gammas), []row{
	{"slabhash", "add-skewed", "skew", "InsertAdd of n pairs to an empty map, one key taking a share",
		(*session).addSkewed},
	{"slabhash", "find-skewed", "skew", "search of n keys, one taking a share", (*session).findSkewed},
	{ordered3, "count", "length lsm:levels", "how many keys are in each of n ranges", (*session).count},
	{ordered3, "range", "length lsm:levels", "the pairs of n ranges, in order", (*session).list},
	{"btree*", "range-first", "length",
		"the first pairs from each of n keys on, as many as a range is long, at places known beforehand",
		(*session).listFirst},
	{"btree*", "successor", "", "the next key above each of n keys", (*session).successor},
	{ordered3, "rank", "lsm:levels", "how many keys are less than each of n keys", (*session).rank},
	{ordered3, "select", "lsm:levels", "the pairs of n ranks", (*session).selectPairs},
	{"slabhash " + ordered3, "export", "lsm:levels", "all n pairs, in key order where there is one", (*session).export},
	{"slabhash", "flush", "", "compaction of a map of n pairs of which half are deleted", (*session).flush},
	{"lsm*", "cleanup", "stale", "removal of a share of n elements that are stale", (*session).cleanup},
	{"slabhash", "rehash-half", "", "n pairs into half the buckets", func(s *session) { s.rehash(0.5) }},
	{"slabhash", "rehash-double", "", "n pairs into twice the buckets", func(s *session) { s.rehash(2) }},
	{"slabhash", "end-to-end", "",
		"Map.Insert and Map.Find of n pairs from Go slices to Go slices, beside the copies alone",
		ofWidth(mapEndToEnd[uint32], mapEndToEnd[uint64])},
	{"btree", "end-to-end", "batch",
		"Tree.Insert of a batch on the path that it chooses, Tree.Find of n keys; from Go slices to Go slices",
		ofWidth(treeEndToEnd[uint32], treeEndToEnd[uint64])},
	{"slabhash", "shards", "shards",
		"Insert and Find of n pairs from Go slices over several devices, beside one, and the dividing alone",
		ofWidth(shardedMap[uint32], shardedMap[uint64])},
	{"btree", "shards", "shards", "the same of trees", ofWidth(shardedTree[uint32], shardedTree[uint64])},
	{"slabhash:set", "set-build", "", "Insert of n new keys into an empty set", insertion(structures.Insert)},
	{"slabhash:set", "set-find", "", "search of n keys in a set, all present", (*session).findPresent},
}, mixes("btree", treeMixes), []row{
	{"mvbtree*", "insert-snapshots", "batch path",
		"8 batches of new pairs into a tree of n, each after a snapshot of its own", (*session).insertSnapshots},
	{"mvbtree*", "find-snapshot", "changed",
		"search of n keys, all present, at a snapshot after which a share of them got other values",
		atSnapshot((*session).findPresent)},
	{"mvbtree*", "range-snapshot", "length changed", "the pairs of n ranges, likewise", atSnapshot((*session).list)},
	{"sort*", "keys", "order form", "radix sort of n keys", func(s *session) { s.sort(false) }},
	{"sort*", "pairs", "order form", "radix sort of n keys with values as wide", func(s *session) { s.sort(true) }},
	{"scan*", "exclusive", "form", "exclusive prefix sums of n numbers", (*session).scan},
	{"scan", "reduce", "", "the sum of n numbers", (*session).reduce},
	{"scan", "compact", "", "n pairs, of which a bit each keeps half", (*session).compactPairs},
	{"scan", "by-key-one", "", "sums of n numbers by key, of which there is one",
		func(s *session) { s.reduceByKey(1) }},
	{"scan", "by-key-few", "", "sums of n numbers by key, of which there are 1000",
		func(s *session) { s.reduceByKey(1000) }},
	{"scan", "by-key-many", "", "sums of n numbers by key, of which there are n/4",
		func(s *session) { s.reduceByKey(s.n / 4) }},
	{"merge*", "pairs", "", "merge of two runs of n/2 pairs each", (*session).merge},
	{"search*", "random", "", "lower bound of n queries, in random order, in n sorted keys",
		func(s *session) { s.search(false) }},
	{"search*", "sorted", "", "lower bound of n queries that ascend", func(s *session) { s.search(true) }},
	{"search", "join", "", "inner join of n keys with as many in another order, one match each", (*session).join},
	{"filter*", "insert", "width", "n new keys into an empty filter for 1% of false positives, 1.3 bytes a key",
		onFilter(filterInsert)},
	{"filter*", "contains-all", "width", "search of n keys, all present", filterContains(true)},
	{"filter*", "contains-none", "width", "search of n keys, none present", filterContains(false)},
	{"filter*", "reads", "", "n random reads of 32 bytes, in as much memory as a filter of n keys has",
		onFilter(randomReads)},
	{"graph*", "build", "tile", "bulk build of a graph of n edges from device buffers, unsorted",
		onGraph(true, (*graphRun).buildGraph)},
	{"graph*", "insert", "batch tile", "a batch of edges into a graph of n",
		onGraph(true, func(r *graphRun) { r.update(structures.Insert) })},
	{"graph*", "delete", "batch tile", "deletion of a batch of edges that are there",
		onGraph(false, func(r *graphRun) { r.update(structures.Delete) })},
	{"graph*", "find", "batch tile", "search of a batch of edges that are there", onGraph(false,
		(*graphRun).findEdges)},
	{"graph", "build-batches", "batch tile", "n edges into a graph without any, batch by batch",
		onGraph(true, (*graphRun).buildBatches)},
	{"graph*", "bfs", "on", "distances from one vertex to all, by arcs", analysis(1, false, (*session).bfs)},
	{"graph*", "sssp", "on", "distances from one vertex to all, by weights from 1 to 64", analysis(1, true,
		(*session).sssp)},
	{"graph*", "pagerank", "on", fmt.Sprintf("%d iterations of PageRank", rankIterations), analysis(rankIterations,
		false, (*session).pageRank)},
	{"graph*", "triangles", "on", "the number of triangles, orientation included", analysis(1, false,
		(*session).triangles)},
	{"graph*", "components", "on", "the component of each vertex", analysis(1, false, (*session).components)},
	{"graph*", "kcore", "on", "the core number of each vertex", analysis(1, false, (*session).cores)},
	{"combine*", "get-alone", "", "gets of one caller, in turns with gets of the dictionary itself",
		ofCallers((*session).getAlone)},
	{"combine*", "get", "callers", "gets of callers that share a dictionary, beside those without combining",
		ofCallers((*session).gets)},
	{"alloc*", "allocate", "", "n slabs, one a thread, from an empty pool of eight times as many, and their return",
		(*session).slabs},
})

// Benchmark is a structure, or a family of primitives.
type Benchmark struct {
	Name, About, Example string // in the command line, and its help

	size  int    // the default of n
	axes  string // axes of all operations
	cells []cell
}

const graphExamples = `  vkds bench graph --n 24 --batch 16,20 --graph uniform,rmat --json figures.json
  vkds bench graph --op bfs,sssp --n 20,22 --graph grid
  vkds bench graph --file road.mtx,web.txt.gz --op build,insert,triangles --batch 16`

// Benchmarks are all benchmarks, in the order of the help.
var Benchmarks = []Benchmark{
	{"slabhash", "the slab hash", `  vkds bench slabhash --n 20,22,24,26 --json figures.json
  vkds bench slabhash --op end-to-end,build,find-all --n 20 --load 0.3,0.7`, 1 << 20, "load tile width", nil},
	{"btree", "the B-link-tree", `  vkds bench btree --op build,insert,find-exist --n 16,18,20,22,24,26 --batch 22
  vkds bench btree --op insert-batch --n 24 --batch 20 --path concurrent,batched
  vkds bench btree --op alpha-0.2,alpha-0.6,alpha-1.0 --n 20,22,24`, 1 << 18, "order fill tile width", nil},
	{"mvbtree", "the B-link-tree with snapshots", `  vkds bench mvbtree --n 40000000 --batch 20,22 --json figures.json
  vkds bench mvbtree --op find-snapshot,range-snapshot --n 24 --changed 0.1,0.5`,
		1 << 18, "order fill tile width", nil},
	{"lsm", "the GPU LSM", `  vkds bench lsm --n 24 --batch 16,18,20 --json figures.json
  vkds bench lsm --op count,range --n 24 --batch 20 --length 8,1024`, 1 << 18, "order batch width", nil},
	{"sortedarray", "the sorted array", `  vkds bench sortedarray --n 24 --batch 16,18,20 --json figures.json
  vkds bench sortedarray --op count,range --n 24 --length 8,1024`, 1 << 18, "order width", nil},
	{"filter", "the Bloom filter, beside random reads of as much memory", manySizes("filter"), 1 << 20, "", nil},
	{"combine", "a dictionary that many goroutines share, with calls combined and without",
		"  vkds bench combine --callers 16,256,4096 --op get", 1 << 20, "", nil},
	{"alloc", "the slab allocator: n slabs, one a thread, allocated and freed", "  vkds bench alloc --n 16,20",
		1 << 20, "", nil},
	{"graph", "the dynamic graph: n edges, 16 a vertex; and analytics: n vertices", graphExamples,
		1 << 18, "graph file load", nil},
	{"sort", "the radix sort", manySizes("sort"), 1 << 20, "width", nil},
	{"scan", "prefix sums, reduction and compaction", manySizes("scan"), 1 << 20, "width", nil},
	{"merge", "the merge of two sorted runs", manySizes("merge"), 1 << 20, "width", nil},
	{"search", "the lower bounds of many queries", manySizes("search"), 1 << 20, "width", nil},
}

func manySizes(name string) string {
	return "  vkds bench " + name + " --n 20,22,24,26 --json figures.json"
}

// benchmarkOf returns a benchmark with its cells.
func benchmarkOf(name string) (*Benchmark, error) {
	i := slices.IndexFunc(Benchmarks, func(b Benchmark) bool { return b.Name == name })
	if i < 0 {
		return nil, &vk.OptionError{Option: "benchmark", Reason: fmt.Sprintf("none is named %q", name)}
	}
	b := Benchmarks[i]
	for _, r := range table {
		for _, of := range strings.Fields(r.of) {
			of, standard := strings.CutSuffix(of, "*")
			of, on, given := strings.Cut(of, ":")
			if !given {
				on = name
			}
			if of != name {
				continue
			}
			axes := b.axes
			for _, x := range strings.Fields(r.axes) {
				own, x, one := strings.Cut(x, ":")
				switch without, is := strings.CutPrefix(own, "-"); {
				case is:
					axes = strings.ReplaceAll(axes, without, "")
				case !one:
					axes += " " + own
				case own == name:
					axes += " " + x
				}
			}
			b.cells = append(b.cells, cell{Op{r.name, r.about, standard, axes}, on, r.measure})
		}
	}
	return &b, nil
}

// has reports whether an operation depends on an axis.
func (b *Benchmark) has(axis string) bool {
	return slices.ContainsFunc(b.cells, func(c cell) bool { return c.Has(axis) })
}

// Ops lists the operations of a benchmark, by its name in the command line.
func Ops(name string) (ops []Op) {
	b, err := benchmarkOf(name)
	if err != nil {
		return nil
	}
	for _, c := range b.cells {
		ops = append(ops, c.Op)
	}
	return ops
}

// AxesOf lists the axes of a benchmark, with its own defaults.
func AxesOf(name string) (axes []Axis) {
	b, err := benchmarkOf(name)
	if err != nil {
		return nil
	}
	for _, x := range Axes {
		if b.has(x.Name) {
			x.Default = b.standard(x)
			axes = append(axes, x)
		}
	}
	return axes
}
