package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Addresses are asked for as they are written, of tables that hold them so or as integers, and come back so.
func TestAddresses(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "first,country\n8.8.8.0,225\n8.8.9.0,16\n")
	out, _ := answer(t, "", "floor", path, "--key-type", "ip", "8.8.8.8", "134744073", "1.1.1.1")
	assert.Equal(t, "key,found,value\n8.8.8.8,8.8.8.0,225\n8.8.8.9,8.8.8.0,225\n1.1.1.1,,\n", out)
	out, _ = answer(t, "", "count", path, "--key-type", "ip", "8.8.8.0:8.8.8.255", "8.8.8.1:")
	assert.Equal(t, "lo,hi,count\n8.8.8.0,8.8.8.255,1\n8.8.8.1,255.255.255.255,1\n", out)
	assert.Equal(t, `key 1 of the command line: "8.8.8" is not an IPv4 address (--key-type text reads it)`,
		refusal(t, "", "get", path, "--key-type", "ip", "8.8.8"))

	geoip := filepath.Join("..", "..", "testdata", "geoip.csv.gz")
	out, _ = answer(t, "", "floor", geoip, "--key-type", "ip", "8.8.8.8", "1.0.0.1", "193.0.6.139")
	assert.Equal(t, "key,found,value\n8.8.8.8,8.7.245.0,225\n1.0.0.1,1.0.0.0,16\n193.0.6.139,193.0.0.0,161\n", out)
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", path, "--key-type", "ip", "-o", dict)
	out, _ = answer(t, "", "get", dict, "8.8.9.0", "--json")
	assert.JSONEq(t, `{"key": "8.8.9.0", "value": 16}`, out)
}

func TestCodePoints(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "U+4E00,1\n9FFF,2\n")
	out, _ := answer(t, "", "range", path, "--key-type", "hex", "U+4E00:u+9fff")
	assert.Equal(t, "key,value\n0x4e00,1\n0x9fff,2\n", out)
}

// A date is a whole day where a range ends, wherever the range comes from.
func TestWholeDays(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "at,n\n2014-07-01 00:00,1\n2014-07-01 "+
		"23:59:59.9,2\n2014-07-02,3\n2014-07-02T23:59:59.25Z,4\n2014-07-03 00:00:00,5\n")
	want := "lo,hi,count\n2014-07-01 00:00:00,2014-07-02 23:59:59.999999999,4\n"
	out, _ := answer(t, "", "count", path, "--key-type", "time", "2014-07-01:2014-07-02")
	assert.Equal(t, want, out)
	out, _ = answer(t, "from:to\n2014-07-01:2014-07-02\n", "count", path, "--key-type", "time")
	assert.Equal(t, want, out)
	out, _ = answer(t, "", "count", path, "--key-type", "time", "--keys",
		write(t, "r.csv", "from,to\n2014-07-01,2014-07-02\n"))
	assert.Equal(t, want, out)
	out, _ = answer(t, "", "range", path, "--key-type", "time", "2014-07-01:2014-07-02 00:00",
		"2014-07-02 23:59:2014-07-03")
	assert.Equal(t, "key,value\n2014-07-01 00:00:00,1\n2014-07-01 23:59:59.9,2\n2014-07-02 00:00:00,3\n2014-07-02 "+
		"23:59:59.25,4\n2014-07-03 00:00:00,5\n", out)
	seconds := write(t, "s.csv", "2014-07-01 23:59:59.000,1\n2014-07-02,2\n")
	out, _ = answer(t, "", "count", seconds, "--key-type", "time", ":2014-07-01")
	assert.Equal(t, "lo,hi,count\n1970-01-01 00:00:00,2014-07-01 23:59:59,1\n", out)
	assert.Equal(t, `range 1 of the command line: "2014-07-01 08:00:30" is not a range LO:HI`,
		refusal(t, "", "range", path, "--key-type", "time", "2014-07-01 08:00:30"))
}

