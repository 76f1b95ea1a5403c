//go:build chaos

package shaders

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// modules are the kernels with random delays (include/chaos.glsl), as "make test-chaos" compiles them. Tests alone are
// built with the tag, beside the sources.
var modules = func() fs.FS {
	_, source, _, _ := runtime.Caller(0)
	return os.DirFS(filepath.Join(filepath.Dir(source), "..", "build", "chaos"))
}()
