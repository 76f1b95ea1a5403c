package sequential_test

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "4 8 16 swiftshader", InAll: "4 8 16",
		Why: "lavapipe has 4 lanes, and compiles faster; under validation other tests make the same calls",
	}.Begin()
	m.Run()
}
