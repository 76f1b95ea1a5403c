package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// field is what a row has in a column: nothing, an integer, a float or a text.
type field struct {
	null    bool
	integer *big.Int
	float   float64
	text    string
}

func (f field) csv(r *rand.Rand, kind byte) string {
	switch {
	case f.null:
		return []string{"", "NA", "NULL", " "}[r.IntN(4)]
	case kind == 'i':
		return f.integer.String()
	case kind == 'f':
		return string(keytype.AppendFloat(nil, f.float, 64))
	}
	return `"` + strings.ReplaceAll(f.text, `"`, `""`) + `"`
}

func (f field) compare(g field) int {
	switch {
	case f.null || g.null:
		return cmp.Compare(asBit(f.null), asBit(g.null))
	case f.integer != nil:
		return f.integer.Cmp(g.integer)
	}
	return cmp.Or(cmp.Compare(f.float, g.float), strings.Compare(f.text, g.text))
}

// printed is the field as an answer has it.
func (f field) printed() string {
	switch {
	case f.null:
		return ""
	case f.integer != nil:
		return f.integer.String()
	case f.text != "":
		return string(shown{keytype.Text, arenaOf(f.text)}.appendCSV(nil, 0))
	}
	return string(keytype.AppendFloat(nil, f.float, 64))
}

func arenaOf(text string) *keytype.Arena {
	a := &keytype.Arena{}
	a.AddString(text)
	return a
}

// drawFields draws a table: i has integers, which may become wide and negative after some rows, f floats whose sums are
// exact, t texts.
func drawFields(r *rand.Rand, kinds string, n int) [][]field {
	table := make([][]field, n)
	wide, negative, late := min(r.IntN(5), 2), r.IntN(2) == 0, r.IntN(n)
	for i := range table {
		for _, kind := range kinds {
			f := field{null: i > 0 && kind != 't' && r.IntN(6) == 0}
			switch kind {
			case 'i':
				x := int64(r.IntN(5))
				if i > late && r.IntN(3) == 0 {
					x = []int64{3, math.MaxUint32 - int64(r.IntN(3)), math.MaxInt64/2 - int64(r.IntN(3))}[wide]
				}
				if i > late && negative && r.IntN(2) == 0 {
					x = -x
				}
				f.integer = big.NewInt(x)
			case 'f':
				f.float = float64(r.IntN(9)-4) / 4
			default:
				f.text = []string{"a", "b", "a,b", `"`, "ä", "a\nb", "aa"}[r.IntN(7)]
			}
			table[i] = append(table[i], f)
		}
	}
	return table
}

// aggregateOf is what a group has of some fields; ok says that there is such a sum.
func aggregateOf(f function, all []field, rows int, signed bool) (text string, ok bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(f field) bool { return f.null })
	sum, float := new(big.Int), 0.0
	different := map[string]bool{}
	for _, x := range all {
		if x.integer != nil {
			sum.Add(sum, x.integer)
		}
		float += x.float
		different[x.printed()] = true
	}
	integers := len(all) > 0 && all[0].integer != nil
	switch {
	case f == functionCount:
		return fmt.Sprint(rows), true
	case f == functionDistinct:
		return fmt.Sprint(len(different)), true
	case len(all) == 0:
		return "", true
	case f == functionMin:
		return slices.MinFunc(all, field.compare).printed(), true
	case f == functionMax:
		return slices.MaxFunc(all, field.compare).printed(), true
	case f == functionSum && integers:
		return sum.String(), sum.IsInt64() || !signed && sum.IsUint64()
	case f == functionSum:
		return string(keytype.AppendFloat(nil, float, 64)), true
	case integers:
		float, _ = new(big.Rat).SetFrac(sum, big.NewInt(int64(len(all)))).Float64()
		return string(keytype.AppendFloat(nil, float, 64)), true
	}
	return string(keytype.AppendFloat(nil, float/float64(len(all)), 64)), true
}

