package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/vkds/vkds/word"
)

// answer writes an answer to standard output. print gets a buffer for its lines
// and the function to write them with.
func (g *global) answer(print func(line []byte, write func([]byte))) error {
	out := bufio.NewWriterSize(g.out, 256<<10)
	print(make([]byte, 0, 64), func(text []byte) { _, _ = out.Write(text) }) // Flush tells of errors
	return outputError(out.Flush())
}

func outputError(err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("standard output: %w", err)
}

// answerJSON writes one JSON value.
func (g *global) answerJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return g.answer(func(_ []byte, write func([]byte)) { write(append(text, '\n')) })
}

// answerRows writes lines under a header, as CSV. row appends row i to a line.
func (g *global) answerRows(header string, n int, row func(line []byte, i int) []byte) error {
	return g.answer(func(line []byte, write func([]byte)) {
		write(append(append(line, header...), '\n'))
		for i := range n {
			line = append(row(line[:0], i), '\n')
			write(line)
		}
	})
}

// answerArray writes a JSON array, an element a line. element appends element i
// to a line.
func (g *global) answerArray(n int, element func(line []byte, i int) []byte) error {
	return g.answer(func(line []byte, write func([]byte)) {
		before := "[\n  "
		for i := range n {
			line = element(append(line[:0], before...), i)
			write(line)
			before = ",\n  "
		}
		if n == 0 {
			write([]byte("["))
		}
		write([]byte("\n]\n"))
	})
}

// appendJSON appends a word as JSON; the common type doesn't go through
// package json, which is slow for millions of them.
func appendJSON(line []byte, t word.Type, w uint32) []byte {
	if t == word.Uint32 {
		return strconv.AppendUint(line, uint64(w), 10)
	}
	text, _ := json.Marshal(t.JSON(w)) // numbers and strings always have a JSON form
	return append(line, text...)
}

// appendIf appends a word if there is one, and appendJSONIf else null.
func appendIf(line []byte, t word.Type, w uint32, there bool) []byte {
	if !there {
		return line
	}
	return t.Append(line, w)
}

func appendJSONIf(line []byte, t word.Type, w uint32, there bool) []byte {
	if !there {
		return append(line, "null"...)
	}
	return appendJSON(line, t, w)
}

// answerTable writes rows under their titles: as CSV, or drawn on a terminal.
func (g *global) answerTable(titles []string, rows [][]string) error {
	if !terminal(g.out) {
		return outputError(csv.NewWriter(g.out).WriteAll(append([][]string{titles}, rows...)))
	}
	return outputError(drawTable(g.out, titles, rows))
}

func drawTable(w io.Writer, titles []string, rows [][]string) error {
	t := tablewriter.NewTable(w,
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
	)
	t.Header(titles)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	return t.Render()
}
