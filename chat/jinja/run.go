package jinja

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits bounds the resources of rendering a template. A zero field means the
// default.
type Limits struct {
	Steps  int           // operations; default 5 million, about a second
	Output int           // bytes of the result; default 64 MiB
	Bytes  int           // bytes of all strings created while rendering; default 256 MiB
	Depth  int           // nesting of macro calls; default 100
	Time   time.Duration // default 10 s
}

// maxSource limits a template's length in bytes. The longest in use have 30 KB.
const maxSource = 1 << 20

func (l Limits) withDefaults() Limits {
	def := func(p *int, n int) {
		if *p == 0 {
			*p = n
		}
	}
	def(&l.Steps, 5_000_000)
	def(&l.Output, 64<<20)
	def(&l.Bytes, 256<<20)
	def(&l.Depth, 100)
	if l.Time == 0 {
		l.Time = 10 * time.Second
	}
	return l
}

// Template is a parsed template. It is immutable and safe for concurrent use.
type Template struct {
	body []stmt
}

// Parse parses a template. Errors are *Error with the kind Syntax or Limit.
func Parse(source string) (*Template, error) {
	if len(source) > maxSource {
		return nil, place{}.fail(Limit, "template is longer than %d bytes", maxSource)
	}
	list, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{expressions: expressions{tokens{list: list}}}
	body, _, err := p.statements(place{1, 1})
	if err != nil {
		return nil, err
	}
	return &Template{body}, nil
}

// Options configures one rendering.
type Options struct {
	Limits Limits
	Now    func() time.Time // for strftime_now; default time.Now
}

// Render renders the template with variables of the types that [FromGo]
// returns. Errors are *Error.
func (t *Template) Render(vars map[string]any, opt Options) (string, error) {
	limits := opt.Limits.withDefaults()
	r := &run{limits: limits, steps: limits.Steps, bytes: limits.Bytes, deadline: time.Now().Add(limits.Time), now: opt.Now}
	if r.now == nil {
		r.now = time.Now
	}
	r.out = new(strings.Builder)
	global := &scope{names: make(map[string]any, len(vars))}
	for name, v := range vars {
		global.names[name] = v
	}
	top := &scope{parent: global, names: map[string]any{}}
	if err := r.exec(t.body, top); err != nil {
		if errors.Is(err, errBreak) || errors.Is(err, errContinue) {
			err = failf("break outside of a loop")
		}
		return "", place{}.within(err)
	}
	if r.over != nil {
		return "", r.over
	}
	return r.out.String(), nil
}

// run is the state of one rendering.
type run struct {
	limits       Limits
	steps, bytes int // left
	depth        int // of macros
	nested       int // of values being compared
	deadline     time.Time
	now          func() time.Time
	out          *strings.Builder
	over         *Error // the limit that was exceeded
}

// spend takes n steps. It returns false once a limit is exceeded; the next
// statement or expression then fails.
func (r *run) spend(n int) bool {
	before := r.steps
	r.steps -= n
	switch {
	case r.over != nil:
		return false
	case r.steps < 0:
		r.exceed("took more than %d steps", r.limits.Steps)
		return false
	case before>>10 != r.steps>>10 && time.Now().After(r.deadline):
		r.exceed("took longer than %v", r.limits.Time)
		return false
	}
	return true
}

// made accounts for a new string of n bytes.
func (r *run) made(n int) bool {
	r.spend(n / 64)
	if r.bytes -= n; r.bytes < 0 && r.over == nil {
		r.exceed("made more than %d bytes of text", r.limits.Bytes)
	}
	return r.over == nil
}

// deeper runs f one level deeper in a value.
func (r *run) deeper(f func() bool) bool {
	r.nested++
	defer func() { r.nested-- }()
	if r.nested > maxDepth {
		r.exceed("values are nested more than %d deep", maxDepth)
		return false
	}
	return f()
}

func (r *run) exceed(format string, args ...any) {
	if r.over == nil {
		r.over = place{}.fail(Limit, format, args...)
	}
}

