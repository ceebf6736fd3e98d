package schema

import (
	"errors"
	"strconv"

	"stencil/regular"
	"stencil/schema/language"
	"stencil/schema/number"
	"stencil/schema/syntax"
	"stencil/schema/tokens"
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

// source is the decoder's view of a schema: it makes frames as they are
// reached. It is used under its grammar's lock.
type source struct {
	doc  *syntax.Document
	opt  Options
	lang *language.Pool
	own  bool // lang isn't shared

	followed bool // by any other text

	goals  goalTable
	forms  formTable
	scopes syntax.Scopes

	views    [jtypes]map[goal]int32
	visiting map[viewKey]bool
	// reentries counts how often a view was needed while it was made; what
	// was found out meanwhile is not kept.
	reentries int

	names     []string
	nameIndex map[string]int32
	sets      []keySet
	setIndex  map[string]int32
	patterns  []pattern
	patIndex  map[regular.Expr]int32
	orders    map[goal][]int32

	decimals     []number.Decimal
	decimalIndex map[string]int32
	numberSets   [][]int32
	numSetIndex  map[string]int32
	automata     map[form][]*number.Automaton
	numberIDs    []*number.Automaton
	numberIndex  map[*number.Automaton]int32

	machines     []*regular.Machine
	machineIndex map[*regular.Machine]int32
	textOf       map[goal]int32 // machine of a goal's strings, -1: none

	constants map[string]int32
	listings  []listing // by goal, as far as looked at

	productive  map[goal]bool
	simpleGoals []int8 // by goal, as far as looked at: 1 or -1, or 0
	deciding    map[goal]bool
	assumed     int // decisions that rest on an assumption about a goal being decided
	caseForms   map[form]form
	counts      map[goal]valueCount
	counting    map[goal]bool

	objects   objectTable
	arrays    arrayTable
	frames    frameTable
	shortest  map[goal]*finish
	witnesses map[int32]*witness // by object state
	cuts      int                // how often a shortest value was needed while it was looked for

	tables       *tokens.Tables // of the vocabulary that Prepare was called with
	closerGroups map[groupKey][]closerGroup

	err error
}

type viewKey struct {
	t jtype
	g goal
}

func newSource(doc *syntax.Document, opt Options, lang *language.Pool) *source {
	s := &source{doc: doc, opt: opt, lang: lang}
	s.Reset()
	return s
}

// Stale implements [decoder.Source]: a store that others use as well may fail
// for what they asked of it.
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
	*s = source{doc: s.doc, opt: s.opt, lang: s.lang, own: s.own, followed: s.followed,
		goals:        newGoalTable(),
		visiting:     map[viewKey]bool{},
		nameIndex:    map[string]int32{},
		setIndex:     map[string]int32{},
		patIndex:     map[regular.Expr]int32{},
		orders:       map[goal][]int32{},
		decimalIndex: map[string]int32{},
		numSetIndex:  map[string]int32{},
		automata:     map[form][]*number.Automaton{},
		numberIndex:  map[*number.Automaton]int32{},
		machineIndex: map[*regular.Machine]int32{},
		textOf:       map[goal]int32{},
		constants:    map[string]int32{},
		productive:   map[goal]bool{never: false, always: true},
		caseForms:    map[form]form{},
		counts:       map[goal]valueCount{},
		counting:     map[goal]bool{},
		deciding:     map[goal]bool{},
		shortest:     map[goal]*finish{},
		witnesses:    map[int32]*witness{},
		closerGroups: map[groupKey][]closerGroup{},
	}
	s.forms = newFormTable(&s.goals)
	for i := range s.views {
		s.views[i] = map[goal]int32{}
	}
	s.objects.init()
	s.arrays.init()
	s.frames.init()
}

// Err implements [decoder.Source].
func (s *source) Err() error { return s.err }

func (s *source) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Bytes implements [decoder.Source].
func (s *source) Bytes() int {
	return 96*len(s.goals.info) + 96*len(s.forms.info) + 120*len(s.frames.keys) +
		200*len(s.objects.states.keys) + 64*len(s.arrays.states) + 160*len(s.objects.keyStates.keys)
}

// rootGoal is what the whole document has to fulfil.
func (s *source) rootGoal() goal {
	return s.goals.node(s.doc.Root, s.scope(s.doc.Root, 0))
}

// scope returns the dynamic scope inside n when it is entered from scope.
func (s *source) scope(n *syntax.Node, scope int32) int32 {
	if !s.doc.Dynamic {
		return 0
	}
	return s.scopes.Enter(scope, n.Resource)
}

// sub returns the goal of a subschema of a schema entered in scope.
func (s *source) sub(n *syntax.Node, scope int32) goal {
	return s.goals.node(n, s.scope(n, scope))
}

