package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
)

// remote is a server that a command asks instead of a dictionary of its own. A nil one is never given.
type remote struct {
	flags               *pflag.FlagSet
	apply               []string // the command's own flags that apply to servers, too
	addresses           []string
	passwordFile, tlsCA string
}

// ownFlags are those about the server, and everywhere are those that all commands have.
var (
	ownFlags   = []string{"server", "password-file", "tls-ca"}
	everywhere = []string{"device", "validation", "quiet", "verbose"}
)

// add adds the flags about the server to a command. apply are those of its other flags that apply with --server.
func (r *remote) add(c *cobra.Command, apply ...string) {
	if r == nil {
		return
	}
	r.flags, r.apply = c.Flags(), apply
	r.flags.StringSliceVar(&r.addresses, "server", nil, "ask a server at this `address` of Arrow Flight, or the\n"+
		"leader of those at several; grpc+tls:// before it\nasks for TLS")
	r.flags.StringVar(&r.passwordFile, "password-file", "", "`file` with the server's password")
	r.flags.StringVar(&r.tlsCA, "tls-ca", "", "`file` with the certificate of the authority that signed\n"+
		"the server's, which must then speak TLS")
}

// given reports whether a server is to be asked.
func (r *remote) given() bool { return r != nil && r.flags.Changed("server") }

// alone returns an error if a flag about a server was given without one.
func (r *remote) alone() error {
	for _, name := range ownFlags {
		if r != nil && !r.given() && r.flags.Changed(name) {
			return fmt.Errorf("--%s is for --server", name)
		}
	}
	return nil
}

// or returns a check of the number of arguments: one with a server, which may be nil, and one without.
func (r *remote) or(without, with cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, arguments []string) error {
		switch {
		case !r.given():
			return cmp.Or(r.alone(), without(c, arguments))
		case with == nil:
			return nil
		}
		return with(c, arguments)
	}
}

// check returns an error if a flag was given that is not for servers.
func (r *remote) check() (err error) {
	r.flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(slices.Concat(r.apply, ownFlags, everywhere), f.Name) {
			err = fmt.Errorf("--%s is not for --server", f.Name)
		}
	})
	return err
}

// beyond returns the first of some addresses that may be another machine's, or "".
func beyond(addresses []string) string {
	for _, a := range addresses {
		if host, _, _ := net.SplitHostPort(a); !onLoopback(host) {
			return a
		}
	}
	return ""
}

