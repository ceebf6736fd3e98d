package schema

import (
	"errors"
	"strconv"

	"stencil/regular"
	"stencil/schema/language"
	"stencil/schema/syntax"
)

// jtype is a type that a goal is looked at for.
type jtype uint8

const (
	jScalar jtype = iota // null, false, true: the view is a set of them
	jNumber              // the view is a form over number literals
	jString              // the view is a regular.Expr
	jArray               // the view is a form
	jObject              // the view is a form
	jtypes
)

const (
	scalarNull  = 1
	scalarFalse = 2
	scalarTrue  = 4
	scalarAll   = 7
)

// base is what all parts of a source share: the document, options, goals and
// forms, and the first error.
type base struct {
	doc   *syntax.Document
	opt   Options
	lang  *language.Pool
	goals goalTable
	forms formTable
	err   error

	// What rests on an assumption is not remembered. reentries counts how often
	// a view was needed while it was made, assumed the decisions that rest on a
	// guess about a goal being decided.
	reentries, assumed int
}

func newBase(doc *syntax.Document, opt Options, lang *language.Pool) *base {
	b := &base{doc: doc, opt: opt, lang: lang, goals: newGoalTable()}
	b.forms = newFormTable(&b.goals)
	return b
}

// views says what goals mean, for each JSON type.
type views struct {
	*base
	sets        *keySets
	numbers     *numbers
	satisfiable func(t jtype, view int32) bool // asked by oneOf alone

	known    [jtypes]map[goal]int32
	visiting map[viewKey]bool
	scopes   syntax.Scopes
}

func newViews(b *base, sets *keySets, nums *numbers) *views {
	vs := &views{base: b, sets: sets, numbers: nums, visiting: map[viewKey]bool{}}
	for i := range vs.known {
		vs.known[i] = map[goal]int32{}
	}
	return vs
}

// solver decides whether goals have values.
type solver struct {
	*base
	views   *views
	numbers *numbers
	objects *objects
	arrays  *arrays

	known    map[goal]bool
	deciding map[goal]bool

	constants map[string]int32 // strings, booleans and null, by kind and text
	listings  []listing        // by goal, as far as looked at
}

func newSolver(b *base, vs *views, nums *numbers) *solver {
	return &solver{base: b, views: vs, numbers: nums, known: map[goal]bool{never: false, always: true},
		deciding: map[goal]bool{}, constants: map[string]int32{}}
}

type viewKey struct {
	t jtype
	g goal
}

// source is the decoder's view of a schema: it makes frames as they are reached.
// What a schema means is worked out by the parts below it, each with its own
// tables; the source only dispatches. It is used under its grammar's lock.
type source struct {
	*base
	sets     *keySets
	numbers  *numbers
	views    *views
	texts    *texts
	keys     *keyAutomaton
	objects  *objects
	next     *nextKeys
	arrays   *arrays
	sat      *solver
	shortest *shortest
	frames   *frameTable
	prep     *preparer

	own      bool // lang isn't shared
	followed bool // by any other text
}

func newSource(doc *syntax.Document, opt Options, lang *language.Pool) *source {
	s := &source{base: &base{doc: doc, opt: opt, lang: lang}}
	s.Reset()
	return s
}

// Stale implements the decoder's optional interface of that name: another schema
// may exceed a limit of the pool of languages that all share.
func (s *source) Stale() bool { return !s.own && s.lang.Failed() }

// Follow implements [decoder.Followed].
func (s *source) Follow() { s.followed = true }

// Reset implements [decoder.Source].
func (s *source) Reset() {
	if s.Stale() {
		var limit *regular.LimitError
		if s.own = errors.As(s.err, &limit); s.own {
			s.lang = language.New()
		} else {
			s.lang = language.Shared()
		}
	}
	b := newBase(s.doc, s.opt, s.lang)
	sets, nums := newKeySets(b), newNumbers(b)
	vs := newViews(b, sets, nums)
	ts := newTexts(b, vs)
	keys := newKeyAutomaton(b, sets, vs, ts)
	sv := newSolver(b, vs, nums)
	dv := newDeriver(b, sets, keys, sv)
	obj := newObjects(b, sets, vs, keys, dv, sv)
	next := newNextKeys(b, sets, ts, keys, obj)
	arr := newArrays(b, vs, dv, sv, obj)
	arr.count = newCounts(b, vs, nums, ts, keys, obj, arr)
	vs.satisfiable, sv.objects, sv.arrays = sv.viewSatisfiable, obj, arr
	frames := newFrameTable(b)
	*s = source{base: b, own: s.own, followed: s.followed, sets: sets, numbers: nums, views: vs, texts: ts, keys: keys,
		objects: obj, next: next, arrays: arr, sat: sv, frames: frames,
		shortest: newShortest(b, sets, vs, nums, ts, keys, obj, next, arr),
		prep:     newPreparer(b, sets, ts, keys, obj, next, frames)}
}

