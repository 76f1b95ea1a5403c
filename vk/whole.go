package vk

// Whole records what record records, all of it or nothing. An error of record's, or of a command of its, before the
// first command was recorded leaves the batch as it was; after that, the batch has a part of something, and the next
// Submit or Wait returns the error and drops it. Whole returns the error, too. In a batch that is to be dropped anyway
// nothing is recorded, and Whole returns why.
//
// Calls may be nested: then all is recorded, or nothing of what the outermost one records.
func (s *Stream) Whole(record func() error) error {
	if s.err != nil {
		return s.err
	}
	before, outermost := s.commands, !s.whole
	if outermost {
		s.whole = true
		defer func() { s.whole = false }()
	}
	if err := record(); err != nil {
		s.Fail(err)
	}
	err := s.err
	if outermost {
		// What a Submit within has sent on its way is no longer part of the batch.
		if s.commands == before || s.open == nil {
			s.err = nil
		}
	}
	return err
}

// Fail says that something that belongs to the batch could not be recorded: nothing more is, and the next Submit or
// Wait returns the error and drops the batch, none of which runs. Of several errors the first one counts, and nil is
// none.
func (s *Stream) Fail(err error) {
	if err != nil {
		s.fail(err)
	}
}

// OnSubmit has f called as soon as it is certain what becomes of what was recorded so far: when it is submitted, with
// the point where it will be done, or when it is dropped, by an error, Discard or Close. Those of one batch are called
// in the order in which they were given. With nothing recorded since the last Submit, f is called at once. It is called
// by the goroutine that uses the stream, and must not use it itself.
func (s *Stream) OnSubmit(f func(p Point, submitted bool)) {
	switch {
	case s.err != nil:
		f(Point{}, false)
	case s.open != nil:
		s.open.onSubmit = append(s.open.onSubmit, f)
	default:
		f(Point{s.line, s.last}, true)
	}
}

// Finally has f called once nothing that was recorded or submitted so far is still to run or running: the place for
// freeing what that work names. f is called by the goroutine that uses the stream, in a Submit, Wait, Discard or Close
// that finds it so, or at once where it is so already, and must not use the stream itself. After the device was lost
// it isn't called: Device.Close frees what is left.
func (s *Stream) Finally(f func()) {
	if s.open == nil && len(s.waits) > 0 {
		s.begin() // what comes next belongs behind the points that the stream was told to wait for, and so does f
	}
	s.retire()
	switch n := len(s.flying); {
	case s.open != nil:
		s.open.finally = append(s.open.finally, f)
	case n > 0:
		s.flying[n-1].finally = append(s.flying[n-1].finally, f)
	default:
		f()
	}
}

// settled tells those who asked for it what becomes of a batch.
func (b *batch) settled(p Point, submitted bool) {
	for _, f := range b.onSubmit {
		f(p, submitted)
	}
}

// ended does what was to be done behind a batch.
func (b *batch) ended() {
	for _, f := range b.finally {
		f()
	}
}
