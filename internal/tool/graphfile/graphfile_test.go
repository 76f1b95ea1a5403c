package graphfile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
)

var ctx = context.Background()

// measured is what can be told of a graph by plain maps.
type measured struct {
	vertices, edges, triangles int
	loops                      int64
	least, most                int
}

// measure counts by plain maps: an edge's common neighbours are the triangles that it is in.
func measure(g *Graph) measured {
	all := make([]map[uint32]bool, g.Vertices.Len())
	for i := range all {
		all[i] = map[uint32]bool{}
	}
	for i, from := range g.From {
		all[from][g.To[i]], all[g.To[i]][from] = true, true
	}
	m := measured{vertices: len(all), loops: g.Loops, least: len(all)}
	for from, to := range all {
		m.least, m.most = min(m.least, len(to)), max(m.most, len(to))
		m.edges += len(to)
		for v := range to {
			if v < uint32(from) {
				continue
			}
			few, many := to, all[v]
			if len(few) > len(many) {
				few, many = many, few
			}
			for w := range few {
				if w > v && many[w] {
					m.triangles++
				}
			}
		}
	}
	m.edges /= 2
	return m
}

// Each graph of the collected data gives the numbers of its README. VKDS_DATA names the folder.
func TestData(t *testing.T) {
	folder := os.Getenv("VKDS_DATA")
	if folder == "" {
		t.Skip("no real data beside those in testdata (VKDS_DATA is their folder)")
	}
	for path, want := range known {
		var notes []string
		o := LoadOptions{Options: Options{Note: func(text string) { notes = append(notes, text) }}}
		if slices.Contains(counted, filepath.Base(path)) {
			o.Header = input.Present
		}
		g, err := Load(ctx, filepath.Join(folder, path), o)
		require.NoError(t, err, path)
		assert.Equal(t, want, measure(g), path)
		t.Log(path, g.Rows, notes)
	}
}

// counted are the files of which the first line has the numbers of vertices and edges.
var counted = []string{"ca-GrQc.txt.gz", "email-Enron.txt.gz", "ca-AstroPh.txt.gz", "soc-Epinions.txt.gz"}

// known is what the data's README says: vertices, edges, triangles, loops, least and most edges of a vertex.
var known = map[string]measured{
	"karate/karate.mtx":                            {34, 78, 45, 0, 1, 17},
	"celegans_metabolic/celegans_metabolic.graph":  {453, 2025, 3284, 0, 1, 237},
	"jagmesh7/jagmesh7.mtx.gz":                     {1138, 3156, 2016, 1138, 3, 6},
	"power/power.graph.gz":                         {4941, 6594, 651, 0, 1, 19},
	"airfoil1/airfoil1.graph.gz":                   {4253, 12289, 8034, 0, 3, 9},
	"CollegeMsg/CollegeMsg.txt.gz":                 {1899, 13838, 14319, 0, 1, 255},
	"ca-GrQc/ca-GrQc.txt.gz":                       {5242, 14484, 48260, 12, 0, 81},
	"oregon1_010331/oregon1_010331.txt.gz":         {10670, 22002, 17144, 0, 1, 2312},
	"PGPgiantcompo/PGPgiantcompo.graph.gz":         {10680, 24316, 54788, 0, 1, 205},
	"web-webbase-2001/web-webbase-2001.txt.gz":     {16062, 25593, 21115, 0, 1, 1679},
	"bcsstk13/bcsstk13.mtx.gz":                     {2003, 40940, 342300, 2003, 4, 94},
	"4elt/4elt.graph.gz":                           {15606, 45878, 30269, 0, 3, 10},
	"web-indochina-2004/web-indochina-2004.txt.gz": {11358, 47606, 210078, 0, 1, 199},
	"ego-facebook/facebook_combined.txt.gz":        {4039, 88234, 1612010, 0, 1, 1045},
	"ca-CondMat/ca-CondMat.txt.gz":                 {21363, 91286, 171051, 0, 1, 279},
	"luxembourg_osm/luxembourg_osm.mtx.gz":         {114599, 119666, 68, 0, 1, 6},
	"email-Enron/email-Enron.txt.gz":               {36692, 183831, 727044, 0, 1, 1383},
	"delaunay_n16/delaunay_n16.mtx.gz":             {65536, 196575, 131842, 0, 3, 17},
	"ca-AstroPh/ca-AstroPh.txt.gz":                 {18772, 198050, 1351441, 60, 0, 504},
	"MIT8/MIT8.edgelist.gz":                        {6440, 251252, 2370587, 0, 1, 708},
	"soc-Epinions1/soc-Epinions.txt.gz":            {75879, 405740, 1624481, 0, 1, 3044},
}
