package filter_test

import (
	"testing"

	"github.com/vkds/vkds/test/pass"
)

func TestMain(m *testing.M) {
	pass.Tests{}.Begin()
	m.Run()
}
