package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/testdevice"
)

// knownGraph is what the README of a folder of graphs says.
type knownGraph struct {
	path                                               string
	vertices, edges, triangles, loops, least, greatest int
}

// shippedGraphs are those of testdata/README.md.
var shippedGraphs = []knownGraph{
	{"karate.mtx", 34, 78, 45, 0, 1, 17},
	{"jagmesh7.mtx.gz", 1138, 3156, 2016, 1138, 3, 6},
	{"power.graph.gz", 4941, 6594, 651, 0, 1, 19},
	{"celegans_metabolic.graph.gz", 453, 2025, 3284, 0, 1, 237},
}

// collectedGraphs are those of ../shared/data/README.md that aren't shipped.
var collectedGraphs = []knownGraph{
	{"airfoil1/airfoil1.graph.gz", 4253, 12289, 8034, 0, 3, 9},
	{"CollegeMsg/CollegeMsg.txt.gz", 1899, 13838, 14319, 0, 1, 255},
	{"ca-GrQc/ca-GrQc.txt.gz", 5242, 14484, 48260, 12, 0, 81},
	{"oregon1_010331/oregon1_010331.txt.gz", 10670, 22002, 17144, 0, 1, 2312},
	{"PGPgiantcompo/PGPgiantcompo.graph.gz", 10680, 24316, 54788, 0, 1, 205},
	{"web-webbase-2001/web-webbase-2001.txt.gz", 16062, 25593, 21115, 0, 1, 1679},
	{"bcsstk13/bcsstk13.mtx.gz", 2003, 40940, 342300, 2003, 4, 94},
	{"4elt/4elt.graph.gz", 15606, 45878, 30269, 0, 3, 10},
	{"web-indochina-2004/web-indochina-2004.txt.gz", 11358, 47606, 210078, 0, 1, 199},
	{"ego-facebook/facebook_combined.txt.gz", 4039, 88234, 1612010, 0, 1, 1045},
	{"ca-CondMat/ca-CondMat.txt.gz", 21363, 91286, 171051, 0, 1, 279},
	{"luxembourg_osm/luxembourg_osm.mtx.gz", 114599, 119666, 68, 0, 1, 6},
	{"email-Enron/email-Enron.txt.gz", 36692, 183831, 727044, 0, 1, 1383},
	{"delaunay_n16/delaunay_n16.mtx.gz", 65536, 196575, 131842, 0, 3, 17},
	{"ca-AstroPh/ca-AstroPh.txt.gz", 18772, 198050, 1351441, 60, 0, 504},
	{"MIT8/MIT8.edgelist.gz", 6440, 251252, 2370587, 0, 1, 708},
	{"soc-Epinions1/soc-Epinions.txt.gz", 75879, 405740, 1624481, 0, 1, 3044},
}

func checkGraphs(t *testing.T, folder string, all []knownGraph) {
	for _, k := range all {
		path := filepath.Join(folder, k.path)
		var counts []string // above the edges
		switch filepath.Base(path) {
		case "ca-GrQc.txt.gz", "email-Enron.txt.gz", "ca-AstroPh.txt.gz", "soc-Epinions.txt.gz":
			counts = []string{"--header"}
		}
		out, _ := answer(t, "", append([]string{"graph", "stats", path, "--json"}, counts...)...)
		assert.JSONEq(t, fmt.Sprintf(`{"vertices": %d, "edges": %d, "loops": %d, "degree": {"min": %d, "max": %d, `+
			`"mean": %.17g}}`, k.vertices, k.edges, k.loops, k.least, k.greatest,
			2*float64(k.edges)/float64(k.vertices)), out, path)
		for _, on := range [][]string{nil, {"--live"}} {
			out, _ = answer(t, "", slices.Concat([]string{"graph", "triangles", path, "--json"}, counts, on)...)
			assert.JSONEq(t, fmt.Sprintf(`{"triangles": %d}`, k.triangles), out, path)
		}
	}
}

func TestShippedGraphs(t *testing.T) {
	needDevice(t)
	checkGraphs(t, filepath.Join("..", "..", "testdata"), shippedGraphs)
}

