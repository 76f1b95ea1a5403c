package vk

import "context"

// NewRehearsal makes a Stream that records nothing: what is recorded into it does all but that, so that whatever is
// made when it is needed first, kernels above all, can be made ahead. Memory that commands name is not looked at, and
// may be nil; Submit and Wait find nothing to do. The context is for whoever makes something ahead.
func (d *Device) NewRehearsal(ctx context.Context) (*Stream, error) {
	s, err := d.NewStream()
	if err == nil {
		s.rehearsal = ctx
	}
	return s, err
}

// Rehearsal is the context of a stream that records nothing, and nil of others.
func (s *Stream) Rehearsal() context.Context { return s.rehearsal }
