package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/structures/view"
	"github.com/vkds/vkds/vk"
)

// viewing is the command "vkds view".
type viewing struct {
	source
	address string
	o       view.Options
	window  bool
	ops     string
}

func newViewCommand(g *global) *cobra.Command {
	v := viewing{source: source{looks: true}}
	c := &cobra.Command{
		Use:   "view DICT-or-TABLE {--http ADDRESS | --window}",
		Short: "Show a dictionary in the device's memory: as a page, or in a window",
		Long: `View loads a saved dictionary or a table on the device, and shows it.

With --http it serves a page with the dictionary's sizes, levels and memory until
it is interrupted. The page is that of package structures/view, which shows
structures of a running program while they change. ADDRESS is a port and, before
a colon, an address of this machine: 8080, localhost:8080, [::1]:8080. Port 0 is
any free one. Other machines are refused unless --anyone is given.

With --window it shows a hash table's buckets, or a B-link-tree's levels, in a
window, as they are in the device's memory: nodes in the colour of their fill,
and if they are large enough, slots with their keys and values. The file of --ops
has operations as "vkds trace" reads them; each batch is a step, which runs on
the device when you ask for it.
` + windowHelp + `

` + sourceHelp,
		Example: `  vkds view airports.vkds --http 8080
  vkds view airports.vkds --structure btree --window --ops changes.csv`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := v.check(arguments[0]); err != nil {
				return err
			}
			if v.window {
				return v.show(c.Context(), g, arguments[0])
			}
			return v.serve(c.Context(), g, arguments[0])
		},
	}
	flags := c.Flags()
	flags.StringVar(&v.address, "http", "", "`address` to serve the page at")
	flags.BoolVar(&v.o.Anyone, "anyone", false, "of --http: let other machines look")
	flags.BoolVar(&v.window, "window", false, "open a window")
	flags.StringVar(&v.ops, "ops", "", "of --window: `file` of operations; \"-\" is standard input")
	flags.DurationVar(&v.o.Every, "every", 2*time.Second, "`time` between two looks at the dictionary, or between\n"+
		"two steps that play")
	v.add(c, "")
	return c
}

const windowHelp = `
  drag, arrow keys      move
  wheel, + and -        zoom
  0, Home               show everything
  n and p               the next step, and back to the one before
  space                 play the steps, or pause
  q, Esc                close

A tree's line is a level. An inner node is as wide as the leaves below it, in
parts for its children. Nodes that their parents don't know yet are red.`

// check returns an error if flags don't go together or a file can't be read.
func (v *viewing) check(path string) error {
	switch {
	case v.window && v.address != "":
		return errors.New("--http and --window: one of them")
	case !v.window && v.address == "":
		return errors.New("view needs --http ADDRESS or --window")
	case v.window && v.o.Anyone:
		return errors.New("--anyone is for --http")
	case v.ops != "" && !v.window:
		return errors.New("--ops is for --window")
	case v.ops == input.Stdin && path == input.Stdin:
		return errBothFromStdin("the dictionary", "the operations")
	case v.o.Every <= 0:
		return fmt.Errorf("--every %v: more than 0", v.o.Every)
	}
	if v.ops == "" {
		return nil
	}
	return input.Check(v.ops)
}

func (v *viewing) serve(ctx context.Context, g *global, path string) error {
	listener, err := listen("--http", v.address, v.o.Anyone) // now rather than after the work
	if err != nil {
		return err
	}
	defer listener.Close()
	return v.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		if d == nil {
			return errors.New("--device none: the page is of structures on a device")
		}
		server := http.Server{Handler: viewOf(dict, filepath.Base(path), v.o), ReadHeaderTimeout: 10 * time.Second}
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
		fmt.Fprintf(g.out, "http://%s/\n", reachable(listener.Addr().(*net.TCPAddr)))
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil // it was interrupted, which is how it ends
	})
}

// reachable returns an address at which others find a listener.
func reachable(a *net.TCPAddr) string {
	if name, err := os.Hostname(); a.IP.IsUnspecified() && err == nil {
		return net.JoinHostPort(name, strconv.Itoa(a.Port))
	}
	return a.String()
}

// listenable returns the address to listen at that a flag has.
func listenable(flag, address string, anyone bool) (string, error) {
	host, port, err := net.SplitHostPort(address)
	switch _, notPort := strconv.ParseUint(address, 10, 16); {
	case err == nil:
	case notPort != nil:
		return "", fmt.Errorf("%s %s: no port", flag, address)
	case anyone:
		port = address // at all addresses
	default:
		host, port = "localhost", address
	}
	if !onLoopback(host) && !anyone {
		return "", fmt.Errorf("%s %s: other machines could reach it (--anyone lets them)", flag, address)
	}
	return net.JoinHostPort(host, port), nil
}

// onLoopback reports whether a host is this machine for sure.
func onLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listen listens at an address that a flag names, as listenable allows it.
func listen(flag, address string, anyone bool) (net.Listener, error) {
	at, err := listenable(flag, address, anyone)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return l, nil
}

// viewOf returns the page of a dictionary.
func viewOf(dict *dictionary, title string, o view.Options) http.Handler {
	switch m := dict.itself().(type) {
	case interface{ Inspect() btree.Inspection }:
		return view.Handler(title, m.Inspect(), o)
	case interface{ Inspect() slabhash.Inspection }:
		return view.Handler(title, m.Inspect(), o)
	case interface{ Inspect() lsm.Inspection }:
		return view.Handler(title, m.Inspect(), o)
	case interface {
		Inspect() sortedarray.Inspection
	}:
		return view.Handler(title, m.Inspect(), o)
	}
	panic("a structure without a page") // viewOf has a case for each of known
}