// All the graphs that were collected, and CollegeMsg as it grew.
func TestCollectedGraphs(t *testing.T) {
	needDevice(t)
	folder := os.Getenv("VKDS_DATA")
	if folder == "" {
		t.Skip("no real data beside those in testdata (VKDS_DATA is their folder)")
	}
	checkGraphs(t, folder, collectedGraphs)
	out, _ := answer(t, "", "graph", "stats", folder+"/openflights/routes.dat.gz", "--format", "csv", "--from", "4",
		"--to", "6", "--skip-invalid", "--no-header", "--json")
	assert.Regexp(t, `(?s)"vertices": 3330,.*"edges": 19079,.*"max": 248,`, out)
	messages := folder + "/CollegeMsg/CollegeMsg.txt.gz"
	out, _ = answer(t, "", "graph", "replay", messages, "--batch", "10000")
	assert.Equal(t, []string{"rows,vertices,edges,triangles", "10000,732,3004,1402", "20000,1027,5353,3208",
		"30000,1261,7491,5886", "40000,1454,9536,8831", "50000,1722,12057,11573", "59835,1899,13838,14319"},
		withoutLast(out))
	out, _ = answer(t, "", "graph", "replay", messages, "--batch", "10000", "--window", "20000")
	assert.Contains(t, withoutLast(out), "40000,1115,5099,2561")
	out, _ = answer(t, "", "graph", "replay", messages, "--batch", "59835", "--window", "10000")
	assert.Contains(t, withoutLast(out), "59835,889,2267,547")
}

// withoutLast are the lines of a table without its last column.
func withoutLast(table string) (lines []string) {
	for line := range strings.Lines(table) {
		lines = append(lines, line[:strings.LastIndexByte(line, ',')])
	}
	return lines
}

// plain is a graph in Go's maps.
type plain map[string]map[string]int

func (p plain) add(from, to string, weight int) {
	for _, v := range []string{from, to} {
		if p[v] == nil {
			p[v] = map[string]int{}
		}
	}
	if from != to {
		p[from][to], p[to][from] = weight, weight
	}
}

// distances are the lengths of shortest paths, by weights or by edges.
func (p plain) distances(from string, weighted bool) map[string]int {
	found := map[string]int{from: 0}
	for range p { // Bellman and Ford
		for u, near := range maps.Clone(found) {
			for v, w := range p[u] {
				if !weighted {
					w = 1
				}
				if have, there := found[v]; !there || near+w < have {
					found[v] = near + w
				}
			}
		}
	}
	return found
}

// counts are edges, triangles, components and the vertices of the largest of these.
func (p plain) counts() (edges, triangles, components, largest int) {
	seen := map[string]bool{}
	for u, to := range p {
		for v := range to {
			for w := range p[v] {
				if _, closed := to[w]; closed {
					triangles++
				}
			}
			edges++
		}
		if !seen[u] {
			reached := p.distances(u, false)
			for v := range reached {
				seen[v] = true
			}
			components, largest = components+1, max(largest, len(reached))
		}
	}
	return edges / 2, triangles / 6, components, largest
}

// randomList is a list of edges, with weights, among texts or numbers, and what it comes to.
func randomList(random *rand.Rand, rows int, id func(int) string) (text string, p plain) {
	p = plain{}
	var b strings.Builder
	for range rows {
		u, v, w := id(random.IntN(40)), id(random.IntN(40)), random.IntN(100)
		fmt.Fprintln(&b, u, v, w)
		p.add(u, v, w)
	}
	return b.String(), p
}

