package decisions

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// Handlers implements the decision endpoints.
type Handlers struct {
	Models  *registry.Registry
	Timeout time.Duration // of one request
}

// Limits of one request. Places scored together share a prompt; each place takes memory for a row of probabilities.
const (
	maxQuestions = 400
	maxChoices   = 255
	maxPlaces    = 1 << 14
	placesAtOnce = 64
)

// A kind is a kind of question.
type kind string

const (
	choiceKind    kind = "choice"
	predicateKind kind = "predicate"
	scoreKind     kind = "score"
)

// An option is an alternative of a question.
type option struct {
	text        string // how it is written
	description string
}

// A question is a question about the text, with its alternatives. Those of a predicate are true and false.
type question struct {
	kind    kind
	ask     string
	options []option
}

// A query is a decoded request.
type query struct {
	model     string
	text      []chat.Message // what is asked about
	questions []question
	orders    int // number of orders of the alternatives to average over: 1 or 2
	timeout   time.Duration
	keepAlive *time.Duration
	warnings  []string
}

// A decision holds the answers to a query.
type decision struct {
	model         string
	probabilities [][]float64 // by question and option
	tokens        int         // of all prompts
	cached        int         // of those, reused from the cache
	queued, took  time.Duration
}

// decide scores a query's alternatives with its model.
func (s *Handlers) decide(r *http.Request, q *query) (*decision, error) {
	m, err := s.Models.Named(r.Context(), q.model, q.keepAlive)
	if err != nil {
		return nil, err
	}
	if m.Engine == nil {
		return nil, problem.New(problem.Problem{Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "model", Code: "model_not_capable",
			Message: fmt.Sprintf("the model %q is behind an upstream, which doesn't tell the probabilities of given texts", m.Name)})
	}
	asked, err := s.places(r.Context(), m, q)
	if err != nil {
		return nil, err
	}
	limit := s.Timeout
	if q.timeout > 0 {
		limit = min(q.timeout, limit)
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, engine.ErrTimeout)
	defer cancel()
	out := &decision{model: m.Name}
	start := time.Now()
	if err := out.ask(ctx, r, m, asked); err != nil {
		return nil, err
	}
	out.took = time.Since(start)
	out.average(q, asked)
	wire.NoteOf(r.Context()).Add(slog.Int("questions", len(q.questions)), slog.Int("prompt_tokens", out.tokens), slog.Int("cached_tokens", out.cached))
	return out, nil
}

// A place is a point where alternatives diverge: the tokens before it, and those that may follow.
type place struct {
	after  []int32
	tokens []int32
	scores []float64
}

// posed is a question with its alternatives in one order.
type posed struct {
	question int
	reversed bool
	prompt   []int32
	tree     *branch
	places   []*place
}

// A branch is a node in the tree of the alternatives' tokens.
type branch struct {
	option int // at a leaf, else -1
	place  *place
	next   []*branch
	ends   int // number of the place's last tokens that end the text, all for the last of next
}

