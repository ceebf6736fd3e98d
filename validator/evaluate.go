package validator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Issue is a place where a document does not fit its schema.
type Issue struct {
	Pointer string // into the document
	Keyword string // of the schema
	Reason  string
}

// An Error lists where a document does not fit the schema.
type Error struct{ Issues []Issue }

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("validator: the document does not fit the schema")
	for i, issue := range e.Issues {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		if issue.Pointer != "" {
			b.WriteString(issue.Pointer + ": ")
		}
		b.WriteString(issue.Reason)
	}
	return b.String()
}

// maxIssues is the maximum number of issues listed for one document.
const maxIssues = 32

// Validate returns nil if the document fits and an *Error if it does not. Any other
// error is the reason why there is no verdict: it matches ErrUndecided, or is the
// cause of the context's end.
func (s *Schema) Validate(ctx context.Context, document []byte) error {
	r := &run{ctx: ctx}
	return r.attempt(func() error {
		doc, err := parse(r, document)
		if err != nil {
			return &Error{[]Issue{{Reason: err.Error()}}}
		}
		e := &evaluation{s: s, run: r, memo: map[memoKey]*outcome{}}
		out := e.apply(s.root, doc, e.within(nil, s.root.resource))
		if out.failure == nil {
			return nil
		}
		invalid := &Error{}
		seen := map[*failure]bool{}
		invalid.list(out.failure, seen)
		return invalid
	})
}

// A failure is a keyword that a value does not satisfy, with its causes.
type failure struct {
	at      *value
	keyword string
	say     func() string
	causes  []*failure
}

// list collects the innermost causes, which are the actual issues; the outer failures
// only follow from them.
func (e *Error) list(f *failure, seen map[*failure]bool) {
	if seen[f] || len(e.Issues) >= maxIssues {
		return
	}
	seen[f] = true
	if len(f.causes) == 0 {
		e.Issues = append(e.Issues, Issue{f.at.pointer(), f.keyword, f.say()})
	}
	for _, c := range f.causes {
		e.list(c, seen)
	}
}

// An evaluated is the set of members or items of a value that schemas have evaluated.
type evaluated struct {
	all   bool
	names map[string]bool
	items map[int]bool
	first int // number of items from the start
}

func (e *evaluated) add(r *run, other *evaluated) {
	if other == nil || e.all {
		return
	}
	r.step(len(other.names) + len(other.items))
	e.all = e.all || other.all
	e.first = max(e.first, other.first)
	for name := range other.names {
		e.name(name)
	}
	for i := range other.items {
		e.item(i)
	}
}

func (e *evaluated) name(name string) {
	if e.names == nil {
		e.names = map[string]bool{}
	}
	e.names[name] = true
}

func (e *evaluated) item(i int) {
	if e.items == nil {
		e.items = map[int]bool{}
	}
	e.items[i] = true
}

// An outcome is the result of applying a schema to a value.
type outcome struct {
	failure *failure // nil: it fits
	seen    *evaluated
}

// A scope is a dynamic scope: the resources entered on the way to a schema.
type scope struct {
	parent   *scope
	resource *resource
	inner    map[*resource]*scope
}

func (s *scope) has(r *resource) bool {
	for ; s != nil; s = s.parent {
		if s.resource == r {
			return true
		}
	}
	return false
}

type memoKey struct {
	node  *node
	value *value
	scope *scope
}

// An evaluation is one validation.
type evaluation struct {
	s     *Schema
	run   *run
	memo  map[memoKey]*outcome // nil: in progress
	outer scope
	depth int

	// The value whose canonical text was last asked for, and that text: many schemas may ask for one in succession.
	known     *value
	knownText string
}

// canonical returns a text that is the same for equal values, and different for others.
func (e *evaluation) canonical(v *value) string {
	if e.known != v {
		e.known, e.knownText = nil, ""
		e.known, e.knownText = v, string(v.canonical(e.run, nil))
	}
	return e.knownText
}

// within returns the scope inside a resource. It is always nil if the schema has no
// dynamic references.
func (e *evaluation) within(s *scope, r *resource) *scope {
	if !e.s.dynamics {
		return nil
	}
	if s == nil {
		s = &e.outer
	}
	if s.has(r) {
		return s
	}
	if s.inner == nil {
		s.inner = map[*resource]*scope{}
	}
	if s.inner[r] == nil {
		parent := s
		if s == &e.outer {
			parent = nil
		}
		s.inner[r] = &scope{parent: parent, resource: r}
	}
	return s.inner[r]
}

