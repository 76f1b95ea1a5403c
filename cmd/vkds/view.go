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
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/structures/view"
	"github.com/vkds/vkds/vk"
)

func newViewCommand(g *global) *cobra.Command {
	s := source{looks: true}
	var address string
	var o view.Options
	c := &cobra.Command{
		Use:   "view DICT-or-TABLE --http ADDRESS",
		Short: "Serve a page that shows a dictionary in the device's memory",
		Long: `View loads a saved dictionary or a table on the device, and serves a page with
its sizes, levels and memory until it is interrupted. The page is that of package
structures/view, which shows structures of a running program while they change.

ADDRESS is a port and, before a colon, an address of this machine: 8080,
localhost:8080, [::1]:8080. Port 0 is any free one. Other machines are refused
unless --anyone is given.

` + sourceHelp,
		Example: `  vkds view airports.vkds --http 8080`,
		Args:    takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return serve(c.Context(), g, &s, arguments[0], address, o)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&address, "http", "", "`address` to serve the page at")
	_ = c.MarkFlagRequired("http") // it exists
	flags.BoolVar(&o.Anyone, "anyone", false, "let other machines look")
	flags.DurationVar(&o.Every, "every", 2*time.Second, "`time` between two looks at the dictionary")
	s.add(c, "")
	return c
}

func serve(ctx context.Context, g *global, s *source, path, address string, o view.Options) error {
	at, err := listenable(address, o.Anyone)
	if err != nil {
		return err
	}
	if o.Every <= 0 {
		return fmt.Errorf("--every %v: more than 0", o.Every)
	}
	listener, err := net.Listen("tcp", at) // now rather than after the work
	if err != nil {
		return fmt.Errorf("--http %s: %w", address, err)
	}
	defer listener.Close()
	return s.use(ctx, g, path, func(d *vk.Device, dict *dictionary) error {
		if d == nil {
			return errors.New("--device none: the page is of structures on a device")
		}
		server := http.Server{Handler: viewOf(dict, filepath.Base(path), o), ReadHeaderTimeout: 10 * time.Second}
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

// listenable returns the address to listen at.
func listenable(address string, anyone bool) (string, error) {
	host, port, err := net.SplitHostPort(address)
	switch _, notPort := strconv.ParseUint(address, 10, 16); {
	case err == nil:
	case notPort != nil:
		return "", fmt.Errorf("--http %s: no port", address)
	case anyone:
		port = address // at all addresses
	default:
		host, port = "localhost", address
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !anyone {
		return "", fmt.Errorf("--http %s: other machines could look (--anyone lets them)", address)
	}
	return net.JoinHostPort(host, port), nil
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
