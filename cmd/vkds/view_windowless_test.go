//go:build !glfw

package main_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const tags = "" // of the tool

// A tool that was built without windows names the tag.
func TestWindowNeedsTheTag(t *testing.T) {
	table := write(t, "t.csv", rows(10))
	assert.Contains(t, refusal(t, "", "view", table, "--window"), "go build -tags glfw ./cmd/vkds")
}
