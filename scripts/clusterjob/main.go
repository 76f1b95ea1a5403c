// Command clusterjob counts the requests of a trace in three servers on this machine, which it kills meanwhile:
//
//	clusterjob bin/vkds testdata/orm-night.trace.xz FOLDER
//
// It writes the counts batch by batch, each batch by one MSET. The server that leads is killed twice, without a
// warning; before the second time the first one is started again. A batch whose answer is lost is sent again, which
// does no harm, because it has counts and not increments. At the end it compares all pairs with a Go map.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/tool/input"
)

const (
	batches  = 50
	patience = 30 * time.Second // for another server to lead
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("usage: clusterjob VKDS TRACE FOLDER, the trace of 32-bit big-endian keys")
	if len(os.Args) == 4 {
		err = run(ctx, os.Args[1], os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clusterjob:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, vkds, path, folder string) error {
	f, err := input.OpenFile(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	trace, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	c, err := newCluster(vkds, folder)
	if err != nil {
		return err
	}
	defer c.stop()
	for i := range c.servers {
		if err := c.start(i); err != nil {
			return err
		}
	}
	counts := map[uint32]int{}
	size := (len(trace)/4 + batches - 1) / batches * 4
	for batch := range batches {
		changed := map[uint32]bool{}
		part := trace[min(batch*size, len(trace)):min((batch+1)*size, len(trace))]
		for ; len(part) >= 4; part = part[4:] {
			key := binary.BigEndian.Uint32(part)
			counts[key]++
			changed[key] = true
		}
		command := []string{"MSET"}
		for key := range changed {
			command = append(command, fmt.Sprint(key), fmt.Sprint(counts[key]))
		}
		began, before := time.Now(), c.leads
		if _, err := c.ask(ctx, command); err != nil {
			return err
		}
		switch {
		case c.leads != before && c.killed >= 0:
			fmt.Printf("%s leads, and has the batch %.1f s later\n", c.servers[c.leads].address,
				time.Since(began).Seconds())
		case batch == batches/3, batch == 2*batches/3:
			c.kill()
			fmt.Printf("%d requests are in; %s, which led, is killed\n", (batch+1)*size/4, c.servers[c.killed].address)
		case batch == batches/2:
			fmt.Printf("%s is started again\n", c.servers[c.killed].address)
			if err := c.start(c.killed); err != nil {
				return err
			}
		}
	}
	return c.compare(ctx, counts)
}

// cluster is three servers, and a connection to the one that leads.
type cluster struct {
	vkds    string
	servers []server
	leads   int // the last one that answered
	killed  int // the last one that was killed; -1: none
	conn    net.Conn
	in      *bufio.Reader
}

type server struct {
	address, folder string
	process         *exec.Cmd
}

func newCluster(vkds, folder string) (*cluster, error) {
	c := &cluster{vkds: vkds, killed: -1}
	for i := range 3 {
		address, err := free()
		if err != nil {
			return nil, err
		}
		of := filepath.Join(folder, fmt.Sprint("server", i))
		if err := errors.Join(os.RemoveAll(of), os.MkdirAll(of, 0o700)); err != nil {
			return nil, err
		}
		c.servers = append(c.servers, server{address: address, folder: of})
	}
	return c, nil
}

// free returns an address whose port is free, and the port 10,000 above it, where servers talk to each other.
func free() (string, error) {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		port := l.Addr().(*net.TCPAddr).Port
		other, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port+10000))
		if err == nil {
			err = other.Close()
		}
		if err := errors.Join(err, l.Close()); err == nil {
			return l.Addr().String(), nil
		}
	}
	return "", errors.New("no free port")
}

func (c *cluster) start(i int) error {
	var peers []string
	for _, s := range c.servers {
		peers = append(peers, s.address)
	}
	s := &c.servers[i]
	s.process = exec.Command(c.vkds, "serve", "--device", "none", "--data", filepath.Join(s.folder, "data"),
		"--listen", s.address, "--peers", strings.Join(peers, ","))
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.process.Stderr = log
	return s.process.Start()
}

// kill kills the server that leads.
func (c *cluster) kill() {
	c.killed = c.leads
	s := c.servers[c.killed].process
	_ = s.Process.Kill()
	_ = s.Wait()
}

func (c *cluster) stop() {
	for _, s := range c.servers {
		if s.process != nil && s.process.ProcessState == nil {
			_ = s.process.Process.Kill()
			_ = s.process.Wait()
		}
	}
}

// ask sends a command until a server has done it.
func (c *cluster) ask(ctx context.Context, command []string) (redcon.RESP, error) {
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return redcon.RESP{}, err
		}
		answer, err := c.send(command)
		if err == nil && answer.Type != redcon.Error {
			return answer, nil
		}
		if last = err; err == nil {
			last = errors.New(answer.String())
		}
		c.turn(last.Error())
	}
	return redcon.RESP{}, fmt.Errorf("no server has answered for %v: %w", patience, last)
}

// turn takes the server that an answer names as the leader, or otherwise the next one.
func (c *cluster) turn(answer string) {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	named := func(s server) bool {
		return strings.HasPrefix(answer, "MOVED") && strings.HasSuffix(answer, s.address)
	}
	if i := slices.IndexFunc(c.servers, named); i >= 0 {
		c.leads = i
	} else {
		c.leads = (c.leads + 1) % len(c.servers)
	}
}

// send sends a command to the server that leads, and returns its answer.
func (c *cluster) send(command []string) (answer redcon.RESP, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.servers[c.leads].address, time.Second); err != nil {
			c.conn = nil
			return answer, err
		}
		c.in = bufio.NewReader(c.conn)
	}
	if err := c.conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return answer, err
	}
	var out []byte
	out = redcon.AppendArray(out, len(command))
	for _, word := range command {
		out = redcon.AppendBulkString(out, word)
	}
	if _, err := c.conn.Write(out); err != nil {
		return answer, err
	}
	var in []byte
	for {
		if n, answer := redcon.ReadNextRESP(in); n != 0 {
			return answer, nil
		}
		part := make([]byte, 1<<16)
		n, err := c.in.Read(part)
		if err != nil {
			return answer, err
		}
		in = append(in, part[:n]...)
	}
}

// compare compares all pairs with the counts.
func (c *cluster) compare(ctx context.Context, counts map[uint32]int) error {
	all, err := c.ask(ctx, []string{"VK.RANGE", "-", "+"})
	if err != nil {
		return err
	}
	var words []int
	all.ForEach(func(word redcon.RESP) bool {
		n, notNumber := strconv.Atoi(string(word.Data))
		err = errors.Join(err, notNumber)
		words = append(words, n)
		return true
	})
	if err != nil {
		return err
	}
	got, requests := map[uint32]int{}, 0
	for pair := range slices.Chunk(words, 2) {
		got[uint32(pair[0])] = pair[1]
		requests += pair[1]
	}
	if !maps.Equal(got, counts) {
		return fmt.Errorf("WRONG: %d keys with %d requests, and not %d keys, or other counts", len(got), requests,
			len(counts))
	}
	fmt.Printf("%d requests of %d objects are in, all counts exact, after two of three servers were killed\n",
		requests, len(got))
	return nil
}
