package overhead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/bench/interval"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
)

// A Mode is a way to generate.
type Mode string

// The modes. Each is compared with ModeFree.
const (
	ModeFree   Mode = "free"      // no constraint
	ModeMask   Mode = "mask"      // the constraint, every token sampled
	ModeForced Mode = "forced"    // the constraint, forced text appended without sampling
	ModeGBNF   Mode = "gbnf"      // the same language as a grammar, every token sampled
	ModeJudged Mode = "judged"    // as ModeMask, and each document is validated, as in a server
	ModeLlama  Mode = "llama.cpp" // llama.cpp's own grammar sampler over the whole vocabulary, in the same loop
)

// A Bench measures the cost of a constraint on one model. It generates without a
// constraint, with masks, with masks and forced text, with a grammar's masks, with
// masks and the validator, and with llama.cpp's grammar sampler, in turn, in the
// same process.
//
// In every round, each mode runs with Parallel clients, each of which generates
// Documents documents one after another. A document without a constraint has as many
// tokens as the corresponding one with masks. Modes are compared by their time per
// token within a round.
type Bench struct {
	Model        backend.Model
	Context      backend.ContextParams // Size is for one sequence; default 512
	Cases        []Case                // default Cases()
	Modes        []Mode                // default all
	Parallel     []int                 // default 1, 4, 8
	Temperatures []float32             // default 0 and 1
	Rounds       int                   // default 9
	Documents    int                   // per client and round; default 2
	MaxTokens    int                   // per document; default 160
	Prompt       string                // default a short instruction
	Log          *slog.Logger          // default slog.Default()

	// LlamaTokens is the number of tokens that a client generates per round with
	// llama.cpp's grammar sampler, which is slow; default 8.
	LlamaTokens int

	Progress func(done, of int) // called after every mode of every round
	Trace    bool               // keep the spans of one round of each mode
}

// Result is the measurement of one mode of one case.
type Result struct {
	Case        string  `json:"case"`
	SchemaBytes int     `json:"schema_bytes"`
	Parallel    int     `json:"parallel"`
	Temperature float32 `json:"temperature"`
	Mode        Mode    `json:"mode"`

	Rounds    int `json:"rounds"`
	Tokens    int `json:"tokens"`    // in all rounds
	Documents int `json:"documents"` // in all rounds

	TokensPerSecond Estimate `json:"tokens_per_second"` // of all clients together
	TimePerToken    Estimate `json:"us_per_token"`      // wall time in µs
	TimePerDocument Estimate `json:"ms_per_document"`   // ms from the request to its end, for one client
	Overhead        Estimate `json:"overhead"`          // time per token relative to ModeFree; 0.01 is 1% more
	Forced          float64  `json:"forced_share"`      // share of the tokens

	// Parts is the time that one token takes in each part, in µs, measured in an
	// additional traced round. Sequences that are computed together share "forward".
	Parts map[string]float64 `json:"us_per_part"`

	samples []float64 // time per token of each round, µs
	spans   []engine.Span
}

