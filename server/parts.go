package server

import (
	"bytes"
	"regexp"
	"strings"

	"crypto/rand"
	"encoding/hex"
)

// A layout says how the text of a model is to be read: what of it is the
// answer, what is reasoning, what are calls of tools.
type layout struct {
	calls   bool   // the text is calls and nothing else
	trigger string // calls begin after this text; "" if there are none in free text
	closing string // and end before this one
	think   string // reasoning ends after this text; "" without reasoning
}

// A message is a text, read.
type message struct {
	Reasoning string
	Content   string
	Calls     []call
}

// A call is a call of a tool.
type call struct {
	ID        string
	Name      string
	Arguments string // JSON
}

// The kinds of pieces.
type pieceKind uint8

const (
	pieceContent   pieceKind = iota
	pieceReasoning           // what the model thinks before it answers
	pieceCall                // a call begins: id and name
	pieceArguments           // a part of the JSON of the last call's arguments
	pieceCallEnd             // the last call's arguments are complete
)

// A piece is a part of a text that has been read.
type piece struct {
	kind pieceKind
	text string
	call int // the number of the call, from 0
	id   string
	name string
}

// parse reads a whole text.
func (l layout) parse(text string) message {
	var m message
	r := newReader(l)
	for _, p := range append(r.add(text), r.flush()...) {
		switch p.kind {
		case pieceContent:
			m.Content += p.text
		case pieceReasoning:
			m.Reasoning += p.text
		case pieceCall:
			m.Calls = append(m.Calls, call{ID: p.id, Name: p.name})
		case pieceArguments:
			m.Calls[len(m.Calls)-1].Arguments += p.text
		}
	}
	return m
}

// A reader reads a text as it comes. What the constraint has put between the
// parts (markers, the names around a call's arguments) is not part of any
// piece.
type reader struct {
	layout
	state readerState
	held  []byte // not decided yet
	calls int
	depth int // of the arguments' JSON
	quote bool
	skip  bool // the next byte of a string is escaped
}

type readerState uint8

const (
	readContent readerState = iota
	readReasoning
	readBetween   // before a call, or after the last one
	readHeader    // {"name": …, "arguments":
	readArguments // the JSON of a call
	readCallTail  // the bracket after it
)

func newReader(l layout) *reader {
	r := &reader{layout: l}
	switch {
	case l.think != "":
		r.state = readReasoning
	case l.calls:
		r.state = readBetween
	}
	return r
}

// add reads on and returns what is certain.
func (r *reader) add(text string) []piece {
	var out []piece
	for rest := []byte(text); len(rest) > 0; {
		switch r.state {
		case readReasoning:
			rest = r.until(rest, r.think, pieceReasoning, &out, func() {
				r.state = readContent
				if r.layout.calls {
					r.state = readBetween
				}
			})
		case readContent:
			if r.trigger == "" {
				out = append(out, piece{kind: pieceContent, text: string(rest)})
				return out
			}
			rest = r.until(rest, r.trigger, pieceContent, &out, func() { r.state = readBetween })
		case readBetween:
			rest = r.between(rest)
		case readHeader:
			rest = r.header(rest, &out)
		case readArguments:
			rest = r.arguments(rest, &out)
		case readCallTail:
			if rest[0] == '}' {
				r.state = readBetween
			}
			rest = rest[1:]
		}
	}
	return out
}

// until gives out text as pieces of a kind until the marker, which is dropped
// together with what it ends.
func (r *reader) until(rest []byte, marker string, kind pieceKind, out *[]piece, then func()) []byte {
	r.held = append(r.held, rest...)
	give := func(text []byte) {
		if len(text) > 0 {
			*out = append(*out, piece{kind: kind, text: string(text)})
		}
	}
	if i := bytes.Index(r.held, []byte(marker)); i >= 0 {
		give(r.held[:i])
		after := bytes.Clone(r.held[i+len(marker):])
		r.held = r.held[:0]
		then()
		return after
	}
	keep := 0
	for n := min(len(marker)-1, len(r.held)); n > 0; n-- {
		if strings.HasPrefix(marker, string(r.held[len(r.held)-n:])) {
			keep = n
			break
		}
	}
	give(r.held[:len(r.held)-keep])
	r.held = append(r.held[:0], r.held[len(r.held)-keep:]...)
	return nil
}

// between skips to the next call. Where calls stand in free text, what comes
// after the closing marker is content again.
func (r *reader) between(rest []byte) []byte {
	for i, c := range rest {
		if c == '{' {
			r.state, r.held = readHeader, r.held[:0]
			return rest[i:]
		}
		if r.closing == "" {
			continue
		}
		if r.held = append(r.held, c); bytes.HasSuffix(r.held, []byte(r.closing)) {
			r.state, r.held = readContent, r.held[:0]
			return rest[i+1:]
		}
	}
	return nil
}

var callName = regexp.MustCompile(`"name"\s*:\s*"([^"]*)"`)

// header reads up to the bracket that begins the arguments.
func (r *reader) header(rest []byte, out *[]piece) []byte {
	from := 0
	if len(r.held) == 0 {
		from = 1 // the call's own bracket
	}
	i := bytes.IndexByte(rest[from:], '{')
	if i < 0 {
		r.held = append(r.held, rest...)
		return nil
	}
	r.held = append(r.held, rest[:from+i]...)
	name := ""
	if m := callName.FindSubmatch(r.held); m != nil {
		name = string(m[1])
	}
	*out = append(*out, piece{kind: pieceCall, call: r.calls, id: newID("call_"), name: name})
	r.state, r.held, r.depth = readArguments, r.held[:0], 0
	return rest[from+i:]
}

// arguments gives out the JSON object that the arguments are.
func (r *reader) arguments(rest []byte, out *[]piece) []byte {
	for i, c := range rest {
		switch {
		case r.skip:
			r.skip = false
		case r.quote:
			r.skip, r.quote = c == '\\', c != '"'
		case c == '"':
			r.quote = true
		case c == '{' || c == '[':
			r.depth++
		case c == '}' || c == ']':
			if r.depth--; r.depth == 0 {
				*out = append(*out, piece{kind: pieceArguments, call: r.calls, text: string(rest[:i+1])}, piece{kind: pieceCallEnd, call: r.calls})
				r.calls++
				r.state = readCallTail
				return rest[i+1:]
			}
		}
	}
	*out = append(*out, piece{kind: pieceArguments, call: r.calls, text: string(rest)})
	return nil
}

// flush returns what was held back, at the end of the text.
func (r *reader) flush() []piece {
	if len(r.held) == 0 {
		return nil
	}
	text := string(r.held)
	r.held = r.held[:0]
	switch r.state {
	case readContent:
		return []piece{{kind: pieceContent, text: text}}
	case readReasoning:
		return []piece{{kind: pieceReasoning, text: text}}
	}
	return nil
}

// newID returns an identifier that nobody has had before.
func newID(prefix string) string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}
