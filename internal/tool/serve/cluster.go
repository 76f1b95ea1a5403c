package serve

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// slots is the number of parts into which clients of a cluster divide keys. The leader has all of them.
const slots = 16384

// slotOf returns the slot of a key: CRC-16/XMODEM of it, or of what is between its first braces if that is not empty.
func slotOf(key []byte) int {
	if _, after, open := bytes.Cut(key, []byte("{")); open {
		if tag, _, closed := bytes.Cut(after, []byte("}")); closed && len(tag) > 0 {
			key = tag
		}
	}
	crc := uint16(0)
	for _, b := range key {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
	}
	return int(crc % slots)
}

// idOf returns the name of a member in the cluster protocol.
func idOf(member string) string {
	h := sha1.Sum([]byte(member))
	return hex.EncodeToString(h[:])
}

func endpoint(member string) (host string, port int64) {
	host, text, _ := net.SplitHostPort(member)
	port, _ = strconv.ParseInt(text, 10, 64)
	return host, port
}

// members returns the leader and the others. ok is false if no leader is known.
func (s *Server) members() (leader string, others []string, ok bool) {
	leader, self := s.node.Leader()
	if self {
		leader = s.config.Name
	}
	for _, p := range s.config.Peers {
		if p != leader {
			others = append(others, p)
		}
	}
	return leader, others, leader != ""
}

func (c *conn) cluster(args [][]byte) {
	c.flush()
	sub := strings.ToUpper(string(args[0]))
	if !c.s.clustered() {
		c.fail("ERR This instance has cluster support disabled")
		return
	}
	leader, others, ok := c.s.members()
	switch {
	case sub == "MYID":
		c.strings(idOf(c.s.config.Name))
	case sub == "KEYSLOT" && len(args) == 2:
		c.out = redcon.AppendInt(c.out, int64(slotOf(args[1])))
	case sub == "INFO":
		c.clusterInfo(ok)
	case sub == "NODES":
		c.clusterNodes(leader, ok)
	case sub != "SLOTS" && sub != "SHARDS":
		c.fail("ERR unknown subcommand or wrong number of arguments for 'cluster|%.32s'", args[0])
	case !ok:
		c.fail("CLUSTERDOWN no leader is known")
	case sub == "SLOTS":
		c.clusterSlots(leader, others)
	default:
		c.clusterShards(leader, others)
	}
}

func (c *conn) clusterInfo(ok bool) {
	state, assigned := "ok", slots
	if !ok {
		state, assigned = "fail", 0
	}
	c.strings(fmt.Sprintf("cluster_enabled:1\r\ncluster_state:%s\r\ncluster_slots_assigned:%d\r\n"+
		"cluster_slots_ok:%[2]d\r\ncluster_known_nodes:%d\r\ncluster_size:1\r\ncluster_current_epoch:%d\r\n", state,
		assigned, len(c.s.config.Peers), c.s.node.Status().Term))
}

func (c *conn) clusterNodes(leader string, ok bool) {
	var b strings.Builder
	term := c.s.node.Status().Term
	for _, p := range c.s.config.Peers {
		flags, of, range_ := "slave", idOf(leader), ""
		if !ok {
			of = "-"
		}
		if ok && p == leader {
			flags, of, range_ = "master", "-", fmt.Sprintf(" 0-%d", slots-1)
		}
		if p == c.s.config.Name {
			flags = "myself," + flags
		}
		_, port := endpoint(p)
		fmt.Fprintf(&b, "%s %s@%d %s %s 0 0 %d connected%s\n", idOf(p), p, port+replica.PortsApart, flags, of, term,
			range_)
	}
	c.strings(b.String())
}

func (c *conn) clusterSlots(leader string, others []string) {
	c.out = redcon.AppendArray(c.out, 1)
	c.out = redcon.AppendArray(c.out, 3+len(others))
	c.out = redcon.AppendInt(redcon.AppendInt(c.out, 0), slots-1)
	for _, p := range append([]string{leader}, others...) {
		host, port := endpoint(p)
		c.out = redcon.AppendArray(c.out, 3)
		c.out = redcon.AppendBulkString(c.out, host)
		c.out = redcon.AppendInt(c.out, port)
		c.out = redcon.AppendBulkString(c.out, idOf(p))
	}
}

func (c *conn) clusterShards(leader string, others []string) {
	c.out = redcon.AppendArray(c.out, 1)
	c.mapOf(2)
	c.strings("slots")
	c.out = redcon.AppendArray(c.out, 2)
	c.out = redcon.AppendInt(redcon.AppendInt(c.out, 0), slots-1)
	c.strings("nodes")
	c.out = redcon.AppendArray(c.out, 1+len(others))
	name := "port"
	if c.s.o.TLS {
		name = "tls-port"
	}
	applied := int64(c.s.node.Status().Done)
	for i, p := range append([]string{leader}, others...) {
		role := "master"
		if i > 0 {
			role = "replica"
		}
		host, port := endpoint(p)
		c.mapOf(7)
		c.strings("id", idOf(p), name)
		c.out = redcon.AppendInt(c.out, port)
		c.strings("ip", host, "endpoint", host, "role", role, "replication-offset")
		c.out = redcon.AppendInt(c.out, applied)
		c.strings("health", "online")
	}
}
