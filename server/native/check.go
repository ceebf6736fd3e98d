package native

import (
	"context"
	"net/http"
	"slices"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// A checkReply reports what a schema or grammar allows and what it costs, or what is wrong with it.
type checkReply struct {
	OK          bool                    `json:"ok"`
	Errors      []wire.Detail           `json:"errors"`
	Warnings    []wire.Detail           `json:"warnings"`
	Enforced    []string                `json:"enforced"`
	Checked     []generation.IssueReply `json:"checked"`
	Ignored     []generation.IssueReply `json:"ignored"`
	Closed      bool                    `json:"closed,omitempty"` // objects are narrower than in the schema
	Hash        string                  `json:"hash,omitempty"`
	Draft       string                  `json:"draft,omitempty"`
	Shortest    *string                 `json:"shortest"` // null after an error
	Samples     []string                `json:"samples"`
	ForcedShare float64                 `json:"forced_share"` // share of the samples' bytes
	Cost        checkCost               `json:"cost"`
}

// checkCost is what the constraint engine built to generate the samples.
type checkCost struct {
	Frames int   `json:"frames"`
	Stacks int   `json:"stacks"`
	Sets   int   `json:"sets"`
	Masks  int   `json:"masks"`
	Bytes  int   `json:"bytes"`
	MaskNS int64 `json:"mask_ns"` // mean, including the first masks
}

var (
	schemaCheckNames  = wire.Names{Known: []string{"model"}, Constraint: []string{"schema", "typescript", "strict", "property_order", "whitespace", "on_unsupported", "open_objects"}, Harmless: wire.HarmlessFields}
	grammarCheckNames = wire.Names{Known: []string{"model"}, Constraint: []string{"grammar"}, Harmless: wire.HarmlessFields}
)

// The number of samples of a check, and their fixed seed.
const (
	checkSamples = 5
	checkSeed    = 1
)

// checkModel reads the field model, which is unused here but sent by clients with every request.
func checkModel(o *wire.Object) error {
	var name string
	return o.Str("model", &name)
}

// SchemaCheck handles POST /schema/check.
func (s *Handlers) SchemaCheck(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if _, err := schemaCheckNames.Check(o); err != nil {
		return nil, err
	}
	if err := checkModel(o); err != nil {
		return nil, err
	}
	c, err := readFormat(o, "schema", "typescript")
	if err != nil {
		return nil, err
	}
	if c.Kind == "" {
		return nil, wire.Invalid("schema", "schema is missing")
	}
	c.Strict = false
	c.Whitespace = schema.Compact // samples are for human readers, and should differ only in content
	if err := c.ReadOptions(o); err != nil {
		return nil, err
	}
	if err := o.Boolean("strict", &c.Strict); err != nil {
		return nil, err
	}
	reply := newCheckReply()
	opt := c.Options()
	opt.Limits = s.Models.SchemaLimits
	ctx, cancel := s.checkTime(r)
	defer cancel()
	compiled, err := schema.CompileContext(ctx, c.Schema, opt)
	if err != nil {
		s.refused(reply, err)
		return wire.JSON{Value: reply}, nil
	}
	report := compiled.Report()
	reply.Hash, reply.Draft, reply.Closed = report.Hash, report.Draft, report.Closed
	reply.Enforced = append(reply.Enforced, report.Enforced...)
	reply.Checked, reply.Ignored, reply.Warnings = generation.Issues(report.Checked), generation.Issues(report.Ignored), problem.Details(report.Warnings)
	v, tokens, err := s.checkTokens()
	if err != nil {
		return nil, err
	}
	return s.preview(ctx, reply, compiled.Grammar(v), tokens)
}

// GrammarCheck handles POST /grammar/check.
func (s *Handlers) GrammarCheck(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if _, err := grammarCheckNames.Check(o); err != nil {
		return nil, err
	}
	if err := checkModel(o); err != nil {
		return nil, err
	}
	if !o.Given("grammar") {
		return nil, wire.Invalid("grammar", "grammar is missing")
	}
	var c request.Constraint
	if err := c.Set(o, "grammar", "grammar"); err != nil {
		return nil, err
	}
	ctx, cancel := s.checkTime(r)
	defer cancel()
	reply := newCheckReply()
	v, tokens, err := s.checkTokens()
	if err != nil {
		return nil, err
	}
	var g *gbnf.Grammar
	if b := c.Builtin; b != nil {
		g, err = gbnf.BuiltinContext(ctx, b.Name, b.Options)
	} else {
		g, err = gbnf.CompileContext(ctx, c.Text, gbnf.Options{})
	}
	var bound *decoder.Grammar
	if err == nil {
		bound, err = g.BindContext(ctx, v)
	}
	if err != nil {
		s.refused(reply, err)
		return wire.JSON{Value: reply}, nil
	}
	reply.Hash, reply.Warnings, reply.Enforced = g.Report().Hash, problem.GrammarDetails(g.Report().Warnings), []string{"grammar"}
	return s.preview(ctx, reply, bound, tokens)
}

func newCheckReply() *checkReply {
	return &checkReply{
		Errors: []wire.Detail{}, Warnings: []wire.Detail{}, Enforced: []string{}, Checked: []generation.IssueReply{}, Ignored: []generation.IssueReply{}, Samples: []string{},
	}
}

// refused adds the issues of an error to the reply.
func (s *Handlers) refused(reply *checkReply, err error) {
	p := problem.Describe(err)
	if reply.Errors = slices.Clip(p.Details); len(reply.Errors) == 0 {
		reply.Errors = []wire.Detail{{Reason: p.Message}}
	}
}

// checkTime returns the context of a check. Samples take many masks, each with a time limit; a check
// gets three times that limit.
func (s *Handlers) checkTime(r *http.Request) (context.Context, context.CancelFunc) {
	limit := s.Models.SchemaLimits.OrDefaults().Time
	return context.WithTimeoutCause(r.Context(), 3*limit, &schema.LimitError{Limit: "time", Max: int(3 * limit.Milliseconds())})
}

// checkTokens returns the tokens for samples: a model's, or single bytes while no model is in memory.
func (s *Handlers) checkTokens() (*vocab.Vocab, *walk.Tokens, error) {
	if m := s.Models.SomeServed(); m != nil {
		return m.Text.Vocab(), m.Tokens(), nil
	}
	v, err := walk.ByteTokens()
	if err != nil {
		return nil, nil, err
	}
	return v, walk.NewTokens(v), nil
}

// preview fills in what the constraint allows. A limit exceeded on the way is reported as an error of
// the constraint.
func (s *Handlers) preview(ctx context.Context, reply *checkReply, g *decoder.Grammar, tokens *walk.Tokens) (wire.Answer, error) {
	p, err := walk.Look(ctx, g, tokens, checkSamples, checkSeed)
	if err != nil {
		reply.Errors = append(reply.Errors, wire.Detail{Reason: err.Error()})
		return wire.JSON{Value: reply}, nil
	}
	reply.OK, reply.Shortest, reply.ForcedShare = true, &p.Shortest, p.ForcedShare
	reply.Samples = append(reply.Samples, p.Samples...)
	reply.Cost = checkCost{
		Frames: p.Stats.Frames, Stacks: p.Stats.Stacks, Sets: p.Stats.Sets, Masks: p.Stats.Masks, Bytes: p.Stats.Bytes,
		MaskNS: p.MaskTime.Nanoseconds(),
	}
	return wire.JSON{Value: reply}, nil
}
