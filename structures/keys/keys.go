// Package keys encodes times, IP addresses, prefixes and pairs of numbers as keys of 32 or 64 bits, so that an ordered
// dictionary keeps their order. Integers and floats need no encoding: dictionaries take every type of
// structures.Number.
package keys

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"
)

// RangeError is returned for a value that the type of the key can't represent.
type RangeError struct {
	What string // "2300-01-01 00:00:00 UTC", "2001:db8::1/128", …
	Can  string // what can be encoded
}

func (e *RangeError) Error() string { return fmt.Sprintf("%s has no key: %s", e.What, e.Can) }

var firstTime, lastTime = time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)

// OfTime encodes a time as the nanoseconds since 1970-01-01 UTC. Error: *RangeError for times before 1677-09-21 or
// after 2262-04-11, which don't fit 64 bits.
func OfTime(t time.Time) (int64, error) {
	if t.Before(firstTime) || t.After(lastTime) {
		return 0, &RangeError{t.UTC().Format("2006-01-02 15:04:05 UTC"), "times are from 1677-09-21 to 2262-04-11"}
	}
	return t.UnixNano(), nil
}

// Time returns the time that OfTime has encoded, in UTC.
func Time(key int64) time.Time { return time.Unix(0, key).UTC() }

// OfIPv4 encodes an IPv4 address, its first byte as the most significant one. An IPv4 address that is mapped to IPv6 is
// encoded as well. Error: *RangeError for other addresses.
func OfIPv4(a netip.Addr) (uint32, error) {
	if a = a.Unmap(); !a.Is4() {
		return 0, &RangeError{a.String(), "it is no IPv4 address"}
	}
	b := a.As4()
	return binary.BigEndian.Uint32(b[:]), nil
}

// IPv4 returns the address that OfIPv4 has encoded.
func IPv4(key uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, key)))
}

// OfIPv6Prefix encodes an IPv6 network as the first 64 bits of its addresses. Each /64 network has a key of its own; a
// larger network has the key of its first /64 network. Error: *RangeError for smaller networks, and so for single
// addresses, whose 128 bits don't fit a key. For these, keep the two halves in two dictionaries, or a hash.
func OfIPv6Prefix(p netip.Prefix) (uint64, error) {
	if !p.Addr().Is6() || p.Addr().Is4In6() || p.Bits() > 64 || p.Bits() < 0 {
		return 0, &RangeError{p.String(), "keys are IPv6 networks up to /64; a full address has 128 bits"}
	}
	b := p.Masked().Addr().As16()
	return binary.BigEndian.Uint64(b[:8]), nil
}

// IPv6Prefix returns the /64 network that OfIPv6Prefix has encoded.
func IPv6Prefix(key uint64) netip.Prefix {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], key)
	return netip.PrefixFrom(netip.AddrFrom16(b), 64)
}

// OfPair encodes two numbers. Keys are ordered by the first number, and if that is equal by the second.
func OfPair(first, second uint32) uint64 { return uint64(first)<<32 | uint64(second) }

// Pair returns the numbers that OfPair has encoded.
func Pair(key uint64) (first, second uint32) { return uint32(key >> 32), uint32(key) }
