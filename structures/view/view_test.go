package view_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/structures/view"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// get asks a handler that a server on this machine has.
func get(t *testing.T, server *httptest.Server, path string) (status int, body []byte) {
	answer, err := http.Get(server.URL + path)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, body
}

type sample struct {
	At       int64
	Metrics  structures.Metrics
	Stats    json.RawMessage
	Versions *btree.Versions
	Error    string
}

func read(t *testing.T, body []byte) (s sample) {
	require.NoError(t, json.Unmarshal(body, &s))
	return s
}

// What the page is told of a tree is what the tree says, and after it was closed the page is told so.
func TestSamples(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	d := testdevice.Open(t)
	m, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	_, err = m.Insert(t.Context(), []uint32{1, 2, 3}, []uint32{4, 5, 6})
	require.NoError(t, err)
	snapshot, err := m.Snapshot(t.Context())
	require.NoError(t, err)
	server := httptest.NewServer(view.Handler("a tree", m.Inspect(), view.Options{Every: time.Millisecond}))
	defer server.Close()

	status, body := get(t, server, "/")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, string(body), "<title>a tree</title>")
	_, body = get(t, server, "/sample")
	s := read(t, body)
	require.Equal(t, structures.Calls{Batches: 1, Operations: 3}, s.Metrics.Updates)
	require.Equal(t, m.Inspect().Metrics().Bytes, s.Metrics.Bytes)
	want, err := m.Inspect().Stats(t.Context())
	require.NoError(t, err)
	var got btree.Stats
	require.NoError(t, json.Unmarshal(s.Stats, &got))
	require.Equal(t, want, got)
	require.Equal(t, 1, s.Versions.Snapshots)
	require.WithinDuration(t, time.Now(), time.UnixMilli(s.At), time.Minute)

	status, _ = get(t, server, "/other")
	require.Equal(t, http.StatusNotFound, status)
	answer, err := http.Post(server.URL+"/sample", "", nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)

	require.NoError(t, snapshot.Close())
	require.NoError(t, m.Close())
	require.Eventually(t, func() bool { // the first sample was taken slowly, so it is good for some time
		_, body = get(t, server, "/sample")
		s = read(t, body)
		return s.Error != ""
	}, time.Minute, time.Millisecond)
	require.Contains(t, s.Error, "closed")
	require.JSONEq(t, "null", string(s.Stats))
}

// Pages that look at the same time share a sample.
func TestSamplesAreShared(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	d := testdevice.Open(t)
	m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	defer m.Close()
	server := httptest.NewServer(view.Handler("a table", m.Inspect(), view.Options{Every: time.Hour}))
	defer server.Close()
	_, first := get(t, server, "/sample")
	_, err = m.Insert(t.Context(), []uint32{1}, []uint32{2})
	require.NoError(t, err)
	_, second := get(t, server, "/sample")
	require.Equal(t, first, second)
}

// Every structure can be shown.
func TestStructures(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	d := testdevice.Open(t)
	l, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: 64})
	require.NoError(t, err)
	defer l.Close()
	a, err := sortedarray.New[uint32, uint32](t.Context(), d, sortedarray.Options{})
	require.NoError(t, err)
	defer a.Close()
	g, err := graph.New(t.Context(), d, graph.Options{})
	require.NoError(t, err)
	defer g.Close()
	for name, handler := range map[string]http.Handler{
		"lsm":   view.Handler("", l.Inspect(), view.Options{}),
		"array": view.Handler("", a.Inspect(), view.Options{}),
		"graph": view.Handler("", g.Inspect(), view.Options{}),
	} {
		server := httptest.NewServer(handler)
		_, body := get(t, server, "/sample")
		server.Close()
		s := read(t, body)
		require.Empty(t, s.Error, name)
		require.Greater(t, len(s.Stats), len("{}"), name)
	}
}

// table returns the inspection of a table without pairs.
func table(t *testing.T) slabhash.Inspection {
	m, err := slabhash.New[uint32, uint32](t.Context(), testdevice.Open(t), slabhash.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m.Inspect()
}

// status is the answer to a request from an address, for a host.
func status(h http.Handler, from, host, path, header, value string) int {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr, r.Host = from, host
	r.Header.Set(header, value)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// Who comes by a proxy from another machine is refused, and what pages of other sites ask for.
func TestProxiesAndSitesAreRefused(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	h := view.Handler("a table", table(t), view.Options{})
	for _, x := range []struct {
		path, header, value string
		want                int
	}{
		{"/", "X-Forwarded-For", "192.168.1.7", http.StatusForbidden},
		{"/", "Forwarded", "for=192.168.1.7", http.StatusForbidden},
		{"/sample", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"/sample", "Sec-Fetch-Site", "same-origin", http.StatusOK},
		{"/", "Sec-Fetch-Site", "cross-site", http.StatusOK}, // a link
	} {
		require.Equal(t, x.want, status(h, "127.0.0.1:5000", "localhost", x.path, x.header, x.value), "%v", x)
	}
}

// Other machines are refused, and names of others that lead here, unless the program lets anyone look.
func TestOthersAreRefused(t *testing.T) {
	pass.OneWidth(t, "lanes play no part")
	inside := table(t)
	for _, x := range []struct {
		from, host string
		local      bool
	}{
		{"127.0.0.1:5000", "127.0.0.1:80", true}, {"[::1]:5000", "localhost:80", true},
		{"127.0.0.1:5000", "LOCALHOST", true}, {"[::1]:5000", "[::1]", true},
		{"192.168.1.7:5000", "127.0.0.1:80", false},
		{"[2001:db8::1]:5000", "localhost", false},
		{"127.0.0.1:5000", "evil.example:80", false}, {"", "localhost", false},
	} {
		for _, anyone := range []bool{false, true} {
			want := http.StatusForbidden
			if x.local || anyone {
				want = http.StatusOK
			}
			h := view.Handler("a table", inside, view.Options{Anyone: anyone})
			require.Equal(t, want, status(h, x.from, x.host, "/", "", ""), "%v %v", x, anyone)
		}
	}
}
