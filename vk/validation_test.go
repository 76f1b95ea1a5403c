package vk

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk/internal/native"
)

// TestValidationReachesGo breaks two rules of Vulkan and receives the message of each in Go. One is found by the core
// check, the other only by the synchronization check.
func TestValidationReachesGo(t *testing.T) {
	if !layerInstalled() {
		t.Skip("VK_LAYER_KHRONOS_validation is not installed")
	}
	t.Setenv("VKDS_REORDERED", "") // the layer must see each command when it is recorded
	var mu sync.Mutex
	var messages []Message
	d := openFor(t, Options{Validation: true, OnMessage: func(m Message) {
		mu.Lock()
		defer mu.Unlock()
		messages = append(messages, m)
	}})
	b := buffer[uint32](t, d, 16)
	s := stream(t, d)

	// Fill returns an error for an offset of 2, so bypass it.
	commands, ok := s.command(native.Transfer)
	require.True(t, ok)
	d.native.Fill(commands, b.r.block.buffer, b.r.at+2, 4, 0)
	s.abandon()
	require.NotEmpty(t, messages)
	require.Equal(t, Error, messages[0].Severity)
	require.Equal(t, "VUID-vkCmdFillBuffer-dstOffset-00025", messages[0].ID)
	require.Contains(t, messages[0].Text, "dstOffset")

	messages = nil
	s.Concurrent(func() {
		s.Fill(b, 0, 4, 1)
		s.Fill(b, 2, 4, 2)
	})
	require.NoError(t, s.Wait(context.Background()))
	require.NotEmpty(t, messages)
	require.Equal(t, "SYNC-HAZARD-WRITE-AFTER-WRITE", messages[0].ID)

	// The same commands are valid with a barrier.
	messages = nil
	s.Fill(b, 0, 4, 1)
	s.Fill(b, 2, 4, 2)
	s.Copy(b, 8, b, 0, 8)
	require.NoError(t, s.Wait(context.Background()))
	require.Empty(t, messages)
}

func TestValidationNotInstalled(t *testing.T) {
	t.Setenv("VK_LAYER_PATH", t.TempDir())
	_, err := Open(Options{Validation: true})
	var e *MissingFeatureError
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "VK_LAYER_KHRONOS_validation")
}
