package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Kind classifies the failure of a request.
type Kind uint8

// The kinds.
const (
	Unreachable Kind = iota // no connection, or it broke before an answer
	Limited                 // the upstream's rate limit
	Unavailable             // a failure of the server
	Denied                  // the key is missing, wrong or lacks permission
	Refused                 // the server rejects the request
	TimedOut                // the server took too long
	Malformed               // the answer violates the protocol
	Cut                     // a stream ended before the text did
)

var kindNames = [...]string{"unreachable", "limited", "unavailable", "denied", "refused", "timed out", "malformed", "cut"}

// String returns the name of the kind.
func (k Kind) String() string { return kindNames[k] }

// An Error is a failed request, after all tries.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if there was no answer
	Message    string        // the server's message, if any
	Code       string        // the server's error code
	RetryAfter time.Duration // delay requested by the server; 0: none
	Tries      int
	Cause      error

	final bool // the server says that retrying is useless
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "remote: %s", e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	if e.Tries > 1 {
		fmt.Fprintf(&b, " (after %d tries)", e.Tries)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Passes reports whether the same request may succeed later.
func (e *Error) Passes() bool {
	switch e.Kind {
	case Unreachable, Limited, Unavailable, TimedOut:
		return !e.final
	}
	return false
}

// maxMessage limits the part of a server's message that is kept, in bytes.
const maxMessage = 2 << 10

// statusError returns the error for an answer that is not 200.
func statusError(resp *http.Response, body []byte, now time.Time) *Error {
	e := &Error{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header, now), final: resp.Header.Get("X-Should-Retry") == "false"}
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests:
		e.Kind = Limited
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		e.Kind = Denied
	case s == http.StatusRequestTimeout, s == http.StatusGatewayTimeout:
		e.Kind = TimedOut
	case s >= 500:
		e.Kind = Unavailable
	case s >= 400:
		e.Kind = Refused
	default:
		e.Kind = Malformed // a redirect that was not followed, a success without content, or another protocol
	}
	e.words(body)
	return e
}

// words extracts the server's error message from OpenAI's format or those of
// other servers.
func (e *Error) words(body []byte) {
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	var inner struct {
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
	}
	text := ""
	if json.Unmarshal(body, &shape) == nil {
		switch {
		case json.Unmarshal(shape.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(shape.Error, &text) == nil && text != "":
		case shape.Message != "":
			text = shape.Message
		case len(shape.Detail) > 0:
			if json.Unmarshal(shape.Detail, &text) != nil {
				text = string(shape.Detail)
			}
		}
	} else {
		text = strings.TrimSpace(string(body))
	}
	if e.Code = strings.Trim(string(inner.Code), `"`); e.Code == "" || e.Code == "null" {
		e.Code = inner.Type
	}
	e.Message = excerpt([]byte(text))
}

// excerpt returns the start of a server's message.
func excerpt(said []byte) string {
	return strings.ToValidUTF8(string(said[:min(len(said), maxMessage)]), "")
}

// retryAfter parses the header: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
