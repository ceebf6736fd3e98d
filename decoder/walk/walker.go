package walk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"stencil/decoder"
)

// Kind says what kind of fault a walk met.
type Kind string

// The kinds of faults.
const (
	// Broken is a mask that contradicts the matcher.
	Broken Kind = "violation"
	// DeadEnd is a place where no token is allowed and the document is not
	// complete.
	DeadEnd Kind = "dead end"
	// BadEnding is a shortest completion that the masks do not follow.
	BadEnding Kind = "bad ending"
	// Unfinished is a document that was given up at [MaxTokens].
	Unfinished Kind = "unfinished"
	// Limit is a limit of the engine that was reached.
	Limit Kind = "limit"
)

// Fault is what ended a walk before its document was complete.
type Fault struct {
	Kind   Kind
	Reason string
	Err    error // the engine's own, if it gave one
}

// Error implements error.
func (f *Fault) Error() string { return "walk: " + string(f.Kind) + ": " + f.Reason }

// Unwrap returns the engine's error.
func (f *Fault) Unwrap() error { return f.Err }

// MaxTokens ends walks whose shortest completion never comes nearer; real
// minLength values need some thousands.
const MaxTokens = 20_000

// Walker makes documents. One goroutine at a time uses it.
type Walker struct {
	Tokens *Tokens
	Rand   *rand.Rand
	// Budget is the mean number of tokens after which a document is brought to
	// its end; 0 is 40.
	Budget float64
	// Plain prefers tokens of ASCII without control characters, so that people
	// can read the documents.
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

// Document walks to the end of a document and returns its text. Other errors
// than ErrStopped are *Fault too, and come with the text so far.
func (w *Walker) Document(m Matcher) ([]byte, error) {
	var text []byte
	var closing []byte // what remains of the shortest completion, once it is followed
	eog := w.Tokens.vocab.EOG()
	budget := 4 + int(w.Rand.ExpFloat64()*cmp.Or(w.Budget, 40))
	alike := w.Rand.Float64() // how much this document likes long odd tokens
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
				closing = m.ShortestCompletion()
			}
			var ok bool
			if token, ok = w.follow(mask, closing); !ok {
				return text, &Fault{Kind: BadEnding, Reason: fmt.Sprintf("the mask has no token towards the shortest completion %q", closing)}
			}
			closing = closing[len(w.Tokens.vocab.Bytes(token)):]
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

// follow picks an allowed token that begins the given text, now and then not
// the longest one.
func (w *Walker) follow(mask Mask, text []byte) (int32, bool) {
	found := int32(-1)
	for n := min(len(text), w.Tokens.longest); n > 0; n-- {
		if id, ok := w.Tokens.byText[string(text[:n])]; ok && mask.Has(id) {
			found = id
			if w.Plain || w.Rand.IntN(8) > 0 {
				break
			}
		}
	}
	return found, found >= 0
}

// Bounds of the two ways to draw from a mask: listing its tokens is cheaper
// than guessing when they are few.
const (
	fewTokens = 2048
	guesses   = 200
)

// Pick draws an allowed token. The mask has texts tokens that add to the text,
// at least one. With probability alike all tokens are alike; otherwise the
// first byte is drawn first, so that quotes and brackets are met as often as
// letters are.
func (w *Walker) Pick(mask Mask, texts int, alike float64) int32 {
	v := w.Tokens.vocab
	all := w.Rand.Float64() < alike
	if texts > fewTokens {
		for range guesses {
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
	w.allowed = slices.DeleteFunc(w.allowed, func(id int32) bool { return len(v.Bytes(id)) == 0 })
	if w.Plain && slices.ContainsFunc(w.allowed, func(id int32) bool { return isPlain(v.Bytes(id)) }) {
		w.allowed = slices.DeleteFunc(w.allowed, func(id int32) bool { return !isPlain(v.Bytes(id)) })
	}
	if all {
		return w.allowed[w.Rand.IntN(len(w.allowed))]
	}
	slices.SortFunc(w.allowed, func(a, b int32) int {
		return cmp.Or(cmp.Compare(v.Bytes(a)[0], v.Bytes(b)[0]), cmp.Compare(a, b))
	})
	var starts []int // where a new first byte begins
	for i, id := range w.allowed {
		if i == 0 || v.Bytes(id)[0] != v.Bytes(w.allowed[i-1])[0] {
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

// isPlain reports whether people can read a token's text.
func isPlain(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '\\' })
}
