package main_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A column is as wide as it needs: one great key is enough, wherever it stands and however it comes.
func TestColumnsWiden(t *testing.T) {
	hostSuffices(t)
	var rows strings.Builder
	for i := range 1<<20 + 1000 { // the pipe turns wide in its second part
		fmt.Fprintf(&rows, "%d,%d\n", i, i%7)
	}
	rows.WriteString("5000000000,18446744073709551615\n")
	out, _ := answer(t, rows.String(), "get", "-", "5000000000", "0", "4294967296", "1048600")
	assert.Equal(t, "key,value\n5000000000,18446744073709551615\n0,0\n4294967296,\n1048600,"+
		fmt.Sprint(1048600%7)+"\n", out)
	for _, structure := range known {
		out, _ = answer(t, "1,4294967296\n2,-3\n", "get", "-", "--structure", structure, "1", "2")
		assert.Equal(t, "key,value\n1,4294967296\n2,-3\n", out, structure)
	}
	rows.WriteString("-1,3\n")
	assert.Equal(t, "standard input:1049579: column 1: -1 is of no type that also holds 9223372036854775808, which "+
		"was there before (--key-type text reads both)",
		refusal(t, "9223372036854775808,1\n"+rows.String(), "dump", "-"))
	// What is passed over makes no column wide, and negative numbers have 32 bits where that is enough.
	out, _ = answer(t, "1,2\n5000000000,x\n-7,-2147483648\n", "stats", "-", "--skip-invalid", "--json")
	assert.Contains(t, out, `"key_type": "i32"`)
	assert.Contains(t, out, `"value_type": "i32"`)
	assert.Contains(t, refusal(t, "1\n18446744073709551616\n", "tally", "-"),
		"standard input:2: 18446744073709551616 is out of range (0 to 18446744073709551615)")
}

// A narrow dictionary is asked for wide keys as any other is.
func TestWideQuestions(t *testing.T) {
	hostSuffices(t)
	table := write(t, "t.csv", "5,50\n4294967295,60\n")
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", table, "-o", dict)
	for _, path := range []string{table, dict} {
		for command, want := range map[string]string{"get": "4294967296,\n5,50\n",
			"floor": "4294967296,4294967295,60\n5,5,50\n", "ceil": "4294967296,,\n5,5,50\n",
			"predecessor": "4294967296,4294967295,60\n5,,\n", "successor": "4294967296,,\n5,4294967295,60\n"} {
			out, _ := answer(t, "", command, path, "4294967296", "5")
			assert.Equal(t, want, out[strings.Index(out, "\n")+1:], command)
		}
		out, _ := answer(t, "", "count", path, "5:5000000000", "5000000000:6000000000", "--", "-5:", ":")
		assert.Equal(t, "lo,hi,count\n5,5000000000,2\n5000000000,6000000000,0\n-5,4294967295,2\n0,4294967295,2\n", out)
	}
	out, _ := answer(t, "", "delete", dict, "4294967296", "5", "--json")
	assert.JSONEq(t, `{"deleted": 1, "absent": 1, "pairs": 1}`, out)
	// Standard input can be read but once, be it a file, whatever the keys turn out to be.
	signed, in := write(t, "signed.csv", "5,50\n-3,30\n"), write(t, "in", "-3\n5\n")
	from, err := os.Open(in)
	require.NoError(t, err)
	defer from.Close()
	get := command(context.Background(), "get", signed)
	get.Stdin = from
	got, err := get.Output()
	require.NoError(t, err)
	assert.Equal(t, "key,value\n-3,30\n5,50\n", string(got))
	// Times between the seconds of a dictionary are in none of its rows, and have neighbors.
	times := write(t, "times.csv", "2014-07-01 00:00:00,1\n2014-07-01 00:00:01,2\n")
	for _, c := range [][3]string{{"get", "2014-07-01T00:00:00.5Z", "2014-07-01 00:00:00.5,"},
		{"floor", "1404172800.5", "2014-07-01 00:00:00.5,2014-07-01 00:00:00,1"},
		{"ceil", "1404172800.5", "2014-07-01 00:00:00.5,2014-07-01 00:00:01,2"},
		{"range", "2014-07-01 00:00:00.5:", "2014-07-01 00:00:01,2"}} {
		out, _ = answer(t, "", c[0], times, "--key-type", "time", c[1])
		assert.Equal(t, c[2]+"\n", out[strings.Index(out, "\n")+1:], c[0])
	}
}

