package primitives_test

import (
	"context"
	"fmt"
	"log"

	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// array returns a buffer of n words that begins with the given ones.
func array(d *vk.Device, n int, words ...uint32) *vk.Buffer[uint32] {
	b, err := vk.NewBuffer[uint32](d, n)
	check(err)
	check(b.Upload(context.Background(), 0, words))
	return b
}

// read returns the first n words of a buffer.
func read(b *vk.Buffer[uint32], n int) []uint32 {
	words := make([]uint32, n)
	check(b.Download(context.Background(), 0, words))
	return words
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Sort pairs by their keys. Pairs with equal keys keep their order.
func ExamplePrimitives_Sort() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()

	keys, values := array(d, 5, 30, 10, 20, 10, 0), array(d, 5, 1, 2, 3, 4, 5)
	outKeys, outValues := array(d, 5), array(d, 5)
	args := primitives.SortArgs{
		Keys: keys.Address(), Values: values.Address(), OutKeys: outKeys.Address(), OutValues: outValues.Address(),
		Length: primitives.Length{N: 5},
	}
	scratch, err := vk.NewBuffer[byte](d, p.Scratch(args))
	check(err)
	args.Scratch = scratch.Address()
	check(p.Sort(s, args))
	check(s.Wait(context.Background()))
	fmt.Println(read(outKeys, 5), read(outValues, 5))
	// Output:
	// [0 10 10 20 30] [5 2 4 3 1]
}

// Compute where each of several lists begins if they are stored one after the other.
func ExamplePrimitives_Scan() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()

	lengths, starts, total := array(d, 4, 3, 0, 5, 2), array(d, 4), array(d, 1)
	args := primitives.ScanArgs{
		In: lengths.Address(), Out: starts.Address(), Total: total.Address(),
		Length: primitives.Length{N: 4},
	}
	scratch, err := vk.NewBuffer[byte](d, p.Scratch(args))
	check(err)
	args.Scratch = scratch.Address()
	check(p.Scan(s, args))
	check(s.Wait(context.Background()))
	fmt.Println(read(starts, 4), read(total, 1))
	// Output:
	// [0 3 3 8] [10]
}

// Find how often the most frequent key occurs. Three operations follow each other without waiting for the host. Only
// the device knows how many runs the second one finds, and the third one reads the number there.
func ExamplePrimitives_RunLength() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()

	const n = 8
	keys, sorted := array(d, n, 7, 3, 7, 9, 3, 7, 7, 9), array(d, n)
	distinct, counts, runs, most := array(d, n), array(d, n), array(d, 1), array(d, 1)
	scratch, err := vk.NewBuffer[byte](d, max(p.Scratch(primitives.SortArgs{Length: primitives.Length{N: n}}),
		p.Scratch(primitives.RunLengthArgs{}), p.Scratch(primitives.ReduceArgs{})))
	check(err)
	check(p.Sort(s, primitives.SortArgs{
		Keys: keys.Address(), OutKeys: sorted.Address(), Length: primitives.Length{N: n}, Scratch: scratch.Address(),
	}))
	check(p.RunLength(s, primitives.RunLengthArgs{
		Keys: sorted.Address(), OutKeys: distinct.Address(), OutCounts: counts.Address(), OutRuns: runs.Address(),
		Length: primitives.Length{N: n}, Scratch: scratch.Address(),
	}))
	check(p.Reduce(s, primitives.ReduceArgs{
		In: counts.Address(), Out: most.Address(), Op: primitives.Max,
		Length: primitives.Length{N: n, At: runs.Address()}, Scratch: scratch.Address(),
	}))
	check(s.Wait(context.Background()))
	k := int(read(runs, 1)[0])
	fmt.Println(read(distinct, k), read(counts, k), read(most, 1))
	// Output:
	// [3 7 9] [2 4 2] [4]
}

// Keep the pairs whose flags are set, in their order: here those of the keys 1, 3 and 4.
func ExamplePrimitives_Compact() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()

	keys, values, flags := array(d, 5, 1, 2, 3, 4, 5), array(d, 5, 10, 20, 30, 40, 50), array(d, 1, 0b01101)
	outKeys, outValues, count := array(d, 5), array(d, 5), array(d, 1)
	args := primitives.CompactArgs{
		Keys: keys.Address(), Values: values.Address(), Flags: flags.Address(),
		OutKeys: outKeys.Address(), OutValues: outValues.Address(), OutCount: count.Address(),
		Length: primitives.Length{N: 5},
	}
	scratch, err := vk.NewBuffer[byte](d, p.Scratch(args))
	check(err)
	args.Scratch = scratch.Address()
	check(p.Compact(s, args))
	check(s.Wait(context.Background()))
	n := int(read(count, 1)[0])
	fmt.Println(read(outKeys, n), read(outValues, n))
	// Output:
	// [1 3 4] [10 30 40]
}

// Find the three greatest scores and their owners. Of equal scores, the first one comes first.
func ExamplePrimitives_TopK() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()

	const n, k = 6, 3
	scores, ids := array(d, n, 40, 90, 70, 20, 70, 10), array(d, n, 100, 101, 102, 103, 104, 105)
	best, whose := array(d, k), array(d, k)
	args := primitives.TopKArgs{
		Keys: scores.Address(), Values: ids.Address(), OutKeys: best.Address(), OutValues: whose.Address(),
		K: k, Length: primitives.Length{N: n},
	}
	scratch, err := vk.NewBuffer[byte](d, p.Scratch(args))
	check(err)
	args.Scratch = scratch.Address()
	check(p.TopK(s, args))
	check(s.Wait(context.Background()))
	fmt.Println(read(best, k), read(whose, k))
	// Output:
	// [90 70 70] [101 102 104]
}

// Divide keys into four parts in key order, to look them up part by part. Then fetch an answer for each key in the
// original order.
func ExamplePrimitives_Partition() {
	d, err := vk.Open(vk.Options{})
	check(err)
	defer d.Close()
	s, err := d.NewStream()
	check(err)
	p := primitives.New(d, primitives.Options{})
	defer p.Close()

	const n, bits = 6, 2
	keys := array(d, n, 3<<30, 5, 1<<30, 2<<30, 9, 3<<30+1)
	parts, destinations := array(d, n), array(d, n)
	args := primitives.PartitionArgs{
		Keys: keys.Address(), OutKeys: parts.Address(), Destinations: destinations.Address(), Bits: bits,
		Length: primitives.Length{N: n},
	}
	scratch, err := vk.NewBuffer[byte](d, p.Scratch(args))
	check(err)
	args.Scratch = scratch.Address()
	check(p.Partition(s, args))
	check(s.Wait(context.Background()))
	in := read(parts, n)
	for _, place := range read(destinations, n) {
		fmt.Print(in[place], " ")
	}
	fmt.Println()
	// Output:
	// 3221225472 5 1073741824 2147483648 9 3221225473
}
