package walk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/stencil-json/stencil/decoder"
)

// Kind is the kind of a fault.
type Kind string

// The kinds of faults.
const (
	// Broken is a mask that contradicts the matcher.
	Broken Kind = "violation"
	// DeadEnd is a position where no token is allowed and the document is not
	// complete.
	DeadEnd Kind = "dead end"
	// BadEnding is a shortest completion that the masks do not follow.
	BadEnding Kind = "bad ending"
	// Unfinished is a document abandoned after [MaxTokens].
	Unfinished Kind = "unfinished"
	// Limit is an exceeded limit of the engine.
	Limit Kind = "limit"
)

// Fault is the reason for which a walk ended before its document was complete.
type Fault struct {
	Kind   Kind
	Reason string
	Err    error // the engine's error, if any
}

// Error implements error.
func (f *Fault) Error() string { return "walk: " + string(f.Kind) + ": " + f.Reason }

// Unwrap returns the engine's error.
func (f *Fault) Unwrap() error { return f.Err }

// MaxTokens ends walks whose shortest completion never gets shorter; real
// minLength values need some thousands of tokens.
const MaxTokens = 20_000

// Walker generates documents. It must be used by one goroutine at a time.
type Walker struct {
	Tokens *Tokens
	Rand   *rand.Rand
	// Budget is the mean number of tokens after which a document is completed;
	// 0 means 40.
	Budget float64
	// Plain prefers ASCII tokens without control characters, for readable
	// documents.
	Plain bool
	// Stop, if set, ends walks early.
	Stop *atomic.Bool

	allowed []int32
	count   int
}

// Count returns the number of tokens drawn so far.
func (w *Walker) Count() int { return w.count }

// ErrStopped is returned by walks that [Walker].Stop ended.
var ErrStopped = &Fault{Kind: Unfinished, Reason: "stopped"}

// Document walks to the end of a document and returns its text. Errors other
// than ErrStopped are of type *Fault too, and are returned with the text so
// far.
func (w *Walker) Document(m Matcher) ([]byte, error) {
	var text []byte
	var closing []decoder.Piece // the rest of the shortest completion, once the walk follows it
	eog := w.Tokens.vocab.EOG()
	budget := 4 + int(w.Rand.ExpFloat64()*cmp.Or(w.Budget, 40))
	alike := w.Rand.Float64() // how likely this document draws from all tokens alike
	for n := 0; ; n++ {
		if w.Stop != nil && w.Stop.Load() {
			return text, ErrStopped
		}
		mask, err := m.Mask()
		if err != nil {
			return text, &Fault{Limit, err.Error(), err}
		}
		accepting := m.Accepting()
		for _, id := range eog {
			if mask.Has(id) != accepting {
				return text, &Fault{Kind: Broken, Reason: fmt.Sprintf("end of generation in mask: %t, accepting: %t", mask.Has(id), accepting)}
			}
		}
		texts := mask.Len()
		if accepting {
			texts -= len(eog)
		}
		switch {
		case accepting && (texts == 0 || n >= budget || w.Rand.IntN(4) == 0):
			return text, nil
		case texts == 0:
			return text, &Fault{Kind: DeadEnd, Reason: "no token is allowed"}
		case n >= MaxTokens:
			return text, &Fault{Kind: Unfinished, Reason: fmt.Sprintf("no end after %d tokens", n)}
		}
		var token int32
		if n < budget {
			token = w.Pick(mask, texts, alike)
		} else {
			if len(closing) == 0 {
				closing = remaining(m)
			}
			var ok bool
			if token, ok = w.follow(mask, closing); !ok {
				return text, &Fault{Kind: BadEnding, Reason: fmt.Sprintf("the mask has no token towards the shortest completion %v", closing)}
			}
			if rest := &closing[0]; rest.Text == "" {
				closing = closing[1:]
			} else if rest.Text = rest.Text[len(w.Tokens.vocab.Bytes(token)):]; rest.Text == "" {
				closing = closing[1:]
			}
		}
		if err := m.Accept(token); err != nil {
			kind := Broken
			if refused := (*decoder.RefusedError)(nil); !errors.As(err, &refused) {
				kind = Limit
			}
			return text, &Fault{kind, fmt.Sprintf("token %d of the mask: %v", token, err), err}
		}
		w.count++
		text = append(text, w.Tokens.vocab.Bytes(token)...)
	}
}