// Each type of 64 bits, at its ends, in a table, saved, and in a structure or another.
func TestWideTypes(t *testing.T) {
	hostSuffices(t)
	for i, c := range []struct {
		typ  string
		keys []string
	}{
		{"u64", []string{"0", "4294967296", "18446744073709551615"}},
		{"i64", []string{"-9223372036854775808", "-1", "9223372036854775807"}},
		{"f64", []string{"-Inf", "0.1", "1e+300"}},
		{"hex", []string{"0x0000", "0x100000000", "0xffffffffffffffff"}},
		{"time", []string{"1677-09-21 00:12:43.145224192", "2014-07-01 00:00:00", "2262-04-11 23:47:16.854775807"}},
		{"ip", []string{"::/64", "2001:db8::/64", "ffff:ffff:ffff:ffff::/64"}},
	} {
		rows := fmt.Sprintf("%s,2\n%s,0\n%s,1\n", c.keys[2], c.keys[0], c.keys[1])
		want := fmt.Sprintf("key,value\n%s,0\n%s,1\n%s,2\n", c.keys[0], c.keys[1], c.keys[2])
		dict := filepath.Join(t.TempDir(), "d.vkds")
		answer(t, rows, "build", "-", "--key-type", c.typ, "--structure", known[i%len(known)], "-o", dict)
		out, _ := answer(t, strings.Join(c.keys, "\n")+"\n", "get", dict)
		assert.Equal(t, want, out, c.typ)
		out, _ = answer(t, "", "range", dict, ":")
		assert.Equal(t, want, out, c.typ)
		answer(t, "", "verify", dict)
		file := filepath.Join(t.TempDir(), []string{"t.parquet", "t.arrow"}[i/2%2])
		answer(t, "", "dump", dict, "-o", file)
		arguments := []string{"top", file, "--least", "--limit", "3"}
		if c.typ == "hex" || c.typ == "ip" { // which are unsigned integers there
			arguments = append(arguments, "--key-type", map[string]string{"hex": "hex", "ip": "ip6"}[c.typ])
		}
		out, _ = answer(t, "", arguments...)
		assert.Equal(t, want, out, c.typ)
	}
	assert.Equal(t, "standard input:1: column 1: 2001:db8::1 is smaller than an IPv6 network of /64, and a key has 64 "+
		"bits: 2001:db8::/64 has one (--key-type text reads it)", refusal(t, "2001:db8::1,1\n", "dump", "-",
		"--key-type", "ip"))
}

// Binary files of 64 bits, as keys and as tables.
func TestWideBinary(t *testing.T) {
	hostSuffices(t)
	var le, be []byte
	for _, x := range []uint64{7, 1 << 40, 1<<64 - 1, 3} {
		le, be = binary.LittleEndian.AppendUint64(le, x), binary.BigEndian.AppendUint64(be, x)
	}
	for format, data := range map[string]string{"u64le": string(le), "u64be": string(be)} {
		out, _ := answer(t, data, "dump", "-", "--format", format)
		assert.Equal(t, "key,value\n7,1099511627776\n18446744073709551615,3\n", out)
		out, _ = answer(t, data, "tally", "-", "--format", format)
		assert.Equal(t, "key,count\n3,1\n7,1\n1099511627776,1\n18446744073709551615,1\n", out)
		out, _ = answer(t, data, "get", write(t, "t.csv", "7,70\n"), "--keys-format", format)
		assert.Equal(t, "key,value\n7,70\n1099511627776,\n18446744073709551615,\n3,\n", out)
		out, _ = answer(t, data, "tally", "-", "--format", format, "--type", "i64", "--top", "1")
		assert.Equal(t, "key,count\n-1,1\n", out)
		assert.Contains(t, refusal(t, data, "tally", "-", "--format", format, "--type", "i32"),
			"files of format "+format+" hold values of 64 bits, but column 1 is of type i32")
	}
}

// Dictionaries of two widths are changed as those of one, and keep their types; sums have all the bits that there are.
func TestWideChanges(t *testing.T) {
	hostSuffices(t)
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "1,4294967295\n5000000000,2\n", "build", "-", "--value-type", "u32", "-o", dict, "--structure",
		"sortedarray")
	out, _ := answer(t, "", "stats", dict, "--json")
	assert.Contains(t, out, `"key_type": "u64"`)
	assert.Contains(t, out, `"value_type": "u32"`)
	assert.Contains(t, refusal(t, "2,4294967296\n", "update", dict, "-", "--value-type", "u32"),
		"standard input:1: column 2: 4294967296 is out of range (0 to 4294967295)")
	narrow := filepath.Join(t.TempDir(), "narrow.vkds")
	answer(t, "3,30\n", "build", "-", "-o", narrow)
	answer(t, "", "update", dict, narrow)
	answer(t, "1,1\n", "update", dict, "-", "--combine", "add")
	answer(t, "", "delete", dict, "5000000000")
	out, _ = answer(t, "", "dump", dict)
	assert.Equal(t, "key,value\n1,4294967296\n3,30\n", out)
	// A narrow one becomes as wide as what is inserted takes, and holds all that it held.
	out, notes := answer(t, "", "update", narrow, dict, "--json")
	assert.JSONEq(t, `{"inserted": 1, "assigned": 1, "skipped": 0, "pairs": 2}`, out)
	assert.Contains(t, notes, "keys are of type u64 now, and values of type u64\n")
	answer(t, "5,-1\n", "update", narrow, "-")
	out, _ = answer(t, "", "stats", narrow, "--json")
	assert.Contains(t, out, `"value_type": "i64"`)
	out, _ = answer(t, "", "dump", narrow)
	assert.Equal(t, "key,value\n1,4294967296\n3,30\n5,-1\n", out)
	answer(t, "18446744073709551615,18446744073709551615\n", "update", dict, "-")
	assert.Equal(t, "standard input:2: column 1: -1 is of no type that also holds 18446744073709551615, which was "+
		"there before", refusal(t, "7,7\n-1,1\n", "update", dict, "-"))
	assert.Equal(t, narrow+": numbers of type i64 are of no type that also holds 18446744073709551615, which was "+
		"there before", refusal(t, "", "update", dict, narrow))
	out, _ = answer(t, "", "inspect", dict, "--structure", "btree", "--near", "5000000000", "--svg", "-",
		"--device", "0")
	assert.Contains(t, out, "nodes of 6 slots")
}
