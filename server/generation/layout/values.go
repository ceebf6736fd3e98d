package layout

import (
	"unicode/utf8"

	"github.com/stencil-json/stencil/engine"
)

// Values has each value of a JSON document, and of the arguments of a call, in a piece of its own at least: what is forced, or
// arrived while the client was slow, comes in one, and clients show values as they come.
type Values struct {
	Document bool // the content is a JSON document
	content  inJSON
	call     inJSON
}

// inJSON is where a text of JSON ends: inside of a string, and there after a backslash.
type inJSON struct{ text, escaped bool }

// next moves past a byte, and reports whether a value ends before it that is not the last of its object or array.
func (s *inJSON) next(c byte) bool {
	switch {
	case s.escaped:
		s.escaped = false
	case s.text && c == '\\':
		s.escaped = true
	case c == '"':
		s.text = !s.text
	}
	return c == ',' && !s.text
}

// Split passes on a piece in parts, each with its tokens. If the tokens don't spell the piece, the first part has them all.
func (v *Values) Split(p Piece, tokens []engine.Token, send func(Piece, []engine.Token) error) error {
	state := &v.content
	switch {
	case p.Kind == PieceCall:
		v.call = inJSON{}
		return send(p, tokens)
	case p.Kind == PieceArguments:
		state = &v.call
	case p.Kind != PieceContent || !v.Document:
		return send(p, tokens)
	}
	spelt, spells := 0, true
	for _, t := range tokens {
		end := spelt + len(t.Bytes)
		spells = spells && end <= len(p.Text) && p.Text[spelt:end] == string(t.Bytes)
		spelt = end
	}
	spells = spells && spelt == len(p.Text)
	from, taken, end := 0, 0, 0 // end is that of the token that is being read
	ended := false
	for i := range len(p.Text) {
		for spells && end <= i {
			end += len(tokens[taken].Bytes)
			taken++
		}
		ended = state.next(p.Text[i]) || ended
		if !ended || i+1 == len(p.Text) || spells && i+1 < end || !utf8.RuneStart(p.Text[i+1]) {
			continue
		}
		part := p
		part.Text = p.Text[from : i+1]
		of := tokens
		if spells {
			of, tokens, taken = tokens[:taken], tokens[taken:], 0
		} else {
			tokens = nil
		}
		if err := send(part, of); err != nil {
			return err
		}
		from, ended = i+1, false
	}
	p.Text = p.Text[from:]
	return send(p, tokens)
}
