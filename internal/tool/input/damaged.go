package input

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// damaged calls a function that uses a format's library. It returns its error as a DamagedError, except our own errors
// and io.EOF. The libraries use numbers of the file as indices, so they may panic for a damaged file; that becomes an
// error, too.
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
