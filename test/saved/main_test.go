package saved

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{
		Passes: "8 validated", Rest: map[string]string{"8": "validated"}, NoThreads: true,
		Why: "what the host does is the same on every driver and at every width",
	}.Begin()
	m.Run()
}
