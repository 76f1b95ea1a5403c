// Package joint joins the errors of one call.
package joint

import (
	"errors"
	"slices"

	"github.com/vkds/vkds/vk"
)

// Error joins errors that differ, as errors.Join does. A single error is returned as it is, so that a caller can
// compare it with ctx.Err() or check its type. vk.ErrDeviceLost is returned alone, because the other errors follow from
// it or no longer matter.
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
