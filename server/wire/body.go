package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// An Object is a JSON object in a request: its members in order, not yet decoded. Names are unique.
type Object struct {
	Path    string // "" for the body itself, "json_mode." within that field
	Names   []string
	Members map[string]json.RawMessage
}

// ReadObject reads a request's body, which must be one JSON object in UTF-8.
func ReadObject(r *http.Request) (*Object, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	return ParseObject(body, "")
}

// ReadList reads a request's body, which must be a JSON array in UTF-8, as the only member of an object.
func ReadList(r *http.Request, name string) (*Object, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var raw json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, jsonError(body, err, "")
	}
	o := &Object{Names: []string{name}, Members: map[string]json.RawMessage{name: bytes.TrimSpace(raw)}}
	if o.Members[name][0] != '[' {
		return nil, o.WrongType(name, "an array")
	}
	return o, nil
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF")) // RFC 8259 lets a reader ignore a byte order mark
	if !utf8.Valid(body) {
		return nil, &Error{Code: "invalid_utf8", Message: fmt.Sprintf("the body is not UTF-8: byte %d begins no character", invalidAt(body))}
	}
	return body, nil
}

// ParseObject splits the object into its members.
func ParseObject(src []byte, path string) (*Object, error) {
	name := strings.TrimSuffix(path, ".")
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, &Error{Param: name, Code: "invalid_json", Message: "the body is empty; a JSON object is expected"}
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
		return nil, &Error{Param: name, Code: "invalid_json", Message: what + " must be a JSON object"}
	}
	o := &Object{Path: path, Members: make(map[string]json.RawMessage)}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, jsonError(src, err, name)
		}
		key := token.(string) // within an object the decoder returns only strings here
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, jsonError(src, err, name)
		}
		if _, twice := o.Members[key]; twice {
			return nil, &Error{Param: path + key, Code: "duplicate_field", Message: fmt.Sprintf("the field %s is given twice", path+key)}
		}
		o.Names = append(o.Names, key)
		o.Members[key] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, jsonError(src, err, name)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &Error{Param: name, Code: "invalid_json", Message: fmt.Sprintf("there is something after the JSON object, at %s", place(src, int(d.InputOffset())))}
	}
	return o, nil
}

// jsonError returns the error for invalid JSON, with its position.
func jsonError(src []byte, err error, param string) *Error {
	at := len(src)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = int(syntax.Offset)
	}
	reason := strings.TrimPrefix(err.Error(), "json: ")
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		reason = "it ends too early"
	}
	return &Error{Param: param, Code: "invalid_json", Message: fmt.Sprintf("the body is not JSON: %s: %s", place(src, at), reason)}
}

// place returns a byte offset as a line and column.
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

// Given reports whether the member is present and not null.
func (o *Object) Given(name string) bool {
	raw, ok := o.Members[name]
	return ok && string(raw) != "null"
}

// Each of the following functions decodes one member. If the member is not given, its target is left
// unchanged. Errors name the member.

// Str decodes a string.
func (o *Object) Str(name string, to *string) error {
	return o.Decode(name, to, "a string")
}

// Boolean decodes true or false.
func (o *Object) Boolean(name string, to *bool) error {
	return o.Decode(name, to, "true or false")
}

// Decode decodes a member into any value; want describes the expected type in an error.
func (o *Object) Decode(name string, to any, want string) error {
	if !o.Given(name) {
		return nil
	}
	if err := json.Unmarshal(o.Members[name], to); err != nil {
		return o.WrongType(name, want)
	}
	if _, raw := to.(*[]json.RawMessage); !raw && HasNull(o.Members[name]) {
		return o.WrongType(name, want)
	}
	return nil
}

// HasNull reports whether raw is an array with a null item, which json.Unmarshal would decode as "" or 0.
func HasNull(raw []byte) bool {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return false
	}
	return slices.ContainsFunc(list, func(item json.RawMessage) bool { return string(item) == "null" })
}