// Groups of tables at random are those of a Go map: rows without values, types that become wider from batch to batch,
// several columns, sums that have no room.
func TestGroupsAgainstMaps(t *testing.T) {
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	r := rand.New(rand.NewPCG(38, 3))
	overflows, spilled, path, temporary := 0, 0, filepath.Join(t.TempDir(), "t.csv"), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for range 150 {
		rowsAtATime = 1 + r.IntN(40)
		kinds := []string{"iif", "itf", "tii", "fti", "iit"}[r.IntN(5)]
		table := drawFields(r, kinds, 1+r.IntN(120))
		var lines strings.Builder
		lines.WriteString("c0,c1,c2\n")
		signed := make([]bool, 3)
		for _, row := range table {
			for c, f := range row {
				lines.WriteString([]string{"", ","}[min(c, 1)] + f.csv(r, kinds[c]))
				signed[c] = signed[c] || f.integer != nil && !f.null && f.integer.Sign() < 0
			}
			lines.WriteString("\n")
		}
		by := [][]int{{0}, {1}, {0, 1}, {2, 0}, {1, 2, 0}}[r.IntN(5)]
		arguments, names := []string{"group", "-", "--by"}, []string{}
		for _, c := range by {
			names = append(names, fmt.Sprintf("c%d", c))
		}
		arguments = append(arguments, strings.Join(names, ","))
		type want struct {
			function
			column int
		}
		var wanted []want
		for range 1 + r.IntN(5) {
			w := want{function(r.IntN(int(functionDistinct) + 1)), r.IntN(3)}
			if kinds[w.column] == 't' && w.function != functionDistinct {
				w.function = functionCount
			}
			if w.function == functionCount {
				arguments, names = append(arguments, "--count"), append(names, "count")
			} else {
				name := functionNames[w.function]
				arguments = append(arguments, "--"+name, fmt.Sprintf("c%d", w.column))
				names = append(names, fmt.Sprintf("%s(c%d)", name, w.column))
			}
			wanted = append(wanted, w)
		}

		groups := map[string][][]field{}
		for _, row := range table {
			id := ""
			for _, c := range by {
				id += fmt.Sprintf("%v %q ", row[c].null, row[c].printed())
			}
			groups[id] = append(groups[id], row)
		}
		var all [][][]field
		for _, rows := range groups {
			all = append(all, rows)
		}
		slices.SortFunc(all, func(a, b [][]field) int {
			for _, c := range by {
				if order := a[0][c].compare(b[0][c]); order != 0 {
					return order
				}
			}
			return 0
		})
		answerable := true
		text := strings.Join(names, ",") + "\n"
		for _, rows := range all {
			var cells []string
			for _, c := range by {
				cells = append(cells, rows[0][c].printed())
			}
			for _, w := range wanted {
				var column []field
				for _, row := range rows {
					column = append(column, row[w.column])
				}
				cell, ok := aggregateOf(w.function, column, len(rows), signed[w.column])
				cells, answerable = append(cells, cell), answerable && ok
			}
			text += strings.Join(cells, ",") + "\n"
		}
		require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o666))
		arguments[1] = path
		if !answerable {
			overflows++
			require.Contains(t, do(t, 2, arguments...), "is out of range")
			continue
		}
		require.Equal(t, text, do(t, 0, arguments...), "%s\n%v", lines.String(), arguments)
		// Groups that have no room wait in temporary files, those of the files' groups again, and so on.
		counted := slices.ContainsFunc(wanted, func(w want) bool { return w.function == functionDistinct })
		if memory := fmt.Sprint(1 + r.IntN(3000)); !counted {
			var out, notes bytes.Buffer
			arguments = append(arguments, "--verbose", "--memory", memory)
			require.Zero(t, run(t.Context(), arguments, &out, &notes), notes.String())
			require.Equal(t, text, out.String(), "%s\n%v", lines.String(), arguments)
			if strings.Contains(notes.String(), "temporary files") {
				spilled++
			}
		}
	}
	assert.Greater(t, spilled, 30)
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Greater(t, overflows, 1, "sums without room have to be among what is tried")
}

// Equal hashes are no equal rows.
func TestGroupsWhoseHashesMeet(t *testing.T) {
	r := &rows{kept: kept{words: [][]uint64{{1, 2, 1, 3, 2}}, texts: []*keytype.Arena{{}},
		nulls: [][]bool{{false, false, false, false, true}}}, types: []keytype.Type{keytype.Uint64}, n: 5}
	table := newKeyTable([]int{0})
	var numbers []int
	for i := range r.n {
		n, _ := table.number(r, i, 7)
		numbers = append(numbers, n)
	}
	assert.Equal(t, []int{0, 1, 0, 2, 3}, numbers)
	for i := range uint64(10_000) { // and so they are once the table has grown
		r.words[0][0] = 10 + i
		n, fresh := table.number(r, 0, i%3)
		require.True(t, fresh)
		require.EqualValues(t, 4+i, n)
	}
	for i := range uint64(10_000) {
		r.words[0][0] = 10 + i
		n, fresh := table.number(r, 0, i%3)
		require.False(t, fresh)
		require.EqualValues(t, 4+i, n)
	}
}

