package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// An object is a JSON object of a request: its members in the order in which
// they came, not decoded yet, each name once.
type object struct {
	path    string // "" for the body itself, "json_mode." inside of that field
	names   []string
	members map[string]json.RawMessage
}

// readObject reads a request's body, which must be one JSON object in UTF-8.
func readObject(r *http.Request) (*object, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(body) {
		return nil, &requestError{Code: "invalid_utf8", Message: fmt.Sprintf("the body is not UTF-8: byte %d begins no character", invalidAt(body))}
	}
	return parseObject(body, "")
}

// parseObject splits the object into its members.
func parseObject(src []byte, path string) (*object, error) {
	name := strings.TrimSuffix(path, ".")
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, &requestError{Param: name, Code: "invalid_json", Message: "the body is empty; a JSON object is expected"}
	}
	d := json.NewDecoder(bytes.NewReader(src))
	first, err := d.Token()
	if err != nil {
		return nil, jsonError(src, err, name)
	}
	if first != json.Delim('{') {
		what := "the body"
		if name != "" {
			what = name
		}
		return nil, &requestError{Param: name, Code: "invalid_json", Message: what + " must be a JSON object"}
	}
	o := &object{path: path, members: make(map[string]json.RawMessage)}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, jsonError(src, err, name)
		}
		key := token.(string) // inside of an object the decoder returns nothing else
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, jsonError(src, err, name)
		}
		if _, twice := o.members[key]; twice {
			return nil, &requestError{Param: path + key, Code: "duplicate_field", Message: fmt.Sprintf("the field %s is given twice", path+key)}
		}
		o.names = append(o.names, key)
		o.members[key] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, jsonError(src, err, name)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &requestError{Param: name, Code: "invalid_json", Message: fmt.Sprintf("there is something after the JSON object, at %s", place(src, int(d.InputOffset())))}
	}
	return o, nil
}

// jsonError says where the JSON is broken.
func jsonError(src []byte, err error, param string) *requestError {
	at := len(src)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = int(syntax.Offset)
	}
	reason := strings.TrimPrefix(err.Error(), "json: ")
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		reason = "it ends too early"
	}
	return &requestError{Param: param, Code: "invalid_json", Message: fmt.Sprintf("the body is not JSON: %s: %s", place(src, at), reason)}
}

// place returns a byte offset as line and column.
func place(src []byte, at int) string {
	at = min(at, len(src))
	before := src[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d", line, max(column, 1))
}

func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// given reports whether the member is there and not null.
func (o *object) given(name string) bool {
	raw, ok := o.members[name]
	return ok && string(raw) != "null"
}

// Each of the following functions decodes one member if it is given, leaves
// its target alone if not, and names the member in the error.

func (o *object) str(name string, to *string) error {
	return o.decode(name, to, "a string")
}

func (o *object) boolean(name string, to *bool) error {
	return o.decode(name, to, "true or false")
}

func (o *object) decode(name string, to any, want string) error {
	if !o.given(name) {
		return nil
	}
	if err := json.Unmarshal(o.members[name], to); err != nil {
		return o.wrongType(name, want)
	}
	return nil
}

func (o *object) wrongType(name, want string) error {
	return invalid(o.path+name, "%s must be %s, not %s", o.path+name, want, sketch(o.members[name]))
}

// integer decodes a whole number, which may be spelt 5.0 or 5e0.
func (o *object) integer(name string, to *int, least, most int) error {
	if !o.given(name) {
		return nil
	}
	var f float64
	if err := json.Unmarshal(o.members[name], &f); err != nil || f != math.Trunc(f) {
		return o.wrongType(name, "a whole number")
	}
	if f < float64(least) || f > float64(most) {
		return invalid(o.path+name, "%s must be between %d and %d, not %s", o.path+name, least, most, sketch(o.members[name]))
	}
	*to = int(f)
	return nil
}

// number decodes a number; its range is checked where it is used.
func (o *object) number(name string, to *float32) error {
	if !o.given(name) {
		return nil
	}
	var f float64
	if err := json.Unmarshal(o.members[name], &f); err != nil {
		return o.wrongType(name, "a number")
	}
	*to = float32(f)
	return nil
}

// seed decodes a seed, of which every integer of 64 bits is one.
func (o *object) seed(name string, to *uint64) error {
	if !o.given(name) {
		return nil
	}
	text := string(o.members[name])
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		*to = u
		return nil
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		*to = uint64(i)
		return nil
	}
	return o.wrongType(name, "a whole number of at most 64 bits")
}

// oneOf decodes a string that must be one of a few.
func (o *object) oneOf(name string, to *string, values ...string) error {
	if !o.given(name) {
		return nil
	}
	var s string
	if err := json.Unmarshal(o.members[name], &s); err == nil {
		for _, v := range values {
			if s == v {
				*to = v
				return nil
			}
		}
	}
	return o.wrongType(name, "one of "+quotedList(values))
}

// sketch returns a JSON value for use in a message.
func sketch(raw json.RawMessage) string {
	const most = 40
	text := string(raw)
	switch {
	case strings.HasPrefix(text, "{"):
		return "an object"
	case strings.HasPrefix(text, "["):
		return "an array"
	case utf8.RuneCountInString(text) > most:
		return string([]rune(text)[:most]) + "…"
	}
	return text
}

func quotedList(values []string) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(v))
	}
	return b.String()
}

// keepAlive decodes how long a model stays loaded: a number of seconds or a
// duration such as "5m"; what is negative is for ever.
func (o *object) keepAlive(name string, to **time.Duration) error {
	if !o.given(name) {
		return nil
	}
	const want = `a number of seconds or a duration such as "5m"`
	var seconds float64
	var text string
	var d time.Duration
	switch raw := o.members[name]; {
	case json.Unmarshal(raw, &seconds) == nil:
		d = time.Duration(max(-1, min(seconds, math.MaxInt32)) * float64(time.Second))
	case json.Unmarshal(raw, &text) == nil:
		var err error
		if d, err = time.ParseDuration(text); err != nil {
			if seconds, err = strconv.ParseFloat(text, 64); err != nil {
				return o.wrongType(name, want)
			}
			d = time.Duration(max(-1, min(seconds, math.MaxInt32)) * float64(time.Second))
		}
	default:
		return o.wrongType(name, want)
	}
	*to = &d
	return nil
}

// seconds decodes a time limit.
func (o *object) seconds(name string, to *time.Duration) error {
	if !o.given(name) {
		return nil
	}
	var seconds float32
	if err := o.number(name, &seconds); err != nil {
		return err
	}
	if !(seconds > 0 && seconds <= maxTimeout) {
		return invalid(o.path+name, "%s must be between 0 and %d seconds, not %s", o.path+name, maxTimeout, sketch(o.members[name]))
	}
	*to = time.Duration(float64(seconds) * float64(time.Second))
	return nil
}

// maxTimeout is the longest time limit that a request may ask for, in seconds.
const maxTimeout = 24 * 60 * 60
