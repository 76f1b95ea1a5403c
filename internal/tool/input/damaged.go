package input

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// damaged runs a function that calls a format's library and makes a
// DamagedError of what it complains about, unless that is another error of ours
// or the end. The libraries index by what the file says, so a broken file can
// make them panic, which is an error of the file like any other.
func damaged(file string, format Format, read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &DamagedError{file, format, fmt.Errorf("%v", p)}
		}
	}()
	err = read()
	var ours *Error
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.As(err, &ours):
		return ours
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &DamagedError{file, format, err}
}
