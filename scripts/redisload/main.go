// Command redisload measures how many commands a second a server of Redis's protocol answers (docs/serve.md). Commands
// and their answers are made before the measurement, and each answer is compared with its bytes, so that the client is
// not the bound. redis-benchmark is, at some 3 M commands a second.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	address     = flag.String("address", "localhost:6379", "address of the server")
	op          = flag.String("op", "get", "get, set, mget, or load, which sets all keys")
	connections = flag.Int("connections", 48, "number of connections")
	pipelined   = flag.Int("pipelined", 1024, "number of commands that are sent together")
	keys        = flag.Int("keys", 1_000_000, "commands have random keys below it")
	keysOfMGET  = flag.Int("mget", 10_000, "number of keys of an MGET")
	span        = flag.Duration("time", 3*time.Second, "how long to measure")
)

// appendCommand appends a command in Redis's protocol.
func appendCommand(b []byte, words ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(words))
	for _, w := range words {
		b = appendText(b, w)
	}
	return b
}

func appendText(b []byte, w string) []byte { return fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w) }

// value returns one of the values that a key may have. No two keys may have the same.
func value(key, which int) string {
	return strconv.Itoa(key + *keys*(which%max(1, 1_000_000_000 / *keys)))
}

// loaded returns the value that load sets.
func loaded(key int) string { return value(key, key*7919) }

// batch is what is sent together, and its answers.
type batch struct{ commands, answers []byte }

func newBatch() (b batch) {
	for range *pipelined {
		key := rand.IntN(*keys)
		switch *op {
		case "get":
			b.commands = appendCommand(b.commands, "GET", strconv.Itoa(key))
			b.answers = appendText(b.answers, loaded(key))
		case "set":
			b.commands = appendCommand(b.commands, "SET", strconv.Itoa(key), value(key, rand.IntN(1e9)))
			b.answers = append(b.answers, "+OK\r\n"...)
		case "mget":
			words := []string{"MGET"}
			b.answers = fmt.Appendf(b.answers, "*%d\r\n", *keysOfMGET)
			for range *keysOfMGET {
				key := rand.IntN(*keys)
				words = append(words, strconv.Itoa(key))
				b.answers = appendText(b.answers, loaded(key))
			}
			b.commands = appendCommand(b.commands, words...)
		default:
			log.Fatalf("--op %s: not get, set, mget or load", *op)
		}
	}
	return b
}

func dial() net.Conn {
	c, err := net.Dial("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func send(c net.Conn, commands []byte) {
	if _, err := c.Write(commands); err != nil {
		log.Fatal(err)
	}
}

// do sends a batch and compares what is answered.
func (b batch) do(c net.Conn, room []byte) {
	send(c, b.commands)
	for want := b.answers; len(want) > 0; {
		n, err := c.Read(room[:min(len(room), len(want))])
		if err != nil {
			log.Fatal(err)
		}
		if !bytes.Equal(room[:n], want[:n]) {
			at := 0
			for room[at] == want[at] {
				at++
			}
			log.Fatalf("a wrong answer, or --op load is yet to set the keys: it goes on with %.60q, not %.60q",
				room[at:n], want[at:n])
		}
		want = want[n:]
	}
}

// inParts calls f with all keys, some at a time.
func inParts(f func(from, to int)) {
	for from := 0; from < *keys; from += 1000 {
		f(from, min(from+1000, *keys))
	}
}

// load sets all keys.
func load() {
	c := dial()
	defer c.Close()
	inParts(func(from, to int) {
		words := []string{"MSET"}
		for k := from; k < to; k++ {
			words = append(words, strconv.Itoa(k), loaded(k))
		}
		batch{appendCommand(nil, words...), []byte("+OK\r\n")}.do(c, make([]byte, 1<<10))
	})
}

// readBack checks that each key has one of its values after SETs, and that these have changed some.
func readBack() {
	c, changed := dial(), 0
	defer c.Close()
	in := bufio.NewReader(c)
	line := func() string {
		text, err := in.ReadString('\n')
		if err != nil {
			log.Fatal(err)
		}
		return strings.TrimSpace(text)
	}
	inParts(func(from, to int) {
		words := []string{"MGET"}
		for k := from; k < to; k++ {
			words = append(words, strconv.Itoa(k))
		}
		send(c, appendCommand(nil, words...))
		line() // the number of values
		for k := from; k < to; k++ {
			is := line() // the length, or that there is none
			if is != "$-1" {
				is = line()
			}
			if n, err := strconv.Atoi(is); err != nil || n%*keys != k {
				log.Fatalf("key %d has the value %.100q, which was never set", k, is)
			}
			if is != loaded(k) {
				changed++
			}
		}
	})
	if changed == 0 {
		log.Fatal("SETs have changed nothing")
	}
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	if *op == "load" {
		load()
		return
	}
	var batches []batch
	for bytes := 0; bytes < 16<<20; {
		b := newBatch()
		batches, bytes = append(batches, b), bytes+len(b.commands)+len(b.answers)
	}
	var done atomic.Int64
	var ended atomic.Bool
	var all sync.WaitGroup
	for range *connections {
		all.Go(func() {
			c, room := dial(), make([]byte, 1<<20)
			defer c.Close()
			for !ended.Load() {
				batches[rand.IntN(len(batches))].do(c, room)
				done.Add(int64(*pipelined))
			}
		})
	}
	time.Sleep(*span / 3) // until all connections are busy
	before, begun := done.Load(), time.Now()
	time.Sleep(*span)
	rate := float64(done.Load()-before) / time.Since(begun).Seconds()
	ended.Store(true)
	all.Wait()
	if *op == "set" {
		readBack()
		load() // for others
	}
	fmt.Printf("%s, %d pipelined, %d connections: %.0f commands/s\n", *op, *pipelined, *connections, rate)
}
