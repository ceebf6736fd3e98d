package walk

import (
	"errors"
	"math/rand/v2"
	"time"

	"stencil/decoder"
	"stencil/vocab"
)

// Preview shows what a grammar admits and what it costs.
type Preview struct {
	Shortest string   // the shortest document
	Samples  []string // some random documents, none twice
	// ForcedShare is the share of the samples' bytes that could only be what
	// they are, 0 to 1.
	ForcedShare float64
	// Stats is what the grammar has learnt on the way.
	Stats decoder.Stats
	// MaskTime is the mean time of a mask, the first ones among them.
	MaskTime time.Duration
}

// previewBudget keeps samples short enough to read.
const previewBudget = 15

// Look makes n samples of g, which must be bound to the vocabulary of tokens.
// The same seed gives the same samples.
func Look(g *decoder.Grammar, tokens *Tokens, n int, seed uint64) (*Preview, error) {
	p := &Preview{Shortest: string(g.NewMatcher().ShortestCompletion())}
	w := &Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(seed, 0)), Budget: previewBudget, Plain: true}
	seen := map[string]bool{}
	var forced, all, masks int
	start := time.Now()
	for range 3 * n {
		m := g.NewMatcher()
		text, err := w.Document(Of(m))
		if err != nil {
			return nil, err
		}
		if seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		p.Samples = append(p.Samples, string(text))
		if len(p.Samples) == n {
			break
		}
	}
	if masks = w.Count() + len(p.Samples); masks > 0 {
		p.MaskTime = time.Since(start) / time.Duration(masks)
	}
	for _, s := range p.Samples {
		k, err := countForced(g.NewMatcher(), []byte(s))
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

// ByteTokens returns a vocabulary of the 256 single bytes and an
// end-of-generation token, for when no model's vocabulary is at hand.
func ByteTokens() (*vocab.Vocab, error) {
	tokens := []vocab.Token{{Text: "</s>", Kind: vocab.Control}}
	const hex = "0123456789ABCDEF"
	for b := range 256 {
		tokens = append(tokens, vocab.Token{Text: "<0x" + string([]byte{hex[b>>4], hex[b&15]}) + ">", Kind: vocab.Byte})
	}
	end := int32(0)
	return vocab.FromTokens(tokens, vocab.Options{Model: vocab.SPM, EOS: &end})
}