// All analyses of small graphs, with ids of both kinds, are those of plain maps.
func TestGraphAnswers(t *testing.T) {
	needDevice(t)
	random := rand.New(rand.NewPCG(7, 8))
	for name, id := range map[string]func(int) string{
		"numbers": func(i int) string { return fmt.Sprint(1<<40 - i*i*7919) },
		"texts":   func(i int) string { return fmt.Sprintf("v%d", i) },
	} {
		text, p := randomList(random, 45, id)
		path := write(t, "list.txt", text)
		edges, triangles, components, largest := p.counts()
		stats, _ := answer(t, "", "graph", "stats", path, "--json")
		assert.Contains(t, stats, fmt.Sprintf("\"vertices\": %d,\n  \"edges\": %d,", len(p), edges), name)
		out, _ := answer(t, "", "graph", "triangles", path)
		assert.Equal(t, fmt.Sprintf("measure,value\ntriangles,%d\n", triangles), out, name)
		out, _ = answer(t, "", "graph", "components", path, "--json")
		assert.JSONEq(t, fmt.Sprintf(`{"components": %d, "largest": %d}`, components, largest), out, name)
		source := strings.Fields(text)[0]
		for command, weighted := range map[string]bool{"bfs": false, "sssp": true} {
			arguments := []string{"graph", command, path, "--from", source}
			if weighted {
				arguments = append(arguments, "--weight", "3")
			}
			out, _ = answer(t, "", arguments...)
			assert.Equal(t, p.table(p.distances(source, weighted)), sortedLines(out), "%s %s", name, command)
		}
		cores, _ := answer(t, "", "graph", "kcore", path)
		assert.Equal(t, p.table(p.cores()), sortedLines(cores), name)
		var pairs []string
		for v := range p[source] {
			pairs = append(pairs, source+","+v)
		}
		slices.Sort(pairs)
		out, _ = answer(t, "", "graph", "neighbors", path, source)
		assert.Equal(t, pairs, sortedLines(out), name)
	}
}

// table are lines of a vertex and its number, empty where there is none, in the order of the lines.
func (p plain) table(numbers map[string]int) (lines []string) {
	for v := range p {
		line := v + ","
		if n, there := numbers[v]; there {
			line += fmt.Sprint(n)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// cores are core numbers, by taking away whoever has the fewest neighbours left.
func (p plain) cores() map[string]int {
	left, cores, most := map[string]int{}, map[string]int{}, 0
	for v := range p {
		left[v] = len(p[v])
	}
	for len(left) > 0 {
		least := ""
		for v, n := range left {
			if least == "" || n < left[least] {
				least = v
			}
		}
		most = max(most, left[least])
		cores[least] = most
		delete(left, least)
		for v := range p[least] {
			if _, there := left[v]; there {
				left[v]--
			}
		}
	}
	return cores
}

// sortedLines are the lines behind a table's first one.
func sortedLines(table string) []string {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")[1:]
	slices.Sort(lines)
	return lines
}

// Ranks are 1 together, the highest first, and those of the karate club's heads are known.
func TestGraphPageRank(t *testing.T) {
	needDevice(t)
	path := filepath.Join("..", "..", "testdata", "karate.mtx")
	out, _ := answer(t, "", "graph", "pagerank", path, "--json")
	sum, last, first := 0.0, 1.0, ""
	for line := range strings.Lines(out) {
		var row struct {
			Vertex int
			Rank   float64
		}
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		sum += row.Rank
		assert.LessOrEqual(t, row.Rank, last)
		last = row.Rank
		first += fmt.Sprintf("%d %.4f ", row.Vertex, row.Rank)
	}
	assert.InDelta(t, 1, sum, 1e-5)
	assert.True(t, strings.HasPrefix(first, "34 0.1009 1 0.0970 33 0.0717 "), first)
	top, _ := answer(t, "", "graph", "pagerank", path, "--top", "2")
	assert.Equal(t, 3, strings.Count(top, "\n"))
	// Around a vertex with two neighbours, these and it itself are first; and from two places that aren't connected,
	// each has what the other hasn't.
	near, _ := answer(t, "", "graph", "pagerank", path, "--around", "17", "--top", "3")
	first = ""
	for _, line := range strings.Split(near, "\n")[1:4] {
		first += strings.Split(line, ",")[0] + " "
	}
	assert.ElementsMatch(t, []string{"17", "6", "7"}, strings.Fields(first))
	apart, _ := answer(t, "1 2\n2 1\n3 4\n4 3\n5 6\n", "graph", "pagerank", "-", "--around", "1", "--around", "3")
	ranks := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(apart), "\n")[1:] {
		vertex, rank, _ := strings.Cut(line, ",")
		ranks[vertex] = rank
	}
	assert.Equal(t, ranks["1"], ranks["3"])
	assert.Equal(t, "0", ranks["5"])
	assert.Equal(t, "0", ranks["6"])
	assert.Equal(t, "vertex 99 isn't in the graph", refusal(t, "", "graph", "pagerank", path, "--around", "99"))
}

// Paths are the shortest ones, by edges and by weights.
func TestGraphPath(t *testing.T) {
	needDevice(t)
	arcs := "1 2 1\n2 3 1\n3 4 1\n1 4 9\n5 1 0\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bfs", "-", "--from", "1", "--path", "4"}, "1,0\n4,1\n"},
		{[]string{"sssp", "-", "--weight", "3", "--from", "1", "--path", "4"}, "1,0\n2,1\n3,2\n4,3\n"},
		{[]string{"sssp", "-", "--weight", "3", "--from", "5", "--path", "2"}, "5,0\n1,0\n2,1\n"},
		{[]string{"bfs", "-", "--from", "3", "--path", "3"}, "3,0\n"},
		{[]string{"bfs", "-", "--from", "3", "--path", "3", "--live"}, "3,0\n"},
	} {
		out, _ := answer(t, arcs, append([]string{"graph"}, c.args...)...)
		assert.Equal(t, "vertex,distance\n"+c.want, out, c.args)
	}
	out, notes := answer(t, arcs, "graph", "bfs", "-", "--directed", "--from", "2", "--path", "5")
	assert.Equal(t, "vertex,distance\n", out)
	assert.Contains(t, notes, "no path leads from 2 to 5")
	assert.Equal(t, "vertex 7 isn't in the graph", refusal(t, arcs, "graph", "bfs", "-", "--from", "1", "--path", "7"))
}

