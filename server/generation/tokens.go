package generation

import (
	"strings"
	"time"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/vocab"
)

// Logprobs holds the log probabilities of a text's tokens in OpenAI's form.
type Logprobs struct {
	Content []TokenLogprob `json:"content"`
	Refusal []TokenLogprob `json:"refusal"` // always null
}

// A TokenLogprob is a token with its log probability. A forced token was not sampled and counts as certain.
type TokenLogprob struct {
	Token   string       `json:"token"`
	Logprob float32      `json:"logprob"`
	Bytes   []int        `json:"bytes"`
	Top     []TopLogprob `json:"top_logprobs"` // empty for a forced token
}

// A TopLogprob is an alternative to a token.
type TopLogprob struct {
	Token   string  `json:"token"`
	Logprob float32 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// LogprobsOf returns the log probabilities of tokens.
func LogprobsOf(v *vocab.Vocab, tokens []engine.Token) *Logprobs {
	out := &Logprobs{Content: make([]TokenLogprob, 0, len(tokens))}
	for _, t := range tokens {
		one := TokenLogprob{Token: Spelt(t.Bytes), Logprob: t.Logprob, Bytes: ByteList(t.Bytes), Top: []TopLogprob{}}
		for i, a := range t.Top {
			b := TopBytes(v, &t, i)
			one.Top = append(one.Top, TopLogprob{Spelt(b), max(a.Logprob, LeastLogprob), ByteList(b)})
		}
		out.Content = append(out.Content, one)
	}
	return out
}

// LeastLogprob stands for minus infinity, which JSON can't express. OpenAI's specification uses the same number.
const LeastLogprob = -9999

// Spelt returns a token's bytes as valid UTF-8.
func Spelt(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// TopBytes returns the bytes of a token's alternative i.
func TopBytes(v *vocab.Vocab, t *engine.Token, i int) []byte {
	if i < len(t.TopBytes) {
		return t.TopBytes[i]
	}
	return v.Bytes(t.Top[i].Token)
}

// ByteList returns b as an array of numbers: json.Marshal writes []byte as base64.
func ByteList(b []byte) []int {
	out := make([]int, len(b))
	for i, x := range b {
		out[i] = int(x)
	}
	return out
}

// UsageOf sums the tokens of all choices. The prompt counts once.
func UsageOf(choices []Choice) Usage {
	var u Usage
	for _, c := range choices {
		u.PromptTokens = c.Result.PromptTokens
		u.CompletionTokens += c.Result.CompletionTokens + c.Wasted
		u.Cost += c.Cost
	}
	u.PromptDetails.CachedTokens = choices[0].Result.CachedTokens
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// Add adds the usage of another prompt.
func (u *Usage) Add(more Usage) {
	u.PromptTokens += more.PromptTokens
	u.CompletionTokens += more.CompletionTokens
	u.TotalTokens += more.TotalTokens
	u.PromptDetails.CachedTokens += more.PromptDetails.CachedTokens
}

// TimingsOf returns the longest of each timing over the choices, which ran in parallel.
func TimingsOf(choices []Choice) Timings {
	var longest engine.Timings
	tokens := 0
	for _, c := range choices {
		t := c.Result.Timings
		longest.Queued = max(longest.Queued, t.Queued)
		longest.Prompt = max(longest.Prompt, t.Prompt)
		longest.Generate = max(longest.Generate, t.Generate)
		tokens += c.Result.CompletionTokens
	}
	drafted, accepted := 0, 0
	for _, c := range choices {
		drafted += c.Result.DraftTokens
		accepted += c.Result.AcceptedTokens
	}
	out := Timings{Draft: drafted, Accepted: accepted, Queue: Milliseconds(longest.Queued), Prompt: Milliseconds(longest.Prompt), Generate: Milliseconds(longest.Generate)}
	out.TokensPerSecond = Rate(tokens-len(choices), longest.Generate)
	first := choices[0].Result
	out.count(first.PromptTokens-first.CachedTokens, first.CachedTokens, tokens, len(choices))
	return out
}

// count fills in the fields for llama-server's clients, from the times in milliseconds. A text's first token comes with
// the prefill and is not one of the steps.
func (t *Timings) count(prompt, cached, predicted, texts int) {
	t.PromptTokens, t.CachedTokens, t.Predicted, t.PredictedTime = prompt, cached, predicted, t.Generate
	if prompt > 0 && t.Prompt > 0 {
		t.PromptEach, t.PromptPerSecond = t.Prompt/float64(prompt), 1e3/t.Prompt*float64(prompt)
	}
	if steps := predicted - texts; steps > 0 && t.Generate > 0 {
		t.PredictedEach, t.PredictedPerSecond = t.Generate/float64(steps), 1e3/t.Generate*float64(steps)
	}
}

// Rate returns tokens per second, 0 if no step was taken. The time starts at the first token, which is not one of the
// steps.
func Rate(steps int, took time.Duration) float64 {
	if steps <= 0 || took <= 0 {
		return 0
	}
	return float64(steps) / took.Seconds()
}

// Milliseconds returns a duration as a number for answers, with microsecond precision.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Usage counts tokens. Tokens of failed attempts count as completion tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Cost float64 `json:"cost,omitempty"` // of an upstream with prices
}

// Timings are in milliseconds. The fields after tokens_per_second have llama-server's names.
type Timings struct {
	Queue           float64 `json:"queue_ms"`
	Prompt          float64 `json:"prompt_ms"`
	Generate        float64 `json:"generate_ms"`
	TokensPerSecond float64 `json:"tokens_per_second,omitempty"` // omitted for a single token

	CachedTokens       int     `json:"cache_n"`  // prompt tokens reused from the cache
	PromptTokens       int     `json:"prompt_n"` // the other prompt tokens
	PromptEach         float64 `json:"prompt_per_token_ms"`
	PromptPerSecond    float64 `json:"prompt_per_second"`
	Predicted          int     `json:"predicted_n"`
	PredictedTime      float64 `json:"predicted_ms"`
	PredictedEach      float64 `json:"predicted_per_token_ms"`
	PredictedPerSecond float64 `json:"predicted_per_second"`
	Draft              int     `json:"draft_n,omitempty"`
	Accepted           int     `json:"draft_n_accepted,omitempty"`
}

// WarningsOf returns the warnings about a request and its texts.
func WarningsOf(q *request.Request, choices []Choice) []string {
	out := q.Warnings[:len(q.Warnings):len(q.Warnings)]
	for _, c := range choices {
		out = append(out, c.Warnings...)
	}
	return out
}
