package vocab

import (
	"context"
	"slices"
	"strings"
)

// controls reports whether a token is never text: a control token, or one that structures a
// model's messages or calls.
func (a *addedTokens) controls(id int32) bool {
	if k := a.v.kinds[id]; k == Control || k == Unknown {
		return true
	}
	return slices.Contains(shownTexts, a.v.spelling(id))
}

// Controls are the control tokens of a vocabulary, by their texts.
type Controls struct{ v *Vocab }

// ControlsOf returns the control tokens of a vocabulary.
func ControlsOf(v *Vocab) Controls { return Controls{v} }

// Tokenize is [Vocab.Tokenize], with control tokens recognised, for a text in which some
// occurrences of control tokens are plain text: no token is recognised across a guard, and
// guards are removed. The tokens of long pieces are kept for the next prompts.
// It fails as [TokenizeContext] does.
func (c Controls) Tokenize(ctx context.Context, dst []int32, text string, guard rune) ([]int32, error) {
	t := c.v.tokenizer()
	kept, mark := piecesOf(c.v), string(guard)
	mode := tokenizeMode{prefix: true}
	first := mode
	for _, f := range c.v.added.partition(text, true) {
		if f.token >= 0 {
			dst = append(dst, f.token)
			first = mode
			continue
		}
		plain := strings.ReplaceAll(f.text, mark, "")
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case plain == "":
			continue
		case len(plain) > mostPieces/8: // not kept
			long := first
			long.ctx = ctx
			dst = t.tokenize(dst, plain, long)
		default:
			dst = kept.append(dst, piece{plain, first.prefix}, func(dst []int32) []int32 { return t.tokenize(dst, plain, first) })
		}
		first.prefix = false
	}
	return unlessEnded(ctx, dst)
}

// In returns the control tokens that Tokenize recognises in a text.
func (c Controls) In(text string) (out []int32) {
	if text == "" {
		return nil
	}
	a := c.v.added
	for _, f := range a.partition(text, true) {
		if f.token >= 0 && a.controls(f.token) {
			out = append(out, f.token)
		}
	}
	return out
}

// At returns the text of the longest control token at position i of a text, "" if there is
// none.
func (c Controls) At(text string, i int) (found string) {
	a := c.v.added
	at := a.trie.root[text[i]]
	for j := i + 1; at != 0; j++ {
		if n := a.trie.nodes[at].value; n >= 0 && a.controls(a.list[n]) {
			found = text[i:j]
		}
		if j == len(text) {
			break
		}
		at = a.trie.step(at, text[j])
	}
	return found
}

// Ends returns the first and the last bytes of the texts of control tokens.
func (c Controls) Ends() (first, last [256]bool) {
	a := c.v.added
	for _, id := range a.list {
		if s := c.v.spelling(id); a.controls(id) && len(s) > 1 {
			first[s[0]], last[s[len(s)-1]] = true, true
		}
	}
	return first, last
}
