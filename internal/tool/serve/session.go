package serve

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/redcon"
)

// Commands about the connection and the server are answered at once, after what was asked before.

func (c *conn) ping(args [][]byte) {
	c.flush()
	switch len(args) {
	case 0:
		c.out = redcon.AppendString(c.out, "PONG")
	case 1:
		c.out = redcon.AppendBulk(c.out, args[0])
	default:
		c.fail("ERR wrong number of arguments for 'ping' command")
	}
}

func (c *conn) echo(args [][]byte) {
	c.flush()
	c.out = redcon.AppendBulk(c.out, args[0])
}

func (c *conn) ok() {
	c.flush()
	c.out = redcon.AppendOK(c.out)
}

func (c *conn) end([][]byte) {
	c.ok()
	c.quit = true
}

func (c *conn) setReadOnly(is bool) {
	c.ok()
	c.readOnly = is
}

func (c *conn) selectDB(args [][]byte) {
	if string(args[0]) != "0" {
		c.fail("ERR DB index is out of range")
		return
	}
	c.ok()
}

// auth takes AUTH password and AUTH default password.
func (c *conn) auth(args [][]byte) {
	if c.admit(args) {
		c.ok()
	}
}

// admit checks a password, with a user's name before it or without.
func (c *conn) admit(args [][]byte) bool {
	user, password := "default", args[len(args)-1]
	if len(args) == 2 {
		user = string(args[0])
	}
	switch {
	case len(args) > 2:
		c.fail("ERR syntax error")
	case c.s.o.Password == "" && len(args) == 1:
		c.fail("ERR AUTH <password> called without any password configured for the default user.")
	case c.s.o.Password == "" && user == "default":
		return true
	case user != "default" || !equal(string(password), c.s.o.Password):
		c.fail("WRONGPASS invalid username-password pair or user is disabled.")
	default:
		c.flush() // what came before was not admitted
		c.authed = true
		return true
	}
	return false
}

func (c *conn) hello(args [][]byte) {
	resp3, name := c.resp3, c.name
	if len(args) > 0 {
		switch string(args[0]) {
		case "2", "3":
			resp3 = args[0][0] == '3'
		default:
			c.fail("NOPROTO unsupported protocol version")
			return
		}
		args = args[1:]
	}
	for len(args) > 0 {
		switch option := strings.ToUpper(string(args[0])); {
		case option == "AUTH" && len(args) > 2:
			if !c.admit(args[1:3]) {
				return
			}
			args = args[3:]
		case option == "SETNAME" && len(args) > 1:
			if !c.mayBeNamed(args[1]) {
				return
			}
			name, args = string(args[1]), args[2:]
		default:
			c.fail("ERR Syntax error in HELLO option '%.64s'", args[0])
			return
		}
	}
	if !c.authed {
		c.fail("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH " +
			"<user> <pass> option can be used to authenticate the client and select the RESP protocol version")
		return
	}
	c.flush()
	c.resp3, c.name = resp3, name
	c.mapOf(7)
	proto := int64(2)
	if c.resp3 {
		proto = 3
	}
	c.strings("server", "redis", "version", redisVersion, "proto")
	c.out = redcon.AppendInt(c.out, proto)
	c.strings("id")
	c.out = redcon.AppendInt(c.out, c.id)
	c.strings("mode", c.s.mode(), "role", c.s.role(), "modules")
	c.out = redcon.AppendArray(c.out, 0)
}

// mostName is the number of bytes of a connection's name, which it keeps.
const mostName = 1 << 10

// mayBeNamed reports whether a connection may have a name. If not, it answers with an error.
func (c *conn) mayBeNamed(name []byte) bool {
	if len(name) > mostName || bytes.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' }) {
		c.fail("ERR a client's name has no spaces, no special characters and at most %d bytes", mostName)
		return false
	}
	return true
}

// redisVersion is the version of Redis whose commands are meant: clients ask before they use what is newer.
const redisVersion = "7.0.0"

func (c *conn) strings(texts ...string) {
	for _, s := range texts {
		c.out = redcon.AppendBulkString(c.out, s)
	}
}

// clustered reports whether there are other servers with this dictionary.
func (s *Server) clustered() bool { return len(s.config.Peers) > 1 || len(s.shards) > 1 }

func (s *Server) mode() string {
	if s.clustered() {
		return "cluster"
	}
	return "standalone"
}

func (s *Server) role() string {
	if _, self := s.node.Leader(); self || !s.clustered() {
		return "master"
	}
	return "replica"
}

