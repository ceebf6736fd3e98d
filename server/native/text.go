package native

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/repair"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// This file handles texts that the client already has: POST /validate, /repair and /signals generate nothing and need
// no model.

var (
	validateNames = wire.Names{Known: []string{"document", "text", "model"}, Constraint: []string{"schema", "typescript", "grammar", "regex", "choice"}, Harmless: wire.HarmlessFields}
	repairNames   = wire.Names{Known: []string{"text", "strategies", "verify", "cut", "model"}, Constraint: []string{"schema", "typescript"}, Harmless: wire.HarmlessFields}
	signalsNames  = wire.Names{Known: []string{"text", "document", "samples", "called", "surprise", "weights", "model"}, Harmless: wire.HarmlessFields}
)

// A validateReply reports whether a text fits.
type validateReply struct {
	Valid      *bool         `json:"valid"` // null: there is no verdict; a warning says why
	Errors     []wire.Detail `json:"errors"`
	Incomplete bool          `json:"incomplete"` // it is a prefix of a text that could fit
	Hash       string        `json:"hash"`
	Warnings   []string      `json:"warnings,omitempty"`
}

// readText reads the body of a request about a text.
func readText(r *http.Request, names *wire.Names) (*wire.Object, []string, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, nil, err
	}
	warnings, err := names.Check(o)
	if err == nil {
		err = checkModel(o)
	}
	return o, warnings, err
}

// readFormat reads the constraint of a text.
func readFormat(o *wire.Object, names ...string) (request.Constraint, error) {
	c := request.DefaultConstraint()
	for _, name := range names {
		if err := c.Set(o, name, name); err != nil {
			return c, err
		}
	}
	return c, c.Whole()
}

// Validate handles POST /validate: it checks whether a text or document fits a schema, grammar, regular expression or
// list of choices.
func (s *Handlers) Validate(r *http.Request) (wire.Answer, error) {
	o, warnings, err := readText(r, &validateNames)
	if err != nil {
		return nil, err
	}
	c, err := readFormat(o, "schema", "typescript", "grammar", "regex", "choice")
	if err != nil {
		return nil, err
	}
	document, isDocument := o.Members["document"]
	text := string(document)
	switch {
	case c.Kind == "":
		return nil, wire.Invalid("schema", "a constraint is required: schema, typescript, grammar, regex or choice")
	case isDocument == o.Given("text"):
		return nil, wire.Invalid("text", "either text or document is required: what to check")
	case isDocument && c.Kind != "schema":
		return nil, wire.Invalid("document", "a %s applies to a text, so use text instead of document", c.Kind)
	}
	if err := o.Str("text", &text); err != nil {
		return nil, err
	}
	reply := &validateReply{Errors: []wire.Detail{}, Warnings: warnings}
	if c.Kind == "schema" {
		err = reply.schema(r.Context(), c, text)
	} else {
		err = s.matchGrammar(r.Context(), reply, c, text)
	}
	if err != nil {
		return nil, problem.InField(err, c.Param)
	}
	return wire.JSON{Value: reply}, nil
}

// compileForReading compiles a schema, and its validator, for documents that stencil did not generate.
func compileForReading(ctx context.Context, src json.RawMessage) (*schema.Schema, *constraint.Validator, error) {
	compiled, err := schema.CompileContext(ctx, src, schema.Options{
		Order: schema.OrderAny, Whitespace: schema.Flexible(0), AnyNumberSpelling: true, OnUnsupported: schema.UnsupportedIsIgnored,
	})
	if err != nil {
		return nil, nil, err
	}
	v, err := constraint.NewValidator(ctx, src, compiled.Report().Draft)
	if err != nil && ctx.Err() == nil {
		return compiled, nil, &unreadError{err}
	}
	return compiled, v, err
}

// An unreadError means that a schema that compiles can't be read by the validator, which knows fewer regular
// expressions than the engine does. There is no verdict then.
type unreadError struct{ cause error }

// Error implements error.
func (e *unreadError) Error() string { return "the validator has no verdict: " + e.cause.Error() }

func (reply *validateReply) schema(ctx context.Context, c request.Constraint, text string) error {
	compiled, validator, err := compileForReading(ctx, c.Schema)
	var unread *unreadError
	if err != nil && !errors.As(err, &unread) {
		return err
	}
	reply.Hash = compiled.Report().Hash
	for _, w := range compiled.Report().Warnings {
		reply.Warnings = append(reply.Warnings, w.String())
	}
	valid := true
	if root, err := jsondoc.Parse(text, maxDepth); err != nil {
		valid = false
		reply.Errors = append(reply.Errors, syntaxDetail(err))
		reply.Incomplete = incomplete(text)
	} else if unread != nil {
		reply.Warnings = append(reply.Warnings, unread.Error())
		return nil
	} else {
		err := validator.Validate(ctx, []byte(text))
		var bad *constraint.InvalidDocumentError
		switch {
		case errors.As(err, &bad):
			valid = false
			reply.Errors = placed(bad.Issues, root, text)
		case err != nil:
			reply.Warnings = append(reply.Warnings, "the validator has no verdict: "+err.Error())
			return nil
		}
	}
	reply.Valid = &valid
	return nil
}

