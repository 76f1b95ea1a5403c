package vk

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/vkds/vkds/vk/internal/native"
)

// Severity is the severity of a Message.
type Severity string

const (
	Warning Severity = "warning"
	Error   Severity = "error" // a rule of Vulkan was broken: the device's behaviour is undefined
)

// Message is a message of the validation layer.
type Message struct {
	Severity Severity
	ID       string // name of a rule in the Vulkan specification, "VUID-…", or of a check, "SYNC-HAZARD-…"
	Text     string
}

func (m Message) String() string { return fmt.Sprintf("%s: %s: %s", m.Severity, m.ID, m.Text) }

const severityError = 0x1000 // VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT

// listen returns a function that logs messages and passes them to take, one at a time. If there is neither a logger nor
// take, it writes them to standard error.
func listen(take func(Message), log *slog.Logger) func(native.Message) {
	if take == nil && log == nil {
		take = func(m Message) { fmt.Fprintln(os.Stderr, "vk: validation:", m) }
	}
	var mu sync.Mutex
	return func(n native.Message) {
		m := Message{Warning, n.ID, n.Text}
		if n.Severity >= severityError {
			m.Severity = Error
		}
		mu.Lock()
		defer mu.Unlock()
		if log != nil {
			level := slog.LevelWarn
			if m.Severity == Error {
				level = slog.LevelError
			}
			log.LogAttrs(context.Background(), level, "validation", slog.String("id", m.ID),
				slog.String("text", m.Text))
		}
		if take != nil {
			take(m)
		}
	}
}
