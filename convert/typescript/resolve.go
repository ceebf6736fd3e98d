package typescript

import (
	"slices"
	"strconv"
	"strings"
)

// resolver holds all declarations and reduces types to their shapes.
type resolver struct {
	budget
	decls       map[string]*declaration
	depth       int      // of expand and alternatives
	substituted int      // depth of substitute
	used        []string // type parameters that it has replaced, of types that it is in
}

func newResolver(all []*declaration) (*resolver, error) {
	r := &resolver{decls: map[string]*declaration{}}
	for _, d := range all {
		if r.decls[d.name] != nil {
			return nil, d.errorf("type %s is declared twice", d.name)
		}
		if strings.Contains(keywords, " "+d.name+" ") || utilities[d.name] != 0 {
			return nil, d.errorf("%s is a built-in type", d.name)
		}
		r.decls[d.name] = d
	}
	return r, nil
}

// utilities maps the built-in generic types to their numbers of arguments.
var utilities = map[string]int{
	"Array": 1, "ReadonlyArray": 1, "Set": 1, "ReadonlySet": 1, "Readonly": 1, "NonNullable": 1, "Partial": 1, "Required": 1,
	"Record": 2, "Pick": 2, "Omit": 2, "Exclude": 2, "Extract": 2,
}

// enter counts a type that is resolved to find the shape of another one; leave ends it.
func (r *resolver) enter(at place) error {
	if r.depth++; r.depth > maxExpansion {
		r.fail(at, "the type refers to itself without end")
	}
	return r.spend(at, 1)
}

func (r *resolver) leave() { r.depth-- }

// expand reduces a type to a keyword, literal, template, array, tuple, object or
// union. The parts of the result are not expanded.
func (r *resolver) expand(t typ) (typ, error) {
	if err := r.enter(t.at()); err != nil {
		return nil, err
	}
	defer r.leave()
	switch t := t.(type) {
	case *reference:
		return r.expandReference(t)
	case *intersection:
		return r.expandIntersection(t)
	case *keyOf:
		o, err := r.object(t.of)
		if err != nil {
			return nil, err
		}
		keys := &union{place: t.place}
		for _, m := range o.members {
			if err := r.spend(t.place, copied(len(m.name))); err != nil {
				return nil, err
			}
			keys.of = append(keys.of, stringLiteral(t.place, m.name))
		}
		if err := r.spend(t.place, len(o.indexes)); err != nil {
			return nil, err
		}
		for _, x := range o.indexes {
			keys.of = append(keys.of, x.key)
		}
		return keys, nil
	case *access:
		return r.expandAccess(t)
	case *mapped:
		return r.keyed(t.place, t.keys, func(key typ) typ {
			return r.substitute(t.value, map[string]typ{t.param: key})
		}, t.optional)
	default:
		return t, nil
	}
}

func (r *resolver) expandReference(t *reference) (typ, error) {
	if want, ok := utilities[t.name]; ok {
		if len(t.args) != want {
			return nil, t.errorf("%s takes %d type arguments, not %d", t.name, want, len(t.args))
		}
		return r.utility(t)
	}
	body, d, err := r.instance(t)
	if err != nil {
		return nil, err
	}
	own, isObject := body.(*object)
	if len(d.extends) == 0 || !isObject {
		return r.expand(body)
	}
	all := &object{origin: origin{place: d.place}}
	env := r.environment(d, t)
	for _, base := range d.extends {
		o, err := r.object(r.substitute(base, env))
		if err == nil {
			err = r.spend(base.at(), len(o.members)+len(o.indexes))
		}
		if err != nil {
			return nil, err
		}
		for _, m := range o.members {
			all.override(m)
		}
		all.indexes = append(all.indexes, o.indexes...)
	}
	if err := r.spend(d.place, len(own.members)+len(own.indexes)); err != nil {
		return nil, err
	}
	for _, m := range own.members {
		all.override(m)
	}
	all.indexes = append(all.indexes, own.indexes...)
	return all, nil
}

