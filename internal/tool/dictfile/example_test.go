package dictfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vkds/vkds/internal/tool/dictfile"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "squares.vkds")

	w, err := dictfile.Create(ctx, path, dictfile.Header{Structure: "slabhash", Pairs: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Write([]uint64{1, 2, 3}, []uint64{1, 4, 9}); err != nil {
		fmt.Println(err)
	}
	if err := w.Close(); err != nil { // now the file exists
		fmt.Println(err)
	}

	r, err := dictfile.Open(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	keys, values := make([]uint64, 10), make([]uint64, 10)
	n, err := r.Read(keys, values)
	fmt.Println(r.Header().Structure, keys[:n], values[:n], err)
	// Output:
	// slabhash [1 2 3] [1 4 9] <nil>
}