// Delimiters and names that are not quite as they are written are found, and guesses are told.
func TestGuesses(t *testing.T) {
	hostSuffices(t)
	for name, text := range map[string]string{"semicolons": "Id;Size\n1;10\n2;20\n",
		"tabs": "Id\tSize\n1\t10\n2\t20\n"} {
		path := write(t, "t.csv", text)
		out, notes := answer(t, "", "get", path, "--key", "ID", "--value", "size", "2", "-v")
		assert.Equal(t, "key,value\n2,20\n", out, name)
		assert.Contains(t, notes, "vkds: "+path+": fields are taken to stand between "+name+"\n")
		out, _ = answer(t, "1\n", "get", write(t, "k.csv", "1,7\n"), "--keys", path, "--keys-column", "ID")
		assert.Equal(t, "key,value\n1,7\n2,\n", out, name)
		out, _ = answer(t, "", "tally", path, "--column", "size")
		assert.Equal(t, "key,count\n10,1\n20,1\n", out, name)
		assert.Equal(t, path+": no column 2: the table has 1 column",
			refusal(t, "", "get", path, "2", "--delimiter", ","))
	}
	_, notes := answer(t, "", "get", write(t, "t.csv", "1,10\n2,20\n"), "2", "-v")
	assert.NotContains(t, notes, "taken")
	_, notes = answer(t, "id\n1\n", "get", write(t, "t.csv", "1,10\n2,20\n"), "-v")
	assert.Contains(t, notes, "vkds: standard input: the first line is taken for a name\n")
	path := write(t, "t.csv", "id,ID\n1,2\n")
	assert.Equal(t, path+`: "Id" may be column 1, "id", or column 2, "ID": ask as it is written there`,
		refusal(t, "", "get", path, "1", "--key", "Id"))
}

// What is wrong with the keys is told before a table is read: its own fault, further below, is not come to.
func TestWrongKeysBeforeTheTable(t *testing.T) {
	hostSuffices(t)
	table := write(t, "t.csv", "1,10\n2,20\nx,30\n")
	fault := table + `:3: column 1: "x" is not an integer`
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", write(t, "good.csv", "1,10\n2,20\n"), "-o", dict)
	data, err := os.ReadFile(dict)
	require.NoError(t, err)
	data[len(data)-5] ^= 1
	dict = write(t, "bad.vkds", string(data))
	for path, fault := range map[string]string{table: fault, dict: dict + ": is corrupt: "} {
		assert.Contains(t, refusal(t, "", "get", path, "1"), fault)
		text := ""
		if path == table {
			text = " (--key-type text reads it)"
		}
		assert.Equal(t, `key 2 of the command line: "y" is not an integer`+text,
			refusal(t, "", "get", path, "1", "y"))
		assert.Equal(t, `range 1 of the command line: "y" is not an integer`, refusal(t, "", "range", path, "1:y"))
		assert.Equal(t, `range 1 of the command line: "5" is not a range LO:HI`, refusal(t, "", "count", path, "5"))
		if path == dict {
			assert.Equal(t, `key 2 of the command line: "y" is not an integer`,
				refusal(t, "", "delete", path, "1", "y"))
		}
		assert.Equal(t, `--near: "y" is not an integer`,
			refusal(t, "", "inspect", path, "--structure", "btree", "--near", "y", "--svg", "-"))
		keys := write(t, "keys", "1\n2\ny\n")
		assert.Equal(t, keys+`:3: "y" is not an integer`+text, refusal(t, "", "get", path, "--keys", keys))
		keys = write(t, "ranges.csv", "1,2\n1,y\n")
		assert.Equal(t, keys+`:2: column 2: "y" is not an integer`, refusal(t, "", "count", path, "--keys", keys))
		assert.Equal(t, keys+`: no column "key": the table has "1", "2", if commas stand between fields`,
			refusal(t, "", "get", path, "--keys", keys, "--keys-column", "key"))
		assert.Equal(t, keys+".none: "+notThere(keys+".none"), refusal(t, "", "get", path, "--keys", keys+".none"))
		assert.Equal(t, filepath.Dir(keys)+": is a directory",
			refusal(t, "", "get", path, "--keys", filepath.Dir(keys)))
		// A pipe may take any time, so the table is read first.
		assert.Contains(t, refusal(t, "y\n", "get", path), fault)
	}
}
