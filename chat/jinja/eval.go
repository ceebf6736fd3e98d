package jinja

import (
	"fmt"
	"strings"
)

func (l *literal) eval(r *run, _ *scope) (any, error) { return l.value, r.step(l.place) }

func (n *nameExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(n.place); err != nil {
		return nil, err
	}
	if v, ok := s.get(n.name); ok {
		return v, nil
	}
	return undefined{"'" + n.name + "' is undefined"}, nil
}

func (l *listExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(l.place); err != nil {
		return nil, err
	}
	list := &List{Items: make([]any, len(l.items)), Tuple: l.tuple, own: true}
	for i, x := range l.items {
		v, err := x.eval(r, s)
		if err != nil {
			return nil, err
		}
		list.Items[i] = v
	}
	return list, nil
}

func (d *dictExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(d.place); err != nil {
		return nil, err
	}
	dict := NewDict()
	for i, key := range d.keys {
		k, err := key.eval(r, s)
		if err != nil {
			return nil, err
		}
		v, err := d.values[i].eval(r, s)
		if err != nil {
			return nil, err
		}
		if err := dict.set(k, v); err != nil {
			return nil, d.within(err)
		}
	}
	return dict, nil
}

func (c *condExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(c.place); err != nil {
		return nil, err
	}
	cond, err := c.cond.eval(r, s)
	switch {
	case err != nil:
		return nil, err
	case truth(cond):
		return c.then.eval(r, s)
	case c.other != nil:
		return c.other.eval(r, s)
	}
	return undefined{"the inline if-expression evaluated to false and no else section was defined"}, nil
}

func (u *unaryExpr) eval(r *run, s *scope) (any, error) {
	v, err := u.x.eval(r, s)
	if err != nil {
		return nil, err
	}
	if u.op == "not" {
		return !truth(v), r.step(u.place)
	}
	if n, ok := asInt(v); ok {
		if u.op == "-" {
			n = -n
		}
		return n, nil
	}
	if f, ok := v.(float64); ok {
		if u.op == "-" {
			f = -f
		}
		return f, nil
	}
	if x, ok := v.(undefined); ok {
		return nil, u.within(x.err())
	}
	return nil, u.fail(Runtime, "bad operand type for unary %s: '%s'", u.op, typeName(v))
}

func (b *binaryExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(b.place); err != nil {
		return nil, err
	}
	x, err := b.x.eval(r, s)
	if err != nil {
		return nil, err
	}
	if b.op == "and" && !truth(x) || b.op == "or" && truth(x) {
		return x, nil
	}
	y, err := b.y.eval(r, s)
	if err != nil || b.op == "and" || b.op == "or" {
		return y, err
	}
	v, err := r.operate(b.op, x, y)
	if err != nil {
		return nil, b.within(err)
	}
	return v, nil
}

func (c *compareExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(c.place); err != nil {
		return nil, err
	}
	x, err := c.first.eval(r, s)
	if err != nil {
		return nil, err
	}
	for i, op := range c.ops {
		y, err := c.rest[i].eval(r, s)
		if err != nil {
			return nil, err
		}
		ok, err := r.compare(op, x, y)
		if err != nil {
			return nil, c.within(err)
		}
		if !ok {
			return false, nil
		}
		x = y
	}
	return true, nil
}

func (a *attrExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(a.place); err != nil {
		return nil, err
	}
	x, err := a.x.eval(r, s)
	if err != nil {
		return nil, err
	}
	v, err := r.attribute(x, a.name)
	if err != nil {
		return nil, a.within(err)
	}
	return v, nil
}

// attribute implements x.name: an attribute, or else an item.
func (r *run) attribute(x any, name string) (any, error) {
	if v, ok := r.ownAttribute(x, name); ok {
		return v, nil
	}
	switch x := x.(type) {
	case *Dict:
		if v, ok := x.get(name); ok {
			return v, nil
		}
	case undefined:
		return nil, x.err()
	}
	return undefined{fmt.Sprintf("'%s object' has no attribute '%s'", typeName(x), name)}, nil
}

// ownAttribute returns what is an attribute in Python: methods, and the
// contents of namespaces and loops.
func (r *run) ownAttribute(x any, name string) (any, bool) {
	switch x := x.(type) {
	case *namespace:
		return x.dict.get(name)
	case *loop:
		return x.attr(r, name)
	case *macroValue:
		if name == "name" {
			return x.name, true
		}
	}
	return method(x, name)
}

func (e *indexExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(e.place); err != nil {
		return nil, err
	}
	x, err := e.x.eval(r, s)
	if err != nil {
		return nil, err
	}
	i, err := e.index.eval(r, s)
	if err != nil {
		return nil, err
	}
	v, err := r.item(x, i)
	if err != nil {
		return nil, e.within(err)
	}
	return v, nil
}

// item implements x[i]: an item, or else an attribute.
func (r *run) item(x, i any) (any, error) {
	if u, ok := x.(undefined); ok {
		return nil, u.err()
	}
	n, isInt := asInt(i)
	switch x := x.(type) {
	case *Dict:
		if v, ok := x.get(i); ok {
			return v, nil
		}
	case *List:
		if isInt {
			if n < 0 {
				n += int64(len(x.Items))
			}
			if n >= 0 && n < int64(len(x.Items)) {
				return x.Items[n], nil
			}
		}
	case string:
		if isInt {
			chars := []rune(x)
			r.spend(len(chars) / 16)
			if n < 0 {
				n += int64(len(chars))
			}
			if n >= 0 && n < int64(len(chars)) {
				return string(chars[n]), nil
			}
		}
	}
	if name, ok := i.(string); ok {
		if v, ok := r.ownAttribute(x, name); ok {
			return v, nil
		}
		return undefined{fmt.Sprintf("'%s object' has no attribute '%s'", typeName(x), name)}, nil
	}
	return undefined{fmt.Sprintf("'%s object' has no element %s", typeName(x), r.repr(i))}, nil
}