// An Estimate is a median and its 95% confidence bounds; for fewer than
// interval.Fewest rounds, the bounds are the minimum and maximum.
type Estimate struct {
	Rounds int     `json:"rounds"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

func estimate(figures []float64) Estimate {
	m, l, h := interval.Median(figures)
	return Estimate{len(figures), m, l, h}
}

func (o Bench) withDefaults() Bench {
	o.Context.Size = cmp.Or(o.Context.Size, 512)
	o.Rounds = cmp.Or(o.Rounds, 9)
	o.Documents = cmp.Or(o.Documents, 2)
	o.MaxTokens = cmp.Or(o.MaxTokens, 160)
	o.LlamaTokens = cmp.Or(o.LlamaTokens, 8)
	o.Prompt = cmp.Or(o.Prompt, "Write down the record of the customer as JSON:")
	if o.Cases == nil {
		o.Cases = Cases()
	}
	if o.Modes == nil {
		o.Modes = []Mode{ModeFree, ModeMask, ModeForced, ModeGBNF, ModeJudged}
		if llama.Built {
			o.Modes = append(o.Modes, ModeLlama)
		}
	}
	if o.Parallel == nil {
		o.Parallel = []int{1, 4, 8}
	}
	if o.Temperatures == nil {
		o.Temperatures = []float32{0, 1}
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	return o
}

// Run measures everything. With an error, it also returns the results so far.
func (o Bench) Run(ctx context.Context) ([]*Result, error) {
	o = o.withDefaults()
	schemas, grammars := constraint.NewSchemas(o.Model.Vocab(), len(o.Cases)), constraint.NewGrammars(o.Model.Vocab(), len(o.Cases))
	if err := schemas.Warm(); err != nil {
		return nil, err
	}
	var out []*Result
	done, of := 0, len(o.Cases)*len(o.Parallel)*len(o.Temperatures)*len(o.Modes)*(o.Rounds+2)
	for _, parallel := range o.Parallel {
		tracer := new(Recorder)
		params := o.Context
		params.Size *= parallel
		config := engine.Config{Parallel: parallel, CacheSlots: -1, Queue: 2 * parallel, Context: params, Log: o.Log}
		plain, err := engine.New(o.Model, config)
		if err != nil {
			return out, err
		}
		config.Tracer = tracer
		traced, err := engine.New(o.Model, config)
		if err != nil {
			return out, errors.Join(err, plain.Close())
		}
		for _, c := range o.Cases {
			for _, t := range o.Temperatures {
				b := &run{Bench: &o, ctx: ctx, c: c, parallel: parallel, temperature: t, plain: plain, traced: traced, tracer: tracer}
				b.step = func() { done++; o.Progress(done, of) }
				var list []*Result
				if list, err = b.all(schemas, grammars); err != nil {
					return out, errors.Join(err, plain.Close(), traced.Close())
				}
				out = append(out, list...)
			}
		}
		if err := errors.Join(plain.Close(), traced.Close()); err != nil {
			return out, err
		}
	}
	return out, nil
}

// run measures one case with one number of clients at one temperature.
type run struct {
	*Bench
	ctx           context.Context
	c             Case
	parallel      int
	temperature   float32
	plain, traced *engine.Engine
	tracer        *Recorder
	prompt        []int32
	lengths       []int // tokens of the last documents with masks, by client and document
	step          func()
}

// A contender is a mode and its measurements.
type contender struct {
	mode       Mode
	constraint engine.Constraint
	judge      *constraint.CompiledSchema // nil: documents are not judged
	most       int                        // maximum number of rounds, if not 0
	rounds     []round
	traced     round
	spans      []engine.Span
}

// maxRound is the maximum duration of a round that is repeated with a sampler other than ours: on large schemas
// llama.cpp's grammar sampler takes seconds per token.
const maxRound = 4 * time.Second

// A round is the measurement of one round of a contender.
type round struct {
	wall              time.Duration
	tokens, forced    int
	documents         int
	perDocument       time.Duration
	perToken, against float64 // µs, and the same for ModeFree in this round
}

func (b *run) all(schemas *constraint.Schemas, grammars *constraint.Grammars) ([]*Result, error) {
	compiled, err := schemas.Compile(b.ctx, b.c.Schema, schema.Options{})
	if err != nil {
		return nil, fmt.Errorf("overhead: %s: %w", b.c.Name, err)
	}
	b.prompt = b.Model.Vocab().Encode(b.Prompt)
	var modes []*contender
	for _, m := range b.Modes {
		x := &contender{mode: m}
		switch m {
		case ModeFree:
		case ModeMask, ModeForced:
			x.constraint = compiled.Constraint
		case ModeJudged:
			x.constraint, x.judge = compiled.Constraint, compiled
		case ModeGBNF:
			if b.c.GBNF == "" {
				continue
			}
			grammar, err := grammars.Grammar(b.ctx, b.c.GBNF)
			if err != nil {
				return nil, fmt.Errorf("overhead: %s: %w", b.c.Name, err)
			}
			x.constraint = grammar.Constraint
		case ModeLlama:
			if b.c.GBNF == "" {
				continue
			}
			if x.constraint, err = newLlamaGrammar(b.Model, b.c.GBNF); err != nil {
				return nil, fmt.Errorf("overhead: %s: %w", b.c.Name, err)
			}
		default:
			return nil, fmt.Errorf("overhead: there is no mode %q", m)
		}
		modes = append(modes, x)
	}
	// A warm-up round, which also determines the lengths of documents.
	slices.SortStableFunc(modes, func(a, b *contender) int { return first(a.mode) - first(b.mode) })
	for _, m := range modes {
		got, err := b.play(m, b.plain, 0)
		if err != nil {
			return nil, err
		}
		if got.wall > maxRound && !slices.Contains([]Mode{ModeFree, ModeMask, ModeForced}, m.mode) {
			m.most = 1
		}
	}
	for r := range b.Rounds {
		free := 0.0
		for i := range modes {
			m := modes[(i+r)%len(modes)] // each of them comes first in turn
			if m.most > 0 && r >= m.most {
				b.step()
				continue
			}
			got, err := b.play(m, b.plain, r+1)
			if err != nil {
				return nil, err
			}
			if m.mode == ModeFree {
				free = got.perToken
			}
			m.rounds = append(m.rounds, got)
		}
		for _, m := range modes {
			if r < len(m.rounds) {
				m.rounds[r].against = free
			}
		}
	}
	var out []*Result
	for _, m := range modes {
		b.tracer.Take()
		if m.traced, err = b.play(m, b.traced, 0); err != nil {
			return nil, err
		}
		m.spans = b.tracer.Take()
		out = append(out, b.result(m))
	}
	slices.SortStableFunc(out, func(x, y *Result) int { return slices.Index(b.Modes, x.Mode) - slices.Index(b.Modes, y.Mode) })
	return out, nil
}

// first returns the position of a mode in the warm-up round: ModeMask before
// ModeFree, which uses its lengths.
func first(m Mode) int {
	return slices.Index([]Mode{ModeMask, ModeFree, ModeForced, ModeGBNF, ModeJudged, ModeLlama}, m)
}

// play runs one round: all clients generate their documents.
func (b *run) play(m *contender, e *engine.Engine, number int) (round, error) {
	defer b.step()
	var (
		mu    sync.Mutex
		total round
		wait  sync.WaitGroup
		fails []error
	)
	lengths := make([]int, b.parallel*b.Documents)
	start := time.Now()
	for client := range b.parallel {
		wait.Go(func() {
			for d := range b.Documents {
				at := client*b.Documents + d
				began := time.Now()
				r, err := b.document(m, e, at, number)
				took := time.Since(began)
				mu.Lock()
				if err != nil {
					fails = append(fails, err)
					mu.Unlock()
					return
				}
				total.tokens += r.CompletionTokens
				total.documents++
				total.perDocument += took
				if r.Constraint != nil {
					total.forced += r.Constraint.ForcedTokens
				}
				lengths[at] = r.CompletionTokens
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	total.wall = time.Since(start)
	if len(fails) > 0 {
		return total, fmt.Errorf("overhead: %s, %s: %w", b.c.Name, m.mode, errors.Join(fails...))
	}
	if m.mode == ModeMask {
		b.lengths = lengths
	}
	total.perToken = float64(total.wall.Nanoseconds()) / 1000 / float64(total.tokens)
	total.perDocument /= time.Duration(total.documents)
	return total, nil
}

// document generates one document.
func (b *run) document(m *contender, e *engine.Engine, at, number int) (*engine.Result, error) {
	req := engine.Request{
		ID: fmt.Sprintf("document %d", at+1), Prompt: b.prompt, MaxTokens: b.MaxTokens, Constraint: m.constraint,
		NoForced: m.mode != ModeForced,
		Sampling: sampling.Options{Temperature: b.temperature, Seed: uint64(number*1000 + at)},
	}
	switch m.mode {
	case ModeFree:
		if b.lengths != nil {
			req.MaxTokens = b.lengths[at]
		}
	case ModeLlama:
		req.MaxTokens, req.Truncate = b.LlamaTokens, true
	}
	stream, err := e.Submit(b.ctx, req)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	results, err := stream.Collect(b.ctx)
	if err != nil {
		return nil, err
	}
	if m.judge != nil {
		if err := m.judge.Validate(b.ctx, []byte(results[0].Text)); err != nil {
			return nil, err
		}
	}
	return results[0], nil
}

// result summarises the rounds of a mode.
func (b *run) result(m *contender) *Result {
	r := &Result{
		Case: b.c.Name, SchemaBytes: len(b.c.Schema), Parallel: b.parallel, Temperature: b.temperature,
		Mode: m.mode, Rounds: len(m.rounds), Parts: map[string]float64{},
	}
	var rate, perDocument, overhead []float64
	forced := 0
	for _, x := range m.rounds {
		r.Tokens += x.tokens
		r.Documents += x.documents
		forced += x.forced
		r.samples = append(r.samples, x.perToken)
		rate = append(rate, 1e6/x.perToken)
		perDocument = append(perDocument, x.perDocument.Seconds()*1000)
		if x.against > 0 && m.mode != ModeFree {
			overhead = append(overhead, x.perToken/x.against-1)
		}
	}
	r.TokensPerSecond, r.TimePerToken = estimate(rate), estimate(r.samples)
	r.TimePerDocument, r.Overhead = estimate(perDocument), estimate(overhead)
	r.Forced = float64(forced) / float64(max(1, r.Tokens))
	if b.Trace {
		r.spans = m.spans
	}
	for _, s := range m.spans {
		r.Parts[s.Part.String()] += float64(s.Took.Nanoseconds()) / 1000 / float64(m.traced.tokens)
	}
	return r
}
