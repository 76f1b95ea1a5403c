// Package view shows in a browser how a structure of a running program is doing: operations a second, sizes, how full
// it is, levels and snapshots, now and some time back.
//
//	http.Handle("/orders/", http.StripPrefix("/orders", view.Handler("orders", tree.Inspect(), view.Options{})))
//
// The page needs nothing from the network but this handler.
package view

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"net"
	"net/http"
	"strings"
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
	// Every is the least time between two samples, at least a millisecond; 0: 2 seconds. A sample has the structure's
	// Stats, for which the device may scan it while other calls of the structure wait. So it is taken only while
	// somebody looks, all pages share it, and the next one waits 20 times as long as it took.
	Every time.Duration
	// Anyone lets other machines look. Otherwise a request is refused if it comes from another machine, directly or by
	// a proxy that says so. It is also refused if it names another host, because a foreign page could give this
	// machine's address a name of its own (DNS rebinding).
	Anyone bool
}

// Handler returns a handler that serves the page of a structure. It is safe for many goroutines, and may be used until
// the program ends: after the structure was closed, the page says so.
func Handler[S any](title string, of Inspection[S], o Options) http.Handler {
	versions, _ := any(of).(versioned)
	return newHandler(title, inspected[S]{of}, versions, o)
}

// source is an Inspection, whatever type its Stats have.
type source interface {
	Metrics() structures.Metrics
	stats(ctx context.Context) (any, error)
}

type inspected[S any] struct{ Inspection[S] }

func (i inspected[S]) stats(ctx context.Context) (any, error) { return i.Stats(ctx) }

// versioned is what a tree's Inspection has beside.
type versioned interface {
	Versions(ctx context.Context) (btree.Versions, error)
}

// sample is what the page asks for again and again, as JSON.
type sample struct {
	At       int64 // milliseconds since 1970
	Metrics  structures.Metrics
	Stats    any
	Versions *btree.Versions `json:",omitempty"` // of a tree
	Error    string          `json:",omitempty"` // why there are no Stats, or no Versions
}

type handler struct {
	title    string
	of       source
	versions versioned // nil: there are none
	o        Options

	turn chan struct{} // has room for who takes a sample, or looks at the last one
	last []byte
	next time.Time // before this the last one will do
}

func newHandler(title string, of source, versions versioned, o Options) *handler {
	if o.Every <= 0 {
		o.Every = 2 * time.Second
	}
	o.Every = max(o.Every, time.Millisecond)
	return &handler{title: title, of: of, versions: versions, o: o, turn: make(chan struct{}, 1)}
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
	case crossSite(r):
		http.Error(w, "pages of other sites can't ask", http.StatusForbidden)
	case r.URL.Path == "/":
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
	for _, proxied := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(proxied) != "" {
			return false
		}
	}
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.Trim(r.Host, "[]")
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && loopback(from) && (strings.EqualFold(name, "localhost") || loopback(name))
}

// crossSite reports whether a page of another site makes a request that isn't a link to this page.
func crossSite(r *http.Request) bool {
	return r.URL.Path != "/" && r.Header.Get("Sec-Fetch-Site") == "cross-site"
}

func loopback(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback()
}

// sample returns the last sample, or takes one if that is old.
func (h *handler) sample(ctx context.Context) []byte {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil
	}
	begin := time.Now()
	if begin.Before(h.next) {
		return h.last
	}
	s := sample{At: begin.UnixMilli(), Metrics: h.of.Metrics()}
	var err, failed error
	if s.Stats, err = h.of.stats(ctx); err != nil {
		s.Stats = nil
	}
	if h.versions != nil {
		var v btree.Versions
		if v, failed = h.versions.Versions(ctx); failed == nil {
			s.Versions = &v
		}
	}
	if err = cmp.Or(err, failed); err != nil {
		s.Error = err.Error()
	}
	encoded, err := json.Marshal(s)
	if err != nil { // a ratio that is no number: JSON has none
		encoded, _ = json.Marshal(sample{At: s.At, Metrics: s.Metrics, Error: err.Error()})
	}
	if ctx.Err() == nil { // the next page may wait longer than this one
		took := time.Since(begin)
		h.last, h.next = encoded, begin.Add(max(h.o.Every*9/10, 20*took))
	}
	return encoded
}