// apply applies a schema to a value.
func (e *evaluation) apply(n *node, v *value, s *scope) *outcome {
	e.run.step(1)
	s = e.within(s, n.resource)
	key := memoKey{n, v, s}
	if out, found := e.memo[key]; found {
		if out == nil {
			e.run.giveUp(&undecided{"a reference of the schema leads back to itself"})
		}
		return out
	}
	if e.depth++; e.depth > maxNested {
		e.run.giveUp(&undecided{"references are nested too deeply"})
	}
	e.memo[key] = nil
	w := &work{evaluation: e, node: n, value: v, scope: s}
	w.do()
	e.depth--
	out := w.outcome()
	if len(e.memo) < maxMemo {
		e.memo[key] = out
	} else {
		delete(e.memo, key)
	}
	return out
}

// A work is the application of one schema to one value.
type work struct {
	*evaluation
	node   *node
	value  *value
	scope  *scope
	failed []*failure
	seen   evaluated
}

func (w *work) outcome() *outcome {
	switch len(w.failed) {
	case 0:
		out := &outcome{}
		if w.s.evaluations && (w.value.kind == object || w.value.kind == array) {
			out.seen = &w.seen
		}
		return out
	case 1:
		return &outcome{failure: w.failed[0]}
	}
	return &outcome{failure: &failure{at: w.value, causes: w.failed}}
}

func (w *work) fail(keyword string, say func() string, causes ...*failure) {
	w.failed = append(w.failed, &failure{w.value, keyword, say, causes})
}

func (w *work) failf(keyword, format string, args ...any) {
	w.fail(keyword, func() string { return fmt.Sprintf(format, args...) })
}

// here applies another schema to the same value.
func (w *work) here(n *node) *failure {
	out := w.apply(n, w.value, w.scope)
	if out.failure == nil {
		w.seen.add(w.run, out.seen)
	}
	return out.failure
}

// must applies another schema to the value, which has to satisfy it.
func (w *work) must(n *node) {
	if f := w.here(n); f != nil {
		w.failed = append(w.failed, f)
	}
}

// part applies a schema to a part of the value, which has to satisfy it.
func (w *work) part(n *node, v *value) {
	if f := w.apply(n, v, w.scope).failure; f != nil {
		w.failed = append(w.failed, f)
	}
}

func (w *work) do() {
	n, v := w.node, w.value
	if n.never {
		w.fail("", func() string { return "false schema" })
		return
	}
	if n.source.kind == boolean {
		return
	}
	if n.ref != nil {
		w.must(n.ref)
		if n.draft <= draft7 {
			return
		}
	}
	if n.types != nil && !w.isOfType() {
		w.fail("type", func() string { return "got " + v.kind.String() + ", want " + strings.Join(n.types, " or ") })
		return
	}
	w.general()
	switch v.kind {
	case numeric:
		w.numeric()
	case text:
		w.text()
	case array:
		w.array()
	case object:
		w.object()
	}
	if n.dynamic != nil {
		w.must(w.target())
	}
	w.applicators()
	if w.s.evaluations {
		w.unevaluated()
	}
}

func (w *work) isOfType() bool {
	for _, t := range w.node.types {
		if t == w.value.kind.String() {
			return true
		}
		// 1.0 is an integer since draft 6.
		if num := w.value.num; t == "integer" && w.value.kind == numeric && num.isInteger() && !(w.node.draft == draft4 && num.pointed) {
			return true
		}
	}
	return false
}

// target returns the target of a dynamic reference in the current scope.
func (w *work) target() *node {
	to := w.node.dynamic
	for s := w.scope; s != nil; s = s.parent {
		if w.node.recursive && s.resource.recurses {
			to = s.resource.root
		}
		if found := s.resource.dynamics[w.node.dynamicName]; found != nil && w.node.dynamicName != "" {
			to = found
		}
	}
	return to
}

