package walk

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

// words is a Source of a few texts, none of which is a prefix of another. Frame
// 0 is the start; a later frame is word*100 + position.
type words []string

func (words) Start() decoder.Frame { return 0 }

func (w words) Expand(f decoder.Frame, e *decoder.Edges) {
	for i, word := range w {
		at := int(f % 100)
		if f != 0 && int(f/100) != i {
			continue
		}
		if at+1 == len(word) {
			e.Add(word[at], word[at])
		} else {
			e.Add(word[at], word[at], decoder.Frame(i*100+at+1))
		}
	}
}

func (words) ExpandByte(decoder.Frame, byte, *decoder.Edges)                              {}
func (words) Resolve(decoder.Frame, byte, []byte, *decoder.Edges)                         {}
func (words) Prepare(decoder.Frame, *vocab.Vocab) *decoder.Prepared                       { return nil }
func (words) PrepareAt(decoder.Frame, *vocab.Vocab, *vocab.Trie, int32) *decoder.Prepared { return nil }

func (w words) Finish(f decoder.Frame) []byte {
	if f != 0 {
		return []byte(w[f/100][f%100:])
	}
	return []byte(slices.MinFunc(w, func(a, b string) int { return len(a) - len(b) }))
}

func (words) Describe(decoder.Frame) string { return "a word" }
func (words) Err() error                    { return nil }
func (words) Bytes() int                    { return 0 }
func (words) Reset()                        {}

func TestLook(t *testing.T) {
	v, err := ByteTokens()
	if err != nil {
		t.Fatal(err)
	}
	list := words{"yes", "no", "never", "perhaps"}
	p, err := Look(t.Context(), decoder.New(list, v, decoder.Limits{}), NewTokens(v), 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p.Shortest != "no" || len(p.Samples) != len(list) {
		t.Errorf("shortest %q, samples %q", p.Shortest, p.Samples)
	}
	for _, s := range p.Samples {
		if !slices.Contains(list, s) {
			t.Errorf("sample %q is not in the language", s)
		}
	}
	// The first byte of each text is free, and the second of no and never: 6 of
	// 17.
	if want := 11.0 / 17; p.ForcedShare < want-1e-9 || p.ForcedShare > want+1e-9 {
		t.Errorf("forced share %v, want %v", p.ForcedShare, want)
	}
	again, err := Look(t.Context(), decoder.New(list, v, decoder.Limits{}), NewTokens(v), 10, 1)
	if err != nil || !slices.Equal(again.Samples, p.Samples) {
		t.Errorf("same seed, other samples: %q, %q", again.Samples, p.Samples)
	}
}

// scripted is a matcher that always offers the byte x, with errors as
// configured.
type scripted struct {
	allowed    []int32
	accepting  bool
	completion string
	maskErr    error
	acceptErr  error
}

type tokenList []int32

func (l tokenList) Has(token int32) bool             { return slices.Contains(l, token) }
func (l tokenList) Len() int                         { return len(l) }
func (l tokenList) AppendTokens(dst []int32) []int32 { return append(dst, l...) }

func (s *scripted) Mask() (Mask, error)               { return tokenList(s.allowed), s.maskErr }
func (s *scripted) Accept(int32) error                { return s.acceptErr }
func (s *scripted) AcceptBytes(b []byte) (int, error) { return len(b), nil }
func (s *scripted) Accepting() bool                   { return s.accepting }
func (s *scripted) ShortestCompletion() []byte        { return []byte(s.completion) }

func TestFaults(t *testing.T) {
	v, err := ByteTokens()
	if err != nil {
		t.Fatal(err)
	}
	x := int32(1 + 'x')
	for name, c := range map[string]struct {
		matcher scripted
		kind    Kind
	}{
		"dead end":         {scripted{}, DeadEnd},
		"end not in mask":  {scripted{allowed: []int32{x}, accepting: true}, Broken},
		"end in mask":      {scripted{allowed: []int32{x, 0}}, Broken},
		"bad ending":       {scripted{allowed: []int32{x}, completion: "y"}, BadEnding},
		"no ending":        {scripted{allowed: []int32{x}, completion: ""}, BadEnding},
		"never ends":       {scripted{allowed: []int32{x}, completion: "x"}, Unfinished},
		"limit":            {scripted{maskErr: errors.New("too much")}, Limit},
		"refused":          {scripted{allowed: []int32{x}, acceptErr: &decoder.RefusedError{}}, Broken},
		"limit in a token": {scripted{allowed: []int32{x}, acceptErr: errors.New("too much")}, Limit},
	} {
		w := &Walker{Tokens: NewTokens(v), Rand: rand.New(rand.NewPCG(1, 1)), Budget: 3}
		_, err := w.Document(&c.matcher)
		var f *Fault
		if !errors.As(err, &f) || f.Kind != c.kind {
			t.Errorf("%s: got %v, want %s", name, err, c.kind)
		}
	}
}
