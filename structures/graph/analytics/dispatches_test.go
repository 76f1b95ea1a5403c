package analytics_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// inAll is how many workgroups so many dispatches have that share some out.
func inAll(workgroups, dispatches int) int {
	return (workgroups + dispatches - 1) / dispatches * dispatches
}

// What goes over all arcs is as many dispatches as it takes for none to have more than a desktop gives it time for, and
// what a call says that the device worked counts each of them once.
func TestManyArcsAreSeveralDispatches(t *testing.T) {
	pass.OneWidth(t, "the host divides the arcs")
	d := testdevice.Open(t, vk.Options{TimeDispatches: true})
	if !d.Has(vk.Timestamps) {
		t.Skip("a device without timestamps does not tell what its dispatches were")
	}
	e := rmat(11, 16, rand.New(rand.NewPCG(3, 3)))
	arcs := 0
	for _, row := range e.rows() {
		arcs += len(row)
	}
	parts, triangleParts := Dispatches(arcs)
	require.Greater(t, parts, 5)
	require.Greater(t, triangleParts, 5)
	calls := map[string]func(context.Context, *Analyzer) (time.Duration, error){
		"bfs": func(ctx context.Context, a *Analyzer) (time.Duration, error) {
			r, err := a.BFS(ctx, 0, BFSOptions{})
			return r.Elapsed, err
		},
		"sssp": func(ctx context.Context, a *Analyzer) (time.Duration, error) {
			r, err := a.SSSP(ctx, 0, SSSPOptions{})
			return r.Elapsed, err
		},
		"cores": func(ctx context.Context, a *Analyzer) (time.Duration, error) {
			r, err := a.Cores(ctx)
			return r.Elapsed, err
		},
		"components_link": func(ctx context.Context, a *Analyzer) (time.Duration, error) {
			r, err := a.Components(ctx)
			return r.Elapsed, err
		},
		"pagerank": func(ctx context.Context, a *Analyzer) (time.Duration, error) {
			r, err := a.PageRank(ctx, PageRankOptions{Iterations: 4, Tolerance: -1})
			return r.Elapsed, err
		},
		"orient": func(ctx context.Context, a *Analyzer) (time.Duration, error) {
			r, err := a.Triangles(ctx)
			return r.Elapsed, err
		},
	}
	for form, a := range map[string]*Analyzer{"csr": e.analyzer(t, d), "live": e.fresh(t, d)} {
		for name, call := range calls {
			if form == "live" && name == "pagerank" {
				continue // which is the other form's, on a copy
			}
			t.Run(form+"/"+name, func(t *testing.T) {
				var whole, each time.Duration
				of, workgroups := map[string]int{}, map[string]int{}
				a.Timed(func(timing vk.Timing) {
					if timing.Label == "" {
						whole += timing.Duration
						return
					}
					each += timing.Duration
					label, _ := strings.CutPrefix(timing.Label, "analytics/")
					label, _, _ = strings.Cut(strings.Replace(label, ".large", "_large", 1), ".")
					of[label]++
					workgroups[label] += timing.Workgroups
				})
				device, err := call(t.Context(), a)
				require.NoError(t, err)
				switch rounds := of[name]; name {
				case "bfs", "sssp", "cores": // one of the small kernel
					require.NotZero(t, rounds)
					require.Equal(t, rounds*parts, of[name+"_large"])
				case "components_link":
					require.Equal(t, 3*parts, rounds)
					if form == "csr" {
						require.Equal(t, 3*inAll(e.vertices/128, parts), workgroups[name])
					}
				case "pagerank":
					require.Equal(t, 4*parts, rounds)
				default:
					if form == "live" {
						require.Equal(t, 1+2*parts, of["live_orient"]) // gathers all, counts them and fills rows
						require.Equal(t, triangleParts, of["triangles_edges"])
					} else {
						require.Equal(t, parts, of[name])
						require.Equal(t, inAll((arcs+1023)/1024, parts), workgroups[name])
						require.Equal(t, triangleParts, of["triangles"])
						require.Equal(t, inAll((arcs/2+127)/128, triangleParts), workgroups["triangles"])
					}
				}
				require.Positive(t, each)
				require.Positive(t, device)
				require.LessOrEqual(t, device, whole)
			})
		}
	}
}
