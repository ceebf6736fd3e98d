package server

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// A layout says how the text of a model is to be read: what of it is the
// answer, what is reasoning, what are calls of tools.
type layout struct {
	calls    bool   // the text is calls and nothing else
	trigger  string // calls begin after this text; "" if there are none in free text
	fork     bool   // the text begins with the trigger or is all answer
	opening  string // reasoning begins after this text, which is dropped
	think    string // reasoning ends after this text; "" without reasoning
	mayThink bool   // the text may begin with reasoning in the usual marks
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

// answer returns a text without the reasoning before the answer.
func (l layout) answer(text string) string {
	if _, after, ok := strings.Cut(text, l.think); ok && l.think != "" {
		return after
	}
	return text
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
	readOpening             // before the reasoning
	readReasoning
	readMaybe     // not known yet whether there is reasoning
	readGap       // between reasoning and answer
	readFork      // not known yet whether there are calls
	readBetween   // before a call, or after the last one
	readHeader    // {"name": …, "arguments":
	readArguments // the JSON of a call
	readCallTail  // the bracket after it
)

func newReader(l layout) *reader {
	r := &reader{layout: l}
	switch {
	case l.opening != "":
		r.state = readOpening
	case l.think != "":
		r.state = readReasoning
	case l.mayThink:
		r.state = readMaybe
	default:
		r.answer()
	}
	return r
}

// answer begins to read the answer.
func (r *reader) answer() {
	switch {
	case r.layout.calls:
		r.state = readBetween
	case r.layout.fork:
		r.state = readFork
	default:
		r.state = readContent
	}
}

// add reads on and returns what is certain.
func (r *reader) add(text string) []piece {
	var out []piece
	for rest := []byte(text); len(rest) > 0; {
		switch r.state {
		case readOpening:
			n := min(len(rest), len(r.opening)-len(r.held))
			if r.held = append(r.held, rest[:n]...); len(r.held) == len(r.opening) {
				r.held, r.state = r.held[:0], readReasoning
			}
			rest = rest[n:]
		case readReasoning:
			rest = r.until(rest, r.think, pieceReasoning, &out, r.reasoned)
		case readMaybe:
			rest = r.maybe(rest)
		case readGap:
			if rest = bytes.TrimLeft(rest, " \n"); len(rest) > 0 {
				r.answer()
			}
		case readFork:
			rest = r.forked(rest)
		case readContent:
			if r.trigger == "" {
				out = append(out, piece{kind: pieceContent, text: string(rest)})
				return out
			}
			rest = r.until(rest, r.trigger, pieceContent, &out, func() { r.state = readBetween })
		case readBetween:
			i := bytes.IndexByte(rest, '{')
			if i < 0 {
				return out
			}
			r.state, rest = readHeader, rest[i:]
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

// maybe finds out whether the text begins with reasoning. Models that reason
// unasked do.
func (r *reader) maybe(rest []byte) []byte {
	r.held = append(r.held, rest...)
	begin := bytes.TrimLeft(r.held, " \n")
	opening := strings.TrimSpace(thinkOpening)
	n := min(len(begin), len(opening))
	switch {
	case string(begin[:n]) != opening[:n]:
		rest = bytes.Clone(r.held)
		r.answer()
	case n < len(opening):
		return nil
	default:
		rest = bytes.TrimPrefix(bytes.Clone(begin[n:]), []byte("\n"))
		r.state, r.think, r.mayThink = readReasoning, thinkMarker, true
	}
	r.held = r.held[:0]
	return rest
}

// reasoned goes on after the reasoning.
func (r *reader) reasoned() {
	if r.mayThink {
		r.state = readGap
		return
	}
	r.answer()
}

// forked finds out whether the text begins with a call.
func (r *reader) forked(rest []byte) []byte {
	r.held = append(r.held, rest...)
	n := min(len(r.held), len(r.trigger))
	switch {
	case string(r.held[:n]) != r.trigger[:n]:
		r.state, r.trigger = readContent, ""
	case n == len(r.trigger):
		r.state = readBetween
	default:
		return nil
	}
	rest = bytes.Clone(r.held)
	r.held = r.held[:0]
	return rest
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
	case readContent, readFork, readMaybe:
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
