package pipeline

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.NotSwiftShader.Begin()
	m.Run()
}
