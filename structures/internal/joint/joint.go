// Package joint puts together what has gone wrong in one call.
package joint

import "errors"

// Error is errors.Join, except that one error comes as it is: a caller may compare it with ctx.Err(), or ask it for its
// type.
func Error(all ...error) error {
	var first error
	for _, err := range all {
		if err != nil && first != nil {
			return errors.Join(all...)
		}
		if err != nil {
			first = err
		}
	}
	return first
}
