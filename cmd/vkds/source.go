package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// sourceHelp says where a command's DICT-or-TABLE is explained.
const sourceHelp = `"vkds help tables" explains what a TABLE may be and how its columns are read,
"vkds help types" what they may hold.`

// source is the DICT-or-TABLE of a command, and the flags that say how to read it.
type source struct {
	flags   *pflag.FlagSet
	options input.Options // the first column holds the keys, the second the values
	text    delimitedFlags
	into    structureFlags
	saved   bool // only saved dictionaries are accepted
	looks   bool // the command is about the structure itself, so a CPU device is used if there is no GPU

	// ready, if not nil, is called with the column of keys to look up when the type of the keys is known, before
	// anything is loaded. So an error in the keys to look up is reported before a large table is read. The keys of a
	// table may later turn out to be of a wider type.
	ready func(key input.Column) error
}

// forTables are the flags that do not apply to saved dictionaries.
var forTables = []string{"key", "value", "key-type", "value-type", "format", "null", "skip-invalid", "delimiter",
	"header", "no-header", "comment"}

// add adds the flags to a command. ordering is the command's name if it needs an ordered structure, else "".
func (s *source) add(c *cobra.Command, ordering string) {
	s.addTable(c)
	s.into.add(c.Flags(), ordering)
	s.options.Columns[0].Ordered, s.options.Columns[1].Ordered = s.into.ordersKeys(), ordering == "top"
}

// addTable is add without the flags that choose a structure.
func (s *source) addTable(c *cobra.Command) {
	flags := c.Flags()
	s.flags, s.options.Columns = flags, make([]input.Column, 2)
	key, value := &s.options.Columns[0], &s.options.Columns[1]
	flags.StringVar(&key.Name, "key", "", "`column` of the keys: its name or number\n(default 1)")
	flags.StringVar(&value.Name, "value", "", "`column` of the values: its name or number\n(default 2)")
	addType(flags, key, "key-type", "type of the keys: "+typeHelp)
	addType(flags, value, "value-type", "type of the values, likewise")
	flags.Var(formatFlag(&s.options.Format), "format",
		"format of the table: csv, parquet, arrow, or binary:\nu32le, u32be, u64le, u64be")
	s.text.add(flags)
	s.options.SkipNull = true
	addNull(flags, &s.options, skippedNull)
	flags.BoolVar(&s.options.SkipInvalid, "skip-invalid", false, "skip rows that can't be read, and count them")
}

// addSaved is add for a command that takes only saved dictionaries.
func (s *source) addSaved(c *cobra.Command) {
	s.flags, s.saved = c.Flags(), true
	s.into.add(s.flags, "")
}

