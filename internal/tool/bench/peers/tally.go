package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// tallyUsage is the help of "peers tally".
const tallyUsage = `usage: peers tally [flags] [FILE…]

Counts the distinct lines of files by "vkds tally --format lines", by sort and uniq, by a map of Go's and by sqlite3,
each from the file on disk to a file of all lines with their counts, the most frequent first; compares what they have
written, and prints the seconds that each took, from its start to its end. Without FILE it makes two logs: one whose
lines come as often as words do, and one whose lines all differ.
`

// counter counts the distinct lines of a file, and writes them to another. It may return a note.
type counter struct {
	name  string
	count func(ctx context.Context, from string, to *os.File) (note string, err error)
	read  func(from io.Reader, each func(line []byte, count uint64)) error // reads what it has written
}

// total summarizes what a counter has written. Two are equal only if all lines and counts are, in any order.
type total struct{ lines, distinct, sum uint64 }

var seed = maphash.MakeSeed()

func (t *total) add(line []byte, count uint64) {
	t.lines += count
	t.distinct++
	t.sum += maphash.Comparable(seed, [2]uint64{maphash.Bytes(seed, line), count})
}

func tally(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("peers tally", flag.ContinueOnError)
	tool := flags.String("vkds", "vkds", "the tool")
	lines := flags.Int("lines", 10_000_000, "lines of each log that is made")
	distinct := flags.Int("distinct", 1_000_000, "different lines at most, of the first")
	runs := flags.Int("repeat", 3, "runs, of which the median counts")
	folder := flags.String("dir", "", "`folder` for logs and what is written (default: that of temporary files)")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), tallyUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *runs < 1 || *lines < 1 || *distinct < 1 {
		return errors.New("-repeat, -lines and -distinct are at least 1")
	}
	dir, err := os.MkdirTemp(*folder, "peers-tally-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files := flags.Args()
	if len(files) == 0 {
		if files, err = makeLogs(dir, *lines, *distinct); err != nil {
			return err
		}
	}
	var notes strings.Builder
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "file\tlines\tdistinct\tcounted by\tseconds\tM lines/s\ttime / vkds\t\n")
	for _, file := range files {
		if err := tallyFile(ctx, table, &notes, counters(*tool), file, dir, *runs); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = io.WriteString(out, notes.String())
	return err
}

// tallyFile writes the rows of a file to the table, and the counters' notes.
func tallyFile(ctx context.Context, table, notes io.Writer, all []counter, file, dir string, runs int) error {
	var want total
	var first float64
	for _, c := range all {
		took, got, note, err := c.measure(ctx, file, filepath.Join(dir, "counted"), runs)
		switch {
		case errors.Is(err, exec.ErrNotFound):
			fmt.Fprintf(table, "%s\t\t\t%s\tnot there\t\t\t\n", filepath.Base(file), c.name)
			continue
		case err != nil:
			return fmt.Errorf("%s of %s: %w", c.name, file, err)
		}
		if note != "" {
			fmt.Fprintf(notes, "%s: %s\n", filepath.Base(file), note)
		}
		if first == 0 {
			want, first = got, took.Seconds()
		}
		if got != want {
			return fmt.Errorf("%s of %s: %d lines, of them %d distinct, and other counts than those of %s: %d and %d",
				c.name, file, got.lines, got.distinct, all[0].name, want.lines, want.distinct)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%.2f\t%.1f\t%.2f\t\n", filepath.Base(file), got.lines, got.distinct,
			c.name, took.Seconds(), float64(got.lines)/took.Seconds()/1e6, took.Seconds()/first)
	}
	return nil
}

// measure returns the median time of the runs, and the result and the note of the last one.
func (c counter) measure(ctx context.Context, file, to string, runs int) (took time.Duration, got total, note string,
	err error) {
	var times []time.Duration
	for range runs {
		f, err := os.Create(to)
		if err != nil {
			return 0, got, "", err
		}
		started := time.Now()
		note, err = c.count(ctx, file, f)
		times = append(times, time.Since(started))
		if err := cmp.Or(err, f.Close()); err != nil {
			return 0, got, "", err
		}
	}
	slices.Sort(times)
	f, err := os.Open(to)
	if err != nil {
		return 0, got, "", err
	}
	defer f.Close()
	err = c.read(f, got.add)
	return times[len(times)/2], got, note, err
}

// command runs a counter that writes to a file, in the locale in which sort compares bytes. It returns its output.
func command(ctx context.Context, to *os.File, stdin io.Reader, name string, arguments ...string) (string, error) {
	run := exec.CommandContext(ctx, name, arguments...)
	var said bytes.Buffer
	run.Env, run.Stdin, run.Stdout, run.Stderr = append(os.Environ(), "LC_ALL=C"), stdin, to, &said
	if err := run.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimSpace(said.String()), nil
}

