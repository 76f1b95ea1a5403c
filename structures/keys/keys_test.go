package keys_test

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/keys"
)

func TestTime(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	times := []time.Time{keys.Time(math.MinInt64), time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Unix(0, 0), time.Date(2026, 1, 1, 0, 0, 0, 0, zone), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		keys.Time(math.MaxInt64)}
	last := int64(math.MinInt64)
	for i, at := range times {
		key, err := keys.OfTime(at)
		require.NoError(t, err)
		require.True(t, i == 0 || key > last, "%v", at)
		require.True(t, keys.Time(key).Equal(at))
		last = key
	}
	for _, at := range []time.Time{{}, keys.Time(math.MinInt64).Add(-1), keys.Time(math.MaxInt64).Add(1),
		time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
		_, err := keys.OfTime(at)
		var no *keys.RangeError
		require.ErrorAs(t, err, &no)
		require.Contains(t, err.Error(), "1677-09-21")
	}
}

func TestAddresses(t *testing.T) {
	key, err := keys.OfIPv4(netip.MustParseAddr("10.0.2.1"))
	require.NoError(t, err)
	require.Equal(t, uint32(10<<24|2<<8|1), key)
	require.Equal(t, "10.0.2.1", keys.IPv4(key).String())
	mapped, err := keys.OfIPv4(netip.MustParseAddr("::ffff:10.0.2.1"))
	require.NoError(t, err)
	require.Equal(t, key, mapped)
	require.Equal(t, "255.255.255.255", keys.IPv4(math.MaxUint32).String())
	var no *keys.RangeError
	for _, a := range []netip.Addr{netip.MustParseAddr("::1"), {}} {
		_, err = keys.OfIPv4(a)
		require.ErrorAs(t, err, &no)
	}

	networks := []string{"::/64", "2001:db8::/32", "2001:db8:0:1::/64", "2001:db8:1::/48", "ffff:ffff:ffff:ffff::/64"}
	var all []uint64
	for _, s := range networks {
		key, err := keys.OfIPv6Prefix(netip.MustParsePrefix(s))
		require.NoError(t, err)
		all = append(all, key)
		require.Equal(t, netip.MustParsePrefix(s).Addr(), keys.IPv6Prefix(key).Addr())
	}
	require.True(t, slices.IsSorted(all))
	inside, err := keys.OfIPv6Prefix(netip.MustParsePrefix("2001:db8:0:1::5/64"))
	require.NoError(t, err)
	require.Equal(t, all[2], inside, "an address that is written in front doesn't count")
	for _, s := range []string{"2001:db8::1/128", "2001:db8::/65", "10.0.0.0/8", "::ffff:10.0.0.0/104"} {
		_, err := keys.OfIPv6Prefix(netip.MustParsePrefix(s))
		require.ErrorAs(t, err, &no, s)
		require.Contains(t, err.Error(), "128 bits")
	}
	_, err = keys.OfIPv6Prefix(netip.Prefix{})
	require.ErrorAs(t, err, &no)
}

func TestPair(t *testing.T) {
	all := []uint64{keys.OfPair(0, math.MaxUint32), keys.OfPair(1, 0), keys.OfPair(1, 2),
		keys.OfPair(math.MaxUint32, 0)}
	require.True(t, slices.IsSorted(all))
	first, second := keys.Pair(all[2])
	require.Equal(t, [2]uint32{1, 2}, [2]uint32{first, second})
}

// A price and the number of an order, by the price.
func ExampleOfPair() {
	key := keys.OfPair(1299, 7)
	price, order := keys.Pair(key)
	fmt.Println(price, order)
	// Output: 1299 7
}
