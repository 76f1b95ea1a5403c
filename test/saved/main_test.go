package saved

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.HostAndCalls.Begin()
	m.Run()
}
