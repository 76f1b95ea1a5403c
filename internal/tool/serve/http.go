package serve

import (
	_ "embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// batches are of one of these kinds.
const (
	read = iota
	write
	ordered
)

var kindNames = []string{"read", "write", "ordered"}

// metrics are what /metrics tells.
type metrics struct {
	registry            *prometheus.Registry
	commands            []prometheus.Counter // by index of a command
	errors              prometheus.Counter
	batchOps            []prometheus.Observer // by kind
	batchTime           []prometheus.Observer
	entryOps, entryTime prometheus.Histogram
	flight              *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	sizes := prometheus.ExponentialBuckets(1, 4, 9)      // to 65,536
	times := prometheus.ExponentialBuckets(50e-6, 2, 17) // to 3 s
	byCommand := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vkds_commands_total",
		Help: "Commands by name."}, []string{"command"})
	for _, x := range commands {
		m.commands = append(m.commands, byCommand.WithLabelValues(x.name))
	}
	m.errors = prometheus.NewCounter(prometheus.CounterOpts{Name: "vkds_errors_total",
		Help: "Replies that are errors."})
	histograms := func(name, help string, buckets []float64) (v *prometheus.HistogramVec, by []prometheus.Observer) {
		v = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets},
			[]string{"kind"})
		for _, k := range kindNames {
			by = append(by, v.WithLabelValues(k))
		}
		return v, by
	}
	ops, opsBy := histograms("vkds_batch_operations", "Operations that a connection asked for at a time.", sizes)
	took, tookBy := histograms("vkds_batch_seconds", "Time to answer them.", times)
	m.batchOps, m.batchTime = opsBy, tookBy
	m.entryOps = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vkds_entry_operations",
		Help: "Operations of entries of the log.", Buckets: sizes})
	m.entryTime = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vkds_entry_seconds",
		Help: "Time until an entry was stored and applied.", Buckets: times})
	m.flight = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vkds_flight_rows_total",
		Help: "Rows of Arrow Flight: put, of exchange, and of get."}, []string{"call"})
	m.registry.MustRegister(m.flight, byCommand, m.errors, ops, took, m.entryOps, m.entryTime,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// watch adds what the server itself knows.
func (m *metrics) watch(s *Server) {
	gauge := func(name, help string, f func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
	}
	m.registry.MustRegister(leads{s})
	gauge("vkds_keys", "Keys.", func() float64 { return float64(s.node.Status().Keys) })
	gauge("vkds_clients", "Connections.", func() float64 { return float64(s.clients.Load()) })
	gauge("vkds_leading", "1 if this member leads.", func() float64 {
		if s.node.Status().Leading {
			return 1
		}
		return 0
	})
	if s.stream != nil {
		gauge("vkds_changes_behind", "Changes that the stream of --changes lacks, if this member leads.",
			func() float64 {
				behind, _ := s.stream.Status()
				return float64(behind)
			})
	}
	gauge("vkds_log_stored", "The last entry of the log that a majority has stored.",
		func() float64 { return float64(s.node.Status().Stored) })
	gauge("vkds_log_applied", "The last entry of the log that this member has applied.",
		func() float64 { return float64(s.node.Status().Done) })
}

// leads tells which member leads each shard.
type leads struct{ *Server }

var leadsDesc = prometheus.NewDesc("vkds_member_leads",
	"1 for the member that leads its shard, as far as this one knows.", []string{"shard", "member", "self"}, nil)

// Describe tells what Collect will.
func (s leads) Describe(to chan<- *prometheus.Desc) { to <- leadsDesc }

// Collect tells it of each member.
func (s leads) Collect(to chan<- prometheus.Metric) {
	all, _ := s.led()
	for i, x := range all {
		for _, m := range x.members {
			value := 0.0
			if m == x.leader && (i == s.own || x.met.Load()) {
				value = 1
			}
			to <- prometheus.MustNewConstMetric(leadsDesc, prometheus.GaugeValue, value, strconv.Itoa(x.number+1), m,
				strconv.FormatBool(m == s.config.Name))
		}
	}
}

func (m *metrics) batch(kind, ops int, took time.Duration) {
	m.batchOps[kind].Observe(float64(ops))
	m.batchTime[kind].Observe(took.Seconds())
}

func (m *metrics) entry(ops int, took time.Duration) {
	m.entryOps.Observe(float64(ops))
	m.entryTime.Observe(took.Seconds())
}

//go:embed page.html
var html string

//go:embed page.js
var script template.JS

var page = template.Must(template.New("page").Parse(html))

// Handler returns the pages for those who run the server: a page that draws the metrics, /metrics in Prometheus's
// format, /healthz, which is 200 if this member answers or knows which one does, and, for clients of this machine,
// /debug/pprof/.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'")
		_ = page.Execute(w, map[string]any{"Name": "vkds serve " + s.config.Name, "Script": script,
			"About": fmt.Sprintf("%v, with %v. Device: %s.", s.o.Version, s.config.Types, s.device())})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		leader, self := s.node.Leader()
		switch {
		case s.node.Err() != nil:
			http.Error(w, s.node.Err().Error(), http.StatusServiceUnavailable)
		case self:
			_, _ = w.Write([]byte("leading\n"))
		case leader != "":
			_, _ = w.Write([]byte("following " + leader + "\n"))
		default:
			http.Error(w, "no leader is known", http.StatusServiceUnavailable)
		}
	})
	for path, h := range map[string]http.HandlerFunc{"/debug/pprof/": pprof.Index,
		"/debug/pprof/profile": pprof.Profile, "/debug/pprof/symbol": pprof.Symbol, "/debug/pprof/trace": pprof.Trace} {
		mux.Handle("GET "+path, onLoopback(h))
	}
	return mux
}

// onLoopback refuses clients of other machines.
func onLoopback(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			http.Error(w, "only for clients of this machine", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
