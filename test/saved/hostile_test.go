package saved

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	format "github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A file may say anything of its parameters and of its pairs: memory is taken for those that it has, on the device and
// on the host.
func TestHostileFilesAreBounded(t *testing.T) {
	d := testdevice.Open(t)
	const most = 96 << 20
	bounded := func(what string, load func() (close func() error, err error)) {
		t.Helper()
		used, _ := d.Memory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		end, err := load()
		runtime.ReadMemStats(&after)
		now, _ := d.Memory()
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most), what)
		require.Less(t, now, used+most, what)
		if err == nil {
			require.NoError(t, end(), what)
		}
	}
	pairs := []byte{1, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0}
	for _, parameter := range []string{`"slabhash","parameters":{"load":0.01}`, `"slabhash","parameters":{"load":1e-9}`,
		`"btree","parameters":{"fill":1e-9}`, `"lsm","parameters":{"batch":268435456}`, `"sortedarray"`} {
		for _, n := range []int{1, 1 << 30} {
			file := fake(fmt.Sprintf(`{"structure":%s,"pairs":%d,"key_type":"u32","value_type":"u32"}`, parameter, n),
				8,
				pairs)
			for _, name := range names {
				bounded(name+" of "+parameter, func() (func() error, error) {
					x, err := loading[uint32, uint32](t.Context(), d, name, file)
					if err != nil {
						return nil, err
					}
					return x.Close, nil
				})
			}
		}
	}
	for _, vertices := range []int{2001, 1 << 30} {
		for _, load := range []float64{0.00005, 0.01, 100} {
			var file bytes.Buffer
			columns := format.Set[uint64]()
			w, err := format.NewWriter(&file, format.Header{Structure: format.Graph, Pairs: 2000,
				Parameters: map[string]float64{"vertices": float64(vertices), "load": load, "directed": 1}}, columns)
			require.NoError(t, err)
			edges := make([]uint64, 2000)
			for i := range edges {
				edges[i] = uint64(i + 1)
			}
			require.NoError(t, format.WriteWords(w, edges, nil))
			require.NoError(t, w.Close())
			bounded(fmt.Sprintf("graph of load %g and %d vertices", load, vertices), func() (func() error, error) {
				g, err := graph.Load(t.Context(), d, bytes.NewReader(file.Bytes()), graph.Options{})
				if err != nil {
					return nil, err
				}
				return g.Close, nil
			})
		}
	}
	var option *vk.OptionError
	for _, load := range []float64{1e-9, 0.001, 101} {
		_, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Load: load})
		require.ErrorAs(t, err, &option)
		_, err = graph.New(t.Context(), d, graph.Options{Load: load})
		require.ErrorAs(t, err, &option)
	}
}