// step takes one step at a position of the template.
func (r *run) step(at place) error {
	if r.spend(1) {
		return nil
	}
	if r.over.Line == 0 {
		r.over.Line, r.over.Column = at.line, at.col
	}
	return r.over
}

// str implements str(v), the output of {{ v }}.
func (r *run) str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Verbatim:
		return string(v)
	case undefined:
		return ""
	}
	return r.repr(v)
}

// repr implements repr(v).
func (r *run) repr(v any) string {
	p := printer{limit: max(r.bytes, 0), nodes: max(r.steps, 0)}
	p.value(v)
	if p.over {
		r.exceed("a value is too long or too deep to be written")
	}
	r.spend(r.steps - max(p.nodes, 0))
	r.made(len(p.b))
	return string(p.b)
}

// write writes to the output.
func (r *run) write(text string) error {
	if r.out.Len()+len(text) > r.limits.Output {
		return place{}.fail(Limit, "output is longer than %d bytes", r.limits.Output)
	}
	r.made(len(text))
	r.out.WriteString(text)
	return nil
}

// captured runs f and returns its output.
func (r *run) captured(f func() error) (string, error) {
	outer := r.out
	r.out = new(strings.Builder)
	err := f()
	text := r.out.String()
	r.out = outer
	return text, err
}

// scope holds the names of a block, which also sees those of the enclosing
// blocks.
type scope struct {
	parent *scope
	names  map[string]any
}

func (s *scope) inner() *scope { return &scope{parent: s} }

func (s *scope) set(name string, v any) {
	if s.names == nil {
		s.names = map[string]any{}
	}
	s.names[name] = v
}

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.names[name]; ok {
			return v, true
		}
	}
	v, ok := globals[name]
	return v, ok
}

var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

func (r *run) exec(body []stmt, s *scope) error {
	for _, st := range body {
		if err := st.exec(r, s); err != nil {
			return err
		}
	}
	return nil
}

func (t textStmt) exec(r *run, _ *scope) error { return r.write(t.text) }

func (o outputStmt) exec(r *run, s *scope) error {
	v, err := o.x.eval(r, s)
	if err != nil {
		return o.within(err)
	}
	if err := r.write(r.str(v)); err != nil {
		return o.within(err)
	}
	return nil
}

func (i ifStmt) exec(r *run, s *scope) error {
	for k, cond := range i.conds {
		v, err := cond.eval(r, s)
		if err != nil {
			return cond.where().within(err)
		}
		if truth(v) {
			return r.exec(i.then[k], s)
		}
	}
	return r.exec(i.other, s)
}

func (l loopStmt) exec(*run, *scope) error { return l.leave }

func (b blockStmt) exec(r *run, s *scope) error { return r.exec(b.body, s.inner()) }

func (st setStmt) exec(r *run, s *scope) error {
	v, err := st.x.eval(r, s)
	if err == nil {
		err = r.assign(st.target, v, s)
	}
	if err != nil {
		return st.within(err)
	}
	return nil
}

func (st setBlockStmt) exec(r *run, s *scope) error {
	text, err := r.captured(func() error { return r.exec(st.body, s.inner()) })
	if err != nil {
		return err
	}
	var v any = text
	if st.filter != nil {
		if v, err = st.filter.chain(r, s, v); err != nil {
			return st.within(err)
		}
	}
	if err := r.assign(st.target, v, s); err != nil {
		return st.within(err)
	}
	return nil
}

func (r *run) assign(t target, v any, s *scope) error {
	switch {
	case t.parts != nil:
		items, err := r.iterate(v)
		if err != nil {
			return err
		}
		if len(items) != len(t.parts) {
			return t.fail(Runtime, "expected %d values to unpack, got %d", len(t.parts), len(items))
		}
		for i, part := range t.parts {
			if err := r.assign(part, items[i], s); err != nil {
				return err
			}
		}
	case t.attr != "":
		base, _ := s.get(t.name)
		ns, ok := base.(*namespace)
		if !ok {
			return t.fail(Runtime, "cannot assign attribute on non-namespace object '%s'", t.name)
		}
		return ns.dict.set(t.attr, v)
	default:
		s.set(t.name, v)
	}
	return nil
}

