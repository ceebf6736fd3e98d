package schema

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/language"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/number"
	"github.com/stencil-json/stencil/schema/syntax"
	"github.com/stencil-json/stencil/vocab"
)

// A Schema is a compiled JSON Schema. It is immutable and safe for
// concurrent use.
type Schema struct {
	doc    *syntax.Document
	opt    Options
	report Report        // without the hash
	hash   func() string // of the source
	lang   func() *language.Pool

	mu    sync.Mutex
	first *source // built while compiling; the first grammar takes it over
}

// Compile reads a JSON Schema and checks that it can be enforced. The error
// is a [*SyntaxError], [*InvalidError], [*UnsupportedError],
// [*UnsatisfiableError] or [*LimitError].
func Compile(src []byte, opt Options) (*Schema, error) {
	return CompileContext(context.Background(), src, opt)
}

// CompileContext is [Compile] with a context: when it ends, the work stops, with its cause as the error.
func CompileContext(ctx context.Context, src []byte, opt Options) (*Schema, error) {
	opt.Limits = opt.Limits.OrDefaults()
	if most := opt.Limits.Bytes; len(src) > most {
		return nil, &LimitError{Limit: "bytes", Max: most}
	}
	c, err := analyse(ctx, src, opt, language.Shared())
	if _, is := errors.AsType[*regular.LimitError](err); is { // then it has a pool of its own
		if c, err = analyse(ctx, src, opt, language.New()); err == nil {
			c.lang = language.New
		}
	}
	return c, err
}

func analyse(ctx context.Context, src []byte, opt Options, lang *language.Pool) (c *Schema, err error) {
	doc, err := syntax.ParseDocument(string(src), opt.Limits.Depth, opt.Strict)
	if err != nil {
		return nil, err
	}
	var s *source
	m := meter.New(meter.Limits{Time: opt.Limits.Time, Bytes: opt.Limits.Memory}, func() int {
		if s == nil {
			return 0
		}
		return s.Bytes()
	})
	m.Start(ctx)
	defer func() {
		if limit, is := errors.AsType[*meter.LimitError](err); is {
			c, err = nil, explained(opt.Limits.exceeded(limit), doc.Suspects())
		}
	}()
	defer meter.Catch(&err)
	doc.CheckTexts(lang.Reporting(func(n int) { m.Step(1 + n/16) }, func(err *regular.LimitError) { m.Stop(err) }))
	doc.CheckSizes()
	if len(doc.Invalid) > 0 {
		// Unsupported keywords are listed too, so that one attempt finds all issues.
		issues := slices.Clip(doc.Invalid)
		if opt.OnUnsupported == UnsupportedIsError {
			issues = append(issues, doc.Unsupported...)
		}
		return nil, &InvalidError{Issues: issues}
	}
	c = &Schema{doc: doc, opt: opt, lang: language.Shared, hash: sync.OnceValue(func() string { return jsondoc.Digest(doc.Source) })}
	costly := doc.Complexity()
	c.report = Report{Draft: doc.Draft.String(), Enforced: doc.Enforced, Warnings: slices.Concat(doc.Warnings, costly)}
	if len(doc.Unsupported) > 0 {
		switch opt.OnUnsupported {
		case UnsupportedIsError:
			return nil, &UnsupportedError{Issues: append(slices.Clip(doc.Unsupported), contradictions(doc, opt, lang, m)...)}
		case UnsupportedIsChecked:
			c.report.Checked = doc.Unsupported
		default:
			c.report.Ignored = doc.Unsupported
		}
	}
	if opt.Closed {
		found, open := doc.Closes()
		c.report.Closed = found
		c.report.Warnings = append(slices.Clone(c.report.Warnings), open...)
	}
	s = newSource(doc, opt, lang, m)
	root := s.views.root()
	ok := s.sat.satisfiable(root)
	s.views.checkNumbers()
	if s.err != nil {
		return nil, explained(numbersAt(s.err, doc, opt, lang, m), doc.Suspects())
	}
	if !ok && opt.Closed {
		// Closed objects may have too few values for items that all have to differ.
		c.opt.Closed = false
		s = newSource(doc, c.opt, lang, m)
		if ok = s.sat.satisfiable(s.views.root()); s.err != nil {
			return nil, numbersAt(s.err, doc, opt, lang, m)
		}
		c.report.Closed = false
		c.report.Warnings = append(slices.Clone(c.report.Warnings), Issue{Reason: "nothing fits without members that the schema doesn't name, so they may come"})
	}
	if !ok {
		return nil, &UnsatisfiableError{Issues: s.contradictions()}
	}
	c.first = s
	return c, nil
}

// contradictions explains why no value fits the schema without the keywords that can't
// be enforced; it returns nil if some value fits, or if that is unknown.
func contradictions(doc *syntax.Document, opt Options, lang *language.Pool, m *meter.Meter) []Issue {
	s := newSource(doc, opt, lang, m)
	root := s.views.root()
	if s.sat.satisfiable(root) || s.err != nil {
		return nil
	}
	return s.contradictions()
}

// numbersAt converts a limit of package number to one of this package, and adds the
// place of the innermost schema that exceeds it. Other errors are returned unchanged.
func numbersAt(err error, doc *syntax.Document, opt Options, lang *language.Pool, m *meter.Meter) error {
	limit, is := errors.AsType[*number.LimitError](err)
	if !is {
		return err
	}
	out := &LimitError{Limit: limit.Limit, Max: limit.Max}
	for _, n := range slices.Backward(doc.Nodes) { // innermost first
		s := newSource(doc, opt, lang, m)
		s.numbers.automataOf(logic.Form(s.views.of(s.views.sub(n, 0), jNumber)))
		if errors.As(s.err, &limit) {
			out.Pointer = n.Pointer()
			break
		}
	}
	return out
}