// Weights that are fractions make floats of all: distances, neighbours, and exported edges, which come back as they
// were.
func TestGraphFloats(t *testing.T) {
	needDevice(t)
	table := write(t, "roads.csv", "a,b,km\n1,2,0.1\n2,3,0.2\n1,3,0.5\n3,4,1e30\n5,6,7\n")
	for _, live := range [][]string{nil, {"--live"}} {
		sssp := append([]string{"graph", "sssp", table, "--weight", "km", "--from", "1"}, live...)
		out, notes := answer(t, "", sssp...)
		assert.Equal(t, "vertex,distance\n1,0\n2,0.1\n3,0.3\n4,1e+30\n5,\n6,\n", out)
		assert.Contains(t, notes,
			"; weights are taken for 32-bit floats, because not all are integers up to 4294967295\n")
		out, _ = answer(t, "", append(sssp, "--path", "4")...)
		assert.Equal(t, "vertex,distance\n1,0\n2,0.1\n3,0.3\n4,1e+30\n", out)
		out, _ = answer(t, "", append(sssp, "--json", "--multi")...)
		assert.Contains(t, out, `{"vertex":3,"distance":0.3}`)
		assert.Contains(t, out, `{"vertex":6,"distance":null}`)
	}
	out, _ := answer(t, "", "graph", "neighbors", table, "3", "--weighted", "--weight", "km")
	assert.Equal(t, "vertex,neighbor,weight\n3,1,0.5\n3,2,0.2\n3,4,1e+30\n", out)
	want := "from,to,weight\n1,2,0.1\n1,3,0.5\n2,3,0.2\n3,4,1e+30\n5,6,7\n"
	for _, ending := range []string{"csv", "txt", "mtx"} {
		path := filepath.Join(t.TempDir(), "out."+ending)
		answer(t, "", "graph", "export", table, "--weight", "km", "-o", path)
		arguments := []string{"graph", "export", path, "--weighted"}
		if ending != "mtx" {
			arguments = append(arguments, "--weight", "3")
		}
		back, _ := answer(t, "", arguments...)
		assert.Equal(t, want, back, ending)
	}
	// With --multi the least weight counts, also after one that is an integer.
	out, _ = answer(t, "1 2 9\n2 1 1\n1 2 1.5\n", "graph", "sssp", "-", "--weight", "3", "--multi", "--from", "1")
	assert.Equal(t, "vertex,distance\n1,0\n2,1\n", out)
	assert.Equal(t, `standard input:2: weight "-1": a weight has to be a number from 0 to 3.4e38`,
		refusal(t, "1 2 0.5\n2 3 -1\n", "graph", "sssp", "-", "--weight", "3", "--from", "1"))
}

