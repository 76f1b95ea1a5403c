//go:build unix && cgo

package input

// extern unsigned vkds_closed;
import "C"

func init() { atStart = uint(C.vkds_closed) }