// Err implements [decoder.Source].
func (s *source) Err() error { return s.err }

func (b *base) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Bytes implements [decoder.Source].
func (s *source) Bytes() int {
	return 96*len(s.goals.info) + 96*len(s.forms.info) + 120*len(s.frames.keys) +
		200*len(s.objects.states.keys) + 64*len(s.arrays.states) + 160*len(s.keys.states.keys)
}

// root is what the whole document has to fulfil.
func (vs *views) root() goal {
	return vs.goals.node(vs.doc.Root, vs.scope(vs.doc.Root, 0))
}

// scope returns the dynamic scope inside n when it is entered from scope.
func (vs *views) scope(n *syntax.Node, scope int32) int32 {
	if !vs.doc.Dynamic {
		return 0
	}
	return vs.scopes.Enter(scope, n.Resource)
}

// sub returns the goal of a subschema of a schema entered in scope.
func (vs *views) sub(n *syntax.Node, scope int32) goal {
	return vs.goals.node(n, vs.scope(n, scope))
}

// algebra is how views of one type are combined.
func (vs *views) and(t jtype, a, b int32) int32 {
	switch t {
	case jScalar:
		return a & b
	case jString:
		return int32(vs.lang.And(regular.Expr(a), regular.Expr(b)))
	}
	return int32(vs.forms.and(form(a), form(b)))
}

func (vs *views) or(t jtype, a, b int32) int32 {
	switch t {
	case jScalar:
		return a | b
	case jString:
		return int32(vs.lang.Or(regular.Expr(a), regular.Expr(b)))
	}
	return int32(vs.forms.or(form(a), form(b)))
}

func (vs *views) not(t jtype, a int32) int32 {
	switch t {
	case jScalar:
		return scalarAll &^ a
	case jString:
		return int32(vs.lang.Not(regular.Expr(a)))
	}
	return int32(vs.forms.negate(form(a)))
}

// all and none are the views of always and never.
func (vs *views) all(t jtype) int32 {
	switch t {
	case jScalar:
		return scalarAll
	case jString:
		return int32(vs.lang.Any)
	}
	return int32(yes)
}

func (vs *views) none(t jtype) int32 {
	switch t {
	case jScalar:
		return 0
	case jString:
		return int32(vs.lang.Empty)
	}
	return int32(no)
}

// andAll combines many views at once.
func (vs *views) andAll(t jtype, list []int32) int32 {
	if t == jNumber || t == jArray || t == jObject {
		kids := make([]form, len(list))
		for i, x := range list {
			kids[i] = form(x)
		}
		return int32(vs.forms.and(kids...))
	}
	out := vs.all(t)
	for _, x := range list {
		out = vs.and(t, out, x)
	}
	return out
}

func (vs *views) orAll(t jtype, list []int32) int32 {
	if t == jNumber || t == jArray || t == jObject {
		kids := make([]form, len(list))
		for i, x := range list {
			kids[i] = form(x)
		}
		return int32(vs.forms.or(kids...))
	}
	if t == jString {
		exprs := make([]regular.Expr, len(list))
		for i, x := range list {
			exprs[i] = regular.Expr(x)
		}
		return int32(vs.lang.Or(exprs...))
	}
	out := vs.none(t)
	for _, x := range list {
		out = vs.or(t, out, x)
	}
	return out
}

// of returns what g demands of values of type t.
func (vs *views) of(g goal, t jtype) int32 {
	switch g {
	case always:
		return vs.all(t)
	case never:
		return vs.none(t)
	}
	if v, ok := vs.known[t][g]; ok {
		return v
	}
	key := viewKey{t, g}
	info := vs.goals.info[g]
	if vs.visiting[key] {
		// Only the question whether alternatives exclude each other looks
		// at values inside of values before the view is known. It is
		// answered with no when it comes back here.
		vs.reentries++
		return vs.all(t)
	}
	vs.visiting[key] = true
	before := vs.reentries
	var v int32
	switch info.kind {
	case goalNode:
		v = vs.nodeView(info.node, info.scope, t)
	case goalNotNode, goalNotConst:
		v = vs.not(t, vs.of(vs.goals.negate(g), t))
	case goalConst:
		v = vs.constView(info.val, t)
	default:
		list := make([]int32, len(info.list))
		for i, x := range info.list {
			list[i] = vs.of(x, t)
		}
		if info.kind == goalAnd {
			v = vs.andAll(t, list)
		} else {
			v = vs.orAll(t, list)
		}
	}
	delete(vs.visiting, key)
	if vs.reentries == before {
		vs.known[t][g] = v
	}
	return v
}