// find returns the member with a name, or nil.
func (o *object) find(name string) *member {
	if o.byName == nil {
		o.byName = make(map[string]int, len(o.members))
		for i, m := range o.members {
			o.byName[m.name] = i
		}
	}
	if i, ok := o.byName[name]; ok {
		return &o.members[i]
	}
	return nil
}

// add adds a member with a new name.
func (o *object) add(m member) {
	if o.byName != nil {
		o.byName[m.name] = len(o.members)
	}
	o.members = append(o.members, m)
}

// override adds a member, or replaces the one with the same name.
func (o *object) override(m member) {
	if old := o.find(m.name); old != nil {
		*old = m
		return
	}
	o.add(m)
}

// instance returns the type that a reference to a declaration stands for, with its
// arguments substituted.
func (r *resolver) instance(t *reference) (typ, *declaration, error) {
	if err := r.spend(t.place, copied(len(t.name))); err != nil {
		return nil, nil, err
	}
	name, memberName, isMember := strings.Cut(t.name, ".")
	d := r.decls[name]
	if d == nil {
		return nil, nil, t.errorf("type %s is not declared", t.name)
	}
	if isMember {
		value := d.enum[memberName]
		if value == nil {
			return nil, nil, t.errorf("enum member %s is not declared", t.name)
		}
		return value, d, nil
	}
	if err := r.spend(t.place, 2*len(d.params)); err != nil {
		return nil, nil, err
	}
	least := 0
	for i, p := range d.params {
		if p.without == nil {
			least = i + 1
		}
	}
	if n := len(t.args); n < least || n > len(d.params) {
		return nil, nil, t.errorf("%s takes %d type arguments, not %d", t.name, len(d.params), n)
	}
	return r.substitute(d.body, r.environment(d, t)), d, nil
}

// environment maps the type parameters of d to the arguments of t.
func (r *resolver) environment(d *declaration, t *reference) map[string]typ {
	env := map[string]typ{}
	for i, p := range d.params {
		if i < len(t.args) {
			env[p.name] = t.args[i]
		} else {
			env[p.name] = r.substitute(p.without, env)
		}
	}
	return env
}

func (r *resolver) utility(t *reference) (typ, error) {
	arg := t.args[0]
	switch t.name {
	case "Array", "ReadonlyArray":
		return &array{place: t.place, elem: arg}, nil
	case "Set", "ReadonlySet":
		return &array{place: t.place, elem: arg, unique: true}, nil
	case "Readonly":
		return r.expand(arg)
	case "Record":
		return r.keyed(t.place, arg, func(typ) typ { return t.args[1] }, false)
	case "NonNullable":
		return r.filter(arg, func(x typ) bool {
			k, ok := x.(*keyword)
			return !ok || k.name != "null" && k.name != "undefined"
		})
	case "Exclude", "Extract":
		others, err := r.alternatives(t.args[1])
		if err != nil {
			return nil, err
		}
		to := newTargets(others)
		return r.filter(arg, func(x typ) bool { return to.accept(x) == (t.name == "Extract") })
	}
	return r.objectUtility(t)
}

// objectUtility applies Partial, Required, Pick or Omit to a type, for a union to
// each of its alternatives.
func (r *resolver) objectUtility(t *reference) (typ, error) {
	shape, err := r.expand(t.args[0])
	if err != nil {
		return nil, err
	}
	if u, ok := shape.(*union); ok {
		if err := r.spend(t.place, len(u.of)); err != nil {
			return nil, err
		}
		all := &union{place: t.place}
		for _, x := range u.of {
			args := append([]typ{x}, t.args[1:]...)
			all.of = append(all.of, &reference{t.place, t.name, args})
		}
		return all, nil
	}
	o, ok := shape.(*object)
	if !ok {
		return nil, t.errorf("%s needs an object type", t.name)
	}
	var picked map[string]bool
	if len(t.args) == 2 {
		keys, err := r.alternatives(t.args[1])
		if err != nil {
			return nil, err
		}
		picked = map[string]bool{}
		for _, k := range keys {
			l, ok := k.(*literal)
			if !ok {
				return nil, t.errorf("%s needs the names of properties", t.name)
			}
			picked[l.text] = true
		}
	}
	if err := r.spend(t.place, len(o.members)); err != nil {
		return nil, err
	}
	out := &object{origin: origin{place: t.place}}
	if t.name != "Pick" {
		out.indexes = o.indexes
	}
	for _, m := range o.members {
		switch t.name {
		case "Partial":
			m.optional = true
		case "Required":
			m.optional = false
		case "Pick", "Omit":
			if picked[m.name] != (t.name == "Pick") {
				continue
			}
		}
		out.members = append(out.members, m)
	}
	return out, nil
}

