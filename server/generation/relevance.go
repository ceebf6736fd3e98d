package generation

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// Relevance is a model's second opinion on a call in another form than its own, asked for where it was neither sure nor unsure
// of the call: whether the tool is relevant to the request. Small models say yes to nearly everything, but with a higher
// probability where it is true. What counts is therefore the ratio of that probability to the one with which the model finds
// the tool relevant to its own description, which no request exceeds by much. bench/RESULTS.md has how the numbers were chosen.
const (
	// leastAsked and mostAsked are between which certainties of the call the model is asked.
	leastAsked, mostAsked = 0.5, 0.93
	// neutral is the ratio that changes nothing, and relevanceWeight how many times as much as the odds of the call a ratio
	// counts.
	neutral         = 0.86
	relevanceWeight = 6
)

// Most bytes of the texts in the question.
const (
	mostDescription = 600
	mostAskedAbout  = 1200
)

// relevance returns the function for engine.Doubt.Ask; nil if there is nothing to ask: a model behind an upstream, or a request
// that doesn't end with a message of a user, as after the result of a call.
func (g *Generation) relevance() func(ctx context.Context, spans []decoder.Span, sure float64) (*engine.Opinion, error) {
	m, q := g.Model, g.Request
	if m.Engine == nil || len(q.Messages) == 0 {
		return nil
	}
	about := clipped(chat.Asked(q.Messages), mostAskedAbout)
	if q.Messages[len(q.Messages)-1].Role != "user" || about == "" {
		return nil
	}
	return func(ctx context.Context, spans []decoder.Span, sure float64) (*engine.Opinion, error) {
		if sure < leastAsked || sure >= mostAsked {
			return nil, nil
		}
		called := g.Layout.Called(spans)
		if called < 0 {
			return nil, nil
		}
		t := &g.Constraint.Tools[called].Tool
		ratio, err := g.compare(ctx, t, about)
		if err != nil {
			return nil, err
		}
		odds := sure / (1 - sure) * math.Pow(ratio/neutral, relevanceWeight)
		return &engine.Opinion{Yes: ratio, Sure: odds / (1 + odds)}, nil
	}
}

// compare asks the model about a tool: how probable it is that the tool is relevant to a text, as a ratio to its own
// description.
func (g *Generation) compare(ctx context.Context, t *request.Tool, about string) (ratio float64, err error) {
	m := g.Model
	description := clipped(strings.TrimSpace(t.Description), mostDescription)
	if description == "" {
		description = t.Name
	}
	function := fmt.Sprintf("%s(%s): %s", t.Name, clipped(strings.Join(memberNames(t.Parameters), ", "), mostDescription), description)
	var prompts [2][]int32
	for i, request := range [2]string{about, description} {
		question := chat.Message{Role: "user", Content: "Function: " + function + "\nRequest: " + request + "\nIs the function relevant to the request? Answer yes or no."}
		if prompts[i], err = m.Asked(ctx, []chat.Message{question}); err != nil {
			return 0, err
		}
	}
	shared := 0
	for shared < len(prompts[0])-1 && shared < len(prompts[1])-1 && prompts[0][shared] == prompts[1][shared] {
		shared++
	}
	v := m.Text.Vocab()
	var answers []int32
	for _, word := range [4]string{"yes", "Yes", "no", "No"} {
		answers = append(answers, v.TokenizeText(nil, []byte(word))[0])
	}
	req := engine.Request{ID: g.Job.ID, Client: g.Job.Client, Prompt: prompts[0][:shared], Aside: true, Adapters: g.Job.Adapters, Solo: g.Job.Solo, NoReuse: g.Job.NoReuse}
	for _, p := range prompts {
		req.Questions = append(req.Questions, engine.Question{After: p[shared:], Tokens: answers})
	}
	stream, err := m.Engine.Submit(ctx, req)
	if err != nil {
		return 0, err
	}
	results, err := stream.Collect(ctx)
	if err != nil {
		stream.Close()
		return 0, err
	}
	own := yesOf(results[1].Scores)
	if own == 0 {
		return neutral, nil // a model that never says yes
	}
	return min(1, yesOf(results[0].Scores)/own), nil
}

// yesOf returns the share of the first two of four alternatives, from the logarithms of their probabilities.
func yesOf(scores []float64) float64 {
	most := slices.Max(scores)
	if math.IsInf(most, -1) {
		return 0
	}
	var p [4]float64
	for i, score := range scores {
		p[i] = math.Exp(score - most)
	}
	return (p[0] + p[1]) / (p[0] + p[1] + p[2] + p[3])
}

// memberNames returns the names of an object schema's properties.
func memberNames(parameters json.RawMessage) []string {
	o, err := wire.ParseObject(parameters, "")
	if err != nil {
		return nil
	}
	if o, err = wire.ParseObject(o.Members["properties"], ""); err != nil {
		return nil
	}
	return o.Names
}

// clipped returns the beginning and the end of a text that is longer than most bytes.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	from, to := most/2, len(text)-most/2
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[:from] + " … " + text[to:]
}
