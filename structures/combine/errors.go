package combine

import "fmt"

// UnknownError says that a call has returned before its batch did, because its context ended or because the dictionary
// panicked. Each of its updates takes effect once or not at all, perhaps after the call has returned.
type UnknownError struct {
	Operations int   // of the call
	Err        error // why: the context's cause, or *PanicError
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("it is not known whether the %d updates of the call take effect: %v", e.Operations, e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }

// PanicError says that the dictionary panicked in a call for a batch, or ended the goroutine.
type PanicError struct {
	Value any // of the panic; nil: runtime.Goexit
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "the dictionary ended the goroutine of the batch"
	}
	return fmt.Sprintf("the dictionary panicked: %v", e.Value)
}

// Unwrap returns the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
