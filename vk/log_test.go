package vk

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk/internal/native"
)

// records is a handler that keeps the log from level Debug on: each record's message, level and attributes.
type records struct {
	mu   *sync.Mutex
	all  *[]record
	with []slog.Attr
}

type record struct {
	message string
	level   slog.Level
	about   map[string]slog.Value
	keys    []string
}

func newRecords() records { return records{&sync.Mutex{}, &[]record{}, nil} }

func (h records) Enabled(context.Context, slog.Level) bool { return true }
func (h records) WithGroup(string) slog.Handler            { return h }
func (h records) WithAttrs(more []slog.Attr) slog.Handler {
	return records{h.mu, h.all, slices.Concat(h.with, more)}
}

func (h records) Handle(_ context.Context, r slog.Record) error {
	one := record{r.Message, r.Level, map[string]slog.Value{}, nil}
	add := func(a slog.Attr) bool {
		one.about[a.Key] = a.Value
		one.keys = append(one.keys, a.Key)
		return true
	}
	for _, a := range h.with {
		add(a)
	}
	r.Attrs(add)
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.all = append(*h.all, one)
	return nil
}

func (h records) messages() (all []string) {
	for _, r := range *h.all {
		all = append(all, r.message)
	}
	return all
}

// The records that a device logs from Open to Close.
func TestLogger(t *testing.T) {
	h := newRecords()
	losing := false
	d, err := Open(Options{CacheDir: "none", Logger: slog.New(h), fault: func(string) native.Result {
		if losing {
			return native.ErrorDeviceLost
		}
		return native.Success
	}})
	require.NoError(t, err)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 64})
	losing = true
	for range 3 { // it is logged only once
		_, err = d.NewStream()
		require.ErrorIs(t, err, ErrDeviceLost)
	}
	losing = false
	require.NoError(t, d.Close())

	require.Equal(t, []string{"device opened", "kernel made", "device lost", "device closed"}, h.messages())
	opened, made, lost := (*h.all)[0], (*h.all)[1], (*h.all)[2]
	for _, r := range *h.all {
		require.Equal(t, d.Info().Name, r.about["device"].String(), r.message)
	}
	require.Equal(t, slog.LevelInfo, opened.level)
	require.Equal(t, []string{"device", "type", "driver", "chosen_by", "subgroup", "tuning", "features", "bytes"},
		opened.keys)
	require.Equal(t, string(d.Info().Type), opened.about["type"].String())
	require.EqualValues(t, d.SubgroupSize(), opened.about["subgroup"].Int64())
	require.Equal(t, slog.LevelDebug, made.level)
	require.Equal(t, []string{"device", "kernel", "workgroup", "subgroup", "duration"}, made.keys)
	require.Equal(t, k.p.name, made.about["kernel"].String())
	require.EqualValues(t, 64, made.about["workgroup"].Int64())
	require.Positive(t, made.about["duration"].Duration()+clockStep)
	require.Equal(t, slog.LevelWarn, lost.level)
	require.Equal(t, "vkCreateSemaphore", lost.about["call"].String())
}

func TestLoggerSaysWhatChose(t *testing.T) {
	d, err := Open(Options{CacheDir: "none"})
	require.NoError(t, err)
	name := d.Info().Name
	require.NoError(t, d.Close())
	for _, c := range []struct{ option, environment, want string }{
		{"", "", "preference"}, {"", name, "VKDS_DEVICE"}, {name, name, "option"},
	} {
		t.Setenv("VKDS_DEVICE", c.environment)
		h := newRecords()
		d, err := Open(Options{CacheDir: "none", Device: c.option, Logger: slog.New(h)})
		require.NoError(t, err)
		require.NoError(t, d.Close())
		require.Equal(t, c.want, (*h.all)[0].about["chosen_by"].String())
	}
}

// Messages of validation go to OnMessage and to the logger. A broken rule has level Error.
func TestLoggerTakesMessages(t *testing.T) {
	h := newRecords()
	var taken []Message
	told := listen(func(m Message) { taken = append(taken, m) }, slog.New(h))
	told(native.Message{Severity: severityError, ID: "VUID-1", Text: "broken"})
	told(native.Message{Severity: 0x100, ID: "LOADER", Text: "odd"})
	listen(nil, slog.New(h))(native.Message{Severity: severityError, ID: "VUID-2", Text: "broken"})
	require.Equal(t, []Message{{Error, "VUID-1", "broken"}, {Warning, "LOADER", "odd"}}, taken)
	require.Equal(t, []string{"validation", "validation", "validation"}, h.messages())
	require.Equal(t, []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelError},
		[]slog.Level{(*h.all)[0].level, (*h.all)[1].level, (*h.all)[2].level})
	require.Equal(t, "VUID-2", (*h.all)[2].about["id"].String())
}

// Without a logger in Options, Log returns one that costs nothing.
func TestNoLogger(t *testing.T) {
	d := openFor(t, Options{CacheDir: "none"})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		d.Log().LogAttrs(context.Background(), slog.LevelError, "nothing", slog.Int("n", 1))
	}))
}