// keyed returns the object type with value(key) for each key.
func (r *resolver) keyed(at place, keys typ, value func(key typ) typ, optional bool) (typ, error) {
	all, err := r.alternatives(keys)
	if err != nil {
		return nil, err
	}
	o := &object{origin: origin{place: at}}
	for _, k := range all {
		if err := r.spend(k.at(), 1); err != nil {
			return nil, err
		}
		switch k := k.(type) {
		case *literal:
			if len(k.text) > maxName {
				return nil, k.errorf("the name of the property has more than %d bytes", maxName)
			}
			o.override(member{place: at, name: k.text, typ: value(k), optional: optional})
		case *keyword, *template:
			o.indexes = append(o.indexes, index{key: k, value: value(k)})
		default:
			return nil, k.at().errorf("the type can't be a key")
		}
	}
	return o, nil
}

// alternatives expands a type and, if it is a union, all its members.
func (r *resolver) alternatives(t typ) ([]typ, error) {
	shape, err := r.expand(t)
	if err != nil {
		return nil, err
	}
	u, ok := shape.(*union)
	if !ok {
		return []typ{shape}, r.spend(t.at(), textSteps(shape))
	}
	if err := r.enter(t.at()); err != nil {
		return nil, err
	}
	defer r.leave()
	var all []typ
	for _, x := range u.of {
		if l, ok := x.(*literal); ok {
			if err := r.spend(t.at(), textSteps(l)); err != nil {
				return nil, err
			}
			all = append(all, l)
			continue
		}
		parts, err := r.alternatives(x)
		if err == nil {
			err = r.spend(t.at(), len(parts))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, parts...)
	}
	return all, nil
}

func (r *resolver) filter(t typ, keep func(typ) bool) (typ, error) {
	all, err := r.alternatives(t)
	if err != nil {
		return nil, err
	}
	out := &union{place: t.at()}
	for _, x := range all {
		if keep(x) {
			out.of = append(out.of, x)
		}
	}
	return out, nil
}

// assignable reports whether a literal or keyword type is assignable to another one.
func assignable(x, to typ) bool {
	k, toKeyword := to.(*keyword)
	switch x := x.(type) {
	case *literal:
		if toKeyword {
			return k.name == x.kind()
		}
		other, ok := to.(*literal)
		return ok && other.json == x.json
	case *keyword:
		return toKeyword && k.name == x.name
	default:
		return false
	}
}

// targets are types by what can be assigned to them.
type targets struct{ values, keywords map[string]bool }

func newTargets(of []typ) targets {
	t := targets{map[string]bool{}, map[string]bool{}}
	for _, x := range of {
		switch x := x.(type) {
		case *literal:
			t.values[x.json] = true
		case *keyword:
			t.keywords[x.name] = true
		}
	}
	return t
}

// accept reports whether x is assignable to one of the types, as assignable does.
func (t targets) accept(x typ) bool {
	switch x := x.(type) {
	case *literal:
		return t.values[x.json] || t.keywords[x.kind()]
	case *keyword:
		return t.keywords[x.name]
	default:
		return false
	}
}

// kind returns the keyword for the literal's type.
func (l *literal) kind() string {
	switch {
	case l.str:
		return "string"
	case l.json == "true" || l.json == "false":
		return "boolean"
	default:
		return "number"
	}
}

