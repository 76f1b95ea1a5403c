package linearizability

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "4 8 16 swiftshader", InAll: "4",
		Why: "4 lanes have the histories, and 8 with random delays; under validation other tests make the same calls",
	}.Begin()
	m.Run()
}
