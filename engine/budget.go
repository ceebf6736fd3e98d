package engine

import (
	"bytes"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

// budget keeps a constrained document completable within the tokens left.
//
// The invariant, before every token: with n tokens left, a completion of at
// most n tokens exists. Either the shortest completion has at most n bytes, and
// no tokenization has more tokens than bytes; or plan is such a completion. To
// keep the invariant, a token is accepted only if it still holds afterwards.
// The plan's first token is always acceptable, since the rest of the plan
// completes the document.
//
// The shortest completion is the shortest in bytes. Where another one takes
// fewer tokens, the budget is slightly stricter than necessary, never laxer.
type budget struct {
	vocab   *vocab.Vocab
	matcher Matcher

	plan  []int32 // a completion from here, if planned
	known bool
	next  []int32 // the plan after the tokens of the last call of fits
	after bool
}

// fits reports whether the document, after tokens that the matcher has just
// accepted, can be completed with left more tokens. commit must follow if the
// tokens stay.
func (b *budget) fits(tokens []int32, left int) bool {
	b.next, b.after = nil, false
	if left < 0 {
		return false
	}
	rest := completion(b.matcher.Remaining())
	if rest.size() <= left {
		return true
	}
	if spelt := rest.spell(b.vocab); spelt != nil && len(spelt) <= left {
		b.next, b.after = spelt, true
		return true
	}
	// The rest of the plan is as good: another completion of equal length may take
	// more tokens.
	if n := len(tokens); b.known && n <= len(b.plan) && commonPrefix(tokens, b.plan) == n && len(b.plan)-n <= left {
		b.next, b.after = b.plan[n:], true
		return true
	}
	return false
}

// commit makes the tokens of the last call of fits part of the text.
func (b *budget) commit() { b.plan, b.known = b.next, b.after }

// complete returns tokens that complete the document from here; none if it is
// complete. The matcher must be in the state of the last commit.
func (b *budget) complete() []int32 {
	if !b.known {
		rest := completion(b.matcher.Remaining())
		b.plan, b.known = rest.spell(b.vocab), true
	}
	return b.plan
}

// A completion is the missing rest of a text, in pieces: text, and tokens
// without text.
type completion []decoder.Piece

// size returns the largest number of tokens it can take.
func (c completion) size() (n int) {
	for _, p := range c {
		n += max(1, len(p.Text))
	}
	return n
}

// spell returns tokens for it, nil if none exist.
func (c completion) spell(v *vocab.Vocab) []int32 {
	out := []int32{}
	for _, p := range c {
		if p.Text == "" {
			out = append(out, p.Token)
			continue
		}
		spelt := spell(v, []byte(p.Text))
		if spelt == nil {
			return nil
		}
		out = append(out, spelt...)
	}
	return out
}

// spell returns tokens whose bytes concatenate to exactly text, at most one per
// byte: the model's own tokenization if it is exact, else the longest token at
// each position. It returns nil if neither works, which takes a vocabulary
// without single-byte tokens.
func spell(v *vocab.Vocab, text []byte) []int32 {
	if len(text) == 0 {
		return []int32{}
	}
	tokens := v.TokenizeText(nil, text)
	if bytes.Equal(v.Decode(tokens), text) && allText(v, tokens) {
		return tokens
	}
	trie := v.Trie()
	tokens = tokens[:0]
	for len(text) > 0 {
		token, n := longestToken(trie, text)
		if n == 0 {
			return nil
		}
		tokens = append(tokens, token)
		text = text[n:]
	}
	return tokens
}

// allText reports whether every token adds text; others must not appear in a
// constrained document.
func allText(v *vocab.Vocab, tokens []int32) bool {
	for _, t := range tokens {
		if len(v.Bytes(t)) == 0 {
			return false
		}
	}
	return true
}

// longestToken returns the longest token that is a prefix of text, and its
// length, which is 0 if there is none.
func longestToken(trie *vocab.Trie, text []byte) (token int32, n int) {
	node := trie.Child[text[0]]
	for depth := 1; node >= 0; depth++ {
		if at := trie.At(node); len(at) > 0 {
			token, n = at[0], depth
		}
		if depth == len(text) {
			break
		}
		node = trie.Follow(node, text[depth])
	}
	return token, n
}