// object expands t, which must be an object type.
func (r *resolver) object(t typ) (*object, error) {
	shape, err := r.expand(t)
	if err != nil {
		return nil, err
	}
	o, ok := shape.(*object)
	if !ok {
		return nil, t.at().errorf("expected an object type")
	}
	return o, nil
}

func (r *resolver) expandAccess(t *access) (typ, error) {
	keys, err := r.alternatives(t.key)
	if err != nil {
		return nil, err
	}
	shape, err := r.expand(t.of)
	if err != nil {
		return nil, err
	}
	if a, ok := shape.(*array); ok && len(keys) == 1 && assignable(keys[0], &keyword{name: "number"}) {
		return r.expand(a.elem)
	}
	o, ok := shape.(*object)
	if !ok {
		return nil, t.errorf("only object types have properties")
	}
	if o.byName == nil {
		if err := r.spend(t.place, len(o.members)); err != nil {
			return nil, err
		}
	}
	out := &union{place: t.place}
	for _, k := range keys {
		l, ok := k.(*literal)
		if !ok {
			return nil, t.errorf("a property is named by a string")
		}
		m := o.find(l.text)
		if m == nil {
			return nil, t.errorf("there is no property %q", l.text)
		}
		out.of = append(out.of, m.typ)
	}
	if len(out.of) == 1 {
		return r.expand(out.of[0])
	}
	return out, nil
}

