package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/view"
)

func init() {
	parts = append(parts,
		part{"lsm, 32 bits", lsmTree[uint32, uint32]},
		part{"lsm, 64 bits", lsmTree[time.Duration, Points]},
		part{"lsm, named types", lsmTree[int32, Celsius]},
	)
}

// viewed requires that a page has the structure's Stats.
func viewed(what string, page http.Handler) {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/sample", nil)
	r.RemoteAddr = "127.0.0.1:1"
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, r)
	var sample struct {
		Stats map[string]any
		Error string
	}
	check(json.Unmarshal(answer.Body.Bytes(), &sample))
	equal(what+": error of the page", "", sample.Error)
	equal(what+": has the page Stats", true, sample.Stats["Pairs"] != nil)
}

func lsmTree[K, V structures.Number]() {
	what := name[K, V]("lsm")
	l := must(lsm.New[K, V](ctx, device, lsm.Options{Batch: 32, Timed: true}))
	want := updates(what, l)
	batches(what, l, want)
	holds(what, l, want)
	queries(what, l, want)
	queriesOn(what, l.On, want)
	updatesOn(what, l.On, want)
	holds(what+", behind batches of streams", l, want)
	file := save(what, l)
	loaded := must(lsm.Load[K, V](ctx, device, file, lsm.Options{}))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())
	check(l.Cleanup(ctx))
	equal(what+": stages of Timings", true, len(l.Inspect().Timings()) > 0)
	equal(what+": pairs of Stats", uint64(len(want)), must(l.Inspect().Stats(ctx)).Pairs)
	viewed(what, view.Handler(what, l.Inspect(), view.Options{}))
	check(l.Maintain(ctx))
	check(l.Trim())
	check(l.Reserve(ctx, 1000))
	holds(what+", behind Cleanup", l, want)

	built := must(lsm.Build(ctx, device, some[K](0, pairs), some[V](0, pairs), lsm.Options{}))
	holds(what+", built", built, pairsFrom[K, V](0, pairs))
	check(built.Close())
	deleteRange(what, l, want)
	clear(what, l, l.Inspect().Metrics())
}
