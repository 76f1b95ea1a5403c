package shader

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "4 8 16 swiftshader", Rest: map[string]string{"4": "swiftshader"},
		Except: map[string]string{"16": "^Test(Slab|Page|BTree)"},
		Why: "SwiftShader has 4 lanes; hash tables and trees have 16; under validation other tests make the same " +
			"calls",
	}.Begin()
	m.Run()
}
