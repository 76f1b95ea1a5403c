package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vkds/vkds/internal/tool/outfile"
)

// dumpFormat is what is written.
type dumpFormat uint8

const (
	byEnding dumpFormat = iota
	dumpCSV
	dumpLines
	dumpParquet
	dumpArrow
	dumpStream
)

var dumpFormats = [...]string{byEnding: "auto", dumpCSV: "csv", dumpLines: "jsonl", dumpParquet: "parquet",
	dumpArrow: "arrow", dumpStream: "arrows"}

func (f dumpFormat) String() string { return dumpFormats[f] }

func parseDumpFormat(name string) (dumpFormat, error) {
	if i := slices.Index(dumpFormats[:], name); i >= 0 {
		return dumpFormat(i), nil
	}
	return 0, fmt.Errorf("unknown format %q (known: %s)", name, strings.Join(dumpFormats[:], ", "))
}

// formatOf is what a file becomes by its ending.
func formatOf(path string) (dumpFormat, error) {
	ending := strings.ToLower(filepath.Ext(path))
	switch ending {
	case "", ".csv", ".txt", ".dat":
		return dumpCSV, nil
	case ".jsonl", ".ndjson":
		return dumpLines, nil
	case ".parquet", ".pq":
		return dumpParquet, nil
	case ".arrow", ".feather", ".ipc":
		return dumpArrow, nil
	case ".arrows":
		return dumpStream, nil
	}
	return byEnding, fmt.Errorf("%s: no format has the ending %s: --output-format says which it is to be (%s)", path,
		ending, strings.Join(dumpFormats[1:], ", "))
}

// columnar tells formats that are no text.
func (f dumpFormat) columnar() bool { return f >= dumpParquet }

// pairTable is a table of pairs that is being written.
type pairTable struct {
	write func(keys, values []uint64) error
	end   func() error
}

func newPairTable(to io.Writer, f dumpFormat, dict *dictionary) (pairTable, error) {
	if !f.columnar() {
		a := newAnswer(to, rowFlags{json: f == dumpLines, left: math.MaxUint64}, pairColumns...)
		return pairTable{
			write: func(keys, values []uint64) error { return a.pairs(dict, keys, values) },
			end:   func() error { return a.end(nil) },
		}, nil
	}
	format := map[dumpFormat]outfile.Format{dumpParquet: outfile.Parquet, dumpArrow: outfile.Arrow,
		dumpStream: outfile.ArrowStream}[f]
	out := bufio.NewWriterSize(to, outputBytes)
	w, err := outfile.NewWriter(out, format, outfile.Columns{Key: dict.key, Value: dict.value,
		KeyTexts: dict.keys().texts, ValueTexts: dict.values().texts})
	if err != nil {
		return pairTable{}, err
	}
	return pairTable{write: w.Write, end: func() error { return cmp.Or(w.Close(), out.Flush()) }}, nil
}