// expandIntersection merges all parts, and distributes the intersection over unions.
func (r *resolver) expandIntersection(t *intersection) (typ, error) {
	all := []typ{&keyword{t.place, "unknown"}}
	for _, part := range t.of {
		alternatives, err := r.alternatives(part)
		if err != nil {
			return nil, err
		}
		var next []typ
		for _, a := range all {
			for _, b := range alternatives {
				if err := r.spend(t.place, mergeSteps(a)+mergeSteps(b)); err != nil {
					return nil, err
				}
				m, err := merge(t.place, a, b)
				if err != nil {
					return nil, err
				}
				if k, ok := m.(*keyword); !ok || k.name != "never" {
					next = append(next, m)
				}
			}
		}
		if all = next; len(all) > maxAlternatives {
			return nil, t.errorf("the intersection has more than %d alternatives", maxAlternatives)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return &union{t.place, all}, nil
}

// mergeSteps returns the steps that a type takes as a part of merge.
func mergeSteps(t typ) int {
	if o, ok := t.(*object); ok {
		return 1 + len(o.members) + len(o.indexes)
	}
	return textSteps(t)
}

// textSteps returns the steps that it takes to compare a type with others.
func textSteps(t typ) int {
	if l, ok := t.(*literal); ok {
		return copied(len(l.json))
	}
	return 1
}

// merge intersects two expanded types that are not unions.
func merge(at place, a, b typ) (typ, error) {
	for _, pair := range [][2]typ{{a, b}, {b, a}} {
		x, y := pair[0], pair[1]
		if assignable(x, y) {
			return x, nil
		}
		k, ok := x.(*keyword)
		if !ok {
			continue
		}
		_, isObject := y.(*object)
		switch {
		case k.name == "any" || k.name == "unknown":
			return y, nil
		case k.name == "never":
			return x, nil
		case k.name == "object" && isObject:
			return y, nil
		}
	}
	oa, aIsObject := a.(*object)
	ob, bIsObject := b.(*object)
	switch {
	case aIsObject && bIsObject:
		return mergeObjects(at, oa, ob), nil
	case bIsObject && isScalar(a): // a branded string or number
		return a, nil
	case aIsObject && isScalar(b):
		return b, nil
	case isScalar(a) && isScalar(b):
		_, ta := a.(*template)
		_, tb := b.(*template)
		if !ta && !tb {
			return &keyword{at, "never"}, nil
		}
		if k, ok := b.(*keyword); ta && ok && k.name == "string" {
			return a, nil
		}
		if k, ok := a.(*keyword); tb && ok && k.name == "string" {
			return b, nil
		}
	}
	return nil, at.errorf("the intersection is of types that can't be merged")
}

func isScalar(t typ) bool {
	switch t.(type) {
	case *keyword, *literal, *template:
		return true
	default:
		return false
	}
}

func mergeObjects(at place, a, b *object) *object {
	out := &object{origin: origin{place: at}, members: slices.Clone(a.members), indexes: append(slices.Clone(a.indexes), b.indexes...)}
	for _, m := range b.members {
		both := out.find(m.name)
		if both == nil {
			out.add(m)
			continue
		}
		both.typ = &intersection{m.place, []typ{both.typ, m.typ}}
		both.optional = both.optional && m.optional
		if both.doc == nil {
			both.doc = m.doc
		}
	}
	return out
}

// substitute replaces type parameters by their values in env. When it exceeds a limit,
// it returns types as they are, and the next step reports the error.
func (r *resolver) substitute(t typ, env map[string]typ) typ {
	if len(env) == 0 {
		return t
	}
	if r.substituted++; r.substituted > maxNested {
		r.fail(t.at(), "types are nested deeper than %d", maxNested)
	}
	defer func() {
		if r.substituted--; r.substituted == 0 {
			r.used = r.used[:0]
		}
	}()
	if r.spend(t.at(), 1) != nil {
		return t
	}
	before := len(r.used)
	list := func(of []typ) []typ {
		out := make([]typ, len(of))
		for i, x := range of {
			out[i] = r.substitute(x, env)
		}
		return out
	}
	switch t := t.(type) {
	case *reference:
		if to, ok := env[t.name]; ok && len(t.args) == 0 {
			r.used = append(r.used, t.name)
			return to
		}
		return &reference{t.place, t.name, list(t.args)}
	case *template:
		holes := list(t.holes)
		return &template{r.replaced(t.origin, before, env), t.texts, holes}
	case *array:
		return &array{t.place, r.substitute(t.elem, env), t.unique}
	case *tuple:
		out := &tuple{}
		for _, e := range t.elems {
			e.typ = r.substitute(e.typ, env)
			out.elems = append(out.elems, e)
		}
		out.origin = r.replaced(t.origin, before, env)
		return out
	case *object:
		out := &object{}
		for _, m := range t.members {
			m.typ = r.substitute(m.typ, env)
			out.members = append(out.members, m)
		}
		for _, x := range t.indexes {
			x.key, x.value = r.substitute(x.key, env), r.substitute(x.value, env)
			out.indexes = append(out.indexes, x)
		}
		out.origin = r.replaced(t.origin, before, env)
		return out
	case *mapped:
		out := *t
		out.keys = r.substitute(t.keys, env)
		if _, shadowed := env[t.param]; !shadowed {
			out.value = r.substitute(t.value, env)
		}
		out.origin = r.replaced(t.origin, before, env)
		return &out
	case *union:
		return &union{t.place, list(t.of)}
	case *intersection:
		return &intersection{t.place, list(t.of)}
	case *keyOf:
		of := r.substitute(t.of, env)
		return &keyOf{r.replaced(t.origin, before, env), of}
	case *access:
		of, key := r.substitute(t.of, env), r.substitute(t.key, env)
		return &access{r.replaced(t.origin, before, env), of, key}
	default:
		return t
	}
}

// replaced adds to an origin what the type parameters stand for that were replaced since
// used had the length before.
func (r *resolver) replaced(o origin, before int, env map[string]typ) origin {
	names := r.used[before:]
	if len(names) == 0 || r.spend(o.place, len(names)) != nil {
		return o
	}
	slices.Sort(names)
	names = slices.Compact(names)
	r.used = r.used[:before+len(names)]
	o.with = slices.Clip(o.with)
	for _, name := range names {
		o.with = append(o.with, env[name])
	}
	return o
}

func stringLiteral(at place, text string) *literal {
	return &literal{place: at, json: quote(text), text: text, str: true}
}

// smallInt returns the value of an integer literal.
func smallInt(l *literal) (int64, bool) {
	n, err := strconv.ParseInt(l.json, 10, 64)
	return n, err == nil
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
