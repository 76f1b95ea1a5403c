//go:build !glfw

package draw

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Host.Begin()
	m.Run()
}
