package jinja

import "fmt"

// loop is the variable "loop" in a for statement.
type loop struct {
	items   []any
	at      int // index of the current item
	depth   int // of recursion
	again   func(r *run, over any, depth int) (string, error)
	last    []any // arguments of changed
	changes bool  // changed was called before
}

func (l *loop) String() string { return fmt.Sprintf("<LoopContext %d/%d>", l.at+1, len(l.items)) }

// attr returns an attribute of the loop.
func (l *loop) attr(r *run, name string) (any, bool) {
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.at + 1), true
	case "index0":
		return int64(l.at), true
	case "revindex":
		return int64(n - l.at), true
	case "revindex0":
		return int64(n - l.at - 1), true
	case "first":
		return l.at == 0, true
	case "last":
		return l.at == n-1, true
	case "length":
		return int64(n), true
	case "depth":
		return int64(l.depth + 1), true
	case "depth0":
		return int64(l.depth), true
	case "previtem":
		if l.at == 0 {
			return undefined{"there is no previous item"}, true
		}
		return l.items[l.at-1], true
	case "nextitem":
		if l.at == n-1 {
			return undefined{"there is no next item"}, true
		}
		return l.items[l.at+1], true
	case "cycle":
		return native("cycle", func(_ *run, a *args) (any, error) {
			if len(a.list) == 0 {
				return nil, failf("no items for cycling given")
			}
			return a.list[l.at%len(a.list)], nil
		}), true
	case "changed":
		return native("changed", func(r *run, a *args) (any, error) {
			same := l.changes && r.equal(&List{Items: l.last}, &List{Items: a.list})
			l.last, l.changes = a.list, true
			return !same, nil
		}), true
	}
	return nil, false
}

// call implements loop(items) in a recursive loop.
func (l *loop) call(r *run, a callArgs) (any, error) {
	if l.again == nil {
		return nil, failf("the loop must have the 'recursive' marker to be called recursively")
	}
	if len(a.list) != 1 {
		return nil, failf("loop() takes one argument")
	}
	if r.depth++; r.depth > r.limits.Depth {
		return nil, place{}.fail(Limit, "loops call each other more than %d deep", r.limits.Depth)
	}
	defer func() { r.depth-- }()
	return l.again(r, a.list[0], l.depth+1)
}

func (f *forStmt) exec(r *run, s *scope) error {
	over, err := f.over.eval(r, s)
	if err != nil {
		return f.within(err)
	}
	return f.iterate(r, s, over, 0)
}

func (f *forStmt) iterate(r *run, s *scope, over any, depth int) error {
	items, err := r.iterate(over)
	if err != nil {
		return f.within(err)
	}
	if f.filter != nil {
		var kept []any
		for _, item := range items {
			inner := s.inner()
			if err := r.assign(f.target, item, inner); err != nil {
				return f.within(err)
			}
			v, err := f.filter.eval(r, inner)
			if err != nil {
				return f.within(err)
			}
			if truth(v) {
				kept = append(kept, item)
			}
		}
		items = kept
	}
	if len(items) == 0 {
		return r.exec(f.other, s.inner())
	}
	l := &loop{items: items, depth: depth}
	if f.recursive {
		l.again = func(r *run, over any, depth int) (string, error) {
			return r.captured(func() error { return f.iterate(r, s, over, depth) })
		}
	}
	for i, item := range items {
		if err := r.step(f.place); err != nil {
			return err
		}
		l.at = i
		inner := s.inner()
		inner.set("loop", l)
		if err := r.assign(f.target, item, inner); err != nil {
			return f.within(err)
		}
		switch err := r.exec(f.body, inner); err {
		case nil, errContinue:
		case errBreak:
			return nil
		default:
			return err
		}
	}
	return nil
}

// iterate returns the items of a loop over v.
func (r *run) iterate(v any) ([]any, error) {
	switch v := v.(type) {
	case *List:
		return v.Items, nil
	case *Dict:
		return v.keys, nil
	case string:
		var out []any
		for _, c := range v {
			out = append(out, string(c))
		}
		r.spend(len(out))
		return out, nil
	case undefined:
		return nil, nil
	}
	return nil, failf("'%s' object is not iterable", typeName(v))
}
