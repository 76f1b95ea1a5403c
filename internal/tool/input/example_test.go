package input_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// A file is read in blocks of the caller's size, a slice a column.
func ExampleReader_Read() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "taxi.csv")
	text := "timestamp,value\n2014-07-01 00:00:00,10844\n2014-07-01 00:30:00,8127\n2014-07-01 01:00:00,\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	r, err := input.Open(context.Background(), path, input.Options{
		Columns:     []input.Column{{Name: "timestamp", Type: keytype.Time}, {Name: "value"}},
		SkipInvalid: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	times, values := make([]uint64, 10), make([]uint64, 10)
	for {
		n, err := r.Read(times, values)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(times[:n], values[:n])
	}
	fmt.Println(r.Skipped(), "skipped")
	// Output:
	// [1404172800 1404174600] [10844 8127]
	// 1 skipped
}
