package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Tables of strangers are read as their writers meant them, with nothing said of them.
func TestStrangersTables(t *testing.T) {
	hostSuffices(t)
	ledger := write(t, "ledger.csv", "101300;010114;00;2132500450881;au 010114;;;733480,00;-733480,00\n"+
		"106110;010114;00;2132500450881;au 010114;;;73348,16;-73348,16\n"+
		"106320;010114;00;2132500450881;au 010114;;;539346,47;-539346,47\n")
	out, notes := answer(t, "", "tally", ledger, "-v")
	assert.Equal(t, "key,count\n101300,1\n106110,1\n106320,1\n", out)
	assert.Contains(t, notes, "fields are taken to stand between semicolons")
	out, _ = answer(t, "", "get", ledger, "--value", "4", "106110")
	assert.Equal(t, "key,value\n106110,2132500450881\n", out)
	out, _ = answer(t, "", "tally", write(t, "two.csv", "11,1;1,2\n12,1;2,1\n"))
	assert.Equal(t, "key,count\n\"11,1\",1\n\"12,1\",1\n", out)
	out, _ = answer(t, "", "tally", write(t, "zip.csv", "zip,town\n01234,A\n1234,B\n00501,C\n02134,D\n"), "--column",
		"zip")
	assert.Equal(t, "key,count\n01234,1\n1234,1\n00501,1\n02134,1\n", out)
	out, _ = answer(t, "007\n7\n0870\n870\n", "tally", "-")
	assert.Equal(t, "key,count\n007,1\n7,1\n0870,1\n870,1\n", out)
	out, _ = answer(t, "id,phone\n1,0301234\n2,0809999\n", "get", "-", "2")
	assert.Equal(t, "key,value\n2,0809999\n", out)

	// As well where one comes late, in a file that can be read again.
	late := "k,v\n" + strings.Repeat("7,0x8\n", 20000) + "007,9\n7,1\n"
	file := write(t, "late.csv", late)
	out, notes = answer(t, "", "get", file, "7", "007")
	assert.Equal(t, "key,value\n7,1\n007,9\n", out)
	assert.Contains(t, notes, file+": column 1 is taken for text, because 007 has a leading zero: reading it again")
	out, _ = answer(t, "", "tally", file)
	assert.Equal(t, "key,count\n7,20001\n007,1\n", out)
	for _, command := range [][]string{{"tally", "-", "--column", "k"}, {"dump", "-"}} {
		flag := map[string]string{"tally": "--type", "dump": "--key-type"}[command[0]]
		assert.Contains(t, refusal(t, late, command...), "standard input:20002: column ")
		assert.Contains(t, refusal(t, late, command...), "007 has a leading zero, as text has it, where values "+
			"before it are numbers ("+flag+" text reads it)")
		out, _ = answer(t, late, append(command, flag, "text")...)
		assert.Contains(t, out, "\n007,")
	}

	people := write(t, "people.csv", "name,city,age\nAnn,Ulm,30\nBob,,\n")
	out, _ = answer(t, "", "dump", people)
	assert.Equal(t, "key,value\nAnn,Ulm\nBob,\"\"\n", out)
	out, notes = answer(t, "", "dump", people, "--value", "age")
	assert.Equal(t, "key,value\nAnn,30\n", out)
	assert.Contains(t, notes, people+": skipped 1 row without a value")
	out, _ = answer(t, "", "dump", people, "--value", "age", "--null", "0")
	assert.Equal(t, "key,value\nAnn,30\nBob,0\n", out)
	assert.Contains(t, refusal(t, "k,v\n,1\n2,\n", "dump", "-"), "no row of it has all values")
	out, _ = answer(t, "1.5,a\n2,b\n", "min", "-")
	assert.Equal(t, "key,value\n1.5,a\n", out)
	out, _ = answer(t, "10.0.0.1,1\n10.0.1.1,2\n11.0.0.1,3\n", "count", "-", "10.0.0.0/8", "10.0.1.0/24")
	assert.Equal(t, "lo,hi,count\n10.0.0.0,10.255.255.255,2\n10.0.1.0,10.0.1.255,1\n", out)
}
