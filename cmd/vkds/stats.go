package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/vk"
)

func newStatsCommand(g *global) *cobra.Command {
	s := source{looks: true}
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats DICT-or-TABLE",
		Short: "Print the size, load and memory of a dictionary",
		Long: `Stats loads a saved dictionary or a table on the device and measures it:
  all           pairs and bytes of memory
  hash table    buckets, slabs, load, and utilization: the bytes of pairs
                divided by the bytes of slabs
  tree          height, nodes of each level from the leaves up, and how full the
                leaves are
  LSM           pairs of each level, and the share of elements that are stale:
                deleted or replaced, but still in memory

` + sourceHelp,
		Example: `  vkds stats airports.vkds
  vkds stats airports.csv --key id --value altitude --load 2 --json`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return stats(c.Context(), g, &s, arguments[0], asJSON)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	s.add(c, "")
	return c
}

func stats(ctx context.Context, g *global, s *source, path string, asJSON bool) (err error) {
	if err := checkInputs("-", path); err != nil {
		return err
	}
	return s.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		var measures []measure
		if d == nil {
			measures = []measure{{"pairs", dict.pairs}}
		} else if measures, err = dict.structure.measures(ctx, dict.itself()); err != nil {
			return err
		}
		measures = append([]measure{
			{"structure", dict.structure.name},
			{"key_type", dict.key.String()},
			{"value_type", dict.value.String()},
		}, measures...)
		if dict.key == keytype.Text || dict.value == keytype.Text {
			measures = append(measures, measure{"text_bytes", dict.textBytes()})
		}
		if asJSON {
			measures = append(measures, measure{"device", nameOf(d)})
		}
		return g.answerMeasures(measures, asJSON)
	})
}

// answerMeasures writes measures as a table, or as one JSON object.
func (g *global) answerMeasures(measures []measure, asJSON bool) error {
	if asJSON {
		object := map[string]any{}
		for _, x := range measures {
			object[x.name] = x.json()
		}
		return g.answerJSON(object)
	}
	var rows [][]string
	for _, x := range measures {
		rows = append(rows, []string{x.name, x.text()})
	}
	return g.answerTable([]string{"measure", "value"}, rows)
}

// measure is one line of an answer that describes one thing.
type measure struct {
	name  string
	value any
}

// json returns the value for JSON: nil for infinite numbers and NaN, which JSON does not have.
func (m measure) json() any {
	if x, ok := m.value.(float64); ok && (math.IsInf(x, 0) || math.IsNaN(x)) {
		return nil
	}
	return m.value
}

func (m measure) text() string {
	switch v := m.value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', 4, 64)
	case []uint64:
		return strings.Trim(fmt.Sprint(v), "[]")
	}
	return fmt.Sprint(m.value)
}

// statsOf returns the statistics of a structure of either width.
func statsOf[I interface {
	Stats(context.Context) (S, error)
}, S any](ctx context.Context, d any) (S, error) {
	return d.(interface{ Inspect() I }).Inspect().Stats(ctx)
}

func slabHashMeasures(ctx context.Context, d any) ([]measure, error) {
	s, err := statsOf[slabhash.Inspection](ctx, d)
	return []measure{
		{"pairs", s.Pairs},
		{"tombstones", s.Tombstones},
		{"buckets", s.Buckets},
		{"slabs", s.Slabs},
		{"chain_slabs", s.ChainSlabs},
		{"longest_bucket", s.LongestBucket},
		{"load", s.Load},
		{"slabs_per_bucket", s.SlabsPerBucket},
		{"utilization", s.Utilization},
		{"bytes", s.Bytes},
		{"buckets_by_slabs", lengths(s)},
	}, err
}

func btreeMeasures(ctx context.Context, d any) ([]measure, error) {
	s, err := statsOf[btree.Inspection](ctx, d)
	nodes := []uint64{}
	for _, l := range s.Levels {
		nodes = append(nodes, l.Nodes)
	}
	return []measure{
		{"pairs", s.Pairs},
		{"height", s.Height},
		{"nodes", s.Nodes},
		{"nodes_by_level", nodes},
		{"fill", s.Fill},
		{"erased", s.Erased},
		{"bytes", s.NodeBytes},
		{"pool_bytes", s.Bytes},
		{"bytes_per_pair", s.BytesPerPair},
		{"splits", s.Splits},
		{"restarts", s.Restarts},
		{"orphans", s.Orphans},
		{"batches_concurrent", s.Batches.Concurrent},
		{"batches_batched", s.Batches.Batched},
	}, err
}

func lsmMeasures(ctx context.Context, d any) ([]measure, error) {
	s, err := statsOf[lsm.Inspection](ctx, d)
	levels := []uint64{}
	for _, l := range s.Levels {
		levels = append(levels, uint64(l.Pairs))
	}
	return []measure{
		{"pairs", s.Pairs},
		{"resident", s.Resident},
		{"tombstones", s.Tombstones},
		{"stale", s.Stale},
		{"batch", s.Batch},
		{"front", s.Front},
		{"levels", levels},
		{"bytes", s.Bytes},
	}, err
}

func sortedArrayMeasures(ctx context.Context, d any) ([]measure, error) {
	s, err := statsOf[sortedarray.Inspection](ctx, d)
	return []measure{{"pairs", s.Pairs}, {"bytes", s.Bytes}}, err
}

// lengths returns how many buckets have 1, 2, … slabs, up to the most that one has.
func lengths(s slabhash.Stats) []uint64 {
	n := len(s.Lengths)
	for n > 0 && s.Lengths[n-1] == 0 {
		n--
	}
	return s.Lengths[:n]
}
