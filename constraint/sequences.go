package constraint

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// Sequences caches sequences of segments, together with the tables that they have
// built. It is safe for concurrent use.
type Sequences struct {
	vocab *vocab.Vocab
	cache *cache[[sha256.Size]byte, *sequenceOf]
}

// NewSequences returns a Sequences that keeps up to limit sequences for one
// vocabulary.
func NewSequences(v *vocab.Vocab, limit int) *Sequences {
	return &Sequences{v, newCache[[sha256.Size]byte](limit, (*sequenceOf).bytes)}
}

// A Segment is a segment of a sequence.
type Segment struct {
	decoder.Segment
	Keep bool // for free text: the mark that ends it belongs to it
}

// Get returns the constraint of a sequence. Everything that its segments depend on
// must be in key; segments is called only if no sequence with that key is cached.
func (c *Sequences) Get(ctx context.Context, key []byte, segments func(ctx context.Context) ([]Segment, error)) (engine.Constraint, error) {
	out, err := c.cache.get(ctx, sha256.Sum256(key), func(ctx context.Context) (*sequenceOf, error) {
		list, err := segments(ctx)
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
		if errors.Is(err, decoder.ErrOpenings) { // found out late, and for good
			return &sequenceOf{impossible: err}, nil
		}
		return out, err
	})
	if err == nil {
		err = out.impossible
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// A Document can be part of a sequence: a schema or a grammar.
type Document struct {
	Key   string                                              // equal for equal documents
	Fresh func(ctx context.Context) (*decoder.Grammar, error) // returns a new grammar; a sequence needs one of its own
}

// sequenceOf is a decoder.Sequence as an engine.Constraint.
type sequenceOf struct {
	*decoder.Sequence
	impossible error  // instead of all else
	free       []bool // by segment: free text that may end anywhere
	keep       []bool // by segment: free text to which the mark that ends it belongs
}

// bytes returns the memory held, approximately.
func (s *sequenceOf) bytes() int {
	if s.impossible != nil {
		return 1 << 10
	}
	return 1<<14 + s.Sequence.Held()
}

// KeepBytes limits the cache to n bytes. It must be called before the first
// sequence is built.
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

// Pieces splits a text that contains names of tokens, such as
// "<|channel|>final<|message|>": names of tokens without text become these tokens,
// all else stays text.
func Pieces(v *vocab.Vocab, text string) []decoder.Piece {
	var out []decoder.Piece
	plain := 0 // start of the text that is not in out yet
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

// controlAt returns the token without text that has the longest name with which
// text starts, and that name. The name is empty if there is none.
func controlAt(v *vocab.Vocab, text string) (token int32, name string) {
	if !strings.ContainsAny(text[:1], "<[") {
		return 0, "" // names of such tokens start with one of these
	}
	for n := min(len(text), maxControlName); n > 1; n-- {
		if id, ok := v.Find(text[:n]); ok && len(v.Bytes(id)) == 0 && !v.IsEOG(id) {
			return id, text[:n]
		}
	}
	return 0, ""
}

// maxControlName exceeds the length in bytes of the name of any token that marks
// something.
const maxControlName = 64