func (w *work) general() {
	n, v := w.node, w.value
	if n.enum != nil || n.constant != nil {
		is := w.canonical(v)
		if n.constant != nil && is != n.constantText {
			w.fail("const", func() string { return "value must be " + n.constant.show() })
		}
		if n.enum != nil {
			w.run.step(len(is) / 256) // to find it
		}
		if n.enum != nil && !n.enum[is] {
			w.fail("enum", func() string {
				if len(n.listed) == 1 {
					return "value must be " + n.listed[0].show()
				}
				return "value must be one of " + list(n.listed, (*value).show)
			})
		}
	}
	if n.checkFormat != nil && v.kind == text {
		w.run.step(1 + len(v.text)/16)
		if err := n.checkFormat(v.text); errors.Is(err, ErrUndecided) {
			w.run.giveUp(err)
		} else if err != nil {
			w.fail("format", func() string { return fmt.Sprintf("%s is not valid %s: %v", v.show(), n.format, err) })
		}
	}
}

func (w *work) numeric() {
	n, num := w.node, w.value.num
	check := func(keyword, sign string, bound *number, fits func(int) bool) {
		if bound != nil && !fits(num.compare(*bound)) {
			w.failf(keyword, "%s: got %v, want %v", keyword, num, *bound)
		}
	}
	check("minimum", "", n.minimum, func(c int) bool { return c >= 0 })
	check("maximum", "", n.maximum, func(c int) bool { return c <= 0 })
	check("exclusiveMinimum", "", n.exclusiveMinimum, func(c int) bool { return c > 0 })
	check("exclusiveMaximum", "", n.exclusiveMax, func(c int) bool { return c < 0 })
	if n.multipleOf != nil {
		if !num.isMultipleOf(w.run, *n.multipleOf) {
			w.failf("multipleOf", "multipleOf: got %v, want %v", num, *n.multipleOf)
		}
	}
}

// count checks a size against its bounds.
func (w *work) count(what string, is int, least, most *int) {
	if least != nil && is < *least {
		w.failf("min"+what, "min%s: got %d, want %d", what, is, *least)
	}
	if most != nil && is > *most {
		w.failf("max"+what, "max%s: got %d, want %d", what, is, *most)
	}
}

func (w *work) text() {
	n, s := w.node, w.value.text
	if n.minLength != nil || n.maxLength != nil {
		w.run.step(len(s) / 64)
		w.count("Length", utf8.RuneCountInString(s), n.minLength, n.maxLength)
	}
	if n.pattern != nil && !n.pattern.match(w.run, s) {
		w.fail("pattern", func() string { return quote(s) + " does not match pattern " + quote(n.pattern.source) })
	}
}

func (w *work) array() {
	n, v := w.node, w.value
	w.count("Items", len(v.items), n.minItems, n.maxItems)
	if n.unique {
		first := make(map[string]int, len(v.items))
		for i, item := range v.items {
			is := string(item.canonical(w.run, nil))
			if j, found := first[is]; found {
				w.failf("uniqueItems", "items at %d and %d are equal", j, i)
				break
			}
			first[is] = i
		}
	}
	given := min(len(n.prefix), len(v.items))
	for i, item := range v.items[:given] {
		w.part(n.prefix[i], item)
	}
	w.seen.first = max(w.seen.first, given)
	if n.rest != nil {
		w.seen.all = true
		if n.rest.never && given < len(v.items) {
			w.failf(n.restName, "last %d items not allowed", len(v.items)-given)
		} else {
			for _, item := range v.items[given:] {
				w.part(n.rest, item)
			}
		}
	}
	if n.contains != nil {
		w.contained()
	}
}

func (w *work) contained() {
	n := w.node
	var matched int
	var causes []*failure
	for i, item := range w.value.items {
		if f := w.apply(n.contains, item, w.scope).failure; f != nil {
			causes = append(causes, f)
			continue
		}
		matched++
		if n.draft >= draft2020 && w.s.evaluations {
			w.seen.item(i)
		}
	}
	switch {
	case n.minContains != nil && matched < *n.minContains:
		w.fail("minContains", func() string { return fmt.Sprintf("minContains: got %d, want %d", matched, *n.minContains) }, causes...)
	case n.minContains == nil && matched == 0:
		w.fail("contains", func() string { return "no items match contains schema" }, causes...)
	}
	if n.maxContains != nil && matched > *n.maxContains {
		w.failf("maxContains", "maxContains: got %d, want %d", matched, *n.maxContains)
	}
}

