package pipeline

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{InAll: "4 8 16 validated", Why: "lavapipe has 4 lanes, and compiles faster"}.Begin()
	m.Run()
}
