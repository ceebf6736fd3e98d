package embedding

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// Prompts tokenizes the inputs of one model. It is immutable and safe for concurrent
// use.
type Prompts struct {
	vocab *vocab.Vocab
	form  backend.PairForm
	limit int
	tail  int         // number of tokens that the model expects after a text
	parts []pairPiece // of form.Template
}

// pairPiece is a part of a template: text, or a placeholder.
type pairPiece struct {
	text            string
	query, document bool
}

func newPrompts(v *vocab.Vocab, form backend.PairForm, limit int) *Prompts {
	p := &Prompts{vocab: v, form: form, limit: limit}
	// Tokens after every text are also after an empty one.
	none, some := v.Encode(""), v.Encode("a")
	for p.tail < min(len(none), len(some)) && none[len(none)-1-p.tail] == some[len(some)-1-p.tail] {
		p.tail++
	}
	rest := form.Template
	for rest != "" {
		at, place := len(rest), ""
		for _, name := range []string{"{query}", "{document}"} {
			if i := strings.Index(rest, name); i >= 0 && i < at {
				at, place = i, name
			}
		}
		if at > 0 {
			p.parts = append(p.parts, pairPiece{text: rest[:at]})
		}
		if place != "" {
			p.parts = append(p.parts, pairPiece{query: place == "{query}", document: place == "{document}"})
		}
		rest = rest[at+len(place):]
	}
	return p
}

// tokenBytes is how many bytes a token stands for at most, on the average of a text.
// A longer text is not tokenized: it would take long, only to be refused.
const tokenBytes = 256

// MaxBytes returns the length of the longest text that is tokenized.
func (p *Prompts) MaxBytes() int { return p.limit * max(tokenBytes, p.vocab.Trie().Depth) }

// Head returns a text, truncated to what is tokenized.
func (p *Prompts) Head(text string) string {
	if n := p.MaxBytes(); len(text) > n {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		return text[:n]
	}
	return text
}

// Text returns the tokens of a text, including the special tokens at its ends.
func (p *Prompts) Text(text string) []int32 { return p.vocab.Encode(text) }

// Append appends the tokens of a text without special tokens at its ends.
func (p *Prompts) Append(tokens []int32, text string) []int32 {
	return p.vocab.Tokenize(tokens, text, true)
}

// Shorten returns the tokens of a text, truncated to limit and to the model's maximum;
// limit 0 means only the latter. The special tokens after the text are kept.
func (p *Prompts) Shorten(tokens []int32, limit int) []int32 {
	if limit <= 0 || limit > p.limit {
		limit = p.limit
	}
	n := len(tokens)
	if n <= limit {
		return tokens
	}
	tail := min(p.tail, limit)
	return append(slices.Clone(tokens[:limit-tail]), tokens[n-tail:]...)
}

// Pair returns the tokens of a query and a document for a reranker. Names of control
// tokens in either are treated as text.
func (p *Prompts) Pair(query, document string) []int32 {
	v := p.vocab
	if len(p.parts) == 0 {
		return p.join(v.Tokenize(nil, query, false), v.Tokenize(nil, document, false))
	}
	// As one text, since tokens may extend across the edges of placeholders,
	// unless the inserted text contains the name of a control token.
	if p.plain(query) && p.plain(document) {
		var b strings.Builder
		for _, part := range p.parts {
			b.WriteString(part.in(query, document))
		}
		return v.Tokenize(nil, b.String(), true)
	}
	var out []int32
	for _, part := range p.parts {
		if text := part.in(query, document); part.text != "" {
			out = v.Tokenize(out, text, true)
		} else {
			out = v.TokenizeText(out, []byte(text))
		}
	}
	return out
}

func (p pairPiece) in(query, document string) string {
	switch {
	case p.query:
		return query
	case p.document:
		return document
	}
	return p.text
}

// plain reports whether a text contains no name of a control token.
func (p *Prompts) plain(text string) bool {
	return slices.Equal(p.vocab.Tokenize(nil, text, true), p.vocab.Tokenize(nil, text, false))
}

func (p *Prompts) join(query, document []int32) []int32 {
	f := p.form
	return slices.Concat(f.Before, query, f.Between, document, f.After)
}

// ShortPair is Pair with the document truncated to the model's maximum. A query that
// leaves no room for a document is not truncated.
func (p *Prompts) ShortPair(query, document string) []int32 {
	out := p.Pair(query, document)
	over := len(out) - p.limit
	if over <= 0 {
		return out
	}
	tokens := p.vocab.Tokenize(nil, document, false)
	for keep := len(tokens) - over; keep >= 0; keep -= over {
		if len(p.parts) == 0 {
			return p.join(p.vocab.Tokenize(nil, query, false), tokens[:keep])
		}
		// The text may now end within a character.
		short := p.Pair(query, strings.ToValidUTF8(string(p.vocab.Decode(tokens[:keep])), ""))
		if over = len(short) - p.limit; over <= 0 {
			return short
		}
	}
	return out
}