// Directions, loops and edges that come twice are as the flags say.
func TestGraphFlags(t *testing.T) {
	needDevice(t)
	path := write(t, "list", "1 2\n2 1\n1 2\n3 3\n3 1\n")
	for flag, want := range map[string]string{
		"--quiet":    `"edges": 2, "loops": 1, "degree": {"min": 1, "max": 2, "mean": 1.3333333333333333}`,
		"--directed": `"edges": 3, "loops": 1, "degree": {"min": 1, "max": 1, "mean": 1}`,
		"--multi":    `"edges": 5, "loops": 1, "degree": {"min": 3, "max": 4, "mean": 3.3333333333333335}`,
	} {
		out, _, status := runTool("", "graph", "stats", path, "--json", flag)
		assert.Zero(t, status)
		assert.JSONEq(t, `{"vertices": 3, `+want+"}", out, flag)
	}
	out, _ := answer(t, "", "graph", "bfs", path, "--from", "1", "--directed")
	assert.Equal(t, "vertex,distance\n1,0\n2,1\n3,\n", out)
	arcs := write(t, "arcs.gr", "p sp 3 2\na 1 2 3\na 3 2 4\n")
	out, notes := answer(t, "", "graph", "bfs", arcs, "--from", "1")
	assert.Equal(t, "vertex,distance\n1,0\n2,1\n3,\n", out)
	assert.Contains(t, notes, "; 3 vertices; directed\n")
	out, notes = answer(t, "", "graph", "bfs", arcs, "--from", "1", "--undirected")
	assert.Equal(t, "vertex,distance\n1,0\n2,1\n3,2\n", out)
	assert.Contains(t, notes, "; 3 vertices; undirected\n")
	out, _ = answer(t, "", "graph", "components", arcs)
	assert.Equal(t, "measure,value\ncomponents,1\nlargest,3\n", out)
	for _, live := range [][]string{nil, {"--live"}} {
		scc := append([]string{"graph", "scc", path, "--directed"}, live...)
		out, _ = answer(t, "", scc...)
		assert.Equal(t, "measure,value\ncomponents,2\nlargest,2\n", out)
		out, _ = answer(t, "", append(scc, "--vertices")...)
		assert.Equal(t, "vertex,component\n1,1\n2,1\n3,3\n", out)
	}
	pairs := write(t, "pairs", "1 2\n2 3\n1 3\n3 4\n4 5\n5 6\n4 6\n")
	for _, live := range [][]string{nil, {"--live"}} {
		communities := append([]string{"graph", "communities", pairs}, live...)
		out, _ = answer(t, "", append(communities, "--json")...)
		assert.JSONEq(t, `{"communities": 2, "largest": 3}`, out)
		out, _ = answer(t, "", append(communities, "--vertices")...)
		assert.Equal(t, "vertex,community\n1,1\n2,1\n3,1\n4,4\n5,4\n6,4\n", out)
	}
	_, said, status := runTool("", "graph", "communities", pairs, "--iterations", "0")
	assert.NotZero(t, status)
	assert.Contains(t, said, "--iterations is at least 1")
	out, notes = answer(t, "1 2 9\n", "graph", "sssp", "-", "--from", "1")
	assert.Equal(t, "vertex,distance\n1,0\n2,1\n", out)
	assert.Contains(t, notes, "no weights (of a table, --weight names their column)")
	out, _ = answer(t, "1 2 9\n2 1 4\n", "graph", "sssp", "-", "--weight", "3", "--multi", "--from", "1")
	assert.Equal(t, "vertex,distance\n1,0\n2,4\n", out)
	out, _ = answer(t, "a,b\n7,8\n8,9\n", "graph", "components", "-", "--format", "csv", "--vertices")
	assert.Equal(t, "vertex,component\n7,7\n8,7\n9,7\n", out)
	out, _ = answer(t, "", "graph", "stats", write(t, "none", ""), "--json")
	assert.JSONEq(t, `{"vertices": 0, "edges": 0, "loops": 0, "degree": {"min": 0, "max": 0, "mean": 0}}`, out)
}

