package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzScanner compares the positions of values with those of a decoder.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,true,"x\"y"],"b":{"":null}}`, `5`, `"x"`, "[ ]", `{"a/b~":{}}`, "{\n \"a\": -1e5\n}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !validObject(text) {
			return
		}
		var s Scanner
		var last Field
		emit := func(fd Field) {
			last = fd
			if value := text[fd.Start:fd.End]; !validObject(value) {
				t.Errorf("%q: %s is %q", text, fd.Pointer, value)
			}
		}
		for _, c := range text {
			s.Next(c, emit)
		}
		s.Finish(emit)
		if string(text[last.Start:last.End]) != string(bytes.TrimSpace(text)) || last.Pointer != "" {
			t.Errorf("%q: the last value is %q at %q", text, text[last.Start:last.End], last.Pointer)
		}
	})
}

// validObject reports whether text is one JSON value whose names are
// unique.
func validObject(text []byte) bool {
	if !json.Valid(text) {
		return false
	}
	if trimmed := bytes.TrimSpace(text); trimmed[0] == '{' {
		_, err := ParseObject(trimmed, "")
		return err == nil
	}
	return true
}
