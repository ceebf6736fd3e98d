package typescript

import (
	"slices"
	"strconv"
	"strings"
)

// resolver holds all declarations and reduces types to their shapes.
type resolver struct {
	decls map[string]*declaration
	depth int
}

// maxExpansion is the maximum number of definitions that are followed to find the
// shape of one type. Only types that refer to themselves without an object or array
// in between need that many.
const maxExpansion = 100

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

// expand reduces a type to a keyword, literal, template, array, tuple, object or
// union. The parts of the result are not expanded.
func (r *resolver) expand(t typ) (typ, error) {
	if r.depth++; r.depth > maxExpansion {
		return nil, t.at().errorf("the type refers to itself without end")
	}
	defer func() { r.depth-- }()
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
			keys.of = append(keys.of, stringLiteral(t.place, m.name))
		}
		for _, x := range o.indexes {
			keys.of = append(keys.of, x.key)
		}
		return keys, nil
	case *access:
		return r.expandAccess(t)
	case *mapped:
		return r.keyed(t.place, t.keys, func(key typ) typ {
			return substitute(t.value, map[string]typ{t.param: key})
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
	all := &object{place: d.place}
	env := environment(d, t)
	for _, base := range d.extends {
		o, err := r.object(substitute(base, env))
		if err != nil {
			return nil, err
		}
		for _, m := range o.members {
			all.override(m)
		}
		all.indexes = append(all.indexes, o.indexes...)
	}
	for _, m := range own.members {
		all.override(m)
	}
	all.indexes = append(all.indexes, own.indexes...)
	return all, nil
}

// override adds a member, or replaces the one with the same name.
func (o *object) override(m member) {
	for i := range o.members {
		if o.members[i].name == m.name {
			o.members[i] = m
			return
		}
	}
	o.members = append(o.members, m)
}

// instance returns the type that a reference to a declaration stands for, with its
// arguments substituted.
func (r *resolver) instance(t *reference) (typ, *declaration, error) {
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
	least := 0
	for i, p := range d.params {
		if p.without == nil {
			least = i + 1
		}
	}
	if n := len(t.args); n < least || n > len(d.params) {
		return nil, nil, t.errorf("%s takes %d type arguments, not %d", t.name, len(d.params), n)
	}
	return substitute(d.body, environment(d, t)), d, nil
}

// environment maps the type parameters of d to the arguments of t.
func environment(d *declaration, t *reference) map[string]typ {
	env := map[string]typ{}
	for i, p := range d.params {
		if i < len(t.args) {
			env[p.name] = t.args[i]
		} else {
			env[p.name] = substitute(p.without, env)
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
		return r.filter(arg, func(x typ) (bool, error) {
			k, ok := x.(*keyword)
			return !ok || k.name != "null" && k.name != "undefined", nil
		})
	case "Exclude", "Extract":
		others, err := r.alternatives(t.args[1])
		if err != nil {
			return nil, err
		}
		return r.filter(arg, func(x typ) (bool, error) {
			for _, other := range others {
				if assignable(x, other) {
					return t.name == "Extract", nil
				}
			}
			return t.name == "Exclude", nil
		})
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
	out := &object{place: t.place}
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
	o := &object{place: at}
	for _, k := range all {
		switch k := k.(type) {
		case *literal:
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
		return []typ{shape}, nil
	}
	var all []typ
	for _, x := range u.of {
		if r.depth++; r.depth > maxExpansion {
			return nil, t.at().errorf("the type refers to itself without end")
		}
		parts, err := r.alternatives(x)
		r.depth--
		if err != nil {
			return nil, err
		}
		all = append(all, parts...)
	}
	return all, nil
}

func (r *resolver) filter(t typ, keep func(typ) (bool, error)) (typ, error) {
	all, err := r.alternatives(t)
	if err != nil {
		return nil, err
	}
	out := &union{place: t.at()}
	for _, x := range all {
		ok, err := keep(x)
		if err != nil {
			return nil, err
		}
		if ok {
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
	out := &union{place: t.place}
	for _, k := range keys {
		l, ok := k.(*literal)
		if !ok {
			return nil, t.errorf("a property is named by a string")
		}
		i := slices.IndexFunc(o.members, func(m member) bool { return m.name == l.text })
		if i < 0 {
			return nil, t.errorf("there is no property %q", l.text)
		}
		out.of = append(out.of, o.members[i].typ)
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

// maxAlternatives is the maximum number of alternatives after distributing an
// intersection over unions.
const maxAlternatives = 1000

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
	out := &object{place: at, members: slices.Clone(a.members), indexes: append(slices.Clone(a.indexes), b.indexes...)}
	for _, m := range b.members {
		i := slices.IndexFunc(out.members, func(x member) bool { return x.name == m.name })
		if i < 0 {
			out.members = append(out.members, m)
			continue
		}
		both := out.members[i]
		both.typ = &intersection{m.place, []typ{both.typ, m.typ}}
		both.optional = both.optional && m.optional
		if both.doc == nil {
			both.doc = m.doc
		}
		out.members[i] = both
	}
	return out
}

// substitute replaces type parameters by their values in env.
func substitute(t typ, env map[string]typ) typ {
	if len(env) == 0 {
		return t
	}
	list := func(of []typ) []typ {
		out := make([]typ, len(of))
		for i, x := range of {
			out[i] = substitute(x, env)
		}
		return out
	}
	switch t := t.(type) {
	case *reference:
		if to, ok := env[t.name]; ok && len(t.args) == 0 {
			return to
		}
		return &reference{t.place, t.name, list(t.args)}
	case *template:
		return &template{t.place, t.texts, list(t.holes)}
	case *array:
		return &array{t.place, substitute(t.elem, env), t.unique}
	case *tuple:
		out := &tuple{place: t.place}
		for _, e := range t.elems {
			e.typ = substitute(e.typ, env)
			out.elems = append(out.elems, e)
		}
		return out
	case *object:
		out := &object{place: t.place}
		for _, m := range t.members {
			m.typ = substitute(m.typ, env)
			out.members = append(out.members, m)
		}
		for _, x := range t.indexes {
			x.key, x.value = substitute(x.key, env), substitute(x.value, env)
			out.indexes = append(out.indexes, x)
		}
		return out
	case *mapped:
		out := *t
		out.keys = substitute(t.keys, env)
		if _, shadowed := env[t.param]; !shadowed {
			out.value = substitute(t.value, env)
		}
		return &out
	case *union:
		return &union{t.place, list(t.of)}
	case *intersection:
		return &intersection{t.place, list(t.of)}
	case *keyOf:
		return &keyOf{t.place, substitute(t.of, env)}
	case *access:
		return &access{t.place, substitute(t.of, env), substitute(t.key, env)}
	default:
		return t
	}
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