// What is exported comes back, whatever it becomes.
func TestGraphExport(t *testing.T) {
	needDevice(t)
	list := write(t, "list.txt", "10 30 5\n30 20 6\n40 40 7\n20 10 8\n")
	want, _ := answer(t, "", "graph", "export", list, "--weight", "3")
	assert.Equal(t, "from,to,weight\n10,20,8\n10,30,5\n20,30,6\n", want)
	for _, ending := range []string{"csv", "txt", "mtx"} {
		path := filepath.Join(t.TempDir(), "out."+ending)
		_, notes := answer(t, "", "graph", "export", list, "--weight", "3", "-o", path)
		arguments := []string{"graph", "export", path, "--weighted"}
		back := want
		switch ending {
		case "csv", "txt":
			arguments = append(arguments, "--weight", "3")
			assert.Contains(t, notes, "vkds: 1 of 4 vertices have no edges, and are not in it: mtx", ending)
		default:
			back = "from,to,weight\n1,2,8\n1,3,5\n2,3,6\n" // numbers from 1 on
			stats, _ := answer(t, "", "graph", "stats", path, "--undirected")
			assert.Contains(t, stats, "vertices,4\nedges,3\n", ending)
			assert.NotContains(t, notes, "have no edges", ending)
		}
		out, _ := answer(t, "", arguments...)
		assert.Equal(t, back, out, ending)
	}
	_, notes := answer(t, "1 2\n3 3\n2 4\n", "graph", "export", "-", "--directed")
	assert.Contains(t, notes, "vkds: 1 of 4 vertices have no edges", "4 has none that lead from it")
	assert.Contains(t, refusal(t, "", "graph", "export", list, "-o", list), "is the same file as")
	document := filepath.Join(t.TempDir(), "x.doc")
	assert.Contains(t, refusal(t, "", "graph", "export", list, "-o", document), "no format has")
	assert.Contains(t, refusal(t, "\"a b\",c\n", "graph", "export", "-", "--format", "csv", "--id-type", "text",
		"--output-format", "edges"), "can't stand in a list of edges")
}

func TestGraphRefuses(t *testing.T) {
	needDevice(t)
	list := write(t, "list", "1 2\n")
	assert.Equal(t, "vertex 7 isn't in the graph", refusal(t, "", "graph", "bfs", list, "--from", "7"))
	assert.Equal(t, `vertex "x": "x" is not an integer (--id-type text reads it)`,
		refusal(t, "", "graph", "neighbors", list, "x"))
	assert.Equal(t, `required flag(s) "from" not set (see vkds graph sssp --help)`,
		refusal(t, "", "graph", "sssp", list))
	assert.Equal(t, `standard input:2: "x" is not an integer (--id-type text reads it)`,
		refusal(t, "1 2\nx 1\n", "graph", "triangles", "-"))
	arcs := write(t, "arcs.gr", "p sp 2 1\na 1 2 3\n")
	assert.Contains(t, refusal(t, "", "graph", "export", arcs, "--output-format", "metis"),
		`unknown format "metis" (known: auto, csv, edges, mtx)`)
	assert.Equal(t, "--directed and --undirected exclude each other",
		refusal(t, "", "graph", "stats", arcs, "--directed", "--undirected"))
	assert.Contains(t, refusal(t, "", "graph", "stats", list, "--format", "gml"), `unknown format "gml"`)
	assert.Contains(t, refusal(t, "", "graph", "replay", list, "--batch", "0"), "a batch has 1 to")
	assert.Contains(t, refusal(t, "", "graph", "replay", list, "--batch", "1", "--plot", "x.doc"), "ends in .png")
	assert.Contains(t, refusal(t, "", "graph", "pagerank", list, "--damping", "1"), "--damping is between 0 and 1")
	assert.Contains(t, refusal(t, "", "graph", "paint", list), `unknown command "paint"`)
	assert.Equal(t, "files of format mtx have no columns to choose", refusal(t, "", "graph", "stats",
		filepath.Join("..", "..", "testdata", "karate.mtx"), "--from", "2"))
}

