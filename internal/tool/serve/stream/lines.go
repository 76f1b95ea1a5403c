package stream

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// Messages have lines of JSON. The first of a stream has the operation begin, and the name of the data. All lines
// before such a one are void. If it is not followed by change 1, then come all pairs, each set with number 0, and a
// line of operation last, with the number of the last change that they have.

func appendBegin(line []byte, data string) []byte {
	return append(append(append(line, `{"change":0,"op":"begin","data":"`...), data...), "\"}\n"...)
}

func appendLast(line []byte, number uint64) []byte {
	return append(strconv.AppendUint(append(line, `{"change":`...), number, 10), ",\"op\":\"last\"}\n"...)
}

func appendChange(line []byte, types replica.Types, number uint64, c replica.Change) []byte {
	var r replica.Record
	if c.Text != nil {
		r = *c.Text
	}
	op := `,"op":"set"`
	if c.Deleted {
		op = `,"op":"delete"`
	}
	line = append(strconv.AppendUint(append(line, `{"change":`...), number, 10), op...)
	line = appendField(line, "key", types.Key, c.Key, r.Key)
	if !c.Deleted {
		line = appendField(line, "value", types.Value, c.Value, r.Value)
	}
	return append(line, "}\n"...)
}

// appendField appends a word, or a text. A text that JSON doesn't have is in base64, under another name, as in
// CloudEvents.
func appendField(line []byte, name string, t keytype.Type, word uint64, text string) []byte {
	line = append(append(line, `,"`...), name...)
	switch {
	case t != keytype.Text:
		return t.AppendJSON(append(line, `":`...), word)
	case utf8.ValidString(text):
		quoted, _ := json.Marshal(text) // a string has no error
		return append(append(line, `":`...), quoted...)
	}
	line = base64.StdEncoding.AppendEncode(append(line, `_base64":"`...), []byte(text))
	return append(line, '"')
}
