package input

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// damaged calls a function that uses a format's library, like caught. It returns its error as a DamagedError, except
// our own errors and io.EOF.
func damaged(file string, format Format, read func() error) error {
	err := caught(read)
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

// caught calls a function that uses a format's library. The libraries use numbers of the file as indices, so they may
// panic for a damaged file; that becomes an error.
func caught(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return read()
}
