package table_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vkds/vkds/internal/input/table"
	"github.com/vkds/vkds/internal/keytype"
)

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "taxi.csv")
	text := "timestamp,value\n2014-07-01 00:00:00,10844\n2014-07-01 00:30:00,8127\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	keys, values, _, err := table.Load(context.Background(), path, table.Options{
		Key: "timestamp", KeyType: keytype.Time,
		Value: "value",
	})
	fmt.Println(keys, values, err)
	// Output:
	// [1404172800 1404174600] [10844 8127] <nil>
}
