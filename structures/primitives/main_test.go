package primitives

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "4 8 16 swiftshader", InAll: "8 swiftshader", Reordered: "8",
		Why: "SwiftShader has 4 lanes; 16 take twice as long and find as much; other tests make the calls",
	}.Begin()
	m.Run()
}