func (st filterStmt) exec(r *run, s *scope) error {
	text, err := r.captured(func() error { return r.exec(st.body, s.inner()) })
	if err != nil {
		return err
	}
	v, err := st.filter.chain(r, s, text)
	if err == nil {
		err = r.write(r.str(v))
	}
	if err != nil {
		return st.within(err)
	}
	return nil
}

func (st withStmt) exec(r *run, s *scope) error {
	inner := s.inner()
	for i, t := range st.targets {
		v, err := st.values[i].eval(r, s)
		if err == nil {
			err = r.assign(t, v, inner)
		}
		if err != nil {
			return st.within(err)
		}
	}
	return r.exec(st.body, inner)
}

func (st macroStmt) exec(_ *run, s *scope) error {
	s.set(st.macro.name, &macroValue{macro: st.macro, scope: s})
	return nil
}

func (st callStmt) exec(r *run, s *scope) error {
	fn, err := st.call.fn.eval(r, s)
	if err != nil {
		return st.within(err)
	}
	args, err := st.call.args.eval(r, s)
	if err != nil {
		return st.within(err)
	}
	args.names, args.named = append(args.names, "caller"), append(args.named, any(&macroValue{macro: st.caller, scope: s}))
	v, err := r.call(fn, args)
	if err == nil {
		err = r.write(r.str(v))
	}
	if err != nil {
		return st.within(err)
	}
	return nil
}

// macroValue is a macro with the names of its enclosing scope.
type macroValue struct {
	*macro
	scope *scope
}

func (m *macroValue) String() string { return fmt.Sprintf("<Macro '%s'>", m.name) }

func (m *macroValue) call(r *run, args callArgs) (any, error) {
	if r.depth++; r.depth > r.limits.Depth {
		return nil, m.fail(Limit, "macros call each other more than %d deep", r.limits.Depth)
	}
	defer func() { r.depth-- }()
	s := m.scope.inner()
	given := map[string]any{}
	extra := NewDict()
	for i, name := range args.names {
		given[name] = args.named[i]
	}
	for i, name := range m.params {
		if i < len(args.list) {
			if _, twice := given[name]; twice {
				return nil, failf("macro '%s' got multiple values for argument '%s'", m.name, name)
			}
			s.set(name, args.list[i])
			continue
		}
		if v, ok := given[name]; ok {
			s.set(name, v)
			delete(given, name)
			continue
		}
		k := i - (len(m.params) - len(m.defaults))
		if k < 0 {
			s.set(name, undefined{fmt.Sprintf("parameter '%s' was not provided", name)})
			continue
		}
		v, err := m.defaults[k].eval(r, s)
		if err != nil {
			return nil, err
		}
		s.set(name, v)
	}
	if caller, ok := given["caller"]; ok && m.catches.caller {
		s.set("caller", caller)
		delete(given, "caller")
	}
	for i, name := range args.names {
		if _, ok := given[name]; ok {
			extra.set(name, args.named[i])
		}
	}
	if extra.Len() > 0 && !m.catches.kwargs {
		return nil, failf("macro '%s' takes no keyword argument '%s'", m.name, extra.keys[0])
	}
	rest := args.list[min(len(m.params), len(args.list)):]
	if len(rest) > 0 && !m.catches.varargs {
		return nil, failf("macro '%s' takes not more than %d argument(s)", m.name, len(m.params))
	}
	if m.catches.kwargs {
		s.set("kwargs", extra)
	}
	if m.catches.varargs {
		s.set("varargs", &List{Items: rest, Tuple: true})
	}
	text, err := r.captured(func() error { return r.exec(m.body, s) })
	return text, err
}
