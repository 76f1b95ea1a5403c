// Command redisload measures how many commands a second a server of Redis's protocol answers (docs/serve.md). Commands
// are made before the measurement, and of answers only the lines are counted, so that the client is not the bound.
// redis-benchmark is, at some 3 M commands a second.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"strconv"
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
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// batch makes the commands that are sent together, and tells how many lines the answers have if all keys are there.
func batch() (commands []byte, lines int) {
	key := func() string { return strconv.Itoa(rand.IntN(*keys)) }
	for range *pipelined {
		switch *op {
		case "get":
			commands = appendCommand(commands, "GET", key())
			lines += 2
		case "set":
			commands = appendCommand(commands, "SET", key(), strconv.Itoa(rand.IntN(1e9)))
			lines++
		case "mget":
			words := []string{"MGET"}
			for range *keysOfMGET {
				words = append(words, key())
			}
			commands = appendCommand(commands, words...)
			lines += 1 + 2**keysOfMGET
		default:
			log.Fatalf("--op %s: not get, set, mget or load", *op)
		}
	}
	return commands, lines
}

// answers reads answers of so many lines. None of them may be an error or a key that is not there.
func answers(c net.Conn, room []byte, lines int) {
	for lines > 0 {
		n, err := c.Read(room)
		if err != nil {
			log.Fatal(err)
		}
		if i := bytes.IndexByte(room[:n], '-'); i >= 0 {
			log.Fatalf("a key that is not there, or an error: %.100q", room[i:n])
		}
		lines -= bytes.Count(room[:n], []byte{'\n'})
	}
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", *address)
		if err != nil {
			log.Fatal(err)
		}
		return c
	}
	send := func(c net.Conn, commands []byte) {
		if _, err := c.Write(commands); err != nil {
			log.Fatal(err)
		}
	}
	if *op == "load" {
		c, words := dial(), []string{"MSET"}
		for k := range *keys {
			words = append(words, strconv.Itoa(k), strconv.Itoa(k*7919%1_000_000_007))
			if len(words) > 2000 || k == *keys-1 {
				send(c, appendCommand(nil, words...))
				answers(c, make([]byte, 1<<10), 1)
				words = words[:1]
			}
		}
		return
	}
	var batches [][]byte
	lines := 0
	for bytes := 0; bytes < 16<<20; bytes += len(batches[len(batches)-1]) {
		var b []byte
		b, lines = batch()
		batches = append(batches, b)
	}
	var done atomic.Int64
	for range *connections {
		go func() {
			c, room := dial(), make([]byte, 1<<20)
			for {
				send(c, batches[rand.IntN(len(batches))])
				answers(c, room, lines)
				done.Add(int64(*pipelined))
			}
		}()
	}
	time.Sleep(*span / 3) // until all connections are busy
	before, begun := done.Load(), time.Now()
	time.Sleep(*span)
	rate := float64(done.Load()-before) / time.Since(begun).Seconds()
	fmt.Printf("%s, %d pipelined, %d connections: %.0f commands/s\n", *op, *pipelined, *connections, rate)
}
