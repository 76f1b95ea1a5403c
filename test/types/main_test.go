package types_test

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{Passes: "8", Why: "what Go's types become is the same at every width"}.Begin()
	m.Run()
}