// syntaxDetail returns the position where a text stops being JSON.
func syntaxDetail(err error) wire.Detail {
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) {
		return wire.Detail{Keyword: "json", Reason: syntax.Reason, Line: syntax.Line, Column: syntax.Column}
	}
	return wire.Detail{Keyword: "json", Reason: err.Error()}
}

// incomplete reports whether a text is a proper prefix of a JSON document.
func incomplete(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	var v json.RawMessage
	err := d.Decode(&v)
	return err != nil && (err.Error() == "unexpected EOF" || err.Error() == "EOF")
}

// placed returns what is wrong with the document in a text, with the places there.
func placed(issues []schema.Issue, root *jsondoc.Value, text string) []wire.Detail {
	list := problem.Details(issues)
	for i := range list {
		list[i].Line, list[i].Column = placeOf(root, text, list[i].Pointer)
	}
	return list
}

// placeOf returns the start of the value at a pointer, 0 if there is none.
func placeOf(v *jsondoc.Value, text, pointer string) (line, column int) {
	if pointer == "" {
		return jsondoc.LineColumn(text, v.Pos)
	}
	for _, part := range strings.Split(pointer, "/")[1:] {
		if part = jsondoc.UnescapePointer(part); v.Kind == jsondoc.Array {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v.Items) {
				return 0, 0
			}
			v = v.Items[i]
			continue
		}
		if v = v.Get(part); v == nil {
			return 0, 0
		}
	}
	return jsondoc.LineColumn(text, v.Pos)
}

// matchGrammar is Validate for constraints other than schemas.
func (s *Handlers) matchGrammar(ctx context.Context, reply *validateReply, c request.Constraint, text string) error {
	v, _, err := s.checkTokens()
	if err != nil {
		return err
	}
	var g *gbnf.Grammar
	switch b := c.Builtin; {
	case b != nil:
		g, err = gbnf.BuiltinContext(ctx, b.Name, b.Options)
	case c.Kind == "regex":
		g, err = gbnf.RegexContext(ctx, c.Text, gbnf.ECMA, gbnf.Options{})
	case c.Kind == "choice":
		g, err = gbnf.ChoiceContext(ctx, c.Choices, gbnf.Options{})
	default:
		g, err = gbnf.CompileContext(ctx, c.Text, gbnf.Options{})
	}
	if err != nil {
		return err
	}
	if g.ReadsTokens() { // of the tokens that it refers to, only the text is known
		if g, err = g.TokensAsText(ctx, v); err != nil {
			return err
		}
	}
	bound, err := g.BindContext(ctx, v)
	if err != nil {
		return err
	}
	reply.Hash = g.Report().Hash
	m := bound.NewMatcher()
	m.Bind(ctx)
	n, err := m.AcceptBytes([]byte(text))
	var refused *decoder.RefusedError
	valid := false
	switch {
	case errors.As(err, &refused):
		line, column := jsondoc.LineColumn(text, n)
		reply.Errors = append(reply.Errors, wire.Detail{Keyword: c.Kind, Reason: strings.TrimPrefix(err.Error(), "decoder: "), Line: line, Column: column})
	case err != nil:
		return beyond(ctx, n, err)
	case !m.Accepting():
		end := m.ShortestCompletion()
		if err := m.Err(); err != nil {
			return beyond(ctx, len(text), err)
		}
		line, column := jsondoc.LineColumn(text, len(text))
		reply.Incomplete = true
		reply.Errors = append(reply.Errors, wire.Detail{Keyword: c.Kind, Reason: "the text ends too early; it could end with " + strconv.Quote(string(end)), Line: line, Column: column})
	default:
		if err := m.Err(); err != nil {
			return beyond(ctx, len(text), err)
		}
		valid = true
	}
	reply.Valid = &valid
	return nil
}

// beyond returns the error for a text that a matcher could not read further than n bytes; 0: it doesn't tell how far it
// has come.
func beyond(ctx context.Context, n int, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if n == 0 {
		n = -1
	}
	return &engine.ConstraintError{Offset: n, Cause: err}
}

// A repairReply is the result of a repair.
type repairReply struct {
	OK         bool            `json:"ok"` // there is a document and, if verified, it fits
	JSON       json.RawMessage `json:"json,omitempty"`
	Text       string          `json:"text"` // the document's text; the original text if there is none
	Changed    bool            `json:"changed"`
	Strategies []string        `json:"strategies"` // those that changed something
	Edits      []repair.Edit   `json:"edits"`
	Errors     []wire.Detail   `json:"errors"`
	Verified   *bool           `json:"verified"` // whether it fits the schema; null: no schema, or not requested
	Warnings   []string        `json:"warnings,omitempty"`
}