// use opens the device while it reads a DICT-or-TABLE, loads that, and calls use with both. The device is nil if the
// dictionary is in the host's memory.
func (s *source) use(ctx context.Context, g *global, path string, use func(*vk.Device, *dictionary) error) (err error) {
	if _, _, err := s.into.choose("", nil); err != nil { // now rather than after the work
		return err
	}
	var device *opening
	if s.looks && !g.onHost() {
		device = start(g.open)
	} else {
		device = g.startOrHost(path)
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	dict, err := s.load(ctx, g, device, path)
	if err != nil {
		return err
	}
	defer dict.Close()
	d, err := device.wait()
	if err != nil {
		return err
	}
	return use(d, dict)
}

// load loads a saved dictionary or a table into the memory of the device or the host. The caller closes the dictionary.
func (s *source) load(ctx context.Context, g *global, device *opening, path string) (dict *dictionary, err error) {
	for dict, err = s.pass(ctx, g, device, path); g.takeForText(path, s.options.Columns, err); {
		dict, err = s.pass(ctx, g, device, path)
	}
	return dict, err
}

// takeForText handles the error of a column that was taken for numbers and turned out to be text, because a number with
// a leading zero or a plus sign came late. It makes the column text and reports whether the file is to be read again.
func (g *global) takeForText(path string, columns []input.Column, err error) bool {
	var code *input.CodeError
	var fraction *input.FractionError
	if !errors.As(err, &code) && !errors.As(err, &fraction) || !input.Again(path) || !input.TakeForText(columns, err) {
		return false
	}
	if fraction != nil {
		g.note("%s: column %s is taken for fractions, because of %s: reading it again", path, fraction.Column,
			fraction.Text)
		return true
	}
	g.note("%s: column %s is taken for text, because %s: reading it again", path, code.Column, code.Reason())
	return true
}

// pass reads a DICT-or-TABLE once, and loads it.
func (s *source) pass(ctx context.Context, g *global, device *opening, path string) (*dictionary, error) {
	started := time.Now()
	l := &loader{ctx: ctx, opening: device}
	err := l.read(g, s, path, func(in *opened) (err error) {
		into, err := s.orders(in)
		if err != nil {
			return err
		}
		if l.saved = in.saved; in.saved == nil {
			l.structure, l.parameter, err = into.choose("", nil)
		} else if l.structure, l.parameter, err = into.choose(in.saved.Header().Structure,
			in.saved.Header().Parameters); err != nil {
			err = inSaved(in.file.Name(), err)
		}
		l.key, l.value, l.least, l.expected = in.key, in.value, in.width(), in.expected()
		if err == nil && s.ready != nil {
			key := asking(in.key)
			if in.saved == nil {
				key.Flag, key.Ordered = s.options.Columns[0].Flag, s.options.Columns[0].Ordered
			}
			err = s.ready(key)
		}
		return err
	})
	if err == nil {
		err = l.finish(path)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	note := fmt.Sprintf("loaded %s on %s", rate(l.rows, "pairs", time.Since(started)), nameOf(l.device))
	if replaced := l.rows - int64(l.pairs); replaced > 0 {
		note += fmt.Sprintf("; %s replaced an earlier one of the same key", grouped(replaced))
	}
	note += andSkipped(l.skipped)
	g.note("%s", note)
	return &l.dictionary, nil
}

// opened is a table or a saved dictionary that is being read.
type opened struct {
	file       *input.File
	table      *input.Reader          // nil if it is a saved dictionary
	saved      *dictfile.Reader       // nil if it is a table
	key, value keytype.Type           // of a table: as far as it was read
	show       func(read, size int64) // shows how far a saved dictionary was read; may be nil
}

// open begins to read a file. It tells a saved dictionary from a table by the first bytes or the ending of the name.
func (s *source) open(ctx context.Context, path string, show func(read, size int64)) (in *opened, err error) {
	in = &opened{show: show}
	if in.file, err = input.OpenFile(ctx, path); err != nil {
		return nil, err
	}
	head, err := in.file.Peek(len(dictfile.Magic))
	switch {
	case err != nil:
	case string(head) == dictfile.Magic || strings.HasSuffix(in.file.Name(), ".vkds"):
		err = s.openSaved(in)
	case s.saved:
		err = fmt.Errorf("%s is not a saved dictionary (vkds build makes one)", in.file.Name())
	default:
		err = s.openTable(in)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *opened) close() {
	if in.table != nil {
		in.table.Close() // closes the file, too
	} else {
		in.file.Close()
	}
}

// given returns the first of some flags that is given, "" if none is.
func (s *source) given(flags []string) string {
	if i := slices.IndexFunc(flags, s.flags.Changed); i >= 0 {
		return flags[i]
	}
	return ""
}

func (s *source) openSaved(in *opened) (err error) {
	if name := s.given(forTables); name != "" {
		return fmt.Errorf("%s is a saved dictionary: --%s is for tables", in.file.Name(), name)
	}
	if in.saved, err = dictfile.NewFileReader(in.file); err != nil {
		return err
	}
	h := in.saved.Header()
	if find(h.Structure) < 0 {
		return fmt.Errorf("%s: holds a structure that this vkds doesn't know: %q", in.file.Name(), h.Structure)
	}
	if in.key, in.value, err = dictfile.Types(h); h.KeyType == "" && s.options.Note != nil {
		s.options.Note(in.file.Name() + " was saved by an earlier version, which named no types: its keys and values " +
			"are read as unsigned integers")
	}
	return err
}

func (s *source) openTable(in *opened) (err error) {
	o := s.options
	o.Delimiter, o.Header, o.Comment, o.Progress = s.text.delimiter, s.text.choice(), s.text.comment, in.show
	if in.table, err = input.NewReader(in.file, o); err != nil {
		return err
	}
	in.key, in.value = in.table.Types()[0], in.table.Types()[1]
	if err := fits(s.flags, "", in.table.Format()); err != nil {
		return fmt.Errorf("%s: %w", in.file.Name(), err)
	}
	return nil
}

// read is a readFunc.
func (in *opened) read(b *batch) error {
	if in.table == nil {
		return reading(in.saved, in.show)(b)
	}
	in.table.SetTexts(b.texts[:]...)
	n, err := in.table.Read(b.keys, b.values)
	b.cut(n, in.table.Types())
	return err
}

// width returns the least width that the dictionary must have: that of the saved one. For tables, the types decide.
func (in *opened) width() structures.Width {
	if in.saved == nil {
		return structures.Bits32
	}
	return in.saved.Header().Width
}

// expected returns how many rows a file claims to have, 0 if it does not say. A broken file may claim too many, so
// expected returns at most one a byte. If there are more, the dictionary grows.
func (in *opened) expected() int {
	rows := int64(0)
	if in.saved != nil {
		rows = in.saved.Header().Pairs
	} else {
		rows = in.table.Rows()
	}
	_, size := in.file.Position()
	return int(max(0, min(rows, size)))
}

func (in *opened) skipped() (invalid, nulls int64) {
	if in.table == nil {
		return 0, 0
	}
	return in.table.Skipped(), in.table.SkippedNulls()
}

// inSaved adds the name of the file to an error that is about a parameter in it.
func inSaved(name string, err error) error {
	var p *parameterError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// reading returns a readFunc for the pairs of a saved dictionary. show, if not nil, is called with how far it has got.
func reading(r *dictfile.Reader, show func(read, size int64)) readFunc {
	key, value, _ := dictfile.Types(r.Header()) // r has checked their names
	return func(b *batch) error {
		r.SetTexts(b.texts[0], b.texts[1])
		n, err := r.Read(b.keys, b.values)
		if show != nil {
			show(r.Position())
		}
		b.cut(n, []keytype.Type{key, value})
		return err
	}
}

// loader fills a dictionary.
type loader struct {
	dictionary
	ctx      context.Context
	opening  *opening
	device   *vk.Device       // nil before the first batch, and for dictionaries in the host's memory
	least    structures.Width // the least width that the dictionary may have
	expected int              // rows; 0 if that is not known in advance
	rows     int64
	sums     bool  // values are added to those that keys have (sum)
	tells    bool  // assigned is counted
	assigned int64 // rows whose key was there, if tells is set
	skipped  int64 // rows that couldn't be read
	nulls    int64 // rows without a value, which were skipped, too
	sorter   sorter
	all      batch           // all pairs so far, if buildsWhole
	combine  structures.Kind // what to do with the value of a key that is there; 0: assign the new one
}

// read reads a file into the dictionary. It calls begin when the file is open. It closes the file at the end, unless
// begin has made it the loader's saved dictionary.
func (l *loader) read(g *global, s *source, path string, begin func(*opened) error) error {
	show, end := g.progress("loading " + filepath.Base(path))
	s.options.Note = func(text string) { g.note("%s", text) }
	var in *opened
	err := l.batches(func(ctx context.Context) (_ readFunc, err error) {
		if in, err = s.open(ctx, path, show); err != nil {
			return nil, err
		}
		return in.read, begin(in)
	}, l.insert)
	var together *keytype.TogetherError
	if errors.As(err, &together) && in.saved != nil { // tables have an error of their own, with the row
		err = fmt.Errorf("%s: numbers of type %s are of no type that also holds %s, which was there before",
			in.file.Name(), together.Value.Type, together.Before)
	}
	end()
	if in != nil {
		if l.skipped, l.nulls = in.skipped(); l.saved == nil || l.saved != in.saved {
			in.close()
		}
	}
	if err == nil && l.rows == 0 {
		err = allSkipped(path, l.skipped, l.nulls)
	}
	g.noteNulls(called(path), l.nulls)
	return err
}

// batches is the function batches, but reads while the device is being opened. use is called when it is open.
func (l *loader) batches(open func(context.Context) (readFunc, error), use func(batch) error) error {
	return l.opening.beside(l.ctx, func(ctx context.Context) error {
		const most = 16 // reading goes on while the device is being opened
		err := batches(ctx, most, (*batch).ready, open, func(b batch) (err error) {
			if l.device, err = l.opening.wait(); err != nil {
				return err
			}
			return use(b)
		})
		l.device, _ = l.opening.wait() // if there was no batch
		return err
	})
}

// insert adds a batch. If keys are equal, in the batch or in earlier ones, the last pair counts.
func (l *loader) insert(b batch) error {
	if err := l.become(b); err != nil {
		return err
	}
	if l.buildsWhole() {
		l.all.keys, l.all.values = append(l.all.keys, b.keys...), append(l.all.values, b.values...)
		l.rows += int64(len(b.keys))
		return nil
	}
	if l.words == nil {
		if err := l.create(l.capacity(b.keys)); err != nil {
			return err
		}
	}
	if l.sums && len(b.keys) != 0 {
		return l.sum(b)
	}
	if l.sorts() {
		l.sorter.sort(b.keys, b.values)
	}
	var status []structures.Status
	if l.tells {
		status = make([]structures.Status, len(b.keys))
	}
	if err := l.update(l.ctx, cmp.Or(l.combine, structures.Insert), b, status); err != nil {
		return err
	}
	l.rows += int64(len(b.keys))
	for _, s := range status {
		if s == structures.Assigned {
			l.assigned++
		}
	}
	return nil
}

// sorts reports whether pairs are sorted before they are inserted. They are if there is no GPU: the kernels of a CPU
// device would take many times as long.
func (l *loader) sorts() bool {
	return l.structure.ordered && l.key != keytype.Text && (l.device == nil || l.device.Info().Type == vk.CPU)
}

// buildsWhole reports whether the dictionary is built of all pairs at once.
func (l *loader) buildsWhole() bool {
	return l.device != nil && l.saved != nil && l.value != keytype.Text && (l.sorts() || l.needsOrder())
}

// needsOrder reports whether pairs go from a saved structure without an order to one that has it.
func (l *loader) needsOrder() bool {
	return l.structure.ordered && l.key != keytype.Text && !known[find(l.saved.Header().Structure)].ordered
}

// buildWhole makes the dictionary of the pairs of a saved one.
func (l *loader) buildWhole() (err error) {
	if l.sorts() {
		l.sorter.sort(l.all.keys, l.all.values)
	}
	l.words, err = l.structure.build[l.wide()](l.ctx, l.device, l.all.keys, l.all.values, l.parameter)
	l.all, l.sorter = batch{}, sorter{}
	return err
}

// wide returns the width that the dictionary must have.
func (l *loader) wide() structures.Width {
	if l.key == keytype.Text { // the device has hashes of 64 bits
		return structures.Bits64
	}
	return max(l.least, l.key.Width(), l.value.Width())
}

func (l *loader) create(capacity int) (err error) {
	switch {
	case l.words != nil:
	case l.key == keytype.Text:
		if l.index, err = keytype.NewIndex(l.ctx, makeTexts(l.device, l.structure, l.parameter), hashes,
			capacity); err == nil {
			l.words = l.index.Map().(words)
		}
	default:
		l.words, err = l.structure.make(l.ctx, l.device, l.wide(), capacity, l.parameter)
	}
	return err
}

// become gives the dictionary types that also hold a batch, and converts the batch to them. If that changes words that
// the dictionary holds, it moves its pairs to a new one.
func (l *loader) become(b batch) error {
	if len(b.keys) == 0 {
		return nil
	}
	old, types := l.dictionary, l.types()
	if l.words == nil { // it is empty
		types = [2]keytype.Type(b.types)
	}
	for i, words := range [][]uint64{b.keys, b.values} {
		most := greatest(words)
		last := keytype.Value{Type: b.types[i], Word: most}
		t, err := l.there[i].Join(types[i], types[i].Wider(), last)
		if err != nil {
			return err
		}
		if t != b.types[i] {
			t.Widen(b.types[i], words)
			most = greatest(words)
		}
		l.there[i].Widen(t, types[i])
		l.there[i].Add([]uint64{most})
		types[i] = t
	}
	l.key, l.value = types[0], types[1]
	if l.combine == structures.InsertAdd && l.wide() == structures.Bits64 {
		l.value = l.value.Above() // so that sums have room
	}
	switch {
	case old.words == nil || old.key == l.key && old.value == l.value:
		return nil
	case l.index != nil: // the host has the values
		l.value.Widen(old.value, l.textual.rows) // Join has found that they have words
		return nil
	}
	return l.move(old, len(b.keys))
}

// move moves the pairs of a dictionary of other types to a new one, with room for more.
func (l *loader) move(old dictionary, more int) error {
	pairs, err := old.Len(l.ctx)
	if err != nil {
		return err
	}
	l.words = nil
	if err := l.create(max(l.expected, int(pairs)+more)); err != nil {
		l.words = old.words
		return err
	}
	defer old.words.Close()
	for chunk, err := range old.Chunks(l.ctx) {
		if err != nil {
			return err
		}
		keys, values := slices.Clone(chunk.Keys), slices.Clone(chunk.Values)
		l.key.Widen(old.key, keys) // Join has found that all have words
		l.value.Widen(old.value, values)
		if err := l.UpdateInto(l.ctx, structures.Insert, keys, values, nil); err != nil {
			return err
		}
	}
	return nil
}

// finish completes the dictionary after its file was read.
func (l *loader) finish(path string) (err error) {
	if l.buildsWhole() && l.rows > 0 {
		if err := l.buildWhole(); err != nil {
			return err
		}
	}
	if err := l.create(0); err != nil { // an empty input
		return err
	}
	if l.pairs, err = l.Len(l.ctx); err != nil {
		return err
	}
	if twice := l.rows - int64(l.pairs); l.saved != nil && twice > 0 {
		return &dictfile.Error{File: path, Err: fmt.Errorf("%w: %d of its pairs have a key that others have, too",
			structures.ErrCorrupt, twice)}
	}
	return nil
}

// allSkipped returns the error of an input all of whose rows were skipped. It returns nil for an empty input.
func allSkipped(path string, invalid, nulls int64) error {
	switch {
	case invalid > 0:
		return fmt.Errorf("%s: nothing in it can be read: --skip-invalid skipped all there is (%s)", path,
			grouped(invalid+nulls))
	case nulls > 0:
		return fmt.Errorf("%s: no row of it has all values "+
			"(--null says what to read instead of those that aren't there)", path)
	}
	return nil
}

// noteNulls notes how many rows were skipped because they have no value.
func (g *global) noteNulls(file string, n int64) {
	if n > 0 {
		g.note("%s: skipped %s without a value (--null reads them as one)", file, plural(n, "row"))
	}
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}
