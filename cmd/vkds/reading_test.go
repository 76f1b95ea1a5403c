package main_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Addresses are asked for as they are written, of tables that hold them so or as integers, and come back so.
func TestAddresses(t *testing.T) {
	needDevice(t)
	path := write(t, "t.csv", "first,country\n8.8.8.0,225\n8.8.9.0,16\n")
	out, _ := answer(t, "", "floor", path, "--key-type", "ip", "8.8.8.8", "134744073", "1.1.1.1")
	assert.Equal(t, "key,found,value\n8.8.8.8,8.8.8.0,225\n8.8.8.9,8.8.8.0,225\n1.1.1.1,,\n", out)
	out, _ = answer(t, "", "count", path, "--key-type", "ip", "8.8.8.0:8.8.8.255", "8.8.8.1:")
	assert.Equal(t, "lo,hi,count\n8.8.8.0,8.8.8.255,1\n8.8.8.1,255.255.255.255,1\n", out)
	assert.Equal(t, `key 1 of the command line: "8.8.8" is not an IPv4 address`, refusal(t, "", "get", path, "--key-type", "ip", "8.8.8"))

	geoip := filepath.Join("..", "..", "testdata", "geoip.csv.gz")
	out, _ = answer(t, "", "floor", geoip, "--key-type", "ip", "8.8.8.8", "1.0.0.1", "193.0.6.139")
	assert.Equal(t, "key,found,value\n8.8.8.8,8.7.245.0,225\n1.0.0.1,1.0.0.0,16\n193.0.6.139,193.0.0.0,161\n", out)
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", path, "--key-type", "ip", "-o", dict)
	out, _ = answer(t, "", "get", dict, "8.8.9.0", "--json")
	assert.JSONEq(t, `{"key": "8.8.9.0", "value": 16}`, out)
}

func TestCodePoints(t *testing.T) {
	needDevice(t)
	path := write(t, "t.csv", "U+4E00,1\n9FFF,2\n")
	out, _ := answer(t, "", "range", path, "--key-type", "hex", "U+4E00:u+9fff")
	assert.Equal(t, "key,value\n0x4e00,1\n0x9fff,2\n", out)
}

// A date is a whole day where a range ends, wherever the range comes from.
func TestWholeDays(t *testing.T) {
	needDevice(t)
	path := write(t, "t.csv", "at,n\n2014-07-01 00:00,1\n2014-07-01 23:59:59.9,2\n2014-07-02,3\n2014-07-02T23:59:59.25Z,4\n2014-07-03 00:00:00,5\n")
	want := "lo,hi,count\n2014-07-01 00:00:00,2014-07-02 23:59:59,4\n"
	out, _ := answer(t, "", "count", path, "--key-type", "time", "2014-07-01:2014-07-02")
	assert.Equal(t, want, out)
	out, _ = answer(t, "from:to\n2014-07-01:2014-07-02\n", "count", path, "--key-type", "time")
	assert.Equal(t, want, out)
	out, _ = answer(t, "", "count", path, "--key-type", "time", "--keys", write(t, "r.csv", "from,to\n2014-07-01,2014-07-02\n"))
	assert.Equal(t, want, out)
	out, _ = answer(t, "", "range", path, "--key-type", "time", "2014-07-01:2014-07-02 00:00", "2014-07-02 23:59:2014-07-03")
	assert.Equal(t, "key,value\n2014-07-01 00:00:00,1\n2014-07-01 23:59:59,2\n2014-07-02 00:00:00,3\n2014-07-02 23:59:59,4\n2014-07-03 00:00:00,5\n", out)
	assert.Equal(t, `range 1 of the command line: "2014-07-01 08:00:30" is no range LO:HI`, refusal(t, "", "range", path, "--key-type", "time", "2014-07-01 08:00:30"))
}
