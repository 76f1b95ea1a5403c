package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"github.com/vkds/vkds/internal/tool/serve/stream"
)

// serving is the command "vkds serve".
type serving struct {
	data, listen, http string
	flight             string
	node               string
	peers              []string
	shards             []string
	key, value         keytype.Type
	keyOfDir           bool // DIR says which, if it does
	valueOfDir         bool
	passwordFile       string
	cert, certKey, ca  string
	anyone             bool
	rejoin             bool
	changes            string
	changesLogin       string
	stale              time.Duration
	maxKeys            uint64
	o                  serve.Options
}

func newServeCommand(g *global) *cobra.Command {
	s := serving{key: keytype.Int64, value: keytype.Int64}
	c := &cobra.Command{
		Use:   "serve --data DIR",
		Short: "Serve a dictionary to clients of Redis, durably, on one machine or several",
		Long: `Serve answers clients of Redis from a dictionary of numbers, in order, or of texts.
DIR keeps a log, in which each change is stored before it is answered, and
snapshots. DIR is made if it is not there. Start it again with the same DIR to go
on. DIR keeps its types.

With --peers, several servers have the same dictionary: three go on if one fails,
five if two fail. Start each with the same list, and with its own address as
--listen or --node. The first time, they wait for all of them. Servers talk to
each other at their port plus 10000.

With --shard, given once for each of several such clusters, or for single
servers, each has a part of the keys, and clients of Redis Cluster find it.

Commands: GET, SET, MGET, MSET, DEL, EXISTS, INCRBY, DECRBY, INCRBYFLOAT, EXPIRE,
TTL, SCAN, DBSIZE and their relatives as in Redis, and of vkds

  VK.RANGE LO HI [LIMIT N]   the pairs from one key to another, in order
  VK.COUNT LO HI             how many there are
  VK.FLOOR KEY, VK.CEIL KEY  the nearest pair that is not above or below a key
  VK.TOP N [LEAST]           the pairs with the greatest values, or the least
  VK.CHANGES N [LIMIT M]     the changes after number N ($: the last one's number)
  VK.SNAPSHOT NAME           save all pairs as DIR/exported/NAME.vkds

With --flight, it also answers clients of Arrow Flight, for loads and look-ups of
many keys, such as "vkds update --server" and "vkds get --server".

- and + are the first and the last key. Keys and values are integers, unless --key
and --value say otherwise: numbers, times, addresses, or texts of up to 64 kB,
which have no order: for these there are no ranges and neighbors. docs/serve.md
says what is promised.`,
		Example: `  vkds serve --data /var/lib/vkds
  vkds serve --data /var/lib/names --key text --value text
  vkds serve --data d1 --listen 10.0.0.1:6379 --password-file secret \
      --peers 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379 \
      --tls-cert own.pem --tls-key own.key --tls-ca peers.pem`,
		Args: takes("no arguments", 0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			s.keyOfDir, s.valueOfDir = !c.Flags().Changed("key"), !c.Flags().Changed("value")
			return s.run(c.Context(), g)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&s.data, "data", "", "`folder` of the log and the snapshots")
	flags.StringVar(&s.listen, "listen", "localhost:6379", "`address` for clients: a port, or an address and a port")
	flags.StringSliceVar(&s.peers, "peers", nil, "`addresses` of all servers, this one included")
	flags.StringArrayVar(&s.shards, "shard", nil, "instead of --peers: `addresses` of the servers of a shard, one\n"+
		"or 3 to 9; name all shards, on each server in the same order")
	flags.StringVar(&s.node, "node", "", "the `address` among --peers that is this server's\n"+
		"(default: that of --listen)")
	flags.BoolVar(&s.rejoin, "rejoin", false, "this server has lost its folder and begins with an empty\n"+
		"one; all others must run. It needs --key and --value again")
	served := func(t *keytype.Type) choice[keytype.Type] {
		return choice[keytype.Type]{t, keytype.Types.Parse, keytype.Types.Names(), "type"}
	}
	flags.Var(served(&s.key), "key", "type of keys: text, or a number, see \"vkds help types\"")
	flags.Var(served(&s.value), "value", "type of values")
	flags.Uint64Var(&s.maxKeys, "max-keys", 0, "refuse new keys from this `number` on (default: no limit)")
	flags.DurationVar(&s.stale, "stale", 0, "let servers that don't lead answer clients that sent\n"+
		"READONLY, with what is at most this `time` old")
	flags.StringVar(&s.flight, "flight", "", "`address` for clients of Arrow Flight; in a cluster, its\n"+
		"port is as far from that of --listen on each server")
	flags.StringVar(&s.changes, "changes", "", "`file` to which each change is written, as CSV; this server\n"+
		"alone writes it. Or nats://HOST:PORT/STREAM or tls://...:\n"+
		"a stream of NATS JetStream, to which the leader publishes")
	flags.StringVar(&s.changesLogin, "changes-login", "", "`file` with USER:PASSWORD or a token for NATS, or with a\n"+
		"user's credentials")
	flags.StringVar(&s.passwordFile, "password-file", "", "`file` with the password that clients must give")
	flags.BoolVar(&s.anyone, "anyone", false, "let other machines in without a password, as clients,\n"+
		"and with --peers as servers without --tls-ca")
	flags.StringVar(&s.cert, "tls-cert", "", "`file` with the certificate for TLS, as PEM")
	flags.StringVar(&s.certKey, "tls-key", "", "`file` with its key")
	flags.StringVar(&s.ca, "tls-ca", "", "`file` with the certificate of the authority that signed\n"+
		"the peers', and nothing else: its holders may change all data")
	flags.IntVar(&s.o.MaxClients, "max-clients", 10000, "`number` of connections at a time")
	flags.IntVar(&s.o.MaxRequest, "max-request", 16<<20, "`bytes` of one command")
	flags.DurationVar(&s.o.Idle, "idle", 0, "close connections after this `time` without commands\n(default: never)")
	flags.StringVar(&s.http, "http", "", "`address` for a page, /metrics, /healthz and /debug/pprof")
	return c
}

// mostShards is a bound because each server asks each shard who leads it.
const mostShards = 64

// shard finds the shard of this server, called name, and makes its servers the peers.
func (s *serving) shard(name string) (replica.Shard, error) {
	own, seen := replica.Shard{}, map[string]bool{}
	for i, list := range s.shards {
		members := strings.Split(list, ",")
		if n := len(members); n != 1 && (n < 3 || n > 9) {
			return own, fmt.Errorf("--shard %s: one server or 3 to 9, not %d", list, n)
		}
		for _, m := range members {
			host, port, err := net.SplitHostPort(m)
			if n, _ := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || strings.Contains(m, " ") {
				return own, fmt.Errorf("--shard %s: %q is not an address and a port", list, m)
			}
			if seen[m] {
				return own, fmt.Errorf("--shard %s: %s is there twice", list, m)
			}
			seen[m] = true
			if m == name {
				own = replica.Shard{Number: uint16(i + 1), Of: uint16(len(s.shards))}
			}
		}
		if s.o.Shards = append(s.o.Shards, members); own.Number == uint16(i+1) && len(members) > 1 {
			s.peers = members
		}
	}
	if len(s.shards) > 0 && own.Number == 0 {
		return own, fmt.Errorf("%s is in no --shard: --node names this server", name)
	}
	if own.Number > 0 && len(s.peers) == 0 && (s.stale != 0 || s.rejoin) {
		return own, errors.New("--rejoin and --stale are for shards of several servers")
	}
	return own, nil
}

// check returns an error if flags don't go together.
func (s *serving) check() error {
	switch {
	case s.data == "":
		return errors.New("serve needs --data DIR")
	case len(s.peers) > 0 && (len(s.peers) < 3 || len(s.peers) > 9):
		return fmt.Errorf("--peers: 3 to 9 servers, not %d", len(s.peers))
	case len(s.peers) > 0 && len(s.shards) > 0:
		return errors.New("--peers and --shard exclude each other")
	case len(s.shards) == 1 || len(s.shards) > mostShards:
		return fmt.Errorf("--shard: 2 to %d times, not %d", mostShards, len(s.shards))
	case len(s.peers)+len(s.shards) == 0 && (s.node != "" || s.stale != 0 || s.ca != "" || s.rejoin):
		return errors.New("--node, --rejoin, --stale and --tls-ca are for --peers and --shard")
	case len(s.shards) > 0 && s.cert != "" && s.ca == "":
		return errors.New("--shard: with --tls-cert, servers need --tls-ca to trust those of other shards")
	case (s.cert == "") != (s.certKey == ""), s.ca != "" && s.cert == "":
		return errors.New("--tls-cert and --tls-key go together, and --tls-ca needs both")
	case s.stale < 0 || s.stale > 0 && s.stale < 100*time.Millisecond:
		return fmt.Errorf("--stale %v: at least 100ms", s.stale)
	case s.changesLogin != "" && !stream.Is(s.changes):
		return errors.New("--changes-login is for a stream: --changes nats://HOST:PORT/STREAM")
	case s.o.Idle < 0:
		return fmt.Errorf("--idle %v: not less than 0", s.o.Idle)
	case s.o.MaxClients < 1 || s.o.MaxRequest < 1<<10:
		return errors.New("--max-clients: at least 1; --max-request: at least 1024")
	}
	return nil
}

// passwordIn reads the file of a password: its first line.
func passwordIn(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	password := strings.TrimSuffix(string(line), "\r")
	if password == "" {
		return "", fmt.Errorf("%s: its first line is empty", file)
	}
	return password, nil
}

// signersIn reads a file with certificates of authorities.
func signersIn(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	signers := x509.NewCertPool()
	if !signers.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return signers, nil
}

// tls returns what clients and peers are spoken to with; nil: in the clear.
func (s *serving) tls() (clients, peers *tls.Config, err error) {
	if s.cert == "" {
		return nil, nil, nil
	}
	own, err := tls.LoadX509KeyPair(s.cert, s.certKey)
	if err != nil {
		return nil, nil, fmt.Errorf("%s, %s: %w", s.cert, s.certKey, err)
	}
	clients = &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	if s.ca == "" {
		return clients, nil, nil
	}
	signers, err := signersIn(s.ca)
	if err != nil {
		return nil, nil, err
	}
	peers = &tls.Config{Certificates: clients.Certificates, MinVersion: tls.VersionTLS13, RootCAs: signers,
		ClientCAs: signers, ClientAuth: tls.RequireAndVerifyClientCert}
	return clients, peers, nil
}

func (s *serving) run(ctx context.Context, g *global) error {
	refuseGrowth()
	if err := s.check(); err != nil {
		return err
	}
	var err error
	if s.o.Password, err = passwordIn(s.passwordFile); err != nil {
		return err
	}
	file := s.changes
	if stream.Is(s.changes) {
		var err error
		if s.o.Stream, err = stream.Parse(s.changes, s.changesLogin); err != nil {
			return fmt.Errorf("--changes: %w", err) // the address may have a password
		}
		file = ""
	}
	clients, peers, err := s.tls()
	if err != nil {
		return err
	}
	at, err := listenable("--listen", s.listen, s.anyone || s.o.Password != "")
	if err != nil {
		return err
	}
	name := cmp.Or(s.node, at)
	shard, err := s.shard(name)
	if err != nil {
		return err
	}
	if _, err := listenable("", at, s.anyone || s.ca != "" || len(s.peers) == 0); err != nil {
		return fmt.Errorf("--peers: other machines could change the data through the peers' port of %s, which asks "+
			"for no password (--tls-ca lets peers alone in, --anyone all)", at)
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", s.listen, err)
	}
	defer l.Close()
	scheme := "redis"
	if clients != nil {
		l, scheme, s.o.TLS = tls.NewListener(l, clients), "rediss", true
	}
	level := slog.LevelInfo
	if g.quiet {
		level = slog.LevelWarn
	}
	s.o.Log = slog.New(slog.NewTextHandler(g.err, &slog.HandlerOptions{Level: level}))
	s.o.Version, s.o.Between = "vkds "+version(), peers
	r := replica.Options{Dir: s.data, Types: replica.Types{Key: s.key, Value: s.value}, KeyOfDir: s.keyOfDir,
		ValueOfDir: s.valueOfDir, Name: name, Peers: s.peers, Shard: shard, At: at, TLS: peers, Stale: s.stale,
		MaxKeys: s.maxKeys, Rejoin: s.rejoin, Changes: file}
	if !g.onHost() {
		if r.Device, err = g.openGPU(); err != nil {
			return err
		}
		if r.Device != nil {
			defer r.Device.Close()
		}
	}
	server, err := serve.Open(ctx, r, s.o)
	if err != nil {
		return err
	}
	if len(s.peers) > 0 && s.ca == "" {
		s.o.Log.Warn("peers talk without TLS: whoever reaches their port can change the data")
	}
	if s.o.Password != "" && clients == nil {
		s.warn(at)
	}
	stop, err := s.pages(server)
	if err == nil {
		defer stop()
		stop, err = s.bulk(server, clients)
	}
	if err == nil {
		fmt.Fprintf(g.out, "%s://%s\n", scheme, reachable(l.Addr().(*net.TCPAddr)))
		s.o.Log.Info("serving", "address", l.Addr(), "data", s.data, "device", nameOf(r.Device))
		err = server.Serve(ctx, l)
		stop()
	}
	closed := server.Close()
	return cmp.Or(err, closed)
}

// warn warns if a password goes over the network in the clear: from clients, or to other shards.
func (s *serving) warn(at string) {
	all := append(slices.Concat(s.o.Shards...), at)
	if s.flight != "" {
		flight, _ := listenable("", s.flight, true)
		all = append(all, flight)
	}
	if a := beyond(all); a != "" {
		s.o.Log.Warn("the password goes over the network without TLS", "address", a)
	}
}

// bulk answers clients of Flight until stop is called.
func (s *serving) bulk(server *serve.Server, t *tls.Config) (stop func(), err error) {
	if s.flight == "" {
		return func() {}, nil
	}
	l, err := listen("--flight", s.flight, s.anyone || s.o.Password != "")
	if err != nil {
		return nil, err
	}
	return server.ServeFlight(l, t), nil
}

// pages serves the pages of --http until stop is called.
func (s *serving) pages(server *serve.Server) (stop func(), err error) {
	if s.http == "" {
		return func() {}, nil
	}
	l, err := listen("--http", s.http, s.anyone)
	if err != nil {
		return nil, err
	}
	pages := &http.Server{Handler: server.Handler(), ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: 10 * time.Minute, IdleTimeout: time.Minute} // a profile ends with the time for reading
	go func() { _ = pages.Serve(l) }()
	s.o.Log.Info("pages", "address", l.Addr())
	return func() { _ = pages.Close() }, nil
}
