package keytype

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSum(t *testing.T) {
	for _, c := range []struct {
		of    Type
		texts []string
		in    Type
		want  string
	}{
		{Uint32, []string{"4294967295"}, Uint32, "4294967295"},
		{Uint32, []string{"4294967295", "1"}, Uint64, "4294967296"},
		{Uint64, []string{"18446744073709551615", "0"}, Uint64, "18446744073709551615"},
		{Uint64, []string{"18446744073709551615", "1"}, 0,
			"18446744073709551616 is out of range (0 to 18446744073709551615)"},
		{Int32, []string{"-2147483648", "2147483647"}, Int32, "-1"},
		{Int32, []string{"-2147483648", "-1"}, Int64, "-2147483649"},
		{Int64, []string{"9223372036854775807", "9223372036854775807", "-9223372036854775808"}, Int64,
			"9223372036854775806"},
		{Int64, []string{"-9223372036854775808", "-1"}, 0, "-9223372036854775809 is out of range " +
			"(-9223372036854775808 to 9223372036854775807)"},
		{Float32, []string{"0.5", "-0.25"}, Float32, "0.25"},
		{Float32, []string{"3e38", "3e38"}, 0, "6.0000000109955115e+38 is out of range (32-bit floats)"},
		{Float64, []string{"1e308", "1e308"}, 0, "the sum is out of range (64-bit floats)"},
		{Float64, []string{"inf", "1"}, Float64, "+Inf"},
		{Float64, []string{"inf", "-inf"}, 0, "NaN has no place in an order"},
		{Hex, []string{"ffffffff", "2"}, Hex64, "0x100000001"},
	} {
		var s Sum
		for _, text := range c.texts {
			w, err := c.of.Parse(text)
			require.NoError(t, err)
			require.True(t, c.of.Sums())
			s.Add(c.of, w)
		}
		v, err := s.In(c.of)
		if err != nil {
			require.EqualError(t, err, c.want)
			continue
		}
		require.Equal(t, c.in, v.Type)
		require.Equal(t, c.want, v.String(), "%v", c.texts)
	}
	require.False(t, Time.Sums())
	require.False(t, Text.Sums())
}