// remaining returns a shortest completion, including tokens without text if the
// matcher reports them.
func remaining(m Matcher) []decoder.Piece {
	if r, ok := m.(interface{ Remaining() []decoder.Piece }); ok {
		return r.Remaining()
	}
	return []decoder.Piece{{Text: string(m.ShortestCompletion())}}
}

// follow picks an allowed token that pieces start with, occasionally not the
// longest one.
func (w *Walker) follow(mask Mask, pieces []decoder.Piece) (int32, bool) {
	found := int32(-1)
	if len(pieces) == 0 {
		return found, false
	}
	text := pieces[0].Text
	if text == "" {
		return pieces[0].Token, mask.Has(pieces[0].Token)
	}
	for n := min(len(text), w.Tokens.longest); n > 0; n-- {
		if id, ok := w.Tokens.byText[text[:n]]; ok && mask.Has(id) {
			found = id
			if w.Plain || w.Rand.IntN(8) > 0 {
				break
			}
		}
	}
	return found, found >= 0
}

// Bounds of the two ways to draw from a mask: listing its tokens is cheaper
// than guessing if they are few.
const (
	fewTokens = 2048
	guesses   = 200
	// Every oneSilent-th guess, on average, is a token that adds no text.
	oneSilent = 16
)

// Pick draws an allowed token. The mask has texts tokens that don't end a
// generation, at least one. With probability alike, all tokens are equally
// likely; otherwise the first byte is drawn first, so that quotes and brackets
// are as likely as letters; tokens without text count as one more byte.
func (w *Walker) Pick(mask Mask, texts int, alike float64) int32 {
	v := w.Tokens.vocab
	all := w.Rand.Float64() < alike
	if texts > fewTokens {
		for range guesses {
			if n := len(w.Tokens.silent); n > 0 && w.Rand.IntN(oneSilent) == 0 {
				if id := w.Tokens.silent[w.Rand.IntN(n)]; mask.Has(id) {
					return id
				}
			}
			id := int32(w.Rand.IntN(v.Len()))
			if !all {
				bucket := w.Tokens.byFirst[w.Tokens.firsts[w.Rand.IntN(len(w.Tokens.firsts))]]
				id = bucket[w.Rand.IntN(len(bucket))]
			}
			if text := v.Bytes(id); len(text) > 0 && (!w.Plain || isPlain(text)) && mask.Has(id) {
				return id
			}
		}
	}
	w.allowed = mask.AppendTokens(w.allowed[:0])
	w.allowed = slices.DeleteFunc(w.allowed, v.IsEOG)
	if w.Plain {
		w.preferPlain()
	}
	if all {
		return w.allowed[w.Rand.IntN(len(w.allowed))]
	}
	slices.SortFunc(w.allowed, func(a, b int32) int {
		return cmp.Or(cmp.Compare(firstByte(v.Bytes(a)), firstByte(v.Bytes(b))), cmp.Compare(a, b))
	})
	var starts []int // where each new first byte begins
	for i, id := range w.allowed {
		if i == 0 || firstByte(v.Bytes(id)) != firstByte(v.Bytes(w.allowed[i-1])) {
			starts = append(starts, i)
		}
	}
	k := w.Rand.IntN(len(starts))
	from, to := starts[k], len(w.allowed)
	if k+1 < len(starts) {
		to = starts[k+1]
	}
	return w.allowed[from+w.Rand.IntN(to-from)]
}

// firstByte returns the first byte of a text, -1 if it has none.
func firstByte(text []byte) int {
	if len(text) == 0 {
		return -1
	}
	return int(text[0])
}

// preferPlain keeps the readable ones of the allowed tokens, if there are any.
// If that leaves a single token, tokens that begin with a line break stay too.
func (w *Walker) preferPlain() {
	v := w.Tokens.vocab
	plain := 0
	for _, id := range w.allowed {
		if isPlain(v.Bytes(id)) {
			plain++
		}
	}
	if plain == 0 {
		return
	}
	w.allowed = slices.DeleteFunc(w.allowed, func(id int32) bool {
		text := v.Bytes(id)
		return !isPlain(text) && (plain > 1 || firstByte(text) != '\n' || !isPlain(text[1:]))
	})
}

// isPlain reports whether a token's text is readable.
func isPlain(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' })
}