// nodeView returns what schema n demands of values of type t.
func (vs *views) nodeView(n *syntax.Node, scope int32, t jtype) int32 {
	none := vs.none(t)
	if n.Types != 0 {
		has := n.Types
		switch t {
		case jScalar:
			if has&(syntax.TypeNull|syntax.TypeBoolean) == 0 {
				return none
			}
		case jNumber:
			if has&(syntax.TypeNumber|syntax.TypeInteger) == 0 {
				return none
			}
		case jString:
			if has&syntax.TypeString == 0 {
				return none
			}
		case jArray:
			if has&syntax.TypeArray == 0 {
				return none
			}
		case jObject:
			if has&syntax.TypeObject == 0 {
				return none
			}
		}
	}
	var list []int32
	add := func(v int32) { list = append(list, v) }
	if n.Const != nil {
		add(vs.constView(n.Const, t))
	}
	if n.HasEnum {
		add(vs.enumView(n.Enum, t))
	}
	switch t {
	case jScalar:
		if n.Types != 0 {
			var v int32
			if n.Types&syntax.TypeNull != 0 {
				v |= scalarNull
			}
			if n.Types&syntax.TypeBoolean != 0 {
				v |= scalarFalse | scalarTrue
			}
			add(v)
		}
	case jNumber:
		list = vs.numberKeywords(n, list)
	case jString:
		if n.String != nil {
			add(int32(vs.stringKeywords(n)))
		}
	case jArray:
		if n.Array != nil {
			list = vs.arrayKeywords(n, scope, list)
		}
	case jObject:
		if n.Object != nil {
			list = vs.objectKeywords(n, scope, list)
		}
	}
	for _, v := range list {
		if v == none {
			return none
		}
	}
	if a := n.Apply; a != nil {
		list = vs.applicators(n, a, scope, t, list)
	}
	if t == jObject && n.Object != nil && n.Object.Unevaluated != nil {
		list = append(list, int32(vs.unevaluatedProperties(n, scope)))
	}
	if t == jArray && n.Array != nil && n.Array.Unevaluated != nil {
		list = append(list, int32(vs.unevaluatedItems(n, scope)))
	}
	return vs.andAll(t, list)
}

func (vs *views) applicators(n *syntax.Node, a *syntax.Applicators, scope int32, t jtype, list []int32) []int32 {
	for _, x := range a.AllOf {
		list = append(list, vs.of(vs.sub(x, scope), t))
	}
	if len(a.AnyOf) > 0 {
		alts := make([]int32, len(a.AnyOf))
		for i, x := range a.AnyOf {
			alts[i] = vs.of(vs.sub(x, scope), t)
		}
		list = append(list, vs.orAll(t, alts))
	}
	if len(a.OneOf) > 0 {
		list = append(list, vs.oneOf(a.OneOf, scope, t, vs.andAll(t, list)))
	}
	if a.Not != nil {
		list = append(list, vs.not(t, vs.of(vs.sub(a.Not, scope), t)))
	}
	if a.If != nil && (a.Then != nil || a.Else != nil) {
		when := vs.of(vs.sub(a.If, scope), t)
		if a.Then != nil {
			list = append(list, vs.or(t, vs.not(t, when), vs.of(vs.sub(a.Then, scope), t)))
		}
		if a.Else != nil {
			list = append(list, vs.or(t, when, vs.of(vs.sub(a.Else, scope), t)))
		}
	}
	if a.Ref != nil && a.Ref.Target != nil {
		list = append(list, vs.of(vs.sub(a.Ref.Target, scope), t))
	}
	if r := a.DynamicRef; r != nil && r.Target != nil {
		target := r.Target
		if r.Anchor != "" {
			target = vs.scopes.Target(r, vs.scope(n, scope))
		}
		list = append(list, vs.of(vs.sub(target, scope), t))
	}
	return list
}