// Repair handles POST /repair: it extracts the document from an unconstrained text.
func (s *Handlers) Repair(r *http.Request) (wire.Answer, error) {
	o, warnings, err := readText(r, &repairNames)
	if err != nil {
		return nil, err
	}
	c, err := readFormat(o, "schema", "typescript")
	if err != nil {
		return nil, err
	}
	text, cut, verify := "", false, true
	var strategies []string
	for _, err := range []error{
		o.Str("text", &text), o.Boolean("cut", &cut), o.Boolean("verify", &verify), o.Decode("strategies", &strategies, "an array of strings"),
	} {
		if err != nil {
			return nil, err
		}
	}
	if !o.Given("text") {
		return nil, wire.Invalid("text", "text is missing")
	}
	if !o.Given("strategies") {
		strategies = []string{repair.Cleaning, repair.Repairing, repair.Coercing}
	}
	opt := repair.Options{Hints: repair.Hints{Ended: !cut, Cut: cut}}
	if err := opt.Use(strategies); err != nil {
		return nil, wire.Invalid("strategies", "strategies: %s", strings.TrimPrefix(err.Error(), "repair: "))
	}
	if c.Kind != "" {
		_, validator, err := compileForReading(r.Context(), c.Schema)
		var unread *unreadError
		switch {
		case errors.As(err, &unread):
			warnings = append(warnings, unread.Error())
		case err != nil:
			return nil, problem.InField(err, c.Param)
		default:
			ctx := constraint.Together(r.Context())
			opt.Check = func(document []byte) ([]schema.Issue, error) { return validator.Issues(ctx, document) }
		}
	}
	out := repair.Read(text, opt)
	reply := repairReply{
		Text: out.Text, Edits: append([]repair.Edit{}, out.Edits...), Strategies: append([]string{}, repair.Strategies(out.Edits)...),
		Errors: []wire.Detail{}, Warnings: warnings, Changed: out.Text != text, OK: out.JSON,
	}
	var syntax *repair.SyntaxError
	switch {
	case errors.As(out.Err, &syntax):
		d := wire.Detail{Keyword: "json", Reason: syntax.Reason, Line: syntax.Line, Column: syntax.Column}
		if syntax.Repair != nil {
			d.Hint = strings.TrimPrefix(syntax.Repair.Error(), "repair: ")
		}
		reply.Errors = append(reply.Errors, d)
	case errors.Is(out.Err, repair.ErrEmpty):
		reply.Errors = append(reply.Errors, wire.Detail{Keyword: "json", Reason: "the text is empty"})
	case out.Err != nil:
		reply.Warnings = append(reply.Warnings, "the validator has no verdict: "+out.Err.Error())
	}
	if out.Unfinished != nil {
		reply.Warnings = append(reply.Warnings, "not all conversions were tried: "+out.Unfinished.Error())
	}
	if out.JSON {
		reply.JSON = json.RawMessage(out.Text)
	}
	if out.JSON && verify && opt.Check != nil && out.Err == nil {
		fits := len(out.Issues) == 0
		reply.Verified, reply.OK = &fits, fits
		bad := problem.Details(out.Issues)
		if root, err := jsondoc.Parse(out.Text, maxDepth); err == nil {
			bad = placed(out.Issues, root, out.Text)
		}
		reply.Errors = append(reply.Errors, bad...)
	}
	return wire.JSON{Value: reply}, nil
}

// A signalsReply holds the signals in a text, and the resulting assessment.
type signalsReply struct {
	Signals    *assess.Signals    `json:"signals"`
	Text       string             `json:"text"` // without the signals
	Assessment signals.Assessment `json:"assessment"`
	Warnings   []string           `json:"warnings,omitempty"`
}

// Signals handles POST /signals: it reads the signals in a text and weighs them like those of an answer.
func (s *Handlers) Signals(r *http.Request) (wire.Answer, error) {
	o, warnings, err := readText(r, &signalsNames)
	if err != nil {
		return nil, err
	}
	f := request.Signals{Weights: signals.DefaultWeights()}
	text, document := "", false
	var samples, called []string
	in := signals.Inputs{}
	for _, err := range []error{
		o.Str("text", &text), o.Boolean("document", &document), o.Decode("samples", &samples, "an array of strings"),
		o.Decode("called", &called, "an array of strings"), o.Decode("surprise", &in.Surprise, "a number"), f.ReadWeights(o),
	} {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case !o.Given("text"):
		return nil, wire.Invalid("text", "text is missing")
	case len(samples) > maxTexts:
		return nil, wire.Invalid("samples", "samples must have at most %d texts", maxTexts)
	case in.Surprise != nil && !(*in.Surprise >= 0 && *in.Surprise <= 1):
		return nil, wire.Invalid("surprise", "surprise must be between 0 and 1")
	}
	read := signals.Read
	if document {
		read = signals.ReadDocument
	}
	said, rest, from := read(text)
	if from != signals.FromDefaults {
		in.Own = &said
	}
	in.Called = called
	if len(samples) > 0 {
		in.Agreement = signals.Agreement(slices.Concat([]string{rest}, samples))
	}
	return wire.JSON{Value: signalsReply{
		Signals: &assess.Signals{Signals: said, Source: from}, Text: rest, Assessment: signals.Aggregate(in, f.Weights), Warnings: warnings,
	}}, nil
}

// maxTexts is the largest number of samples in a request: comparing them takes quadratic time.
const maxTexts = 15