// algebra is how views of one type are combined.
func (s *source) algebraAnd(t jtype, a, b int32) int32 {
	switch t {
	case jScalar:
		return a & b
	case jString:
		return int32(s.lang.And(regular.Expr(a), regular.Expr(b)))
	}
	return int32(s.forms.and(form(a), form(b)))
}

func (s *source) algebraOr(t jtype, a, b int32) int32 {
	switch t {
	case jScalar:
		return a | b
	case jString:
		return int32(s.lang.Or(regular.Expr(a), regular.Expr(b)))
	}
	return int32(s.forms.or(form(a), form(b)))
}

func (s *source) algebraNot(t jtype, a int32) int32 {
	switch t {
	case jScalar:
		return scalarAll &^ a
	case jString:
		return int32(s.lang.Not(regular.Expr(a)))
	}
	return int32(s.forms.negate(form(a)))
}

// all and none are the views of always and never.
func (s *source) all(t jtype) int32 {
	switch t {
	case jScalar:
		return scalarAll
	case jString:
		return int32(s.lang.Any)
	}
	return int32(yes)
}

func (s *source) none(t jtype) int32 {
	switch t {
	case jScalar:
		return 0
	case jString:
		return int32(s.lang.Empty)
	}
	return int32(no)
}

// andAll combines many views at once.
func (s *source) andAll(t jtype, list []int32) int32 {
	if t == jNumber || t == jArray || t == jObject {
		kids := make([]form, len(list))
		for i, x := range list {
			kids[i] = form(x)
		}
		return int32(s.forms.and(kids...))
	}
	out := s.all(t)
	for _, x := range list {
		out = s.algebraAnd(t, out, x)
	}
	return out
}

func (s *source) orAll(t jtype, list []int32) int32 {
	if t == jNumber || t == jArray || t == jObject {
		kids := make([]form, len(list))
		for i, x := range list {
			kids[i] = form(x)
		}
		return int32(s.forms.or(kids...))
	}
	if t == jString {
		exprs := make([]regular.Expr, len(list))
		for i, x := range list {
			exprs[i] = regular.Expr(x)
		}
		return int32(s.lang.Or(exprs...))
	}
	out := s.none(t)
	for _, x := range list {
		out = s.algebraOr(t, out, x)
	}
	return out
}

// view returns what g demands of values of type t.
func (s *source) view(g goal, t jtype) int32 {
	switch g {
	case always:
		return s.all(t)
	case never:
		return s.none(t)
	}
	if v, ok := s.views[t][g]; ok {
		return v
	}
	key := viewKey{t, g}
	info := s.goals.info[g]
	if s.visiting[key] {
		// Only the question whether alternatives exclude each other looks
		// at values inside of values before the view is known. It is
		// answered with no when it comes back here.
		s.reentries++
		return s.all(t)
	}
	s.visiting[key] = true
	before := s.reentries
	var v int32
	switch info.kind {
	case goalNode:
		v = s.nodeView(info.node, info.scope, t)
	case goalNotNode, goalNotConst:
		v = s.algebraNot(t, s.view(s.goals.negate(g), t))
	case goalConst:
		v = s.constView(info.val, t)
	default:
		list := make([]int32, len(info.list))
		for i, x := range info.list {
			list[i] = s.view(x, t)
		}
		if info.kind == goalAnd {
			v = s.andAll(t, list)
		} else {
			v = s.orAll(t, list)
		}
	}
	delete(s.visiting, key)
	if s.reentries == before {
		s.views[t][g] = v
	}
	return v
}

// nodeView returns what schema n demands of values of type t.
func (s *source) nodeView(n *syntax.Node, scope int32, t jtype) int32 {
	none := s.none(t)
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
		add(s.constView(n.Const, t))
	}
	if n.HasEnum {
		add(s.enumView(n.Enum, t))
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
		list = s.numberKeywords(n, list)
	case jString:
		if n.String != nil {
			add(int32(s.stringKeywords(n)))
		}
	case jArray:
		if n.Array != nil {
			list = s.arrayKeywords(n, scope, list)
		}
	case jObject:
		if n.Object != nil {
			list = s.objectKeywords(n, scope, list)
		}
	}
	for _, v := range list {
		if v == none {
			return none
		}
	}
	if a := n.Apply; a != nil {
		list = s.applicators(n, a, scope, t, list)
	}
	if t == jObject && n.Object != nil && n.Object.Unevaluated != nil {
		list = append(list, int32(s.unevaluatedProperties(n, scope)))
	}
	if t == jArray && n.Array != nil && n.Array.Unevaluated != nil {
		list = append(list, int32(s.unevaluatedItems(n, scope)))
	}
	return s.andAll(t, list)
}