// WrongType returns the error for a member of the wrong type.
func (o *Object) WrongType(name, want string) error {
	return Invalid(o.Path+name, "%s must be %s, not %s", o.Path+name, want, Sketch(o.Members[name]))
}

// Integer decodes a whole number, which may be written as 5.0 or 5e0.
func (o *Object) Integer(name string, to *int, least, most int) error {
	if !o.Given(name) {
		return nil
	}
	var f float64
	if err := json.Unmarshal(o.Members[name], &f); err != nil || f != math.Trunc(f) {
		return o.WrongType(name, "a whole number")
	}
	if f < float64(least) || f > float64(most) {
		return Invalid(o.Path+name, "%s must be between %d and %d, not %s", o.Path+name, least, most, Sketch(o.Members[name]))
	}
	*to = int(f)
	return nil
}

// Number decodes a number; the user of the value checks its range.
func (o *Object) Number(name string, to *float32) error {
	if !o.Given(name) {
		return nil
	}
	var f float64
	if err := json.Unmarshal(o.Members[name], &f); err != nil {
		return o.WrongType(name, "a number")
	}
	*to = float32(f)
	return nil
}

// Seed decodes a seed, which may be any signed or unsigned 64-bit integer.
func (o *Object) Seed(name string, to *uint64) error {
	if !o.Given(name) {
		return nil
	}
	text := string(o.Members[name])
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		*to = u
		return nil
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		*to = uint64(i)
		return nil
	}
	return o.WrongType(name, "a whole number of at most 64 bits")
}

// OneOf decodes a string that must be one of values.
func (o *Object) OneOf(name string, to *string, values ...string) error {
	if !o.Given(name) {
		return nil
	}
	var s string
	if err := json.Unmarshal(o.Members[name], &s); err == nil {
		for _, v := range values {
			if s == v {
				*to = v
				return nil
			}
		}
	}
	return o.WrongType(name, "one of "+QuotedList(values))
}

// Sketch returns a short form of a JSON value for a message.
func Sketch(raw json.RawMessage) string {
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

// QuotedList returns the values in quotes, separated by commas.
func QuotedList(values []string) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(v))
	}
	return b.String()
}

// KeepAlive decodes how long a model stays loaded: a number of seconds or a duration such as "5m"; a
// negative value means forever.
func (o *Object) KeepAlive(name string, to **time.Duration) error {
	if !o.Given(name) {
		return nil
	}
	const want = `a number of seconds or a duration such as "5m"`
	var seconds float64
	var text string
	var d time.Duration
	switch raw := o.Members[name]; {
	case json.Unmarshal(raw, &seconds) == nil:
		d = time.Duration(max(-1, min(seconds, math.MaxInt32)) * float64(time.Second))
	case json.Unmarshal(raw, &text) == nil:
		var err error
		if d, err = time.ParseDuration(text); err != nil {
			if seconds, err = strconv.ParseFloat(text, 64); err != nil {
				return o.WrongType(name, want)
			}
			d = time.Duration(max(-1, min(seconds, math.MaxInt32)) * float64(time.Second))
		}
	default:
		return o.WrongType(name, want)
	}
	*to = &d
	return nil
}

// Seconds decodes a time limit in seconds.
func (o *Object) Seconds(name string, to *time.Duration) error {
	if !o.Given(name) {
		return nil
	}
	var seconds float32
	if err := o.Number(name, &seconds); err != nil {
		return err
	}
	if !(seconds > 0 && seconds <= MaxTimeout) {
		return Invalid(o.Path+name, "%s must be between 0 and %d seconds, not %s", o.Path+name, MaxTimeout, Sketch(o.Members[name]))
	}
	*to = time.Duration(float64(seconds) * float64(time.Second))
	return nil
}

// MaxTimeout is the longest time limit that a request may set, in seconds.
const MaxTimeout = 24 * 60 * 60
