package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// soldRows are rows of a table: a customer or none, a shop, a price that becomes negative and wide in late rows.
func soldRows(n int) []string {
	r := rand.New(rand.NewPCG(38, 7))
	rows := make([]string, n)
	for i := range rows {
		customer, price := fmt.Sprint(r.IntN(50)), int64(r.IntN(1000))
		switch r.IntN(20) {
		case 0:
			customer = ""
		case 1:
			price = int64(i) * 1e14 * int64(1-r.IntN(2)*2)
		}
		rows[i] = fmt.Sprintf("%s,shop %d,%d,%d.5", customer, r.IntN(4), price, r.IntN(9))
	}
	return rows
}

const soldHeader = "customer,shop,price,weight\n"

// shares writes rows to that many files.
func shares(t *testing.T, rows []string, n int) (paths []string) {
	for k := range n {
		share := rows[k*len(rows)/n : (k+1)*len(rows)/n]
		paths = append(paths, write(t, fmt.Sprintf("share%d.csv", k), soldHeader+strings.Join(share, "\n")+"\n"))
	}
	return paths
}

// Four processes have the parts of a job, by --partition or by files. The answers are merged to that of one process.
func TestFourProcesses(t *testing.T) {
	rows := soldRows(2000)
	whole := write(t, "all.csv", soldHeader+strings.Join(rows, "\n")+"\n")
	files := shares(t, rows, 4)
	for _, c := range []struct {
		job, merge []string
		whole      bool // each process reads all
	}{
		{[]string{"group", "--by", "customer,shop", "--sum", "price", "--count", "--min", "price", "--max",
			"weight"},
			[]string{"merge", "--by", "customer,shop"}, false},
		{[]string{"group", "--by", "shop", "--sum", "weight"}, []string{"merge", "--by", "shop"}, false},
		{[]string{"distinct", "--by", "shop,customer"}, []string{"merge", "--by", "shop,customer"}, false},
		{[]string{"sort", "--by", "price,shop", "--descending", "shop"},
			[]string{"sort", "--by", "price,shop", "--descending", "shop"}, false},
		{[]string{"group", "--by", "customer", "--mean", "price", "--distinct", "shop,price"},
			[]string{"merge", "--by", "customer"}, true},
	} {
		want, _ := answer(t, "", append(c.job, whole)...)
		for _, partition := range []bool{true, false} {
			if c.whole && !partition {
				continue
			}
			answers, dir := make([]string, 4), t.TempDir()
			var wait sync.WaitGroup
			for k := range answers {
				wait.Go(func() {
					arguments := append([]string{}, c.job...)
					if partition {
						arguments = append(arguments, "--partition", fmt.Sprintf("%d/4", k+1), whole)
					} else {
						arguments = append(arguments, files[k])
					}
					out, err := command(t.Context(), arguments...).Output()
					answers[k] = filepath.Join(dir, fmt.Sprintf("part%d.csv", k))
					assert.NoError(t, err)
					assert.NoError(t, os.WriteFile(answers[k], out, 0o666))
					assert.NotEmpty(t, out)
					if partition { // and so none of them has all
						assert.NotEqual(t, want, string(out))
					}
				})
			}
			wait.Wait()
			require.False(t, t.Failed())
			got, _ := answer(t, "", append(c.merge, answers...)...)
			require.Equal(t, want, got, "%v by partition: %v", c.job, partition)
		}
		if !c.whole {
			got, _ := answer(t, "", append(c.job, files...)...)
			require.Equal(t, want, got, "several files are one table")
		}
	}
	// Parts of a join have all of its rows.
	right := write(t, "shops.csv", "shop,town\nshop 1,Ulm\nshop 3,Bonn\nshop 1,Köln\n")
	join := []string{"join", whole, right, "--on", "shop", "--left-columns", "price", "--right-columns", "town"}
	want, _ := answer(t, "", join...)
	lines := 0
	for k := range 3 {
		out, _ := answer(t, "", append(join, "--partition", fmt.Sprintf("%d/3", k+1))...)
		lines += strings.Count(out, "\n") - 1
		for line := range strings.Lines(out) {
			require.Contains(t, want, line)
		}
	}
	require.Equal(t, strings.Count(want, "\n")-1, lines)
}

func TestMergeRefuses(t *testing.T) {
	a := write(t, "a.csv", "shop,mean(price),count\n1,2.5,1\n2,4,1\n")
	b := write(t, "b.csv", "shop,mean(price),count\n1,3,1\n")
	c := write(t, "c.csv", "shop,count\n3,1\n")
	d := write(t, "d.csv", "shop,price\n3,1\n")
	for want, arguments := range map[string][]string{
		"mean(price): several answers have the same group, and these results can't be merged": {a, b, "--by", "shop"},
		c + " has the columns shop, count, and the answer before it shop, mean(price), count": {a, c, "--by", "shop"},
		d + ": column price is neither a --by column nor a result of vkds group":              {d, "--by", "shop"},
		`no column "town"`:                         {a, "--by", "town"},
		"standard input is given twice":            {"-", "-", "--by", "shop"},
		"--type town=u32: column town is not read": {a, "--by", "shop", "--type", "town=u32"},
		`"0/3" is not a part: give its number and how many there are, such as 1/4`: nil,
		`"4/3" is not a part: give its number and how many there are, such as 1/4`: nil,
	} {
		if arguments == nil {
			assert.Contains(t, refusal(t, "", "group", a, "--by", "shop", "--partition", want[1:4]), want)
			continue
		}
		assert.Contains(t, refusal(t, "", append([]string{"merge"}, arguments...)...), want)
	}
	out, _ := answer(t, "", "merge", a, "--by", "shop", "--top", "1")
	assert.Equal(t, "shop,mean(price),count\n2,4,1\n", out)
	out, _ = answer(t, "shop,count\n3,1\n1,18446744073709551615\n", "merge", c, "-", "--by", "1", "--json")
	assert.Equal(t, "{\"1\":1,\"count\":18446744073709551615}\n{\"1\":3,\"count\":2}\n", out)
	assert.Contains(t, refusal(t, "shop,count\n3,18446744073709551615\n", "merge", c, "-", "--by", "shop"),
		"count: 18446744073709551616 is out of range")
	// Sums of floats that are whole, and others later: the answers are read again.
	g := write(t, "g.csv", "shop,sum(x)\n1,2\n2,4\n")
	h := write(t, "h.csv", "shop,sum(x)\n1,0.5\n")
	for _, order := range [][]string{{g, h}, {h, g}} {
		out, _ = answer(t, "", append([]string{"merge", "--by", "shop"}, order...)...)
		assert.Equal(t, "shop,sum(x)\n1,2.5\n2,4\n", out)
	}
	out, _ = answer(t, "", "group", g, h, "--by", "shop", "--sum", "2") // so are tables
	assert.Equal(t, "shop,sum(2)\n1,2.5\n2,4\n", out)
	// Columns of several files may stand in another order, and become wider or text in a later one.
	e := write(t, "e.csv", "x,shop\n5000000000,007\n")
	f := write(t, "f.csv", "shop,x\n7,-1\n")
	out, _ = answer(t, "", "group", f, e, "--by", "shop", "--sum", "x", "--min", "x")
	assert.Equal(t, "shop,sum(x),min(x)\n007,5000000000,5000000000\n7,-1,-1\n", out)
	assert.Contains(t, refusal(t, "", "sort", f, e, "--by", "shop"),
		e+" has the columns x, shop, and the file before it shop, x")
}
