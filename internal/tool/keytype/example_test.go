package keytype_test

import (
	"fmt"

	"github.com/vkds/vkds/internal/tool/keytype"
)

func ExampleType_Parse() {
	cold, _ := keytype.Float32.Parse("-3.5")
	warm, _ := keytype.Float32.Parse("21")
	fmt.Println(cold < warm, keytype.Float32.Format(cold))

	at, _ := keytype.Time.Parse("2014-07-01T02:00:00+02:00")
	fmt.Println(at, keytype.Time.Format(at))

	_, err := keytype.Uint32.Parse("4294967296")
	fmt.Println(err)
	// Output:
	// true -3.5
	// 1404172800 2014-07-01 00:00:00
	// 4294967296 is out of range (0 to 4294967295)
}
