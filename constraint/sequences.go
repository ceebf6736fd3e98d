package constraint

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// Sequences keeps texts that are constrained in parts, with all that they have
// learnt. It is safe for concurrent use.
type Sequences struct {
	vocab *vocab.Vocab
	cache *cache[[sha256.Size]byte, *sequenceOf]
}

// NewSequences keeps up to limit sequences for one vocabulary.
func NewSequences(v *vocab.Vocab, limit int) *Sequences {
	return &Sequences{v, newCache[[sha256.Size]byte](limit, (*sequenceOf).bytes)}
}

// A Segment is a segment of a sequence.
type Segment struct {
	decoder.Segment
	Keep bool // of free text: the mark that ends it belongs to it
}

// Get returns the constraint of a sequence. All that its segments depend on must
// be in key; segments are only asked for when there is none of that key.
func (c *Sequences) Get(ctx context.Context, key []byte, segments func() ([]Segment, error)) (engine.Constraint, error) {
	return c.cache.get(ctx, sha256.Sum256(key), func() (*sequenceOf, error) {
		list, err := segments()
		if err != nil {
			return nil, err
		}
		out := new(sequenceOf)
		var parts []decoder.Segment
		for _, x := range list {
			parts = append(parts, x.Segment)
			out.free = append(out.free, x.Free != nil && x.Free.MayEnd)
			out.keep = append(out.keep, x.Keep)
		}
		out.Sequence, err = decoder.NewSequence(c.vocab, parts, decoder.Limits{})
		return out, err
	})
}

// A Document is what can be a part of a sequence: a schema or a grammar.
type Document struct {
	Key   string                           // equal for equal documents
	Fresh func() (*decoder.Grammar, error) // which sequences need each of their own
}

// sequenceOf is a decoder.Sequence as a Constraint.
type sequenceOf struct {
	*decoder.Sequence
	free []bool // the segments that are free text which may end anywhere
	keep []bool // and those whose marks belong to them
}

// bytes is the memory that it takes, approximately.
func (s *sequenceOf) bytes() int { return 1<<14 + s.Sequence.Held() }

// KeepBytes has the cache keep no more than so many bytes. It is called before the
// first sequence is made.
func (c *Sequences) KeepBytes(n int) { c.cache.room = n }

// NewMatcher implements engine.Constraint.
func (s *sequenceOf) NewMatcher() engine.Matcher {
	return &segmented{s.Sequence.NewMatcher(), s}
}

// segmented is the matcher of a sequence.
type segmented struct {
	*decoder.SequenceMatcher
	of *sequenceOf
}

// Mask implements engine.Matcher.
func (m *segmented) Mask() (sampling.Set, error) {
	mask, err := m.SequenceMatcher.Mask()
	if err != nil {
		return nil, err // not a typed nil
	}
	return mask, nil
}

// EndsAnywhere implements engine.SegmentMatcher.
func (m *segmented) EndsAnywhere(segment int) bool { return segment >= 0 && m.of.free[segment] }

// KeepsMark implements engine.SegmentMatcher.
func (m *segmented) KeepsMark(segment int) bool { return m.of.keep[segment] }

// Pieces returns a text in which tokens are spelt by their names, such as
// "<|channel|>final<|message|>", as what it stands for: those that the model has
// as tokens without text are tokens, all else is text.
func Pieces(v *vocab.Vocab, text string) []decoder.Piece {
	var out []decoder.Piece
	plain := 0 // where text begins that is not in out yet
	flush := func(end int) {
		if plain < end {
			out = append(out, decoder.Piece{Text: text[plain:end]})
		}
	}
	for i := 0; i < len(text); {
		token, name := controlAt(v, text[i:])
		if name == "" {
			i++
			continue
		}
		flush(i)
		out = append(out, decoder.Piece{Token: token})
		i += len(name)
		plain = i
	}
	flush(len(text))
	return out
}

// controlAt returns the token without text whose name text begins with, and the
// name: the longest one.
func controlAt(v *vocab.Vocab, text string) (token int32, name string) {
	if !strings.ContainsAny(text[:1], "<[") {
		return 0, "" // what names of such tokens begin with
	}
	for n := min(len(text), maxControlName); n > 1; n-- {
		if id, ok := v.Find(text[:n]); ok && len(v.Bytes(id)) == 0 && !v.IsEOG(id) {
			return id, text[:n]
		}
	}
	return 0, ""
}

// maxControlName is longer than the name of any token that marks something, in
// bytes.
const maxControlName = 64
