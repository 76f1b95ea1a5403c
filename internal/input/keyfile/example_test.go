package keyfile_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/vkds/vkds/internal/input/keyfile"
)

// A file of keys is read in batches of the caller's size.
func ExampleReader_Read() {
	trace := strings.NewReader("7\n0x10\n*\n7\n")
	r, err := keyfile.NewReader("trace", trace, keyfile.Options{SkipInvalid: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	batch := make([]uint32, 2)
	for {
		n, err := r.Read(batch)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch[:n])
	}
	fmt.Println(r.Skipped(), "skipped")
	// Output:
	// [7 16]
	// [7]
	// 1 skipped
}