// places builds the prompts of the questions and the trees of their alternatives.
func (s *Handlers) places(ctx context.Context, m *registry.Model, q *query) ([]*posed, error) {
	var out []*posed
	total := 0
	for i := range q.questions {
		for order := range q.orders {
			one := &posed{question: i, reversed: order == 1}
			words := q.questions[i].answers()
			var err error
			if one.prompt, err = m.Asked(ctx, conversation(q, &q.questions[i], words, one.reversed)); err != nil {
				return nil, err
			}
			v := m.Text.Vocab()
			texts := make([][]int32, len(words))
			for j, w := range words {
				if texts[j], err = m.Prompts.AppendText(ctx, nil, w); err != nil {
					return nil, err
				}
			}
			one.tree = one.grow(texts, indices(len(texts)), 0, v.EOG())
			if total += len(one.places); total > maxPlaces {
				return nil, wire.Invalid("questions", "the alternatives of the questions diverge at more than %d tokens", maxPlaces)
			}
			out = append(out, one)
		}
	}
	return out, nil
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// grow returns the tree of texts[i] for i in list, from the token at depth. ends are the tokens that end a text.
func (p *posed) grow(texts [][]int32, list []int, depth int, ends []int32) *branch {
	if len(list) == 1 {
		return &branch{option: list[0]}
	}
	var tokens []int32
	by := map[int32][]int{}
	ended := -1
	for _, i := range list {
		if depth == len(texts[i]) {
			ended = i
			continue
		}
		token := texts[i][depth]
		if by[token] == nil {
			tokens = append(tokens, token)
		}
		by[token] = append(by[token], i)
	}
	if len(tokens) == 1 && ended < 0 {
		return p.grow(texts, list, depth+1, ends)
	}
	b := &branch{option: -1, place: &place{after: texts[list[0]][:depth], tokens: tokens}}
	p.places = append(p.places, b.place)
	for _, token := range tokens {
		b.next = append(b.next, p.grow(texts, by[token], depth+1, ends))
	}
	if ended >= 0 {
		b.place.tokens = append(slices.Clip(tokens), ends...)
		b.ends = len(ends)
		b.next = append(b.next, &branch{option: ended})
	}
	return b
}

// ask scores all places. Their prompts share a prefix.
func (d *decision) ask(ctx context.Context, r *http.Request, m *registry.Model, asked []*posed) error {
	shared := asked[0].prompt
	var places []*place
	computed := 0
	for _, p := range asked {
		n := 0
		for n < len(shared) && n < len(p.prompt) && shared[n] == p.prompt[n] {
			n++
		}
		shared = shared[:n]
		d.tokens += len(p.prompt)
	}
	if len(shared) == 0 {
		return fmt.Errorf("decisions: prompts of one model that begin differently")
	}
	var after [][]int32
	for _, p := range asked {
		for _, one := range p.places {
			places = append(places, one)
			after = append(after, slices.Concat(p.prompt[len(shared):], one.after))
		}
	}
	for from := 0; from < len(places); from += placesAtOnce {
		to := min(from+placesAtOnce, len(places))
		req := engine.Request{ID: wire.NoteOf(r.Context()).ID, Client: wire.ClientOf(r), Prompt: shared}
		for i := from; i < to; i++ {
			req.Questions = append(req.Questions, engine.Question{After: after[i], Tokens: places[i].tokens})
		}
		stream, err := m.Engine.Submit(ctx, req)
		wire.NoteOf(r.Context()).Prepared()
		if err != nil {
			return err
		}
		results, err := stream.Collect(ctx)
		if err != nil {
			stream.Close()
			return err
		}
		for i, result := range results {
			places[from+i].scores = result.Scores
			computed += result.PromptTokens - result.CachedTokens
		}
		d.queued += results[0].Timings.Queued
	}
	d.cached = max(0, d.tokens-computed)
	return nil
}

// weigh distributes the probability p of reaching b over the alternatives below it.
func (b *branch) weigh(p float64, out []float64) {
	if b.place == nil {
		out[b.option] += p
		return
	}
	n := len(b.next)
	weights := make([]float64, n)
	most := slices.Max(b.place.scores)
	for i, score := range b.place.scores {
		if math.IsInf(most, -1) {
			score = most // all are impossible
		} else {
			score = math.Exp(score - most)
		}
		weights[min(i, n-1)] += score
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i, next := range b.next {
		share := 1 / float64(n)
		if sum > 0 {
			share = weights[i] / sum
		}
		next.weigh(p*share, out)
	}
}

// average computes the probabilities, averaged over the orders.
func (d *decision) average(q *query, asked []*posed) {
	d.probabilities = make([][]float64, len(q.questions))
	for i := range q.questions {
		d.probabilities[i] = make([]float64, len(q.questions[i].options))
	}
	for _, p := range asked {
		p.tree.weigh(1/float64(q.orders), d.probabilities[p.question])
	}
}

// longAnswer is the length in bytes above which alternatives are chosen by number.
const longAnswer = 80

// answers returns the text of each option as an answer: verbatim, unless an option is long or equals another.
func (q *question) answers() []string {
	out := make([]string, len(q.options))
	seen := map[string]bool{}
	plain := true
	for i, o := range q.options {
		text := o.text
		if text == "" && q.kind == scoreKind {
			text = o.description // a level without a label
		}
		plain = plain && text != "" && len(text) <= longAnswer && !strings.ContainsAny(text, "\n\r") && strings.TrimSpace(text) == text && !seen[text]
		out[i], seen[text] = text, true
	}
	for i := range out {
		if !plain {
			out[i] = fmt.Sprint(i)
		}
	}
	return out
}

// conversation returns the prompt of a question. Its start is the same for all questions.
func conversation(q *query, one *question, words []string, reversed bool) []chat.Message {
	system := "Answer the question about the text. Answer with one of the given options and nothing else."
	var text strings.Builder
	for _, m := range q.text {
		switch {
		case m.Role == "system":
			system += "\n\n" + m.Content
		case len(q.text) == 1:
			text.WriteString(m.Content)
		default:
			fmt.Fprintf(&text, "%s: %s\n", m.Role, m.Content)
		}
	}
	order := indices(len(words))
	if reversed {
		slices.Reverse(order)
	}
	var b strings.Builder
	asks := "Question"
	if one.kind == predicateKind && !strings.HasSuffix(strings.TrimSpace(one.ask), "?") {
		asks = "Is this true"
	}
	fmt.Fprintf(&b, "Text:\n%s\n\n%s: %s\n", strings.TrimSpace(text.String()), asks, one.ask)
	var listed []string
	for _, i := range order {
		listed = append(listed, words[i])
	}
	if one.kind != predicateKind || one.options[0].description+one.options[1].description != "" {
		b.WriteString("Options:\n")
		for _, i := range order {
			o := one.options[i]
			b.WriteString("- " + words[i])
			if words[i] != o.text && o.text != "" {
				b.WriteString(": " + o.text)
			}
			if o.description != "" && o.description != words[i] {
				b.WriteString(": " + o.description)
			}
			b.WriteByte('\n')
		}
	}
	if len(listed) > 12 {
		b.WriteString("Answer with one of the options.")
	} else {
		fmt.Fprintf(&b, "Answer with one of: %s.", strings.Join(listed, ", "))
	}
	return []chat.Message{{Role: "system", Content: system}, {Role: "user", Content: b.String()}}
}

// confidence returns 0 if all options are equally likely and 1 if one is certain.
func confidence(p []float64) float64 {
	if len(p) < 2 {
		return 1
	}
	even := 1 / float64(len(p))
	return max(0, (slices.Max(p)-even)/(1-even))
}

// orderedConfidence is confidence for levels: it also depends on how near the others are to the likeliest one.
func orderedConfidence(p []float64) float64 {
	if len(p) < 2 {
		return 1
	}
	at := slices.Index(p, slices.Max(p))
	apart, even := 0.0, 0.0
	for i, x := range p {
		apart += x * math.Abs(float64(i-at))
		even += math.Abs(float64(i)-float64(len(p)-1)/2) / float64(len(p))
	}
	return max(0, 1-apart/even)
}

// expected returns the mean level, counted from 0.
func expected(p []float64) (mean float64) {
	for i, x := range p {
		mean += float64(i) * x
	}
	return mean
}
