package pass

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What runs of a package in each pass, alone and in "make test": "all", or flags.
func TestPackage(t *testing.T) {
	tests := Tests{
		Passes: "4 8 16 swiftshader", InAll: "4 8 swiftshader", Short: "4",
		Only:   map[string]string{"swiftshader": "^TestA$"},
		Except: map[string]string{"4": "^TestB$"}, Rest: map[string]string{"8": "swiftshader"},
	}
	skipped := func(pass string) ([]string, bool) { return []string{"TestC", "TestD"}, pass == "swiftshader" }
	unknown := func(string) ([]string, bool) { return nil, false }
	is := func(pass string, all bool, skipped func(string) ([]string, bool)) string {
		flags, part := tests.choose(pass, all, skipped)
		if !part {
			return "none"
		}
		return fmt.Sprint(flags["test.short"], " skip ", flags["test.skip"], " run ", flags["test.run"])
	}
	for pass, alone := range map[string]string{
		"4": "true skip  run ", "8": " skip  run ", "16": " skip  run ",
		"swiftshader": "true skip " + examples + " run ", "validated": "none",
	} {
		require.Equal(t, alone, is(pass, false, skipped), pass)
	}
	for pass, all := range map[string]string{
		"4": "true skip " + examples + "|^TestB$|" + wide + " run ", "8": " skip  run ^(TestC|TestD)$", "16": "none",
		"swiftshader": "true skip " + examples + "|" + wide + " run ^TestA$", "validated": "none",
	} {
		require.Equal(t, all, is(pass, true, skipped), pass)
	}
	require.Equal(t, " skip  run ", is("8", true, unknown), "what other passes skipped isn't known")
	require.Equal(t, " skip  run ", is("wine", false, unknown), "an emulated system has all tests")

	flags, part := Host.choose("8", true, unknown)
	require.True(t, part)
	require.Empty(t, flags)
	flags, part = Tests{}.choose("validated", true, unknown)
	require.True(t, part, "all passes")
	require.Equal(t, examples+"|"+wideValidated, flags["test.skip"])
	for _, pattern := range []string{examples, wide, wideValidated} {
		_, err := regexp.Compile(pattern)
		require.NoError(t, err)
	}
}
