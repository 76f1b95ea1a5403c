package vk

import "context"

// NewRehearsal returns a Stream that records nothing. Use it to make kernels, and other objects that are made on first
// use, in advance: the calls that record do everything else as on other streams. Memory that commands name is not used
// and may be nil. Submit and Wait do nothing. Rehearsal returns ctx, for code that makes objects in advance.
func (d *Device) NewRehearsal(ctx context.Context) (*Stream, error) {
	s, err := d.NewStream()
	if err == nil {
		s.rehearsal = ctx
	}
	return s, err
}

// Rehearsal returns the context that was given to NewRehearsal. It returns nil for other streams.
func (s *Stream) Rehearsal() context.Context {
	if !s.made() {
		return nil
	}
	return s.rehearsal
}
