package server

import (
	"time"

	"stencil/engine"
)

// usage adds up the tokens of all choices. The prompt counts once.
func usage(choices []choice) usageReply {
	var u usageReply
	for _, c := range choices {
		u.PromptTokens = c.result.PromptTokens
		u.CompletionTokens += c.result.CompletionTokens + c.wasted
		u.Cost += c.cost
	}
	u.PromptDetails.CachedTokens = choices[0].result.CachedTokens
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// add counts the tokens of another prompt.
func (u *usageReply) add(more usageReply) {
	u.PromptTokens += more.PromptTokens
	u.CompletionTokens += more.CompletionTokens
	u.TotalTokens += more.TotalTokens
	u.PromptDetails.CachedTokens += more.PromptDetails.CachedTokens
}

// timings takes the longest of each part over the choices, which ran side by
// side.
func timings(choices []choice) timingsReply {
	var longest engine.Timings
	tokens := 0
	for _, c := range choices {
		t := c.result.Timings
		longest.Queued = max(longest.Queued, t.Queued)
		longest.Prompt = max(longest.Prompt, t.Prompt)
		longest.Generate = max(longest.Generate, t.Generate)
		tokens += c.result.CompletionTokens
	}
	drafted, accepted := 0, 0
	for _, c := range choices {
		drafted += c.result.DraftTokens
		accepted += c.result.AcceptedTokens
	}
	out := timingsReply{Draft: drafted, Accepted: accepted, Queue: ms(longest.Queued), Prompt: ms(longest.Prompt), Generate: ms(longest.Generate)}
	if longest.Generate > 0 {
		out.TokensPerSecond = float64(tokens) / longest.Generate.Seconds()
	}
	return out
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// usageReply counts tokens. The tokens of failed tries are among the
// completion's.
type usageReply struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Cost float64 `json:"cost,omitempty"` // of an upstream that has a price
}

// timingsReply is in milliseconds.
type timingsReply struct {
	Queue           float64 `json:"queue_ms"`
	Prompt          float64 `json:"prompt_ms"`
	Generate        float64 `json:"generate_ms"`
	TokensPerSecond float64 `json:"tokens_per_second"`
	Draft           int     `json:"draft_n,omitempty"` // tokens; the names are llama-server's
	Accepted        int     `json:"draft_n_accepted,omitempty"`
}

// warnings returns what is to be said about a request and its texts.
func warnings(q *query, choices []choice) []string {
	out := q.Warnings[:len(q.Warnings):len(q.Warnings)]
	for _, c := range choices {
		out = append(out, c.warnings...)
	}
	return out
}
