package server

import (
	"strings"

	"stencil/engine"
	"stencil/vocab"
)

type chatTokens struct {
	Content []chatToken `json:"content"`
	Refusal []chatToken `json:"refusal"` // always null
}

// chatToken is a token with its probability. A forced one was not asked for and
// counts as certain.
type chatToken struct {
	Token   string      `json:"token"`
	Logprob float32     `json:"logprob"`
	Bytes   []int       `json:"bytes"`
	Top     []chatToken `json:"top_logprobs,omitempty"`
}

func chatTokensOf(v *vocab.Vocab, tokens []engine.Token) *chatTokens {
	out := &chatTokens{Content: make([]chatToken, 0, len(tokens))}
	for _, t := range tokens {
		one := chatToken{Token: spelt(t.Bytes), Logprob: t.Logprob, Bytes: byteList(t.Bytes), Top: []chatToken{}}
		for i, a := range t.Top {
			b := topBytes(v, &t, i)
			one.Top = append(one.Top, chatToken{Token: spelt(b), Logprob: max(a.Logprob, leastLogprob), Bytes: byteList(b)})
		}
		out.Content = append(out.Content, one)
	}
	return out
}

// leastLogprob stands for impossible: JSON has no infinity. OpenAI's
// specification uses the same number.
const leastLogprob = -9999

// spelt is a token's bytes as text.
func spelt(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// topBytes returns the bytes of an alternative.
func topBytes(v *vocab.Vocab, t *engine.Token, i int) []byte {
	if i < len(t.TopBytes) {
		return t.TopBytes[i]
	}
	return v.Bytes(t.Top[i].Token)
}

// byteList is b as an array of numbers: in JSON a []byte would be base64.
func byteList(b []byte) []int {
	out := make([]int, len(b))
	for i, x := range b {
		out[i] = int(x)
	}
	return out
}
