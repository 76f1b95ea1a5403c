package alloc

import "fmt"

// LimitError says that a structure, or a pool, would grow beyond a limit of its own, whatever memory the device has.
// What it stopped has its statuses; the structure is as good as before. An LSM may find room by a cleanup.
type LimitError struct {
	What   string // "pairs of a sorted array", "bytes of an LSM", …
	Want   uint64 // how many it would have come to
	Most   uint64 // that there may be
	Option string // which option says so; "": nothing allows more
}

func (e *LimitError) Error() string {
	if e.Option != "" {
		return fmt.Sprintf("%d %s, but option %s allows no more than %d", e.Want, e.What, e.Option, e.Most)
	}
	return fmt.Sprintf("%d %s, but there may be no more than %d", e.Want, e.What, e.Most)
}
