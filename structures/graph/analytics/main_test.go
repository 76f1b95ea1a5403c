package analytics_test

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "4 8 16 swiftshader", InAll: "8 swiftshader",
		Only:      map[string]string{"swiftshader": "^Test(BFS|SSSP|FloatSums|Components|StrongComponents)$"},
		Reordered: "8",
		Why:       "at 4 lanes minima alone are found in another way; 16 find as much as 8; other tests make the calls",
	}.Begin()
	m.Run()
}