// A replayed list has after each batch the counts of a graph that is made of its rows, or of those in the window, anew.
func TestGraphReplay(t *testing.T) {
	needDevice(t)
	random := rand.New(rand.NewPCG(9, 10))
	text, _ := randomList(random, 400, func(i int) string { return fmt.Sprint(5 * i) })
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	picture := filepath.Join(t.TempDir(), "x.svg")
	for _, window := range []int{0, 70} {
		arguments := []string{"graph", "replay", write(t, "list", text), "--batch", "60", "--plot", picture}
		last := len(rows)
		if window > 0 {
			last = window
			arguments = append(arguments, "--window", fmt.Sprint(window))
		}
		out, _ := answer(t, "", arguments...)
		want := "rows,vertices,edges,triangles,components\n"
		for at := 60; at < len(rows)+60; at += 60 {
			end, p := min(at, len(rows)), plain{}
			for _, row := range rows[max(0, end-last):end] {
				f := strings.Fields(row)
				p.add(f[0], f[1], 0)
			}
			edges, triangles, components, _ := p.counts()
			want += fmt.Sprintf("%d,%d,%d,%d,%d\n", end, len(p), edges, triangles, components)
		}
		assert.Equal(t, want, out, window)
		drawn, err := os.ReadFile(picture)
		require.NoError(t, err)
		assert.Contains(t, string(drawn), "<svg")
	}
	// A code that comes late makes all ids text, and what was counted before stays.
	late := strings.Repeat("7 8\n9 0xa\n", 20000)
	codes := write(t, "codes", strings.ReplaceAll(late, "0xa", "10")+"007 7\n")
	out, notes := answer(t, "", "graph", "replay", codes, "--batch", "20000")
	assert.Equal(t, "rows,vertices,edges,triangles,components\n20000,4,2,0,2\n40000,4,2,0,2\n40001,5,3,0,2\n", out)
	assert.Contains(t, notes, "ids are taken for text, because 007 has a leading zero: reading it again")
	_, said, status := runTool("", "graph", "replay", write(t, "codes", late+"9 10\n"+strings.Repeat("1 2\n", 9999)+
		"007 7\n"), "--batch", "50000")
	assert.Equal(t, 2, status)
	assert.Contains(t, said, "ids of earlier rows differ that are the same as numbers")

	out, _ = answer(t, "1 1\n2 2\n", "graph", "replay", "-", "--batch", "1", "--json")
	assert.Equal(t, `{"rows":1,"vertices":1,"edges":0,"triangles":0,"components":1}`+"\n"+
		`{"rows":2,"vertices":2,"edges":0,"triangles":0,"components":2}`+"\n", out)
}

// A graph that a program has saved is verified, and one whose bytes were changed, or that is cut short, isn't.
func TestVerifyGraph(t *testing.T) {
	needDevice(t)
	d := testdevice.Open(t)
	saved, err := graph.Build(t.Context(), d, graph.Edges{From: []uint32{0, 1, 2, 9}, To: []uint32{1, 2, 0, 9},
		Weights: []uint32{5, 6, 7, 8}}, graph.Options{Weighted: true, SelfLoops: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, saved.Close()) }()
	var file bytes.Buffer
	_, err = saved.Save(t.Context(), &file)
	require.NoError(t, err)
	path := write(t, "graph.vkds", file.String())
	out, _ := answer(t, "", "verify", path, "--json")
	assert.JSONEq(t, `{"structure": "graph", "vertices": 10, "edges": 4, "checked": "all that must hold of a graph"}`,
		out)
	text := file.Bytes()
	text[len(text)/2] ^= 4
	assert.Contains(t, refusal(t, "", "verify", write(t, "changed.vkds", string(text))), "changed.vkds")
	assert.Contains(t, refusal(t, "", "verify", write(t, "short.vkds", file.String()[:file.Len()-9])), "short.vkds")
}
