package main_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Lines are counted as they are, but for their ends; those that came first come first where counts are equal.
func TestTallyLines(t *testing.T) {
	hostSuffices(t)
	lines := "b\r\na\n\n\xff\xfe\na\x00z\nb\n\n say \"hi\", you\n1\n01\n\xff\xff\nb"
	out, notes := answer(t, lines, "tally", "-", "--format", "lines")
	want := "key,count\nb,3\n\"\",2\na,1\n\xff\xfe,1\na\x00z,1\n\" say \"\"hi\"\", you\",1\n1,1\n01,1\n\xff\xff,1\n"
	assert.Equal(t, want, out)
	assert.Regexp(t, "counted 12 keys in .*; 9 distinct\n$", notes)
	path := filepath.Join(t.TempDir(), "access.log.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte(lines))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	out, _ = answer(t, "", "tally", path, "--format", "lines", "--top", "3")
	assert.Equal(t, "key,count\nb,3\n\"\",2\na,1\n", out)
	out, _ = answer(t, "a<&>\n\x07\n\xff\na<&>\n", "tally", "-", "--format", "lines", "--json")
	assert.Equal(t, `{"key":"a<&>","count":2}`+"\n"+`{"key":"\u0007","count":1}`+"\n"+`{"key":"\ufffd","count":1}`+"\n",
		out)
	out, _ = answer(t, "", "tally", "-", "--format", "lines")
	assert.Equal(t, "key,count\n", out)

	// A line may be long, but not without end.
	long := strings.Repeat("x", 4<<20)
	out, _ = answer(t, long+"\n"+long+"\r\n", "tally", "-", "--format", "lines")
	assert.True(t, out == "key,count\n"+long+",2\n")
	for _, more := range []string{"x", long} {
		assert.Equal(t, "standard input:2: a text of more than 4 MiB", refusal(t, "a\n"+long+more+"\n", "tally", "-",
			"--format", "lines"))
	}
	out, notes = answer(t, "a\n"+long+long+"\nb\na", "tally", "-", "--format", "lines", "--skip-invalid")
	assert.Equal(t, "key,count\na,2\nb,1\n", out)
	assert.Contains(t, notes, "1 skipped")
	assert.Equal(t, "files of format lines hold text, not values of type ip",
		refusal(t, "", "tally", "-", "--format", "lines", "--type", "ip"))
}

// What is text without being called so: a column none of whose first rows holds a number.
func TestTextColumns(t *testing.T) {
	hostSuffices(t)
	log := "host,path,code\nann,/a?x=1&y,200\nbob,\"/b,\"\"c\"\"\",404\nann,/a?x=1&y,200\n"
	path := write(t, "log.csv", log)
	out, _ := answer(t, "", "tally", path, "--column", "path")
	assert.Equal(t, "key,count\n/a?x=1&y,2\n\"/b,\"\"c\"\"\",1\n", out)
	out, _ = answer(t, "", "tally", path, "--column", "3")
	assert.Equal(t, "key,count\n200,2\n404,1\n", out)
	out, _ = answer(t, "", "tally", path, "--column", "code", "--type", "text", "--json")
	assert.Equal(t, `{"key":"200","count":2}`+"\n"+`{"key":"404","count":1}`+"\n", out)
	out, notes := answer(t, "one\ntwo\none\n# no\n three \n\n", "tally", "-", "--comment", "#", "--no-header")
	assert.Equal(t, "key,count\none,2\ntwo,1\nthree,1\n", out)
	assert.Contains(t, notes, "column 1 is taken for text")
	for _, c := range [][2]string{
		{"7\n8\nx\n", `standard input:3: "x" is not an integer (--type text reads it)`},
		{"x\ny\n7\n", `standard input:1: "x" is not an integer (--type text reads it)`},
	} {
		assert.Equal(t, c[1], refusal(t, c[0], "tally", "-"))
	}
	assert.Contains(t, refusal(t, "a,1\nb,2\nc,x\n", "dump", "-"), `standard input:3: column 2: "x" is not an integer`)
	assert.Contains(t, refusal(t, "1,a\n2,b\nx,c\n", "dump", "-"), `standard input:3: column 1: "x" is not an integer`)
	assert.Contains(t, refusal(t, "x\ny\nz\n", "tally", "-", "--skip-invalid"), "nothing in it can be read")
	assert.Contains(t, refusal(t, "ab\n", "tally", "-", "--format", "u32le", "--type", "text"), "hold no text")
}

// Keys that are text, in every command that takes them, of a table and of what was saved of it; and those that don't.
func TestTextKeys(t *testing.T) {
	hostSuffices(t)
	table := write(t, "words.csv", "word,n\ncherry,3\n\"a,b\",1\ncherry,2\nœuf,4000000000\n\"\",7\n")
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", table, "--key", "word", "--structure", "lsm", "-o", dict)
	for _, path := range []string{table, dict} {
		out, _ := answer(t, "", "get", path, "œuf", "cherr", "", "cherry")
		assert.Equal(t, "key,value\nœuf,4000000000\ncherr,\n\"\",7\ncherry,2\n", out)
		out, _ = answer(t, "", "dump", path)
		assert.Equal(t, "key,value\ncherry,2\n\"a,b\",1\nœuf,4000000000\n\"\",7\n", out)
	}
	out, _ := answer(t, "a,b\r\n\n cherry\n", "get", table, "--json")
	assert.Equal(t, `{"key":"a,b","value":1}`+"\n"+`{"key":"cherry","value":2}`+"\n", out)
	out, _ = answer(t, " cherry\n\n", "get", dict, "--keys-format", "lines")
	assert.Equal(t, "key,value\n cherry,\n\"\",7\n", out)
	out, _ = answer(t, "", "top", table, "--limit", "2")
	assert.Equal(t, "key,value\nœuf,4000000000\n\"\",7\n", out)
	out, _ = answer(t, "", "top", dict, "--limit", "2", "--least")
	assert.Equal(t, "key,value\n\"a,b\",1\ncherry,2\n", out)
	out, _ = answer(t, "", "stats", dict, "--json")
	assert.Contains(t, out, `"key_type": "text"`)
	for _, command := range [][]string{{"range", table, "a:b"}, {"floor", dict, "a"}, {"min", table}} {
		assert.True(t, strings.HasPrefix(refusal(t, "", command...), command[0]+" needs keys that have an order, and "+
			"those of "+command[1]+" are text"))
	}
	assert.Contains(t, refusal(t, "", "inspect", dict, "--near", "a", "--svg", "-"), "--near is for keys")
	out, _ = answer(t, "", "inspect", dict, "--structure", "btree", "--svg", "-", "--device", "0")
	assert.Contains(t, out, "a B-link-tree of 4 pairs")
	answer(t, "", "verify", dict, "--structure", "btree")

	out, _ = answer(t, "cherry,9\nfig,8\nfig,6\n", "update", dict, "-", "--combine", "min", "--json")
	assert.JSONEq(t, `{"inserted": 1, "assigned": 2, "skipped": 0, "pairs": 5}`, out)
	answer(t, "œuf,4000000000\n", "update", dict, "-", "--combine", "add")
	out, _ = answer(t, "", "delete", dict, "a,b", "a,b", "b", "--json")
	assert.JSONEq(t, `{"deleted": 1, "absent": 2, "pairs": 4}`, out)
	answer(t, "\"a,b\",5\n", "update", dict, "-") // anew, behind the others
	out, _ = answer(t, "", "dump", dict)
	assert.Equal(t, "key,value\ncherry,2\nœuf,8000000000\n\"\",7\nfig,6\n\"a,b\",5\n", out)
	for _, name := range []string{"t.parquet", "t.arrow"} {
		file := filepath.Join(t.TempDir(), name)
		answer(t, "", "dump", dict, "-o", file)
		again, _ := answer(t, "", "dump", file)
		assert.Equal(t, out, again, name)
	}
	_, said, status := runTool("\xff,1\n\xfe,2\n", "dump", "-", "--no-header", "--output-format", "arrows")
	assert.Equal(t, 2, status)
	assert.Contains(t, said, "isn't UTF-8")
}

// Values that are text: order is that of the keys.
func TestTextValues(t *testing.T) {
	hostSuffices(t)
	table := write(t, "t.csv", "id,name\n5,five\n3,three\n5,\"fünf, \"\n9,\n")
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", table, "-o", dict)
	for i, path := range []string{table, dict} {
		out, _ := answer(t, "", "get", path, "5", "4", "9", "--json")
		assert.Equal(t, `{"key":5,"value":"fünf, "}`+"\n"+`{"key":4,"value":null}`+"\n"+`{"key":9,"value":""}`+"\n",
			out)
		out, _ = answer(t, "", "range", path, "4:", "--structure", known[1+i])
		assert.Equal(t, "key,value\n5,\"fünf, \"\n9,\"\"\n", out)
		out, _ = answer(t, "", "ceil", path, "4")
		assert.Equal(t, "key,found,value\n4,5,\"fünf, \"\n", out)
		out, _ = answer(t, "", "dump", path)
		assert.Equal(t, "key,value\n3,three\n5,\"fünf, \"\n9,\"\"\n", out)
	}
	assert.Equal(t, "top needs values that have an order, and those of "+table+
		" are text (--value-type says what else they are)", refusal(t, "", "top", table))
	out, _ := answer(t, "", "get", dict, "5", "4", "9")
	assert.Equal(t, "key,value\n5,\"fünf, \"\n4,\n9,\"\"\n", out)
	answer(t, "", "verify", dict)
	assert.Contains(t, refusal(t, "5,x\n", "update", dict, "-", "--combine", "max"), "--combine max")
	answer(t, "3,drei\n5000000,viel\n", "update", dict, "-")
	out, _ = answer(t, "", "dump", dict)
	assert.Equal(t, "key,value\n3,drei\n5,\"fünf, \"\n9,\"\"\n5000000,viel\n", out)
	// Both are text, and wide keys have text, too.
	out, _ = answer(t, "a,x\nb,y\na,z\n", "get", "-", "--no-header", "b", "a", "c")
	assert.Equal(t, "key,value\nb,y\na,z\nc,\n", out)
	out, _ = answer(t, "1,x\n5000000000,y\n", "dump", "-")
	assert.Equal(t, "key,value\n1,x\n5000000000,y\n", out)
}

// Real words and names; README.md in ../shared/data says what there is.
func TestRealTexts(t *testing.T) {
	hostSuffices(t)
	data := dataFolder(t)
	words := filepath.Join(data, "wamerican-huge", "american-english-huge.gz")
	out, notes := answer(t, "", "tally", words, "--format", "lines")
	assert.Contains(t, notes, "; 348,454 distinct")
	assert.Equal(t, 348455, strings.Count(out, "\n"))
	assert.True(t, strings.HasPrefix(out, "key,count\nA,1\nAA,1\nAAA,1\n"))
	assert.True(t, strings.HasSuffix(out, ",1\nzzz,1\n"))

	airports := filepath.Join(data, "openflights", "airports.dat.gz")
	out, _ = answer(t, "", "get", airports, "--value", "2", "1", "507", "14110")
	assert.Equal(t, "key,value\n1,Goroka Airport\n507,London Heathrow Airport\n14110,Melitopol Air Base\n", out)
	out, _ = answer(t, "", "get", airports, "--key", "6", "--value", "2", "EGLL", "KJFK", "none")
	assert.Equal(t, "key,value\nEGLL,London Heathrow Airport\nKJFK,John F Kennedy International Airport\nnone,\n", out)

	unicode, dict := filepath.Join(data, "unicode", "UnicodeData.txt.gz"), filepath.Join(t.TempDir(), "names.vkds")
	answer(t, "", "build", unicode, "--delimiter", ";", "--key-type", "hex", "--value", "2", "-o", dict)
	out, _ = answer(t, "", "range", dict, "1F600:1F601")
	assert.Equal(t, "key,value\n0x1f600,GRINNING FACE\n0x1f601,GRINNING FACE WITH SMILING EYES\n", out)
	out, _ = answer(t, "", "dump", dict)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows, 1+34924)
	out, _ = answer(t, "", "tally", unicode, "--column", "2", "--delimiter", ";", "--top", "1", "--json")
	assert.Equal(t, fmt.Sprintln(`{"key":"<control>","count":65}`), out)
}
