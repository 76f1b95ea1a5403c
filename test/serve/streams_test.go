package serve_test

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// A stream that three servers of NATS have goes on when the one that leads it ends, while clients write.
func TestStreamWithReplicas(t *testing.T) {
	if stress.Level == 0 {
		t.Skip("make stress: elections of NATS take long")
	}
	var routes []*url.URL
	var ports []int
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		u, err := url.Parse("nats://" + l.Addr().String())
		require.NoError(t, err)
		routes, ports = append(routes, u), append(ports, l.Addr().(*net.TCPAddr).Port)
		require.NoError(t, l.Close())
	}
	var jets []*jet
	var hosts []string
	var started sync.WaitGroup
	for i, port := range ports {
		j := &jet{t: t, o: natsd.Options{ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: natsd.RANDOM_PORT,
			JetStream: true, NoLog: true, NoSigs: true, StoreDir: filepath.Join(t.TempDir(), "jetstream"),
			Routes: routes, Cluster: natsd.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}}}
		jets = append(jets, j)
		started.Go(j.start)
		t.Cleanup(j.stop)
	}
	started.Wait()
	for _, j := range jets {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", j.o.Port))
	}
	require.Eventually(t, func() bool {
		c, err := nats.Connect(strings.Join(hosts, ","))
		require.NoError(t, err)
		defer c.Close()
		js, err := jetstream.New(c)
		require.NoError(t, err)
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "COPIES", Subjects: []string{"copies"},
			Replicas: 3, AllowDirect: true})
		return err == nil
	}, time.Minute, 500*time.Millisecond)

	s := servers(t, 1)[0]
	s.flags = []string{"--changes", "nats://" + strings.Join(hosts, ",") + "/COPIES"}
	s.start(t)
	ended := 0
	for round := range 5 * stress.Level {
		done := make(chan struct{})
		var g sync.WaitGroup
		for i := range 4 {
			c := newClient([]*server{s})
			g.Go(func() {
				defer c.close()
				for n := 0; ; n++ {
					select {
					case <-done:
						return
					default:
						c.do(t.Context(), "SET", i*100+n%100, n)
					}
				}
			})
		}
		time.Sleep(300 * time.Millisecond)
		var leads *jet
		for _, j := range jets {
			if j.s.JetStreamIsStreamLeader("$G", "COPIES") {
				leads = j
			}
		}
		if leads != nil {
			leads.stop()
			ended++
		}
		time.Sleep(time.Second)
		close(done)
		g.Wait()
		at := jets[0]
		if at == leads {
			at = jets[1]
		}
		require.Equal(t, 1, at.follows("COPIES", s), "round %d", round)
		if leads != nil {
			leads.start()
		}
	}
	require.Positive(t, ended)
}
