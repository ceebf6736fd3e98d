package server

import (
	"net/http"
	"slices"

	"stencil/decoder"
	"stencil/decoder/walk"
	"stencil/gbnf"
	"stencil/schema"
	"stencil/vocab"
)

// checkReply says what a schema or grammar admits and what it costs, or what is
// wrong with it.
type checkReply struct {
	OK          bool          `json:"ok"`
	Errors      []errorDetail `json:"errors"`
	Warnings    []errorDetail `json:"warnings"`
	Enforced    []string      `json:"enforced"`
	Checked     []issueReply  `json:"checked"`
	Ignored     []issueReply  `json:"ignored"`
	Hash        string        `json:"hash,omitempty"`
	Draft       string        `json:"draft,omitempty"`
	Shortest    *string       `json:"shortest"` // null if there is an error
	Samples     []string      `json:"samples"`
	ForcedShare float64       `json:"forced_share"` // of the samples' bytes
	Cost        checkCost     `json:"cost"`
}

// checkCost is what the constraint has built to make the samples.
type checkCost struct {
	Frames int   `json:"frames"`
	Stacks int   `json:"stacks"`
	Sets   int   `json:"sets"`
	Masks  int   `json:"masks"`
	Bytes  int   `json:"bytes"`
	MaskNS int64 `json:"mask_ns"` // mean, the first masks included
}

var (
	schemaCheckNames  = names{known: []string{"model"}, constraint: []string{"schema", "strict", "property_order", "whitespace", "on_unsupported"}, harmless: harmlessFields}
	grammarCheckNames = names{known: []string{"model"}, constraint: []string{"grammar"}, harmless: harmlessFields}
)

// Samples of a check, and the seed that makes them the same every time.
const (
	checkSamples = 5
	checkSeed    = 1
)

// schemaCheck is POST /schema/check.
func (s *nativeAPI) schemaCheck(r *http.Request) (answer, error) {
	o, err := readObject(r)
	if err != nil {
		return nil, err
	}
	if _, err := schemaCheckNames.check(o); err != nil {
		return nil, err
	}
	raw, there := o.members["schema"]
	if !there {
		return nil, invalid("schema", "schema is missing")
	}
	c := defaultConstraint()
	c.Strict = false
	c.Whitespace = schema.Compact // samples are for reading, and differ in what they hold
	if err := c.readOptions(o); err != nil {
		return nil, err
	}
	if err := o.boolean("strict", &c.Strict); err != nil {
		return nil, err
	}
	reply := newCheckReply()
	compiled, err := schema.Compile(raw, c.options())
	if err != nil {
		s.refused(reply, err)
		return jsonAnswer{reply}, nil
	}
	report := compiled.Report()
	reply.Hash, reply.Draft = report.Hash, report.Draft
	reply.Enforced = append(reply.Enforced, report.Enforced...)
	reply.Checked, reply.Ignored, reply.Warnings = issues(report.Checked), issues(report.Ignored), details(report.Warnings)
	v, tokens, err := s.checkTokens()
	if err != nil {
		return nil, err
	}
	return s.preview(reply, compiled.Grammar(v), tokens)
}

// grammarCheck is POST /grammar/check.
func (s *nativeAPI) grammarCheck(r *http.Request) (answer, error) {
	o, err := readObject(r)
	if err != nil {
		return nil, err
	}
	if _, err := grammarCheckNames.check(o); err != nil {
		return nil, err
	}
	if !o.given("grammar") {
		return nil, invalid("grammar", "grammar is missing")
	}
	text := ""
	if err := o.str("grammar", &text); err != nil {
		return nil, err
	}
	reply := newCheckReply()
	v, tokens, err := s.checkTokens()
	if err != nil {
		return nil, err
	}
	g, err := gbnf.Compile(text, gbnf.Options{})
	var bound *decoder.Grammar
	if err == nil {
		bound, err = g.Bind(v)
	}
	if err != nil {
		s.refused(reply, err)
		return jsonAnswer{reply}, nil
	}
	reply.Hash, reply.Warnings, reply.Enforced = g.Report().Hash, grammarDetails(g.Report().Warnings), []string{"grammar"}
	return s.preview(reply, bound, tokens)
}

func newCheckReply() *checkReply {
	return &checkReply{
		Errors: []errorDetail{}, Warnings: []errorDetail{}, Enforced: []string{}, Checked: []issueReply{}, Ignored: []issueReply{}, Samples: []string{},
	}
}

// refused lists what is wrong.
func (s *nativeAPI) refused(reply *checkReply, err error) {
	p := describe(err)
	if reply.Errors = slices.Clip(p.details); len(reply.Errors) == 0 {
		reply.Errors = []errorDetail{{Reason: p.message}}
	}
}

// checkTokens returns the tokens that samples are made of: the model's, or
// single bytes while there is none.
func (s *nativeAPI) checkTokens() (*vocab.Vocab, *walk.Tokens, error) {
	if m := s.models.someServed(); m != nil {
		return m.text.Vocab(), m.tokens(), nil
	}
	v, err := walk.ByteTokens()
	if err != nil {
		return nil, nil, err
	}
	return v, walk.NewTokens(v), nil
}

// preview fills in what the constraint admits. A limit that is exceeded on the
// way is an error of the constraint.
func (s *nativeAPI) preview(reply *checkReply, g *decoder.Grammar, tokens *walk.Tokens) (answer, error) {
	p, err := walk.Look(g, tokens, checkSamples, checkSeed)
	if err != nil {
		reply.Errors = append(reply.Errors, errorDetail{Reason: err.Error()})
		return jsonAnswer{reply}, nil
	}
	reply.OK, reply.Shortest, reply.ForcedShare = true, &p.Shortest, p.ForcedShare
	reply.Samples = append(reply.Samples, p.Samples...)
	reply.Cost = checkCost{
		Frames: p.Stats.Frames, Stacks: p.Stats.Stacks, Sets: p.Stats.Sets, Masks: p.Stats.Masks, Bytes: p.Stats.Bytes,
		MaskNS: p.MaskTime.Nanoseconds(),
	}
	return jsonAnswer{reply}, nil
}
