package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFormatOfEnding(t *testing.T) {
	for path, want := range map[string]dumpFormat{
		"d": dumpCSV, "a.b/d": dumpCSV, "d.csv": dumpCSV, "d.CSV": dumpCSV, "d.txt": dumpCSV, "d.dat": dumpCSV,
		"d.jsonl": dumpLines, "d.x.ndjson": dumpLines, "d.parquet": dumpParquet, "d.pq": dumpParquet,
		"d.arrow": dumpArrow, "d.feather": dumpArrow, "d.ipc": dumpArrow, "d.arrows": dumpStream,
	} {
		got, err := formatOf(path)
		assert.NoError(t, err, path)
		assert.Equal(t, want, got, path)
	}
	for _, path := range []string{"d.json", "d.tsv", "d.vkds", "d.csv.bak"} {
		_, err := formatOf(path)
		assert.ErrorContains(t, err, "--output-format", path)
	}
	for i, name := range dumpFormats {
		got, err := parseDumpFormat(name)
		assert.NoError(t, err)
		assert.Equal(t, dumpFormat(i), got)
	}
}
