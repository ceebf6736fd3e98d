package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent limits the data of one event of a stream, in bytes.
const maxEvent = 4 << 20

var errLongEvent = errors.New("remote: an event of the stream is too long")

// Limits on the bytes of a stream: in a row without any text, as comments and empty events are, and altogether, per token and in
// addition. An event with the probabilities of a token has a few thousand bytes.
const (
	mostSilent       = maxEvent
	mostRawPerToken  = 16 << 10
	mostRawBeside    = 16 << 20
	mostRawUnlimited = 1 << 30 // if no number of tokens was asked for
)

var errFlood = errors.New("remote: the stream goes on without text")

// An allowance is a body of which only so much is read.
type allowance struct {
	r      io.Reader
	silent int // bytes that may come before the next text
	all    int
}

func newAllowance(r io.Reader, tokens int) *allowance {
	all := mostRawUnlimited
	if tokens > 0 {
		all = min(all, mostRawBeside+mostRawPerToken*min(tokens, mostRawUnlimited/mostRawPerToken))
	}
	return &allowance{r: r, silent: mostSilent, all: all}
}

// Read implements io.Reader.
func (a *allowance) Read(p []byte) (int, error) {
	if a.silent < 0 || a.all < 0 {
		return 0, errFlood
	}
	n, err := a.r.Read(p)
	a.silent -= n
	a.all -= n
	return n, err
}

// Events reads the data of server-sent events, as defined by the HTML
// standard: lines end in LF, CR or CRLF, an event ends at an empty line, its
// data lines are joined, comments and other fields are ignored, and an
// incomplete event at the end of the stream is dropped.
type Events struct {
	lines *bufio.Reader
	begun bool // past an optional byte-order mark
	cr    bool // the last line ended in CR: an LF now belongs to it
}

// NewEvents returns the events of a stream.
func NewEvents(r io.Reader) *Events { return &Events{lines: bufio.NewReader(r)} }

// Next returns the data of the next event with data; io.EOF at the end.
func (e *Events) Next() ([]byte, error) {
	var data []byte
	some := false
	for {
		line, err := e.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if some {
				return data, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if some {
			data = append(data, '\n')
		}
		if data, some = append(data, value...), true; len(data) > maxEvent {
			return nil, errLongEvent
		}
	}
}

// line returns the next line without its end. An unterminated line at the end
// of the stream is dropped.
func (e *Events) line() ([]byte, error) {
	var line []byte
	for {
		c, err := e.lines.ReadByte()
		if err != nil {
			return nil, err
		}
		if e.cr {
			if e.cr = false; c == '\n' {
				continue
			}
		}
		if c == '\n' || c == '\r' {
			e.cr = c == '\r'
			break
		}
		if line = append(line, c); len(line) > maxEvent {
			return nil, errLongEvent
		}
	}
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line, nil
}
