package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/vk"
)

// fake is a tuner of a device on which a benchmark takes so long with some choices.
func fake(took func(t vk.Tuning) (float64, error)) *tuner {
	return &tuner{show: func(string, ...any) {},
		time: func(_ context.Context, t vk.Tuning, by [][2]string) (times []float64, err error) {
			for range by {
				s, err := took(t)
				if err != nil {
					return nil, err
				}
				times = append(times, s)
			}
			return times, nil
		}}
}

// The fastest candidate is kept if it is faster by enough, each time that it is measured.
func TestTuneChooses(t *testing.T) {
	c := candidates{[]string{"a", "b"}, [][]int{{1, 10}, {2, 20}, {4, 40}}, [][2]string{{"x", "y"}, {"x", "z"}}}
	run := func(took func(t vk.Tuning) (float64, error)) (vk.Tuning, tunedChoice, error) {
		best := vk.Tuning{"before": 7}
		x, err := fake(took).choose(t.Context(), best, c)
		return best, x, err
	}
	best, x, err := run(func(t vk.Tuning) (float64, error) {
		return map[int]float64{0: 2, 1: 3, 2: 1, 4: 1.5}[t["a"]], nil
	})
	require.NoError(t, err)
	require.Equal(t, vk.Tuning{"before": 7, "a": 2, "b": 20}, best)
	require.Equal(t, tunedChoice{Name: "a", Best: "2,20", Faster: 2, Measured: "x y, x z"}, x)

	best, x, err = run(func(t vk.Tuning) (float64, error) { return 1 - float64(t["a"])*0.004, nil })
	require.NoError(t, err)
	require.Equal(t, vk.Tuning{"before": 7}, best, "1.6%")
	require.Equal(t, tunedChoice{Name: "a", Faster: 1, Measured: "x y, x z"}, x)

	lucky := 0
	best, _, err = run(func(t vk.Tuning) (float64, error) {
		if lucky++; t["a"] == 4 && lucky <= 8 {
			return 0.5, nil
		}
		return 1, nil
	})
	require.NoError(t, err)
	require.Equal(t, vk.Tuning{"before": 7}, best, "it was fast once")

	for _, fault := range []error{&bench.WrongError{}, &vk.OptionError{}} {
		told := ""
		quiet := fake(func(t vk.Tuning) (float64, error) { // nobody watches
			if t["a"] == 2 {
				return 0, fault
			}
			return 1 / float64(1+t["a"]), nil
		})
		quiet.tell = func(text string) { told = text }
		best = vk.Tuning{"before": 7}
		_, err = quiet.choose(t.Context(), best, c)
		require.NoError(t, err)
		require.Equal(t, "a 2,20 is not used: "+fault.Error(), told)
		require.Equal(t, vk.Tuning{"before": 7, "a": 4, "b": 40}, best, "wrong results are not used")
	}

	_, _, err = run(func(vk.Tuning) (float64, error) { return 0, context.Canceled })
	require.ErrorIs(t, err, context.Canceled)
}

// The size of subgroups is a choice where there are several, and the shape of sorts on GPUs.
func TestTuneCandidates(t *testing.T) {
	names := func(i vk.Info) (all []string) {
		for _, c := range candidatesFor(i) {
			all = append(all, c.name())
			for _, v := range c.values {
				require.Len(t, v, len(c.names))
			}
		}
		return all
	}
	tiles := []string{"hash.find", "hash.insert", "hash.update", "tree.find", "tree.seek", "tree.update"}
	require.Equal(t, tiles, names(vk.Info{Type: vk.CPU, MinSubgroup: 8, MaxSubgroup: 8,
		Features: []vk.Feature{vk.SubgroupSizes}}))
	amd := vk.Info{Type: vk.Discrete, MinSubgroup: 32, MaxSubgroup: 64, Features: []vk.Feature{vk.SubgroupSizes}}
	require.Equal(t, append(append([]string{"subgroup"}, tiles...), "passes", "sort.workgroup"), names(amd))
	require.Equal(t, [][]int{{32}, {64}}, candidatesFor(amd)[0].values)

	some, err := wanted(candidatesFor(amd), []string{"passes", "hash.find"})
	require.NoError(t, err)
	require.Len(t, some, 2)
	_, err = wanted(candidatesFor(vk.Info{Type: vk.CPU}), []string{"passes"})
	require.ErrorContains(t, err, "--only passes: the device has no such choice (there are hash.find, ")
}
