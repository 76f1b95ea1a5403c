package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/vkds/vkds/internal/keytype"
)

// answer is an answer on standard output: lines of CSV under a header, or a JSON
// array. Nothing is written before there is something to write or the answer
// ends, so that what fails early leaves no half of it.
type answer struct {
	out    *bufio.Writer
	header string // of CSV
	json   bool
	begun  bool
	line   []byte
}

func (g *global) newAnswer(header string, asJSON bool) *answer {
	return &answer{out: bufio.NewWriterSize(g.out, 256<<10), header: header, json: asJSON, line: make([]byte, 0, 64)}
}

// begin writes what stands before a row, which elements of a JSON array share.
func (a *answer) begin() error {
	text := a.around("[\n  ", ",\n  ")
	a.begun = true
	return a.write([]byte(text))
}

// around is what stands between rows: of CSV the header before the first, of a JSON array first, and later behind a row.
func (a *answer) around(first, later string) string {
	switch {
	case a.json && a.begun:
		return later
	case a.json:
		return first
	case a.begun:
		return ""
	default:
		return a.header + "\n"
	}
}

// write writes a part of a row.
func (a *answer) write(text []byte) error {
	_, err := a.out.Write(text)
	return outputError(err)
}

// rows writes n rows; row appends row i to a line.
func (a *answer) rows(n int, row func(line []byte, i int) []byte) error {
	for i := range n {
		if err := a.begin(); err != nil {
			return err
		}
		if a.line = row(a.line[:0], i); !a.json {
			a.line = append(a.line, '\n')
		}
		if err := a.write(a.line); err != nil {
			return err
		}
	}
	return nil
}

// end completes the answer.
func (a *answer) end() error {
	if err := a.write([]byte(a.around("[\n]\n", "\n]\n"))); err != nil {
		return err
	}
	return a.flush()
}

// flush writes what there is of the answer.
func (a *answer) flush() error { return outputError(a.out.Flush()) }

// answerText writes an answer that is one text.
func (g *global) answerText(text []byte) error {
	_, err := g.out.Write(text)
	return outputError(err)
}

// answerJSON writes one JSON value.
func (g *global) answerJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return g.answerText(append(text, '\n'))
}

// appendJSON appends a word as JSON; the common type doesn't go through
// package json, which is slow for millions of them.
func appendJSON(line []byte, t keytype.Type, w uint32) []byte {
	if t == keytype.Uint32 {
		return strconv.AppendUint(line, uint64(w), 10)
	}
	text, _ := json.Marshal(t.JSON(w)) // finite numbers and strings always have a JSON form
	return append(line, text...)
}

// appendIf appends a word if there is one, and appendJSONIf else null.
func appendIf(line []byte, t keytype.Type, w uint32, there bool) []byte {
	if !there {
		return line
	}
	return t.Append(line, w)
}

func appendJSONIf(line []byte, t keytype.Type, w uint32, there bool) []byte {
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
