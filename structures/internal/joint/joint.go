// Package joint puts together what has gone wrong in one call.
package joint

import (
	"errors"
	"slices"

	"github.com/vkds/vkds/vk"
)

// Error is errors.Join of errors that differ. One error comes as it is: a caller may compare it with ctx.Err(), or ask
// it for its type. vk.ErrDeviceLost comes alone: all others follow from it, or don't matter any more.
func Error(all ...error) error {
	var differ []error
	for _, err := range all {
		if err == vk.ErrDeviceLost {
			return err
		}
		if err != nil && !slices.ContainsFunc(differ, func(e error) bool { return errors.Is(e, err) }) {
			differ = append(differ, err)
		}
	}
	if len(differ) == 1 {
		return differ[0]
	}
	return errors.Join(differ...)
}
