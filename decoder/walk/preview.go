package walk

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

// Preview shows which texts a grammar admits and what they cost.
type Preview struct {
	Shortest string   // the shortest document
	Samples  []string // some random documents, without duplicates
	// ForcedShare is the share of the samples' bytes that were forced, 0 to 1.
	ForcedShare float64
	// Stats are the sizes of the grammar's tables after the samples.
	Stats decoder.Stats
	// MaskTime is the mean time of a mask, including the first ones.
	MaskTime time.Duration
}

// previewBudget keeps samples short enough to read.
const previewBudget = 15

// Look draws up to n different samples of g, which must be bound to the
// vocabulary of tokens. The same seed gives the same samples. Look stops when ctx
// ends.
func Look(ctx context.Context, g *decoder.Grammar, tokens *Tokens, n int, seed uint64) (*Preview, error) {
	newMatcher := func() *decoder.Matcher {
		m := g.NewMatcher()
		m.Bind(ctx)
		return m
	}
	m := newMatcher()
	p := &Preview{Shortest: Shortest(m)}
	if err := m.Err(); err != nil {
		return nil, err
	}
	w := &Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(seed, 0)), Budget: previewBudget, Plain: true}
	seen := map[string]bool{}
	var forced, all, masks int
	var walks [][]int32 // the tokens of the samples
	start := time.Now()
	for range 3 * n {
		r := &recorder{matcher: matcher{newMatcher()}}
		if _, err := w.Document(r); err != nil {
			return nil, err
		}
		text := spelling(g.Vocab(), r.tokens)
		if seen[text] {
			continue
		}
		seen[text] = true
		p.Samples = append(p.Samples, text)
		walks = append(walks, r.tokens)
		if len(p.Samples) == n {
			break
		}
	}
	if masks = w.Count() + len(p.Samples); masks > 0 {
		p.MaskTime = time.Since(start) / time.Duration(masks)
	}
	for i, s := range p.Samples {
		count := func() (int, error) { return countForced(newMatcher(), []byte(s)) }
		if g.ReadsTokens() {
			count = func() (int, error) { return countForcedTokens(newMatcher(), walks[i]) }
		}
		k, err := count()
		if err != nil {
			return nil, err
		}
		forced += k
		all += len(s)
	}
	if all > 0 {
		p.ForcedShare = float64(forced) / float64(all)
	}
	p.Stats = g.Stats()
	return p, nil
}

// countForced returns how many bytes of a document are forced.
func countForced(m *decoder.Matcher, text []byte) (int, error) {
	forced := 0
	for len(text) > 0 {
		n := len(m.ForcedBytes())
		forced += n
		n = max(n, 1)
		if n > len(text) {
			return 0, errors.New("walk: forced text is longer than the document")
		}
		if _, err := m.AcceptBytes(text[:n]); err != nil {
			return 0, err
		}
		text = text[n:]
	}
	return forced, nil
}

// countForcedTokens returns how many bytes of a document's spelling belong to
// tokens at which text or tokens were forced.
func countForcedTokens(m *decoder.Matcher, tokens []int32) (int, error) {
	forced := 0
	for _, id := range tokens {
		if len(m.ForcedTokens()) > 0 {
			forced += len(spelling(m.Vocab(), []int32{id}))
		}
		if err := m.Accept(id); err != nil {
			return 0, err
		}
	}
	return forced, nil
}

// A recorder keeps the tokens of a walk.
type recorder struct {
	matcher
	tokens []int32
}

// Accept records the token.
func (r *recorder) Accept(token int32) error {
	r.tokens = append(r.tokens, token)
	return r.matcher.Accept(token)
}

// Shortest returns a shortest completion, in which tokens without text appear as
// the vocabulary writes them.
func Shortest(m *decoder.Matcher) (text string) {
	for _, x := range m.Remaining() {
		if x.Text == "" {
			x.Text = spelling(m.Vocab(), []int32{x.Token})
		}
		text += x.Text
	}
	return text
}

// spelling returns the text of tokens, in which tokens without text appear as the
// vocabulary writes them.
func spelling(v *vocab.Vocab, tokens []int32) string {
	var b strings.Builder
	for _, id := range tokens {
		if text := v.Bytes(id); len(text) > 0 {
			b.Write(text)
		} else {
			b.WriteString(v.Text(id))
		}
	}
	return b.String()
}

// ByteTokens returns a vocabulary of the 256 single bytes and an
// end-of-generation token, for use without a model's vocabulary.
func ByteTokens() (*vocab.Vocab, error) {
	tokens := []vocab.Token{{Text: "</s>", Kind: vocab.Control}}
	const hex = "0123456789ABCDEF"
	for b := range 256 {
		tokens = append(tokens, vocab.Token{Text: "<0x" + string([]byte{hex[b>>4], hex[b&15]}) + ">", Kind: vocab.Byte})
	}
	end := int32(0)
	return vocab.FromTokens(tokens, vocab.Options{Model: vocab.SPM, EOS: &end})
}