// counters returns vkds and its peers.
func counters(tool string) []counter {
	return []counter{{
		name: "vkds",
		count: func(ctx context.Context, from string, to *os.File) (string, error) {
			return command(ctx, to, nil, tool, "tally", from, "--format", "lines", "--verbose")
		},
		read: readCSV,
	}, {
		name: "sort | uniq -c | sort",
		count: func(ctx context.Context, from string, to *os.File) (string, error) {
			return command(ctx, to, nil, "sh", "-c", `sort "$1" | uniq -c | sort -rn`, "sh", from)
		},
		read: readUniq,
	}, {
		name: "Go map",
		count: func(_ context.Context, from string, to *os.File) (string, error) {
			return "", goMap(from, to)
		},
		read: readCSV,
	}, {
		name: "sqlite3",
		count: func(ctx context.Context, from string, to *os.File) (string, error) {
			// In this mode quotes and commas have no meaning.
			script := ".mode ascii\n.separator \"\\037\" \"\\n\"\ncreate table lines(line text);\n.import '" + from +
				"' lines\nselect line, count(*) from lines group by line order by 2 desc;\n"
			return command(ctx, to, strings.NewReader(script), "sqlite3", "-batch")
		},
		read: func(from io.Reader, each func([]byte, uint64)) error {
			return readLines(from, func(line []byte) error {
				text, n, _ := bytes.Cut(line, []byte("\x1f"))
				return counted(text, n, each)
			})
		},
	}}
}

// goMap is a simple program with a Go map, slightly tuned: it makes strings only of new lines.
func goMap(from string, to *os.File) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	type entry struct {
		line  string
		count uint64
	}
	counts := map[string]*entry{}
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<20), 4<<20)
	for lines.Scan() {
		e := counts[string(lines.Bytes())]
		if e == nil {
			e = &entry{line: lines.Text()}
			counts[e.line] = e
		}
		e.count++
	}
	if err := lines.Err(); err != nil {
		return err
	}
	all := make([]*entry, 0, len(counts))
	for _, e := range counts {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(b.count, a.count) })
	buffered := bufio.NewWriterSize(to, 256<<10)
	out := csv.NewWriter(buffered)
	_ = out.Write([]string{"key", "count"}) // Flush returns the error
	for _, e := range all {
		_ = out.Write([]string{e.line, strconv.FormatUint(e.count, 10)})
	}
	out.Flush()
	return cmp.Or(out.Error(), buffered.Flush())
}

func counted(line, count []byte, each func([]byte, uint64)) error {
	n, err := strconv.ParseUint(string(count), 10, 64)
	each(line, n)
	return err
}

func readCSV(from io.Reader, each func([]byte, uint64)) error {
	r := csv.NewReader(bufio.NewReaderSize(from, 256<<10))
	r.ReuseRecord = true
	for first := true; ; first = false {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !first:
			if err := counted([]byte(row[0]), []byte(row[1]), each); err != nil {
				return err
			}
		}
	}
}

func readUniq(from io.Reader, each func([]byte, uint64)) error {
	return readLines(from, func(line []byte) error {
		n, text, _ := bytes.Cut(bytes.TrimLeft(line, " "), []byte(" "))
		return counted(text, n, each)
	})
}

func readLines(from io.Reader, each func(line []byte) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 1<<20), 8<<20)
	for lines.Scan() {
		if err := each(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// makeLogs makes two logs, and returns their paths.
func makeLogs(dir string, lines, distinct int) (names []string, err error) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 10, uint64(distinct-1))
	for _, log := range []struct {
		name string
		line func(i int) uint64
	}{{"skewed", func(int) uint64 { return zipf.Uint64() }}, {"distinct", func(i int) uint64 { return uint64(i) }}} {
		names = append(names, filepath.Join(dir, log.name))
		f, err := os.Create(names[len(names)-1])
		if err != nil {
			return nil, err
		}
		out := bufio.NewWriterSize(f, 1<<20)
		for i := range lines {
			n := log.line(i)
			mixed := n * 0x9e3779b97f4a7c15 // so that consecutive numbers are not sorted
			fmt.Fprintf(out, "10.%d.%d.%d GET /articles/%d/view?ref=%08x HTTP/1.1 200\n", mixed>>56, mixed>>48&255,
				mixed>>40&255, n, uint32(mixed))
		}
		if err := cmp.Or(out.Flush(), f.Close()); err != nil {
			return nil, err
		}
	}
	return names, nil
}