func (e *sliceExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(e.place); err != nil {
		return nil, err
	}
	x, err := e.x.eval(r, s)
	if err != nil {
		return nil, err
	}
	var bounds [3]*int64
	for i, part := range []expr{e.from, e.to, e.step} {
		if part == nil {
			continue
		}
		v, err := part.eval(r, s)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		n, ok := asInt(v)
		if !ok {
			return nil, part.where().fail(Runtime, "slice indices must be integers or None or have an __index__ method")
		}
		bounds[i] = &n
	}
	if bounds[2] != nil && *bounds[2] == 0 {
		return nil, e.fail(Runtime, "slice step cannot be zero")
	}
	switch x := x.(type) {
	case *List:
		out := &List{Tuple: x.Tuple}
		for _, i := range sliceIndices(len(x.Items), bounds) {
			out.Items = append(out.Items, x.Items[i])
		}
		r.made(16 * len(out.Items))
		return out, nil
	case string:
		chars := []rune(x)
		var b strings.Builder
		for _, i := range sliceIndices(len(chars), bounds) {
			b.WriteRune(chars[i])
		}
		r.made(len(x))
		return b.String(), nil
	case undefined:
		return nil, e.within(x.err())
	}
	return undefined{fmt.Sprintf("'%s object' can't be sliced", typeName(x))}, nil
}

// sliceIndices returns the indices in a slice of a sequence of length n.
// Bounds are start, end and step, nil if omitted.
func sliceIndices(n int, bounds [3]*int64) []int {
	step := int64(1)
	if bounds[2] != nil {
		step = *bounds[2]
	}
	size := int64(n)
	low, high := int64(0), size // the range to which indices are clipped
	from, to := low, high
	if step < 0 {
		low, high = -1, size-1
		from, to = high, low
	}
	clip := func(p *int64, otherwise int64) int64 {
		if p == nil {
			return otherwise
		}
		i := *p
		if i < 0 {
			i = max(i, -size-1) + size // no overflow
		}
		return min(max(i, low), high)
	}
	from, to = clip(bounds[0], from), clip(bounds[1], to)
	var out []int
	for i := from; step > 0 && i < to || step < 0 && i > to; {
		out = append(out, int(i))
		if step > size || step < -size-1 {
			break // a single step leaves the sequence
		}
		i += step
	}
	return out
}

func (a arguments) eval(r *run, s *scope) (callArgs, error) {
	var out callArgs
	for _, x := range a.positional {
		v, err := x.eval(r, s)
		if err != nil {
			return out, err
		}
		out.list = append(out.list, v)
	}
	if a.list != nil {
		v, err := a.list.eval(r, s)
		if err != nil {
			return out, err
		}
		items, err := r.iterate(v)
		if err != nil {
			return out, a.list.where().within(err)
		}
		out.list = append(out.list, items...)
	}
	for i, x := range a.named {
		v, err := x.eval(r, s)
		if err != nil {
			return out, err
		}
		out.names, out.named = append(out.names, a.names[i]), append(out.named, v)
	}
	if a.dict != nil {
		v, err := a.dict.eval(r, s)
		if err != nil {
			return out, err
		}
		d, ok := v.(*Dict)
		if !ok {
			return out, a.dict.where().fail(Runtime, "argument after ** must be a mapping, not %s", typeName(v))
		}
		for i, key := range d.keys {
			name, ok := key.(string)
			if !ok {
				return out, a.dict.where().fail(Runtime, "keywords must be strings")
			}
			out.names, out.named = append(out.names, name), append(out.named, d.values[i])
		}
	}
	return out, nil
}

func (c *callExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(c.place); err != nil {
		return nil, err
	}
	fn, err := c.fn.eval(r, s)
	if err != nil {
		return nil, err
	}
	a, err := c.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	v, err := r.call(fn, a)
	if err != nil {
		return nil, c.within(err)
	}
	return v, nil
}

func (r *run) call(fn any, a callArgs) (any, error) {
	switch fn := fn.(type) {
	case callable:
		return fn.call(r, a)
	case undefined:
		return nil, fn.err()
	}
	return nil, failf("'%s' object is not callable", typeName(fn))
}

func (f *filterExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(f.place); err != nil {
		return nil, err
	}
	x, err := f.x.eval(r, s)
	if err != nil {
		return nil, err
	}
	return f.apply(r, s, x)
}

// chain applies a filter, and those before it, to a value in place of the
// innermost operand, such as "upper|trim" in a filter block.
func (f *filterExpr) chain(r *run, s *scope, x any) (any, error) {
	if inner, ok := f.x.(*filterExpr); ok {
		var err error
		if x, err = inner.chain(r, s, x); err != nil {
			return nil, err
		}
	}
	return f.apply(r, s, x)
}

func (f *filterExpr) apply(r *run, s *scope, x any) (any, error) {
	a, err := f.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	v, err := f.fn(r, x, &args{callArgs: a, fn: f.name})
	if err != nil {
		return nil, f.within(err)
	}
	return v, nil
}

func (t *testExpr) eval(r *run, s *scope) (any, error) {
	if err := r.step(t.place); err != nil {
		return nil, err
	}
	x, err := t.x.eval(r, s)
	if err != nil {
		return nil, err
	}
	a, err := t.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	ok, err := t.fn(r, x, &args{callArgs: a, fn: t.name})
	if err != nil {
		return nil, t.within(err)
	}
	return ok != t.negate, nil
}
