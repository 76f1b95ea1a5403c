package goroutines

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "8 validated", InAll: "validated",
		Why: "test-race has them at 8 lanes; what the host does is the same on every driver and at every width",
	}.Begin()
	m.Run()
}
