package relational

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		InAll: "4 8 swiftshader validated",
		Why:   "16 lanes take twice as long and find as much",
	}.Begin()
	m.Run()
}
