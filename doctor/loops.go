package doctor

import (
	"context"
	"fmt"
)

type loopsPush struct {
	Answers    uint64
	Count      uint32
	Iterations uint32
	Outer      uint32
	Middle     uint32
	Inner      uint32
	Least      uint32
}

// loopsSeen is the outcome of loops with a known number of iterations. Fewest and Most are those of any invocation, for
// one loop, for two nested loops and for three. In the one loop, invocation i makes i further iterations, which are
// subtracted.
type loopsSeen struct {
	Iterations int    `json:"iterations"`
	Fewest     [3]int `json:"fewest"`
	Most       [3]int `json:"most"`
	Miscounted int    `json:"miscounted"`
}

func observeLoops(ctx context.Context, l *lab) (observation, error) {
	p := loopsPush{Iterations: 200_000, Outer: 20, Middle: 100, Inner: 100}
	workgroup := l.workgroup(1)
	n := 2 * workgroup
	k, err := load[loopsPush](l, "loops", workgroup, 0, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.words(8 * n)
	if err != nil {
		return nil, err
	}
	p.Answers, p.Count = b[0].Address(), uint32(n)
	if err := run(ctx, l, k, n/workgroup, p); err != nil {
		return nil, err
	}
	answers, err := read(ctx, b[0])
	if err != nil {
		return nil, err
	}
	seen := loopsSeen{Iterations: int(p.Iterations)}
	for i := range n {
		for j, want := range [3]uint32{p.Iterations + uint32(i), p.Iterations, p.Iterations} {
			made, number := int(answers[8*i+2*j]), answers[8*i+2*j+1]
			if j == 0 {
				made -= i
			}
			if i == 0 {
				seen.Fewest[j], seen.Most[j] = made, made
			}
			seen.Fewest[j], seen.Most[j] = min(seen.Fewest[j], made), max(seen.Most[j], made)
			if number != steps(uint32(i), want) {
				seen.Miscounted++
			}
		}
	}
	return seen, nil
}

// steps returns the result of loops.comp after the given number of iterations.
func steps(x, iterations uint32) uint32 {
	for range iterations {
		x = x*1664525 + 1013904223
	}
	return x
}

func (s loopsSeen) judge() Finding {
	names := [3]string{"a loop", "two nested loops", "three nested loops"}
	for j, name := range names {
		if s.Fewest[j] != s.Iterations || s.Most[j] != s.Iterations {
			return Finding{Fail, fmt.Sprintf("%s of %d iterations made %d", name, s.Iterations, s.Fewest[j]),
				"The driver ends loops early without a word: long batches come out incomplete."}
		}
	}
	if s.Miscounted > 0 {
		return Finding{Fail, fmt.Sprintf("%d results of long loops are wrong", s.Miscounted),
			"The driver miscompiles long loops."}
	}
	return Finding{Pass, fmt.Sprintf("%d iterations, alone and nested", s.Iterations),
		"Loops run for as long as they should."}
}
