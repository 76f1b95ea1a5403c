package main

// edgeWindow is the last rows of a list of edges, which are undirected and may come again. An edge is there as long
// as one of its rows is. It is used from one goroutine at a time.
type edgeWindow struct {
	size     int
	rows     []windowEdge // the last ones, in a ring of size, from its start as long as it isn't full
	at       int          // of the oldest row, once it is full
	times    map[windowEdge]int
	touched  []windowEdge       // by this Add, in the order of their rows
	before   map[windowEdge]int // of those, how often they were there
	ends     []int              // rows of a vertex
	vertices int
}

// windowEdge has the lesser vertex first.
type windowEdge struct{ from, to uint32 }

// newEdgeWindow makes an empty window of so many rows, at least one.
func newEdgeWindow(size int) *edgeWindow {
	return &edgeWindow{size: size, times: map[windowEdge]int{}, before: map[windowEdge]int{}}
}

// edgeList are some edges, from[i] to[i].
type edgeList struct{ From, To []uint32 }

func (e *edgeList) add(one windowEdge) { e.From, e.To = append(e.From, one.from), append(e.To, one.to) }

// Vertices is how many vertices have a row in the window, loops too.
func (w *edgeWindow) Vertices() int { return w.vertices }

// Add moves the window over the next rows, and returns the edges that were not there before and those that are there no
// longer, each once and without loops.
func (w *edgeWindow) Add(from, to []uint32) (come, gone edgeList) {
	w.touched = w.touched[:0]
	clear(w.before)
	for i, u := range from {
		row := windowEdge{min(u, to[i]), max(u, to[i])}
		w.count(row, 1)
		if len(w.rows) < w.size {
			w.rows = append(w.rows, row)
			continue
		}
		w.count(w.rows[w.at], -1)
		w.rows[w.at] = row
		w.at = (w.at + 1) % w.size
	}
	for _, one := range w.touched {
		switch before, now := w.before[one], w.times[one]; {
		case before == 0 && now > 0:
			come.add(one)
		case before > 0 && now == 0:
			gone.add(one)
		}
		if w.times[one] == 0 {
			delete(w.times, one)
		}
	}
	return come, gone
}

// count counts a row that comes or goes.
func (w *edgeWindow) count(row windowEdge, change int) {
	for _, v := range []uint32{row.from, row.to} {
		if missing := int(v) + 1 - len(w.ends); missing > 0 {
			w.ends = append(w.ends, make([]int, missing)...)
		}
		if w.ends[v] == 0 {
			w.vertices++
		}
		if w.ends[v] += change; w.ends[v] == 0 {
			w.vertices--
		}
	}
	if row.from == row.to {
		return
	}
	if _, there := w.before[row]; !there {
		w.before[row] = w.times[row]
		w.touched = append(w.touched, row)
	}
	w.times[row] += change
}