func (s *source) applicators(n *syntax.Node, a *syntax.Applicators, scope int32, t jtype, list []int32) []int32 {
	for _, x := range a.AllOf {
		list = append(list, s.view(s.sub(x, scope), t))
	}
	if len(a.AnyOf) > 0 {
		alts := make([]int32, len(a.AnyOf))
		for i, x := range a.AnyOf {
			alts[i] = s.view(s.sub(x, scope), t)
		}
		list = append(list, s.orAll(t, alts))
	}
	if len(a.OneOf) > 0 {
		list = append(list, s.oneOf(a.OneOf, scope, t, s.andAll(t, list)))
	}
	if a.Not != nil {
		list = append(list, s.algebraNot(t, s.view(s.sub(a.Not, scope), t)))
	}
	if a.If != nil && (a.Then != nil || a.Else != nil) {
		when := s.view(s.sub(a.If, scope), t)
		if a.Then != nil {
			list = append(list, s.algebraOr(t, s.algebraNot(t, when), s.view(s.sub(a.Then, scope), t)))
		}
		if a.Else != nil {
			list = append(list, s.algebraOr(t, when, s.view(s.sub(a.Else, scope), t)))
		}
	}
	if a.Ref != nil && a.Ref.Target != nil {
		list = append(list, s.view(s.sub(a.Ref.Target, scope), t))
	}
	if r := a.DynamicRef; r != nil && r.Target != nil {
		target := r.Target
		if r.Anchor != "" {
			target = s.scopes.Target(r, s.scope(n, scope))
		}
		list = append(list, s.view(s.sub(target, scope), t))
	}
	return list
}

// oneOf is "this one and none of the others". Alternatives that exclude each
// other, given what else is demanded, need not be negated.
func (s *source) oneOf(nodes []*syntax.Node, scope int32, t jtype, given int32) int32 {
	none := s.none(t)
	var alts []int32
	count := map[int32]int{}
	for _, n := range nodes {
		v := s.view(s.sub(n, scope), t)
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
			if i != j && !s.disjoint(t, given, v, w) {
				parts = append(parts, s.algebraNot(t, w))
			}
		}
		out = append(out, s.andAll(t, parts))
	}
	return s.orAll(t, out)
}

func (s *source) disjoint(t jtype, given, a, b int32) bool {
	both := s.algebraAnd(t, a, b)
	if both == s.none(t) {
		return true
	}
	// The given part can only help when it is small; with it or without,
	// the answer true is right.
	before := s.reentries
	apart := !s.viewProductive(t, both)
	if s.reentries != before {
		s.reentries = before
		return false
	}
	return apart
}

// viewProductive reports whether some value of type t fulfils a view.
func (s *source) viewProductive(t jtype, v int32) bool {
	if v == s.none(t) {
		return false
	}
	switch t {
	case jScalar:
		return v != 0
	case jNumber:
		return len(s.numbers(form(v))) > 0
	case jString:
		return s.machine(regular.Expr(v)).Start() != regular.Dead
	case jArray:
		return s.arrayProductive(form(v))
	}
	return s.objectProductive(form(v))
}

// isProductive reports whether some value fulfils g. A schema that needs
// itself to be fulfilled is not: values are finite.
func (s *source) isProductive(g goal) bool {
	if p, ok := s.productive[g]; ok {
		return p
	}
	if s.deciding[g] {
		s.assumed++
		return false
	}
	switch info := &s.goals.info[g]; info.kind {
	case goalNode:
		if quickProductive(info.node) {
			s.productive[g] = true
			return true
		}
	case goalAnd:
		if ok, known := s.listedTogether(info.list); known {
			s.productive[g] = ok
			return ok
		}
	}
	s.deciding[g] = true
	before, reentries := s.assumed, s.reentries
	ok := false
	for _, t := range [...]jtype{jScalar, jString, jNumber, jArray, jObject} {
		if s.viewProductive(t, s.view(g, t)) {
			ok = true
			break
		}
	}
	delete(s.deciding, g)
	// "No" may rest on the assumption about a goal further up; then it
	// holds only below that goal.
	if s.reentries == reentries && (ok || s.assumed == before || len(s.deciding) == 0) {
		s.productive[g] = ok
	}
	if len(s.deciding) == 0 {
		s.assumed = 0
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

func (s *source) machine(e regular.Expr) *regular.Machine {
	m, err := s.lang.Machine(e)
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		s.fail(err)
	}
	return m
}

func (s *source) nameID(name string) int32 {
	if id, ok := s.nameIndex[name]; ok {
		return id
	}
	id := int32(len(s.names))
	s.names = append(s.names, name)
	s.nameIndex[name] = id
	return id
}

func (s *source) limit(name string, n int) {
	s.fail(&LimitError{Limit: name, Max: n})
}

func keyOf(parts ...int32) string {
	b := make([]byte, 0, 8*len(parts))
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(p), 36)
		b = append(b, ',')
	}
	return string(b)
}