func (c *conn) client(args [][]byte) {
	switch sub := strings.ToUpper(string(args[0])); {
	case sub == "ID" && len(args) == 1:
		c.flush()
		c.out = redcon.AppendInt(c.out, c.id)
	case sub == "GETNAME" && len(args) == 1:
		c.flush()
		c.out = redcon.AppendBulkString(c.out, c.name)
	case sub == "SETNAME" && len(args) == 2:
		if c.mayBeNamed(args[1]) {
			c.ok()
			c.name = string(args[1])
		}
	case sub == "SETINFO" && len(args) == 3:
		c.ok()
	default:
		c.fail("ERR unknown subcommand or wrong number of arguments for 'client|%.32s'", args[0])
	}
}

func (c *conn) command(args [][]byte) {
	sub := ""
	if len(args) > 0 {
		sub = strings.ToUpper(string(args[0]))
	}
	c.flush()
	switch sub {
	case "":
		c.out = redcon.AppendArray(c.out, len(commands))
		for i := range commands {
			c.describe(&commands[i])
		}
	case "COUNT":
		c.out = redcon.AppendInt(c.out, int64(len(commands)))
	case "INFO":
		c.out = redcon.AppendArray(c.out, len(args)-1)
		for _, name := range args[1:] {
			if x := known[strings.ToUpper(string(name))]; x != nil {
				c.describe(x)
			} else {
				c.null()
			}
			c.sendLarge()
		}
	case "DOCS":
		c.mapOf(0)
	default:
		c.fail("ERR unknown subcommand for 'command|%.32s'", sub)
	}
}

func (c *conn) describe(x *command) {
	c.out = redcon.AppendArray(c.out, 6)
	c.out = redcon.AppendBulkString(c.out, strings.ToLower(x.name))
	c.out = redcon.AppendInt(c.out, int64(x.arity))
	flags := strings.Fields(x.flags)
	c.out = redcon.AppendArray(c.out, len(flags))
	for _, f := range flags {
		c.out = redcon.AppendString(c.out, f)
	}
	for _, n := range []int{x.first, x.last, x.step} {
		c.out = redcon.AppendInt(c.out, int64(n))
	}
}

// info answers INFO with all sections, whichever are asked for.
func (c *conn) info([][]byte) {
	c.flush()
	x := c.s.node.Status()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var b strings.Builder
	section := func(name string, fields ...any) {
		fmt.Fprintf(&b, "# %s\r\n", name)
		for i := 0; i < len(fields); i += 2 {
			fmt.Fprintf(&b, "%v:%v\r\n", fields[i], fields[i+1])
		}
		b.WriteString("\r\n")
	}
	yes := map[bool]int{true: 1}
	role, link := "master", "up"
	if c.s.role() != "master" {
		role = "slave"
	}
	if x.Members > 1 && x.Leader == "" {
		link = "down"
	}
	section("Server", "redis_version", redisVersion, "redis_mode", c.s.mode(), "vkds_version", c.s.o.Version,
		"vkds_key_type", c.s.config.Types.Key, "vkds_value_type", c.s.config.Types.Value, "vkds_device", c.s.device(),
		"uptime_in_seconds", int(time.Since(c.s.started).Seconds()))
	section("Clients", "connected_clients", c.s.clients.Load(), "maxclients", c.s.o.MaxClients)
	section("Memory", "used_memory", m.HeapAlloc)
	section("Replication", "role", role, "master_link_status", link, "vkds_leader", x.Leader, "vkds_term", x.Term,
		"vkds_members", x.Members, "vkds_log_stored", x.Stored, "vkds_log_applied", x.Done,
		"vkds_age_ms", strconv.FormatInt(x.Age.Milliseconds(), 10))
	if c.s.stream != nil {
		behind, fault := c.s.stream.Status()
		section("Changes", "vkds_changes_behind", behind, "vkds_changes_fault", fault)
	}
	section("Cluster", "cluster_enabled", yes[c.s.clustered()], "vkds_shard", c.s.shards[c.s.own])
	b.WriteString("# Keyspace\r\n")
	if x.Keys > 0 {
		fmt.Fprintf(&b, "db0:keys=%d\r\n", x.Keys)
	}
	c.out = redcon.AppendBulkString(c.out, b.String())
}

func (s *Server) device() string {
	if s.config.Device == nil {
		return "none"
	}
	return s.config.Device.Info().Name
}
