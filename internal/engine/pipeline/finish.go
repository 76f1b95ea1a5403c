package pipeline

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Finish waits for a stream with a recorded batch, and completes the operations that the batch left pending, until
// left, their counter, is 0. Each time, room makes room for the pending operations (stuck: none was done since the last
// time), and again records them. An error of room or again is returned inside a *structures.PendingError.
func Finish(ctx context.Context, s *vk.Stream, left *vk.Buffer[uint32],
	room func(ctx context.Context, pending int, stuck bool) error, again func() error) error {
	last := -1
	for {
		if err := s.Wait(ctx); err != nil {
			return err
		}
		var word [1]uint32
		if err := left.Download(ctx, 0, word[:]); err != nil {
			return err
		}
		pending := int(word[0])
		if pending == 0 {
			return nil
		}
		logRetry(ctx, s.Device(), pending, pending == last)
		if err := room(ctx, pending, pending == last); err != nil {
			return &structures.PendingError{Operations: pending, Err: err}
		}
		last = pending
		err := s.Whole(func() error {
			s.Fill(left, 0, 1, 0)
			return again()
		})
		if err != nil {
			s.Discard() // drops only this batch: earlier work was waited for
			return &structures.PendingError{Operations: pending, Err: err}
		}
	}
}
