package page

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// The page of a server shows what its metrics say: who leads, rates, percentiles and sizes.
func TestServer(t *testing.T) {
	s, err := serve.Open(t.Context(), replica.Options{Dir: t.TempDir(), Name: "<here>:1",
		Types: replica.Types{Key: keytype.Text, Value: keytype.Text}}, serve.Options{Version: "vkds <test>"})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	pages := httptest.NewServer(s.Handler())
	b := visit(t, pages.URL)
	b.shows(`element('members').textContent`, "'addressthis oneleads<here>:1yesyes'")
	b.shows(`measure('keys')`, "'0'")

	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	_, err = c.Write([]byte("SET user:17 5\r\nGET user:17\r\nNOSUCH\r\n"))
	require.NoError(t, err)
	replies := bufio.NewReader(c)
	for _, want := range []string{"+OK", "$1", "5", "-ERR unknown command 'NOSUCH'"} {
		line, err := replies.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want+"\r\n", line)
	}
	require.NoError(t, c.Close())
	b.shows(`measure('keys')`, "'1'")
	b.shows(`cell('commands', 'SET', 2) + cell('commands', 'GET', 2)`, "'11'")
	b.shows(`/^[0-9.]+ (µs|ms|s)$/.test(cell('times', 'writes', 2))`, "true")
	b.shows(`cell('times', 'ordered queries', 2)`, "'–'")
	b.shows(`/^[0-9.]+ [MG]iB$/.test(measure('memory of the process'))`, "true")

	stop()
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())
	pages.Close()
	b.shows(`element('error').textContent.startsWith('no answer')`, "true")
}

// Numbers are what two samples of known metrics make of them.
func TestServerNumbers(t *testing.T) {
	s, err := serve.Open(t.Context(), replica.Options{Dir: t.TempDir(),
		Types: replica.Types{Key: keytype.Int64, Value: keytype.Int64}}, serve.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var samples, restarted atomic.Int64
	began := time.Now()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			s.Handler().ServeHTTP(w, r)
			return
		}
		n := samples.Add(1) - 1
		took := time.Since(began).Seconds()
		fmt.Fprintf(w, "# HELP vkds_commands_total Commands.\nvkds_commands_total{command=\"GET\"} %d\n",
			int(1000*took))
		fmt.Fprintf(w, "vkds_member_leads{member=\"a:1\",self=\"true\",shard=\"1\"} 0\n"+
			"vkds_member_leads{member=\"b:\\\"2\\\"\",self=\"false\",shard=\"1\"} 1\n"+
			"process_resident_memory_bytes 1.5e+09\n")
		if restarted.Load() > 0 {
			fmt.Fprint(w, "vkds_member_leads{member=\"c:3\",self=\"false\",shard=\"2\"} 1\n")
		}
		fmt.Fprintf(w, "process_start_time_seconds %d\n", restarted.Load())
		if restarted.Load() > 0 { // of fewer reads, all take from 1 to 2 ms
			fmt.Fprint(w, "vkds_batch_seconds_bucket{kind=\"read\",le=\"0.001\"} 0\n"+
				"vkds_batch_seconds_bucket{kind=\"read\",le=\"0.002\"} 10\n"+
				"vkds_batch_seconds_bucket{kind=\"read\",le=\"+Inf\"} 10\n")
			return
		}
		// Of 100 reads each time, 50 take up to 1 ms, 40 up to 2 ms, and 10 longer. Writes were before the page began.
		for _, le := range []struct {
			end   string
			count int64
		}{{"0.001", 50}, {"0.002", 90}, {"+Inf", 100}} {
			fmt.Fprintf(w, "vkds_batch_seconds_bucket{kind=\"read\",le=\"%s\"} %d\n", le.end, le.count*(n+1))
			fmt.Fprintf(w, "vkds_batch_seconds_bucket{kind=\"write\",le=\"%s\"} %d\n", le.end, le.count)
		}
		fmt.Fprintf(w, "vkds_batch_seconds_count{kind=\"read\"} %d\n", 100*(n+1))
	}))
	defer pages.Close()
	b := visit(t, pages.URL)
	b.shows(`measure('memory of the process')`, "'1.40 GiB'")
	b.shows(`element('members').textContent`, `'addressthis oneleadsa:1yesb:"2"yes'`)
	b.shows(`cell('times', 'reads', 2) + ', ' + cell('times', 'reads', 3) + ', ' + cell('times', 'reads', 4)`,
		"'1.00 ms, 2.00 ms, over 2.00 ms'")
	b.shows(`cell('times', 'writes', 2)`, "'–'")
	b.shows(`Math.abs(parseFloat(cell('commands', 'GET', 1).replace(',', '')) - 1000) < 200`, "true")
	restarted.Store(1)
	b.shows(`cell('times', 'reads', 2) + ', ' + cell('times', 'reads', 3)`, "'1.50 ms, 1.90 ms'")
	b.shows(`measure('commands a second')`, "'0'")
	b.shows(`element('members').textContent`, `'shardaddressthis oneleads1a:1yes1b:"2"yes2c:3yes'`)
	b.shows(`element('members').querySelectorAll('.leads').length`, "2")
}

// visit opens a page, and gives it functions that read it.
func visit(t *testing.T, url string) tab {
	ctx, closed := chromedp.NewContext(browser)
	t.Cleanup(closed)
	ctx, late := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(late)
	b := tab{t, ctx}
	b.do(chromedp.Navigate(url))
	b.eval(`(() => { Object.assign(window, {
		element: id => document.getElementById(id),
		measure: name => document.querySelector('#measures [data-name="' + name + '"] b')?.textContent,
		cell: (id, row, i) => [...document.querySelectorAll('#' + id + ' tr')]
			.find(r => r.firstChild.textContent === row)?.children[i].textContent,
	}); return 0; })()`, new(int))
	return b
}

func (b tab) shows(expression, want string) {
	b.t.Helper()
	b.do(chromedp.Poll[chromedp.Void](expression+" === "+want, chromedp.WithPollingInterval(20*time.Millisecond)))
}