// oneOf is "this one and none of the others". Alternatives that exclude each
// other, given what else is demanded, need not be negated.
func (vs *views) oneOf(nodes []*syntax.Node, scope int32, t jtype, given int32) int32 {
	none := vs.none(t)
	var alts []int32
	count := map[int32]int{}
	for _, n := range nodes {
		v := vs.of(vs.sub(n, scope), t)
		if v != none {
			if count[v]++; count[v] == 1 {
				alts = append(alts, v)
			}
		}
	}
	out := make([]int32, 0, len(alts))
	for i, v := range alts {
		if count[v] > 1 {
			continue // two equal alternatives are never exactly one
		}
		parts := []int32{v}
		for j, w := range alts {
			if i != j && !vs.disjoint(t, given, v, w) {
				parts = append(parts, vs.not(t, w))
			}
		}
		out = append(out, vs.andAll(t, parts))
	}
	return vs.orAll(t, out)
}

func (vs *views) disjoint(t jtype, given, a, b int32) bool {
	both := vs.and(t, a, b)
	if both == vs.none(t) {
		return true
	}
	// The given part can only help when it is small; with it or without,
	// the answer true is right.
	before := vs.reentries
	apart := !vs.satisfiable(t, both)
	if vs.reentries != before {
		vs.reentries = before
		return false
	}
	return apart
}

// viewSatisfiable reports whether some value of type t fulfils a view.
func (sv *solver) viewSatisfiable(t jtype, v int32) bool {
	if v == sv.views.none(t) {
		return false
	}
	switch t {
	case jScalar:
		return v != 0
	case jNumber:
		return len(sv.numbers.automataOf(form(v))) > 0
	case jString:
		return sv.machine(regular.Expr(v)).Start() != regular.Dead
	case jArray:
		return sv.arrays.satisfiable(form(v))
	}
	return sv.objects.satisfiable(form(v))
}

// satisfiable reports whether some value fulfils g. A schema that needs
// itself to be fulfilled is not: values are finite.
func (sv *solver) satisfiable(g goal) bool {
	if p, ok := sv.known[g]; ok {
		return p
	}
	if sv.deciding[g] {
		sv.assumed++
		return false
	}
	switch info := &sv.goals.info[g]; info.kind {
	case goalNode:
		if quickProductive(info.node) {
			sv.known[g] = true
			return true
		}
	case goalAnd:
		if ok, known := sv.listedTogether(info.list); known {
			sv.known[g] = ok
			return ok
		}
	}
	sv.deciding[g] = true
	before, reentries := sv.assumed, sv.reentries
	ok := false
	for _, t := range [...]jtype{jScalar, jString, jNumber, jArray, jObject} {
		if sv.viewSatisfiable(t, sv.views.of(g, t)) {
			ok = true
			break
		}
	}
	delete(sv.deciding, g)
	// "No" may rest on the assumption about a goal further up; then it
	// holds only below that goal.
	if sv.reentries == reentries && (ok || sv.assumed == before || len(sv.deciding) == 0) {
		sv.known[g] = ok
	}
	if len(sv.deciding) == 0 {
		sv.assumed = 0
	}
	return ok
}

// quickProductive recognises schemas that obviously have values, so that
// large objects can be entered without analysing all that they may contain.
func quickProductive(n *syntax.Node) bool {
	if n.Apply != nil || n.Const != nil || n.HasEnum {
		return false
	}
	if n.Types == 0 || n.Types&(syntax.TypeNull|syntax.TypeBoolean) != 0 {
		return true
	}
	if n.Types&syntax.TypeString != 0 && (n.String == nil || !n.String.HasPattern && n.String.Format == "" && (n.String.Max == syntax.NoMax || n.String.Min <= n.String.Max)) {
		return true
	}
	if n.Types&(syntax.TypeNumber|syntax.TypeInteger) != 0 && n.Number == nil {
		return true
	}
	if n.Types&syntax.TypeObject != 0 && (n.Object == nil || len(n.Object.Required) == 0 && n.Object.Min == 0 && len(n.Object.DependentRequired) == 0 && len(n.Object.DependentSchemas) == 0 && n.Object.Unevaluated == nil) {
		return true
	}
	return n.Types&syntax.TypeArray != 0 && (n.Array == nil || n.Array.Min == 0 && n.Array.Contains == nil && n.Array.Unevaluated == nil)
}

func (b *base) machine(e regular.Expr) *regular.Machine {
	m, err := b.lang.Machine(e)
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		b.fail(err)
	}
	return m
}

func (ks *keySets) name(name string) int32 {
	if id, ok := ks.nameIndex[name]; ok {
		return id
	}
	id := int32(len(ks.names))
	ks.names = append(ks.names, name)
	ks.nameIndex[name] = id
	return id
}

func (b *base) limit(name string, n int) {
	b.fail(&LimitError{Limit: name, Max: n})
}

func keyOf(parts ...int32) string {
	b := make([]byte, 0, 8*len(parts))
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(p), 36)
		b = append(b, ',')
	}
	return string(b)
}
