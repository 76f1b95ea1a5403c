package guide

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{Passes: "8", Why: "examples make the calls of tests"}.Begin()
	m.Run()
}
