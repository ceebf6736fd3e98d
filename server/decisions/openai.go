package decisions

import (
	"net/http"
	"slices"

	"github.com/stencil-json/stencil/server/wire"
)

// reply is the answer of POST /v1/decisions and, with Timings, of POST /decide.
type reply struct {
	Model    string   `json:"model"`
	Answers  []any    `json:"answers"`
	Usage    usage    `json:"usage"`
	Timings  *timings `json:"timings,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

type usage struct {
	InputTokens        int           `json:"input_tokens"`
	InputTokensDetails inputDetails  `json:"input_tokens_details"`
	OutputTokens       int           `json:"output_tokens"` // always 0
	OutputDetails      outputDetails `json:"output_tokens_details"`
	TotalTokens        int           `json:"total_tokens"`
}

type inputDetails struct {
	CachedTokens     int `json:"cached_tokens"`
	CacheWriteTokens int `json:"cache_write_tokens"`
}

type outputDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"`
}

type timings struct {
	QueueMS float64 `json:"queue_ms"`
	TotalMS float64 `json:"total_ms"`
}

type predicateAnswer struct {
	Type        kind    `json:"type"`
	Name        *string `json:"name"`
	Probability float64 `json:"probability"`
}

type choiceAnswer struct {
	Type          kind                `json:"type"`
	Name          *string             `json:"name"`
	Choice        any                 `json:"choice"`
	Confidence    float64             `json:"confidence"`
	Probabilities []choiceProbability `json:"probabilities"`
}

type choiceProbability struct {
	Value       any     `json:"value"`
	Probability float64 `json:"probability"`
}

type scoreAnswer struct {
	Type          kind               `json:"type"`
	Name          *string            `json:"name"`
	Score         float64            `json:"score"` // expected level, counted from 0
	Confidence    float64            `json:"confidence"`
	Probabilities []levelProbability `json:"probabilities"`
}

type levelProbability struct {
	Label       string  `json:"label"`
	Value       int     `json:"value"`
	Probability float64 `json:"probability"`
}

// OpenAI handles POST /v1/decisions.
func (s *Handlers) OpenAI(r *http.Request) (wire.Answer, error) {
	out, _, err := s.answer(r)
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: out}, nil
}

// Native handles POST /decide: the same, with timings.
func (s *Handlers) Native(r *http.Request) (wire.Answer, error) {
	out, d, err := s.answer(r)
	if err != nil {
		return nil, err
	}
	out.Timings = &timings{milliseconds(d.queued), milliseconds(d.took)}
	return wire.JSON{Value: out}, nil
}

func (s *Handlers) answer(r *http.Request) (*reply, *decision, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, nil, err
	}
	q, names, err := readOpenAI(o)
	if err != nil {
		return nil, nil, err
	}
	d, err := s.decide(r, q)
	if err != nil {
		return nil, nil, err
	}
	out := &reply{Model: d.model, Warnings: q.warnings, Usage: usage{InputTokens: d.tokens, InputTokensDetails: inputDetails{CachedTokens: d.cached}, TotalTokens: d.tokens}}
	for i, p := range d.probabilities {
		out.Answers = append(out.Answers, names[i].answer(&q.questions[i], p))
	}
	return out, d, nil
}

// answer returns the answer to a question.
func (n *named) answer(q *question, p []float64) any {
	switch q.kind {
	case predicateKind:
		return predicateAnswer{q.kind, n.name, p[0]}
	case choiceKind:
		out := choiceAnswer{Type: q.kind, Name: n.name, Choice: n.values[slices.Index(p, slices.Max(p))], Confidence: confidence(p)}
		for i, x := range p {
			out.Probabilities = append(out.Probabilities, choiceProbability{n.values[i], x})
		}
		return out
	}
	out := scoreAnswer{Type: q.kind, Name: n.name, Score: expected(p), Confidence: orderedConfidence(p)}
	for i, x := range p {
		out.Probabilities = append(out.Probabilities, levelProbability{n.labels[i], i, x})
	}
	return out
}
