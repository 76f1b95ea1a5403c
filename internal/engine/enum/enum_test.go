package enum

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type color uint8

const (
	red color = iota
	green
	blue
)

var colors = Names[color]{red: "red", green: "green", blue: "blue"}

func (c color) String() string { return colors.String(c) }

func TestNames(t *testing.T) {
	require.Equal(t, "red", red.String())
	require.Equal(t, "blue", blue.String())
	require.Equal(t, "color(3)", color(3).String())
	require.Equal(t, "color(255)", color(255).String())
}

func TestParse(t *testing.T) {
	some := Of("color of paint", blue, green)
	require.Equal(t, []string{"blue", "green"}, some.Names())
	for _, c := range []color{blue, green} {
		got, err := some.Parse(c.String())
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	for _, name := range []string{"red", "", "BLUE", "color(1)"} {
		_, err := some.Parse(name)
		var unknown *UnknownError
		require.ErrorAs(t, err, &unknown)
		require.Equal(t, name, unknown.Name)
	}
	_, err := some.Parse("red")
	require.EqualError(t, err, `unknown color of paint "red" (known: blue, green)`)
}