// missing returns those of the names that the object lacks.
func (w *work) missing(names []string) (out []string) {
	w.run.step(len(names) / 4)
	for _, name := range names {
		if w.value.members[name] == nil {
			out = append(out, name)
		}
	}
	return out
}

func (w *work) object() {
	n, v := w.node, w.value
	w.count("Properties", len(v.names), n.minProperties, n.maxProperties)
	if missing := w.missing(n.required); missing != nil {
		w.fail("required", func() string {
			if len(missing) == 1 {
				return "missing property " + quote(missing[0])
			}
			return "missing properties " + list(missing, quote)
		})
	}
	var refused []string
	for _, name := range v.names {
		w.run.step(1)
		member, found := v.members[name], false
		if p := n.properties[name]; p != nil {
			found = true
			w.part(p, member)
		}
		for _, p := range n.patterns {
			if p.pattern.match(w.run, name) {
				found = true
				w.part(p.schema, member)
			}
		}
		if !found && n.additional != nil {
			if found = true; n.additional.never {
				refused = append(refused, name)
			} else {
				w.part(n.additional, member)
			}
		}
		if found && w.s.evaluations {
			w.seen.name(name)
		}
		if n.names != nil {
			key := &value{kind: text, text: name, parent: v, isKey: true}
			if f := w.apply(n.names, key, w.scope).failure; f != nil {
				w.fail("propertyNames", func() string { return "invalid propertyName " + quote(name) }, f)
			}
		}
	}
	if refused != nil {
		w.fail("additionalProperties", func() string { return "additional properties " + list(refused, quote) + " not allowed" })
	}
	for _, d := range n.dependent {
		w.run.step(1)
		if v.members[d.name] == nil {
			continue
		}
		if d.schema != nil {
			w.must(d.schema)
		} else if missing := w.missing(d.required); missing != nil {
			w.fail(d.keyword, func() string {
				return fmt.Sprintf("properties %s required, if %s exists", list(missing, quote), quote(d.name))
			})
		}
	}
}

func (w *work) applicators() {
	n := w.node
	for _, x := range n.allOf {
		w.must(x)
	}
	if n.anyOf != nil {
		var causes []*failure
		for _, x := range n.anyOf {
			if f := w.here(x); f != nil {
				causes = append(causes, f)
			} else if !w.s.evaluations {
				break
			}
		}
		if len(causes) == len(n.anyOf) {
			w.fail("anyOf", func() string { return "'anyOf' failed" }, causes...)
		}
	}
	if n.oneOf != nil {
		w.oneOf()
	}
	if n.not != nil && w.apply(n.not, w.value, w.scope).failure == nil {
		w.fail("not", func() string { return "'not' failed" })
	}
	if n.when != nil {
		next := n.then
		if w.here(n.when) != nil {
			next = n.other
		}
		if next != nil {
			w.must(next)
		}
	}
}

func (w *work) oneOf() {
	var causes []*failure
	var matched []int
	for i, x := range w.node.oneOf {
		out := w.apply(x, w.value, w.scope)
		if out.failure != nil {
			causes = append(causes, out.failure)
			continue
		}
		w.seen.add(w.run, out.seen)
		if matched = append(matched, i); len(matched) == 2 {
			w.failf("oneOf", "'oneOf' failed, subschemas %d, %d matched", matched[0], matched[1])
			return
		}
	}
	if len(matched) == 0 {
		w.fail("oneOf", func() string { return "'oneOf' failed, none matched" }, causes...)
	}
}

// unevaluated applies the unevaluated keywords to members or items that no other
// schema has evaluated.
func (w *work) unevaluated() {
	n, v := w.node, w.value
	if n.unevaluatedProperties != nil && v.kind == object {
		if !w.seen.all {
			for _, name := range slices.Clone(v.names) {
				if !w.seen.names[name] {
					w.part(n.unevaluatedProperties, v.members[name])
				}
			}
		}
		w.seen.all = true
	}
	if n.unevaluatedItems != nil && v.kind == array {
		if !w.seen.all {
			for i, item := range v.items {
				if i >= w.seen.first && !w.seen.items[i] {
					w.part(n.unevaluatedItems, item)
				}
			}
		}
		w.seen.all = true
	}
}
