//go:build !glfw

package main

import (
	"context"
	"errors"
)

// show is in view_window.go.
func (v *viewing) show(context.Context, *global, string) error {
	return errors.New("--window: this vkds was built without windows (go build -tags glfw ./cmd/vkds; " +
		"\"make view-deps\" installs what that needs)")
}
