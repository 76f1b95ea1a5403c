// Package view shows in a browser how a structure of a running program is doing: operations a second, sizes, how full
// it is, levels and snapshots, now and some time back.
//
//	http.Handle("/orders/", http.StripPrefix("/orders", view.Handler("orders", tree.Inspect(), view.Options{})))
//
// The page needs nothing from the network but this handler.
package view

import (
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

// Inspection is what Inspect returns of dictionaries and graphs in GPU memory.
type Inspection[S any] interface {
	Metrics() structures.Metrics
	Stats(ctx context.Context) (S, error)
}

// Options are the options of a handler.
type Options struct {
	// Every is the time between two samples; 0: 2 seconds. A sample has the structure's Stats, for which the device may
	// scan it, and is taken only while somebody looks. Several pages share samples.
	Every time.Duration
	// Anyone lets other machines look. Otherwise requests that don't come from this one are refused, and those that
	// name another host, as a page of somebody else's does whose name leads here.
	Anyone bool
}

// Handler returns a handler that serves the page of a structure. It is safe for many goroutines, and may be used until
// the program ends: after the structure was closed, the page says so.
func Handler[S any](title string, of Inspection[S], o Options) http.Handler {
	return newHandler(title, of, stats[S]{of}, o)
}

// stats hides what type a structure's Stats have.
type stats[S any] struct{ of Inspection[S] }

func (s stats[S]) stats(ctx context.Context) (any, error) { return s.of.Stats(ctx) }

// Sample is what the page asks for again and again, as JSON.
type sample struct {
	At       int64 // milliseconds since 1970
	Metrics  structures.Metrics
	Stats    any
	Versions *btree.Versions `json:",omitempty"` // of a tree
	Error    string          `json:",omitempty"` // why there are no Stats
}

type handler struct {
	title   string
	metrics interface{ Metrics() structures.Metrics }
	stats   interface {
		stats(context.Context) (any, error)
	}
	versions interface { // nil: there are none
		Versions(context.Context) (btree.Versions, error)
	}
	o Options

	mu    sync.Mutex
	last  []byte
	taken time.Time
}

func newHandler(title string, of interface{ Metrics() structures.Metrics },
	stats interface {
		stats(context.Context) (any, error)
	}, o Options) *handler {
	if o.Every <= 0 {
		o.Every = 2 * time.Second
	}
	h := &handler{title: title, metrics: of, stats: stats, o: o}
	h.versions, _ = of.(interface {
		Versions(context.Context) (btree.Versions, error)
	})
	return h
}

//go:embed view.html
var html string

//go:embed view.js
var script template.JS

var page = template.Must(template.New("view").Parse(html))

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !h.o.Anyone && !local(r):
		http.Error(w, "this page is for the machine that it is on", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "nothing can be changed here", http.StatusMethodNotAllowed)
	case r.URL.Path == "/" || r.URL.Path == "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'")
		_ = page.Execute(w, map[string]any{"Title": h.title, "Script": script, "Every": h.o.Every.Milliseconds()})
	case r.URL.Path == "/sample":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(h.sample(r.Context()))
	default:
		http.NotFound(w, r)
	}
}

// local reports whether a request comes from this machine, and asks for it.
func local(r *http.Request) bool {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = r.Host
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && loopback(from) && (name == "localhost" || loopback(name))
}

func loopback(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback()
}

// sample returns the last sample, or takes one if that is old.
func (h *handler) sample(ctx context.Context) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last != nil && time.Since(h.taken) < h.o.Every/2 {
		return h.last
	}
	s := sample{At: time.Now().UnixMilli(), Metrics: h.metrics.Metrics()}
	var err error
	if s.Stats, err = h.stats.stats(ctx); err == nil && h.versions != nil {
		var v btree.Versions
		v, err = h.versions.Versions(ctx)
		s.Versions = &v
	}
	if err != nil {
		s.Stats, s.Versions, s.Error = nil, nil, err.Error()
	}
	encoded, err := json.Marshal(s)
	if err != nil { // a ratio that is no number: JSON has none
		encoded, _ = json.Marshal(sample{At: s.At, Metrics: s.Metrics, Error: err.Error()})
	}
	if ctx.Err() == nil { // the next page may ask for longer than this one
		h.last, h.taken = encoded, time.Now()
	}
	return encoded
}