// checkNumbers builds the automata of multipleOf, which may exceed a limit, even if none has been needed yet.
func (vs *views) checkNumbers() {
	for _, n := range vs.doc.Nodes {
		if n.Number != nil && len(n.Number.MultipleOf) > 0 {
			vs.numbers.automataOf(logic.Form(vs.of(vs.sub(n, 0), jNumber)))
		}
	}
}

// exceeded returns the error for a bound of the meter.
func (l *Limits) exceeded(limit *meter.LimitError) error {
	if limit.Bytes > 0 {
		return &LimitError{Limit: "memory", Max: limit.Bytes}
	}
	return &LimitError{Limit: "time", Max: int(limit.Time.Milliseconds())}
}

// explained adds the most likely cause to a limit that was exceeded.
func explained(err error, costly []Issue) error {
	limit, is := errors.AsType[*LimitError](err)
	if len(costly) == 0 || !is || limit.Pointer != "" {
		return err
	}
	out := *limit
	out.Pointer, out.Hint = costly[0].Pointer, costly[0].Reason+": "+costly[0].Hint
	return &out
}

// Report returns what the schema requires and how much of it is enforced.
func (c *Schema) Report() Report {
	r := c.report
	// Most callers don't need the hash, which takes a sixth of the time to compile a
	// small schema.
	r.Hash = c.hash()
	return r
}

// Grammar returns the schema as a constraint over a vocabulary. Matchers of one grammar
// share its tables, so a grammar is worth keeping.
func (c *Schema) Grammar(v *vocab.Vocab) *decoder.Grammar {
	c.mu.Lock()
	s := c.first
	c.first = nil
	c.mu.Unlock()
	if s == nil {
		s = newSource(c.doc, c.opt, c.lang(), nil)
	}
	return decoder.New(s, v, decoder.Limits{Time: c.opt.Limits.Time, Bytes: c.opt.Limits.Memory / 2})
}

// contradictions lists the smallest parts of the schema that contradict each other.
func (s *source) contradictions() []Issue {
	n := s.doc.Root
	var list []Issue
	seen := map[*syntax.Node]bool{}
	var look func(n *syntax.Node)
	look = func(n *syntax.Node) {
		if seen[n] || len(list) > 16 {
			return
		}
		seen[n] = true
		if n.Boolean < 0 {
			list = append(list, s.doc.Locate(Issue{Pointer: n.Pointer(), Reason: "the schema false fits no value"}, n.Value))
			return
		}
		if s.sat.satisfiable(s.views.sub(n, 0)) {
			return
		}
		before := len(list)
		for _, sub := range mandatory(n) {
			look(sub)
		}
		if len(list) == before {
			for _, pointer := range s.conflict(n) {
				list = append(list, s.doc.Locate(Issue{Pointer: n.Pointer() + "/" + pointer, Keyword: pointer, Reason: "contradicts the others listed"}, n.Value.Get(pointer)))
			}
		}
	}
	look(n)
	if len(list) == 0 {
		list = append(list, s.doc.Locate(Issue{Pointer: "", Reason: "no value fits"}, n.Value))
	}
	return list
}

// mandatory returns the schemas that a value of n can't avoid.
func mandatory(n *syntax.Node) []*syntax.Node {
	var list []*syntax.Node
	if a := n.Apply; a != nil {
		list = append(list, a.AllOf...)
		list = append(list, a.AnyOf...)
		list = append(list, a.OneOf...)
		if a.Ref != nil && a.Ref.Target != nil {
			list = append(list, a.Ref.Target)
		}
	}
	if n.Object != nil {
		for _, p := range n.Object.Properties {
			for _, r := range n.Object.Required {
				if r == p.Name {
					list = append(list, p.Node)
				}
			}
		}
	}
	if n.Array != nil && n.Array.Min > 0 {
		list = append(list, n.Array.Prefix...)
		if n.Array.Items != nil {
			list = append(list, n.Array.Items)
		}
	}
	return list
}

// conflict returns a minimal set of n's keywords that no value satisfies together.
func (s *source) conflict(n *syntax.Node) []string {
	if n.Value.Kind != jsondoc.Object {
		return nil
	}
	keep := make([]bool, len(n.Value.Members))
	for i := range keep {
		keep[i] = true
	}
	satisfiable := func() bool {
		return s.sat.satisfiable(s.views.sub(s.doc.Reduced(n, keep), 0))
	}
	if satisfiable() {
		return nil
	}
	var out []string
	for i := range keep {
		keep[i] = false
		if satisfiable() {
			keep[i] = true
			out = append(out, n.Value.Members[i].Key)
		}
	}
	return out
}

// The errors of [Compile], and what they list.
type (
	// An Issue is a finding about a schema document, with its place.
	Issue = syntax.Issue
	// A SyntaxError reports why a document is not JSON.
	SyntaxError = jsondoc.SyntaxError
	// An InvalidError lists what makes a document an invalid schema: keywords with
	// invalid values, references without a target.
	InvalidError = syntax.InvalidError
	// An UnsupportedError lists every keyword that can't be enforced.
	UnsupportedError = syntax.UnsupportedError
	// An UnsatisfiableError reports that no JSON value is valid, and which parts of the
	// schema contradict each other as far as that is known.
	UnsatisfiableError = syntax.UnsatisfiableError
	// A LimitError reports the limit that a schema exceeds. The methods of
	// [decoder.Matcher] return it too.
	LimitError = syntax.LimitError
)
