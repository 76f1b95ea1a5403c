package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSort(t *testing.T) {
	path := write(t, "t.csv", "id,price,name\n3,1.50,a\n1,007,\n2,NA,\"x\ny\"\n")
	for arguments, want := range map[string]string{
		"--by id":                                              "id,price,name\n1,007,\n2,NA,\"x\ny\"\n3,1.50,a\n",
		"--by id --limit 1":                                    "id,price,name\n1,007,\n",
		"--by price --type price=f64":                          "id,price,name\n3,1.50,a\n1,007,\n2,NA,\"x\ny\"\n",
		"--by price --columns ID,price":                        "id,price\n1,007\n3,1.50\n2,NA\n", // text: 007
		"--by 1 --descending 1 --columns 3":                    "name\na\n\"x\ny\"\n\"\"\n",
		"--by price --type price=f64 --null 9 --columns price": "price\n1.50\n007\nNA\n",
		"--by id --json": `{"id":"1","price":"007","name":""}` + "\n" +
			`{"id":"2","price":"NA","name":"x\ny"}` + "\n" + `{"id":"3","price":"1.50","name":"a"}` + "\n",
	} {
		assert.Equal(t, want, asked(t, append([]string{"sort", path}, strings.Fields(arguments)...)...), arguments)
	}
	for arguments, want := range map[string]string{
		"--by id,id":               "--by id,id: column id is given twice",
		"--by id --descending x":   "--descending x: it is not one of the --by columns",
		"--by id --columns no":     path + `: no column "no": the table has "id", "price", "name"`,
		"--by id --memory lots":    `"lots" is not a size: give bytes, such as 500MB or 8GiB`,
		"--by id --memory 0":       `"0" is not a size: give bytes, such as 500MB or 8GiB`,
		"--by id --type price=f64": "--type price=f64: column price is not read",
	} {
		assert.Contains(t, refusal(t, "", append([]string{"sort", path}, strings.Fields(arguments)...)...), want,
			arguments)
	}
	assert.Equal(t, "1\n2\n3\n", func() string {
		out, _ := answer(t, "3\n1\n2\n", "sort", "-", "--by", "1", "--no-header")
		return strings.TrimPrefix(out, "1\n")
	}())
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	assert.Contains(t, refusal(t, "", "sort", path, "--by", "id", "--memory", "1"),
		"a temporary file is needed, because the rows need more than --memory: ")
}

// Tables without rows keep their columns, and rows of words are not skipped as invalid numbers.
func TestFewRows(t *testing.T) {
	empty := write(t, "e.csv", "k,v\n")
	assert.Equal(t, "k,v\n", asked(t, "sort", empty, "--by", "v"))
	words := write(t, "w.csv", "k,v\na,1\n7,2\nb,x\nNA,4\n")
	for arguments, want := range map[string]string{
		"sort --by k":          "k,v\n7,2\nNA,4\na,1\nb,x\n",
		"distinct --by k":      "k\n7\nNA\na\nb\n",
		"group --by k --sum v": "k,sum(v)\n7,2\nNA,4\na,1\n",
		"join --on k " + words: "k\na\n7\nb\nNA\n",
		"group --by v --json": strings.Join([]string{`{"v":1,"count":1}`, `{"v":2,"count":1}`,
			`{"v":4,"count":1}`, ""}, "\n"),
		"group --by k --distinct v": "k,distinct(v)\n7,1\nNA,1\na,1\n",
	} {
		all := append(strings.Fields(arguments), "--skip-invalid")
		assert.Equal(t, want, asked(t, append([]string{all[0], words}, all[1:]...)...), arguments)
	}
	few := write(t, "f.csv", "k\nx\n1\ny\n2\n3\n")
	assert.Equal(t, "k\n1\n2\n3\n", asked(t, "distinct", few, "--by", "k", "--skip-invalid"))
	assert.Equal(t, few+`:2: column "k": "x" is not an integer (--type k=text reads it)`,
		refusal(t, "", "distinct", few, "--by", "k"))
	infinite := write(t, "i.csv", "c,p\n1,inf\n2,inf\n2,-inf\n")
	assert.Equal(t, `{"c":1,"mean(p)":"+Inf"}`+"\n"+`{"c":2,"mean(p)":"NaN"}`+"\n",
		asked(t, "group", infinite, "--by", "c", "--mean", "p", "--type", "p=f64", "--json"))
}

func TestDistinct(t *testing.T) {
	path := write(t, "t.csv", "a,b\n2,x\n1,y\n2,x\n,y\n1,x\n")
	assert.Equal(t, "a\n1\n2\n\"\"\n", asked(t, "distinct", path, "--by", "a"))
	assert.Equal(t, "b,a\nx,1\nx,2\ny,1\ny,\n", asked(t, "distinct", path, "--by", "b,a"))
	assert.Equal(t, `{"b":"x"}`+"\n", asked(t, "distinct", path, "--by", "b", "--json", "--limit", "1"))
}

// asked is answer without input and notes.
func asked(t *testing.T, arguments ...string) string {
	out, _ := answer(t, "", arguments...)
	return out
}
