package draw

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
)

// Measures of a picture, in pixels.
const (
	width  = 1280.0
	margin = 24.0
	inner  = width - 2*margin // width of the drawing area
)

// columns is the greatest number of bars side by side. More nodes or buckets share bars.
const columns = 200

// canvas is a picture that is being drawn, from the top down.
type canvas struct {
	body strings.Builder
	y    float64 // top of the next element
}

// style defines the colors and fonts of the pictures.
const style = `
text { font: 12px "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1d2733 }
.title { font-size: 18px; font-weight: bold }
.heading { font-size: 14px; font-weight: bold }
.small { font-size: 9px; fill: #5a6675 }
.low { paint-order: stroke; stroke: #ffffff; stroke-width: 3px }
.middle { text-anchor: middle }
.end { text-anchor: end }
.paper { fill: #ffffff }
.room { fill: #e6eaef }
.leaf { fill: #3b7dd8 }
.inner { fill: #2a9d77 }
.spread { fill: #a9c8ef }
.spread-inner { fill: #a3d9c6 }
.gone { fill: #d9a441 }
.frame { fill: none; stroke: #98a3b0; stroke-width: 1 }
.chosen { stroke: #c2410c; stroke-width: 2 }
.orphan { stroke-dasharray: 3 2 }
.latched { stroke: #c81e1e; stroke-width: 2 }
.line { fill: none; stroke: #98a3b0; stroke-width: 1 }
.way { fill: none; stroke: #c2410c; stroke-width: 1.5 }
.link { fill: none; stroke: #5a6675; stroke-width: 1; marker-end: url(#arrow) }
.expected { fill: none; stroke: #c2410c; stroke-width: 1.5 }
`

// number formats a coordinate, rounded to a tenth of a pixel.
func number(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

func (c *canvas) add(format string, arguments ...any) {
	fmt.Fprintf(&c.body, format+"\n", arguments...)
}

func (c *canvas) text(class string, x, y float64, text string) {
	c.add(`<text class="%s" x="%s" y="%s">%s</text>`, class, number(x), number(y), html.EscapeString(text))
}

func (c *canvas) rect(class string, x, y, w, h float64) {
	c.add(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, number(x), number(y), number(w), number(h))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.add(`<path class="%s" d="M%s %sL%s %s"/>`, class, number(x1), number(y1), number(x2), number(y2))
}

// begin opens a group. A viewer shows the note when the pointer is on the group.
func (c *canvas) begin(class, note string) {
	c.add(`<g class="%s"><title>%s</title>`, class, html.EscapeString(note))
}

func (c *canvas) end() { c.add("</g>") }

// boxes is one path of many rectangles of one class and size. It is far shorter than as many elements.
type boxes struct {
	path strings.Builder
	w, h float64
}

func (b *boxes) add(x, y float64) {
	fmt.Fprintf(&b.path, "M%s %sh%sv%sh-%sz", number(x), number(y), number(b.w), number(b.h), number(b.w))
}

func (c *canvas) boxes(class string, b *boxes) {
	if b.path.Len() != 0 {
		c.add(`<path class="%s" d="%s"/>`, class, b.path.String())
	}
}

// title begins a picture with its title and lines of notes.
func (c *canvas) title(title string, lines []string) {
	c.y = margin + 14
	c.text("title", margin, c.y, title)
	for _, line := range lines {
		c.y += 18
		c.text("", margin, c.y, line)
	}
	c.y += 14
}

func (c *canvas) heading(text string) {
	c.y += 22
	c.text("heading", margin, c.y, text)
	c.y += 12
}

// key explains the colours.
func (c *canvas) key(entries ...[2]string) {
	x := margin
	for _, e := range entries {
		c.rect(e[0], x, c.y, 10, 10)
		c.text("", x+15, c.y+10, e[1])
		x += 15 + 7*float64(len(e[1])) + 18
	}
	c.y += 22
}

// write writes the picture. If w fails, it returns the error.
func (c *canvas) write(w io.Writer, title string) error {
	b := bufio.NewWriter(w)
	height := c.y + margin
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s">`+"\n",
		number(width), number(height), number(width), number(height))
	fmt.Fprintf(b, "<title>%s</title>\n<style>%s</style>\n", html.EscapeString(title), style)
	fmt.Fprint(b, `<defs><marker id="arrow" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" `+
		`orient="auto"><path d="M0 0L6 3L0 6z" fill="#5a6675"/></marker></defs>`+"\n")
	fmt.Fprintf(b, `<rect class="paper" width="%s" height="%s"/>`+"\n%s</svg>\n", number(width), number(height),
		c.body.String())
	return b.Flush()
}

// grouped formats a number with commas between thousands.
func grouped[T int | uint64](n T) string {
	s := strconv.FormatUint(uint64(n), 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// parts divides 0 … n-1 into at most that many runs of about equal length.
func parts(n, most int) (starts []int) {
	k := min(n, most)
	for i := range k + 1 {
		starts = append(starts, i*n/max(k, 1))
	}
	return starts
}
