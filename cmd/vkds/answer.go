package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
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