// dial asks the server for its types. The caller closes the client.
func (r *remote) dial(ctx context.Context, g *global) (*bulk.Client, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var o bulk.Options
	secure := r.tlsCA != ""
	for _, a := range r.addresses {
		scheme, rest, found := strings.Cut(a, "://")
		switch {
		case !found:
			rest = a
		case scheme == "grpc+tls":
			secure = true
		case scheme != "grpc" && scheme != "grpc+tcp":
			return nil, fmt.Errorf("--server %s: grpc:// or grpc+tls:// may stand before the address", a)
		}
		if _, _, err := net.SplitHostPort(rest); err != nil {
			return nil, fmt.Errorf("--server %s: no port", a)
		}
		o.Addresses = append(o.Addresses, rest)
	}
	var err error
	if o.Password, err = passwordIn(r.passwordFile); err != nil {
		return nil, err
	}
	if secure {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if r.tlsCA != "" {
		if o.TLS.RootCAs, err = signersIn(r.tlsCA); err != nil {
			return nil, err
		}
	}
	c, err := bulk.Dial(ctx, o)
	goes := o.Addresses
	if err == nil { // a server on this machine may name others
		goes = slices.Concat(goes, c.Addresses())
	}
	if a := beyond(goes); a != "" && o.Password != "" && o.TLS == nil {
		fmt.Fprintf(g.err, "vkds: the password goes to %s without TLS (grpc+tls://%[1]s asks for it)\n", a)
	}
	return c, err
}

// aboutKeys calls use with a server. The keys that are asked about come from a command's arguments, or a file.
func (r *remote) aboutKeys(ctx context.Context, g *global, a *asked, arguments []string,
	use func(context.Context, *bulk.Client) error) error {
	if err := a.takeBeside(ctx, g, arguments); err != nil {
		return err
	}
	defer a.close()
	c, err := r.dial(ctx, g)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := a.begin(asking(c.Key)); err != nil {
		return err
	}
	return use(ctx, c)
}

// sent returns a column for a server.
func (n numbers) sent() bulk.Column { return bulk.Column{Type: n.Type, Words: n.words, Texts: n.texts} }

// onWords returns those keys that a dictionary with keys of type t may have, and their places; nil: all are such.
func (n numbers) onWords(t keytype.Type) (keys numbers, places []int, err error) {
	p, err := (&dictionary{key: t}).place(n)
	if err != nil || p.at == nil {
		return n, nil, err
	}
	words, places := p.those(keytype.On)
	return numbers{shown{Type: t}, words}, places, nil
}

// findRemotely looks keys up at a server.
func findRemotely(ctx context.Context, c *bulk.Client, keys numbers) (values numbers, found []bool, err error) {
	there, places, err := keys.onWords(c.Key)
	if err != nil {
		return numbers{}, nil, err
	}
	rows, err := c.Find(ctx, there.sent())
	if err != nil {
		return numbers{}, nil, err
	}
	values = numbers{shown{c.Value, rows.Texts}, rows.Words}
	found = make([]bool, len(rows.Words))
	for i, null := range rows.Nulls {
		found[i] = !null
	}
	if places != nil {
		all, some := make([]uint64, len(keys.words)), make([]bool, len(keys.words))
		spread(all, values.words, places)
		spread(some, found, places)
		values.words, found = all, some
	}
	return values, found, nil
}

// load inserts the pairs of a table, or of a saved dictionary, into a server's.
func (r *remote) load(ctx context.Context, g *global, s *source, table string) (measures []measure, err error) {
	c, err := r.dial(ctx, g)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for i, t := range []keytype.Type{c.Key, c.Value} {
		s.options.Columns[i] = input.Column{Name: s.options.Columns[i].Name, Type: t}
	}
	show, end := g.progress("loading " + filepath.Base(table))
	defer end()
	s.options.Note = func(text string) { g.note("%s", text) }
	var in *opened
	var done bulk.Done
	err = batches(ctx, 4, (*batch).ready, func(ctx context.Context) (_ readFunc, err error) {
		if in, err = s.open(ctx, table, show); err != nil {
			return nil, err
		}
		if in.key != c.Key || in.value != c.Value {
			return nil, fmt.Errorf("%s has keys of type %s and values of type %s, but the server has %s and %s",
				called(table), in.key, in.value, c.Key, c.Value)
		}
		return in.read, nil
	}, func(b batch) error {
		now, err := c.Put(ctx, bulk.Set, b.column(0).sent(), b.column(1).sent())
		done = done.Plus(now)
		return err
	})
	end()
	var skipped, nulls int64
	if in != nil {
		skipped, nulls = in.skipped()
		in.close()
	}
	if err == nil && done.Rows == 0 {
		err = allSkipped(table, skipped, nulls)
	}
	if err != nil {
		return nil, storedSoFar(err, done.Rows, "stored")
	}
	g.noteNulls(called(table), nulls)
	pairs, err := c.Len(ctx)
	return []measure{{"inserted", done.Rows - done.Found}, {"assigned", done.Found}, {"skipped", skipped + nulls},
		{"pairs", pairs}}, err
}

// remove deletes keys from a server's dictionary.
func (r *remote) remove(ctx context.Context, g *global, a *asked, arguments []string) (measures []measure, err error) {
	var done bulk.Done
	absent := int64(0)
	err = r.aboutKeys(ctx, g, a, arguments, func(ctx context.Context, c *bulk.Client) error {
		err := a.read(c.Key, func(b batch) error {
			keys := b.column(0)
			there, _, err := keys.onWords(c.Key)
			if err != nil {
				return err
			}
			now, err := c.Put(ctx, bulk.Delete, there.sent())
			done = done.Plus(now)
			absent += int64(len(keys.words) - len(there.words))
			return err
		})
		if err != nil {
			return storedSoFar(err, done.Rows, "deleted")
		}
		pairs, err := c.Len(ctx)
		measures = []measure{{"deleted", done.Found}, {"absent", done.Rows - done.Found + absent}, {"pairs", pairs}}
		return err
	})
	return measures, err
}

// storedSoFar adds to an error how many rows a server has done before.
func storedSoFar(err error, rows int64, done string) error {
	var at *bulk.ServerError
	if rows == 0 && !errors.As(err, &at) {
		return err
	}
	return fmt.Errorf("%w; the first %s rows are %s", err, grouped(rows), done)
}