// The first groups by the first result, equal ones in the order of their keys, as CSV and JSON.
func TestGroupTop(t *testing.T) {
	const table = "a,x,\"b,c\"\n3,5,1.5\n1,NA,2\n2,9,0\n1,NULL,2\n4,5,NA\n,2,7\n"
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte(table), 0o666))
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	rowsAtATime = 2
	i := rand.IntN(2)
	for arguments, want := range map[string]string{
		"--by a --sum x --top 3":            "a,sum(x)\n2,9\n3,5\n4,5\n",
		"--by a --sum x --top 99":           "a,sum(x)\n2,9\n3,5\n4,5\n,2\n1,\n",
		"--by a --top 1":                    "a,count\n1,2\n",
		"--by a --mean x --sum x --limit 1": "a,mean(x),sum(x)\n1,,\n",
		"--by a --max x --min x --json --limit 2": `{"a":1,"max(x)":null,"min(x)":null}` + "\n" +
			`{"a":2,"max(x)":9,"min(x)":9}` + "\n",
		"--by b,c --count": "",
		"--by x --count --null 0 --top 2 --type x=u8": "",
		"--by x --count --null 5 --top 2":             "x,count\n5,4\n2,1\n",
		"--by 3 --distinct a,x": "3,distinct(a),distinct(x)\n" +
			"0,1,1\n1.5,1,1\n2,1,0\n7,0,1\n,1,1\n",
	} {
		all := append([]string{"group", path}, strings.Fields(arguments)...)
		if i++; i%2 == 0 && !strings.Contains(arguments, "distinct") {
			all = append(all, "--memory", "1")
		}
		switch {
		case strings.Contains(arguments, "b,c"):
			assert.Contains(t, do(t, 2, all...), `no column "b"`)
		case want == "":
			assert.Contains(t, do(t, 2, all...), `unknown type "u8"`)
		default:
			assert.Equal(t, want, do(t, 0, all...), arguments)
		}
	}
	assert.Equal(t, "\"b,c\",count\n0,1\n", do(t, 0, "group", path, "--by", `"b,c"`, "--count", "--limit", "1"))
	// Of how many rows a result is does not matter.
	for _, result := range []string{"max", "min", "mean", "sum"} {
		equal := file(t, "equal.csv", "a,x\n3,0\n2,0\n3,0\n1,0\n3,0\n")
		assert.Equal(t, "a,"+result+"(x)\n1,0\n2,0\n3,0\n", do(t, 0, "group", equal, "--by", "a", "--"+result, "x",
			"--top", "3"))
	}
}

// A group without values so far has no greatest one, also after its column has become wider.
func TestGroupWidensWithoutValues(t *testing.T) {
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	rowsAtATime = 2
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("a,x\n1,NA\n2,5\n1,-2\n1,-3\n"), 0o666))
	assert.Equal(t, "a,max(x),min(x)\n1,-2,-3\n2,5,5\n",
		do(t, 0, "group", path, "--by", "a", "--max", "x", "--min", "x"))
	assert.Contains(t, do(t, 2, "group", path, "--by", "a", "--distinct", "x", "--memory", "1"),
		"need more than twice --memory")
}

// An error about a sum says of which group it is, also with --top.
func TestGroupsAreNamedInErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("a,b,x\n1,u,7\n2,v,18446744073709551615\n2,v,1\n"+
		",w,18446744073709551615\n,w,1\n"), 0o666))
	for _, top := range []string{"3", "0"} {
		arguments := []string{"group", path, "--by", "a,b", "--sum", "x", "--top", top}
		if top == "0" {
			arguments = arguments[:len(arguments)-2]
		}
		assert.Contains(t, do(t, 2, arguments...), `the group 2, "v": sum(x): 18446744073709551616 is out of range`)
	}
	require.NoError(t, os.WriteFile(path, []byte("a,x\n1,7\n,18446744073709551615\n,1\n"), 0o666))
	assert.Contains(t, do(t, 2, "group", path, "--by", "a", "--sum", "x"), "the group without a value: sum(x): ")
}
