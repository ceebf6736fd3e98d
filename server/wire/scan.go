package wire

import (
	"strconv"
	"strings"
)

// A Field is a complete value of a document: its position in the text and
// its JSON pointer.
type Field struct {
	Pointer    string
	Start, End int
	Leaf       bool // no object or array
}

// A Scanner finds the values of a JSON document as it grows. It assumes that
// the document is well-formed.
type Scanner struct {
	at    int // bytes read
	stack []container
	state scanState
	start int  // start of the scalar being read
	skip  bool // the next character of a string is escaped
	key   []byte
}

type container struct {
	start int
	array bool
	index int
	name  string // the current member's
}

type scanState uint8

const (
	scanSpace  scanState = iota // between values
	scanString                  // in a string that is a value
	scanKey                     // in a key
	scanWord                    // in a number, true, false or null
)

// Next reads one byte and calls emit for each value that it completes: a
// number ended by the byte, a container closed by it.
func (s *Scanner) Next(c byte, emit func(Field)) {
	at := s.at
	s.at++
	switch s.state {
	case scanString, scanKey:
		s.inString(c, at, emit)
		return
	case scanWord:
		if !strings.ContainsRune(",]} \t\r\n", rune(c)) {
			return
		}
		s.state = scanSpace
		emit(Field{s.Pointer(), s.start, at, true})
	}
	switch c {
	case '{', '[':
		s.stack = append(s.stack, container{start: at, array: c == '['})
	case '}', ']':
		if n := len(s.stack) - 1; n >= 0 {
			start := s.stack[n].start
			s.stack = s.stack[:n]
			emit(Field{s.Pointer(), start, at + 1, false})
		}
	case ',':
		if n := len(s.stack) - 1; n >= 0 {
			s.stack[n].index++
			s.stack[n].name = ""
		}
	case ':', ' ', '\t', '\r', '\n':
	case '"':
		s.start, s.state = at, scanString
		if n := len(s.stack) - 1; n >= 0 && !s.stack[n].array && s.stack[n].name == "" {
			s.state, s.key = scanKey, s.key[:0]
		}
	default:
		s.start, s.state = at, scanWord
	}
}

func (s *Scanner) inString(c byte, at int, emit func(Field)) {
	if s.state == scanKey {
		s.key = append(s.key, c)
	}
	switch {
	case s.skip:
		s.skip = false
	case c == '\\':
		s.skip = true
	case c == '"':
		if s.state == scanKey {
			key, err := strconv.Unquote(`"` + string(s.key))
			if err != nil { // an escape that only JSON has, such as \/
				key = string(s.key[:len(s.key)-1])
			}
			s.stack[len(s.stack)-1].name = "/" + pointerEscape.Replace(key)
			s.state = scanSpace
			return
		}
		s.state = scanSpace
		emit(Field{s.Pointer(), s.start, at + 1, true})
	}
}

// Finish marks the end of the document, which completes a scalar at the top
// level.
func (s *Scanner) Finish(emit func(Field)) {
	if s.state == scanWord {
		s.state = scanSpace
		emit(Field{s.Pointer(), s.start, s.at, true})
	}
}

// Pointer returns the JSON pointer of the current position.
func (s *Scanner) Pointer() string {
	var b strings.Builder
	for _, c := range s.stack {
		if c.array {
			b.WriteByte('/')
			b.WriteString(strconv.Itoa(c.index))
		} else {
			b.WriteString(c.name)
		}
	}
	return b.String()
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
