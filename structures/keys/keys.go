// Package keys makes numbers of what people have as keys, times, addresses, prefixes and pairs of small numbers, so
// that an ordered dictionary keeps their order. Numbers themselves need nothing of this: dictionaries take all types
// of structures.Number.
package keys

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"
)

// RangeError says what has no key, since it lies outside of what the key's type can say.
type RangeError struct {
	What string // "2300-01-01 00:00:00 UTC", "2001:db8::1/128", …
	Can  string // what has one
}

func (e *RangeError) Error() string { return fmt.Sprintf("%s has no key: %s", e.What, e.Can) }

var firstTime, lastTime = time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)

// OfTime is a moment as the nanoseconds since 1970-01-01 UTC, whatever its location. Error: *RangeError for one before
// 1677-09-21 or after 2262-04-11, which 64 bits have no room for.
func OfTime(t time.Time) (int64, error) {
	if t.Before(firstTime) || t.After(lastTime) {
		return 0, &RangeError{t.UTC().Format("2006-01-02 15:04:05 UTC"), "times are from 1677-09-21 to 2262-04-11"}
	}
	return t.UnixNano(), nil
}

// Time is the moment of a key, in UTC.
func Time(key int64) time.Time { return time.Unix(0, key).UTC() }

// OfIPv4 is an IPv4 address, its first byte the most significant one; also of one that is mapped to IPv6. Error:
// *RangeError for others.
func OfIPv4(a netip.Addr) (uint32, error) {
	if a = a.Unmap(); !a.Is4() {
		return 0, &RangeError{a.String(), "it is no IPv4 address"}
	}
	b := a.As4()
	return binary.BigEndian.Uint32(b[:]), nil
}

// IPv4 is the address of a key.
func IPv4(key uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, key)))
}

// OfIPv6Prefix is a network of IPv6 addresses, as the first half of its addresses: networks of /64 each have a key of
// their own, and larger ones that of their first /64. Error: *RangeError for networks smaller than that, as a full
// address is, whose 128 bits no key has room for: keep the two halves in two dictionaries, or a hash.
func OfIPv6Prefix(p netip.Prefix) (uint64, error) {
	if !p.Addr().Is6() || p.Addr().Is4In6() || p.Bits() > 64 || p.Bits() < 0 {
		return 0, &RangeError{p.String(), "keys are IPv6 networks up to /64; a full address has 128 bits"}
	}
	b := p.Masked().Addr().As16()
	return binary.BigEndian.Uint64(b[:8]), nil
}

// IPv6Prefix is the network of /64 of a key.
func IPv6Prefix(key uint64) netip.Prefix {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], key)
	return netip.PrefixFrom(netip.AddrFrom16(b), 64)
}

// OfPair is two numbers in one key: by the first one, and where that is equal by the second.
func OfPair(first, second uint32) uint64 { return uint64(first)<<32 | uint64(second) }

// Pair are the two numbers of a key.
func Pair(key uint64) (first, second uint32) { return uint32(key >> 32), uint32(key) }
