package stream

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"pgregory.net/rapid"
)

// The lines of docs/serve.md, and of each kind of field.
func TestLines(t *testing.T) {
	integers := replica.Types{Key: keytype.Int64, Value: keytype.Int64}
	least, err := keytype.Int64.FromInt(math.MinInt64)
	require.NoError(t, err)
	seven, err := keytype.Int64.FromInt(7)
	require.NoError(t, err)
	at, err := keytype.Time.Parse("2026-11-30 11:22:33")
	require.NoError(t, err)
	lines := appendBegin(nil, "5d1c")
	lines = appendChange(lines, integers, 1, replica.Change{Key: seven, Value: least})
	lines = appendChange(lines, integers, 2, replica.Change{Key: seven, Deleted: true})
	lines = appendLast(lines, 2)
	mixed := replica.Types{Key: keytype.Text, Value: keytype.Time}
	lines = appendChange(lines, mixed, 3, replica.Change{Text: &replica.Record{Key: `a"` + "\n"}, Value: at})
	lines = appendChange(lines, mixed, 4, replica.Change{Text: &replica.Record{Key: "\xff"}, Deleted: true})
	require.Equal(t, `{"change":0,"op":"begin","data":"5d1c"}
{"change":1,"op":"set","key":7,"value":-9223372036854775808}
{"change":2,"op":"delete","key":7}
{"change":2,"op":"last"}
{"change":3,"op":"set","key":"a\"\n","value":"2026-11-30 11:22:33"}
{"change":4,"op":"delete","key_base64":"/w=="}
`, string(lines))
}

// A reader of JSON has the bytes of each text.
func TestTextsInLines(t *testing.T) {
	types := replica.Types{Key: keytype.Text, Value: keytype.Text}
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		want := replica.Record{Key: draw.Draw(t, "key"), Value: draw.Draw(t, "value")}
		var got struct {
			Key, Value  string
			KeyBase64   *[]byte `json:"key_base64"`
			ValueBase64 *[]byte `json:"value_base64"`
		}
		line := appendChange(nil, types, 1, replica.Change{Text: &want})
		require.NoError(t, json.Unmarshal(line, &got))
		if got.KeyBase64 != nil {
			got.Key = string(*got.KeyBase64)
		}
		if got.ValueBase64 != nil {
			got.Value = string(*got.ValueBase64)
		}
		require.Equal(t, want, replica.Record{Key: got.Key, Value: got.Value})
	})
}

func TestParse(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "login")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, text := range []string{"nats://a/S", "nats://a:4222,[::1]:5/S", "tls://a:1,b/S"} {
		got, err := Parse(text, "")
		require.NoError(t, err)
		require.Equal(t, text, got.String())
		require.True(t, Is(text))
	}
	got, err := Parse("tls://a,b:1/S", file("token\nmore"))
	require.NoError(t, err)
	require.Equal(t, "tls://a,tls://b:1", got.servers)
	require.NotNil(t, got.login)
	for _, x := range []struct{ text, login, err string }{
		{"nats://a:4222", "", "it is nats://HOST:PORT/STREAM, or tls://HOST:PORT/STREAM"},
		{"nats://a/", "", "it is nats://HOST:PORT/STREAM"},
		{"nats://a/A.B", "", "it is nats://HOST:PORT/STREAM"},
		{"nats://a/A/B", "", "it is nats://HOST:PORT/STREAM"},
		{"nats:///A", "", `"" is no host`},
		{"nats://a,/A", "", `"" is no host`},
		{"nats://user:pass@a/A", "", "put it into a file, and name that with --changes-login"},
		{"nats://user:%pass@a/A", "", "put it into a file, and name that with --changes-login"},
		{"nats://a:b/A", "", "invalid port"},
		{"nats://a/A", file("\nx"), "its first line is empty"},
		{"nats://a/A", file("x") + "y", "no such file"},
	} {
		_, err := Parse(x.text, x.login)
		require.ErrorContains(t, err, x.err)
		require.NotContains(t, err.Error(), "pass@")
	}
	for _, path := range []string{"changes.csv", "/nats://a/S", "http://a/S"} {
		require.False(t, Is(path))
	}
}
