package vk

import "context"

// NewRehearsal returns a Stream that records nothing. Everything else is done as on other streams, so kernels and
// whatever is made when it is first needed can be made ahead. Memory that commands name is not used and may be nil.
// Submit and Wait do nothing. The context is for code that makes something ahead.
func (d *Device) NewRehearsal(ctx context.Context) (*Stream, error) {
	s, err := d.NewStream()
	if err == nil {
		s.rehearsal = ctx
	}
	return s, err
}

// Rehearsal returns the context of a stream that records nothing (NewRehearsal), and nil for other streams.
func (s *Stream) Rehearsal() context.Context {
	if !s.made() {
		return nil
	}
	return s.rehearsal
}
