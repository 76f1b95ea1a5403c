package combine_test

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{Passes: "8", InAll: "none", Why: "test-race has all of them"}.Begin()
	m.Run()
}
