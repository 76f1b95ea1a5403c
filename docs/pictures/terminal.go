//go:build ignore

// Terminal draws what a command printed on a terminal as SVG. The README's picture is made by
//
//	script -qec "stty cols 110; make -s demo" /dev/null |
//		go run docs/pictures/terminal.go 'make -s demo' >docs/pictures/demo.svg
//
// It knows of terminals what vkds uses: bold, and lines that are written over.
package main

import (
	"bufio"
	"fmt"
	"html"
	"log"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	column = 8.4 // pixels
	line   = 19
	margin = 16
)

func main() {
	rows := []string{"$ " + os.Args[1]}
	columns := 0
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		row := strings.TrimRight(in.Text(), "\r")
		row = row[strings.LastIndexByte(row, '\r')+1:] // what a progress bar left behind
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
	var text strings.Builder
	for i, row := range rows {
		style := ""
		switch {
		case strings.Contains(row, "\x1b[1m"):
			style = ` class="bold"`
		case strings.HasPrefix(row, "$ "):
			style = ` class="typed"`
		}
		row = strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(row)
		width := utf8.RuneCountInString(row)
		columns = max(columns, width)
		if strings.TrimSpace(row) == "" {
			continue
		}
		// The length keeps the columns straight whatever font there is.
		fmt.Fprintf(&text, "<text%s x=\"%d\" y=\"%d\" textLength=\"%.1f\">%s</text>\n",
			style, margin, margin+line*i+14, column*float64(width), html.EscapeString(row))
	}
	width, height := column*float64(columns)+2*margin, line*len(rows)+2*margin
	fmt.Print(`<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" `)
	fmt.Printf(`viewBox="0 0 %.0f %d" width="%.0f" height="%d">
<style>
text { font: 14px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9 }
.bold { font-weight: bold; fill: #ffffff }
.typed { fill: #8fd18a }
</style>
<rect width="100%%" height="100%%" rx="8" fill="#1d2129"/>
%s</svg>
`, width, height, width, height, text.String())
}
