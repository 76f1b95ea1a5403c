package graphfile

import (
	"errors"
	"fmt"
)

// CountError reports a file with another number of elements than it says.
type CountError struct {
	File       string
	What       string // "edges", "entries", "vertices"
	Said, Have int64
}

func (e *CountError) Error() string {
	return fmt.Sprintf("%s: says that it has %d %s, but has %d: it is damaged or cut off", e.File, e.Said, e.What,
		e.Have)
}

// IDError reports a vertex that a file does not declare.
type IDError struct {
	ID          string
	First, Last uint64
}

func (e *IDError) Error() string {
	return fmt.Sprintf("vertex %s is none of those that the file has (%d to %d)", e.ID, e.First, e.Last)
}

// Causes that an *input.LineError may wrap, in addition to those of packages input and keytype.
var (
	// ErrBanner reports a Matrix Market file without its first line, or with one that says something else.
	ErrBanner = errors.New("should be \"%%MatrixMarket matrix coordinate\", then pattern, integer or real, then " +
		"general, symmetric or skew-symmetric")
	// ErrDense reports a matrix that lists all its elements.
	ErrDense = errors.New("an array lists all elements of a matrix: a graph's is of the kind coordinate")
	// ErrSquare reports a matrix that is not square, so it is not a graph's.
	ErrSquare = errors.New("the matrix has not as many columns as rows, so it is no graph's")
	// ErrSizes reports a line that should have the sizes of the graph.
	ErrSizes = errors.New("should say how many vertices and edges there are")
	// ErrFormat reports that METIS's third or fourth number is not valid.
	ErrFormat = errors.New("the third number says in three digits 0 or 1 what there are: sizes of vertices, their " +
		"weights, weights of edges; the fourth, how many weights a vertex has")
	// ErrDesignator reports a line of DIMACS that begins with another letter than these.
	ErrDesignator = errors.New("should begin with c, p, a or e")
	// ErrMixed reports a file of DIMACS with lines of both kinds.
	ErrMixed = errors.New("arcs (a) and edges (e) are in one file")
	// ErrFields reports a line without two ids, or without a requested weight.
	ErrFields = errors.New("has not as many fields as an edge")
	// ErrCommas reports a line of one field that has commas or semicolons.
	ErrCommas = errors.New("is one field, if blanks stand between them: --format csv reads other tables")
	// ErrMore reports a line after the last one that the file should have.
	ErrMore = errors.New("the file goes on behind the last edge that it says it has")
	// ErrWeight reports a weight that is not a number, or negative, or too great for a float32.
	ErrWeight = errors.New("a weight has to be a number from 0 to 3.4e38")
	// ErrVertices reports more vertices than 32 bits can number.
	ErrVertices = errors.New("more than 4294967294 vertices")
)
