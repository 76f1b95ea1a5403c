package serve

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// slots is the number of parts into which clients of a cluster divide keys. Each shard has a range of them.
const slots = bulk.Slots

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

// led is a shard with its leader. The leader is "" if none is known.
type led struct {
	*shard
	leader string
	order  []string // its members, the leader first
}

// led returns all shards. ok is false if this server's own has no leader that is known.
func (s *Server) led() (all []led, ok bool) {
	for i, x := range s.shards {
		leader := *x.leader.Load()
		if i == s.own {
			var self bool
			if leader, self = s.node.Leader(); self {
				leader = s.config.Name
			}
			ok = leader != ""
		}
		order := slices.DeleteFunc(slices.Clone(x.members), func(m string) bool { return m == leader })
		if leader != "" {
			order = slices.Insert(order, 0, leader)
		}
		all = append(all, led{x, leader, order})
	}
	return all, ok
}

func (c *conn) cluster(args [][]byte) {
	c.flush()
	sub := strings.ToUpper(string(args[0]))
	if !c.s.clustered() {
		c.fail("ERR This instance has cluster support disabled")
		return
	}
	all, ok := c.s.led()
	switch {
	case sub == "MYID":
		c.strings(idOf(c.s.config.Name))
	case sub == "KEYSLOT" && len(args) == 2:
		c.out = redcon.AppendInt(c.out, int64(bulk.Slot(args[1])))
	case sub == "INFO":
		c.clusterInfo(ok)
	case sub == "NODES":
		c.clusterNodes(all)
	case sub != "SLOTS" && sub != "SHARDS":
		c.fail("ERR unknown subcommand or wrong number of arguments for 'cluster|%.32s'", args[0])
	case !ok:
		c.fail("CLUSTERDOWN no leader is known")
	case sub == "SLOTS":
		c.out = redcon.AppendArray(c.out, len(all))
		for _, x := range all {
			c.clusterSlots(x)
		}
	default:
		c.out = redcon.AppendArray(c.out, len(all))
		for _, x := range all {
			c.clusterShard(x)
		}
	}
}

func (c *conn) clusterInfo(ok bool) {
	state, assigned, nodes := "ok", slots, 0
	if !ok {
		first, last := c.s.shards[c.s.own].slots()
		state, assigned = "fail", slots-(last-first+1)
	}
	for _, x := range c.s.shards {
		nodes += len(x.members)
	}
	c.strings(fmt.Sprintf("cluster_enabled:1\r\ncluster_state:%s\r\ncluster_slots_assigned:%d\r\n"+
		"cluster_slots_ok:%[2]d\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:%d\r\n", state,
		assigned, nodes, len(c.s.shards), c.s.node.Status().Term))
}

func (c *conn) clusterNodes(all []led) {
	var b strings.Builder
	term := c.s.node.Status().Term
	for _, x := range all {
		first, last := x.slots()
		for _, p := range x.members {
			flags, of, range_ := "slave", idOf(x.leader), ""
			if x.leader == "" {
				of = "-"
			}
			if p == x.leader {
				flags, of, range_ = "master", "-", fmt.Sprintf(" %d-%d", first, last)
			}
			if p == c.s.config.Name {
				flags = "myself," + flags
			}
			_, port := endpoint(p)
			fmt.Fprintf(&b, "%s %s@%d %s %s 0 0 %d connected%s\n", idOf(p), p, port+replica.PortsApart, flags, of, term,
				range_)
		}
	}
	c.strings(b.String())
}

func (c *conn) clusterSlots(x led) {
	first, last := x.slots()
	c.out = redcon.AppendArray(c.out, 2+len(x.order))
	c.out = redcon.AppendInt(redcon.AppendInt(c.out, int64(first)), int64(last))
	for _, p := range x.order {
		host, port := endpoint(p)
		c.out = redcon.AppendArray(c.out, 3)
		c.out = redcon.AppendBulkString(c.out, host)
		c.out = redcon.AppendInt(c.out, port)
		c.out = redcon.AppendBulkString(c.out, idOf(p))
	}
}

func (c *conn) clusterShard(x led) {
	first, last := x.slots()
	c.mapOf(2)
	c.strings("slots")
	c.out = redcon.AppendArray(c.out, 2)
	c.out = redcon.AppendInt(redcon.AppendInt(c.out, int64(first)), int64(last))
	c.strings("nodes")
	c.out = redcon.AppendArray(c.out, len(x.order))
	name := "port"
	if c.s.o.TLS {
		name = "tls-port"
	}
	applied := int64(c.s.node.Status().Done)
	for i, p := range x.order {
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
