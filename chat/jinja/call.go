package jinja

import (
	"fmt"

	"github.com/stencil-json/stencil/chat/jinja/python"
)

// args are the arguments of a filter, test or function of this package.
type args struct {
	callArgs
	fn string // the name of what is called, for messages
}

// absent represents a missing argument.
type absent struct{}

// bind returns the arguments in the order of the parameters, absent{} for
// missing ones.
func (a *args) bind(params ...string) ([]any, error) {
	if len(a.list) > len(params) {
		return nil, failf("%s takes at most %d arguments, %d given", a.fn, len(params), len(a.list))
	}
	out := make([]any, len(params))
	for i := range out {
		out[i] = absent{}
		if i < len(a.list) {
			out[i] = a.list[i]
		}
	}
next:
	for k, name := range a.names {
		for i, p := range params {
			if p != name {
				continue
			}
			if i < len(a.list) {
				return nil, failf("%s got multiple values for argument '%s'", a.fn, name)
			}
			out[i] = a.named[k]
			continue next
		}
		return nil, failf("%s got an unexpected keyword argument '%s'", a.fn, name)
	}
	return out, nil
}

// one binds a single required argument.
func (a *args) one(name string) (any, error) {
	v, err := a.bind(name)
	if err != nil {
		return nil, err
	}
	if _, missing := v[0].(absent); missing {
		return nil, failf("%s needs the argument '%s'", a.fn, name)
	}
	return v[0], nil
}

// none checks that there are no arguments.
func (a *args) none() error {
	_, err := a.bind()
	return err
}

// given reports whether an argument was given.
func given(v any) bool {
	_, missing := v.(absent)
	return !missing
}

func (a *args) str(v any, otherwise string) (string, error) {
	switch v := v.(type) {
	case absent:
		return otherwise, nil
	case string:
		return v, nil
	}
	return "", failf("%s wants a string, not %s", a.fn, typeName(v))
}

func (a *args) int(v any, otherwise int) (int, error) {
	if !given(v) {
		return otherwise, nil
	}
	n, ok := asInt(v)
	if !ok {
		return 0, failf("%s wants a whole number, not %s", a.fn, typeName(v))
	}
	const limit = 1 << 30 // larger widths and counts mean "all"
	return int(max(-limit, min(n, limit))), nil
}

func boolArg(v any, otherwise bool) bool {
	if !given(v) {
		return otherwise
	}
	return truth(v)
}

// nativeFunc is a function of this package.
type nativeFunc struct {
	name string
	fn   func(r *run, a *args) (any, error)
}

func native(name string, fn func(r *run, a *args) (any, error)) callable {
	return &nativeFunc{name, fn}
}

func (n *nativeFunc) String() string { return fmt.Sprintf("<function %s>", n.name) }

func (n *nativeFunc) call(r *run, a callArgs) (any, error) {
	return n.fn(r, &args{callArgs: a, fn: n.name + "()"})
}

// globals are the names defined in every template.
var globals map[string]any

func init() { // not a literal: the functions refer to globals through run
	globals = map[string]any{
		"range":     native("range", rangeFunc),
		"namespace": native("namespace", namespaceFunc),
		"dict": native("dict", func(_ *run, a *args) (any, error) {
			return dictOf(a)
		}),
		"joiner": native("joiner", joinerFunc),
		"cycler": native("cycler", cyclerFunc),
		"raise_exception": native("raise_exception", func(r *run, a *args) (any, error) {
			v, err := a.one("message")
			if err != nil {
				return nil, err
			}
			return nil, place{}.fail(Raised, "%s", r.str(v))
		}),
		"strftime_now": native("strftime_now", func(r *run, a *args) (any, error) {
			v, err := a.one("format")
			if err != nil {
				return nil, err
			}
			format, err := a.str(v, "")
			if err != nil {
				return nil, err
			}
			return python.Strftime(r.now(), format), nil
		}),
	}
}

func rangeFunc(r *run, a *args) (any, error) {
	v, err := a.bind("start", "stop", "step")
	if err != nil {
		return nil, err
	}
	var n [3]int64
	for i, x := range v {
		if !given(x) {
			continue
		}
		var ok bool
		if n[i], ok = asInt(x); !ok {
			return nil, failf("'%s' object cannot be interpreted as an integer", typeName(x))
		}
	}
	switch {
	case !given(v[0]):
		return nil, failf("range expected at least 1 argument, got 0")
	case !given(v[1]):
		n[0], n[1] = 0, n[0]
	}
	if !given(v[2]) {
		n[2] = 1
	}
	if n[2] == 0 {
		return nil, failf("range() arg 3 must not be zero")
	}
	const limit = 100_000 // Jinja's own limit, in its sandbox
	list := new(List)
	for i := n[0]; n[2] > 0 && i < n[1] || n[2] < 0 && i > n[1]; i += n[2] {
		if len(list.Items) == limit {
			return nil, place{}.fail(Limit, "range too big, maximum size is %d", limit)
		}
		list.Items = append(list.Items, i)
		if next := i + n[2]; (next > i) != (n[2] > 0) {
			break // overflow
		}
	}
	r.spend(len(list.Items))
	return list, nil
}

func dictOf(a *args) (*Dict, error) {
	d := NewDict()
	for _, v := range a.list {
		from, ok := v.(*Dict)
		if !ok {
			return nil, failf("%s wants a mapping, not %s", a.fn, typeName(v))
		}
		for i, key := range from.keys {
			d.set(key, from.values[i])
		}
	}
	for i, name := range a.names {
		d.set(name, a.named[i])
	}
	return d, nil
}

func namespaceFunc(_ *run, a *args) (any, error) {
	d, err := dictOf(a)
	if err != nil {
		return nil, err
	}
	return &namespace{d}, nil
}

// joinerFunc returns a function that returns an empty text the first time it
// is called, and a separator after that.
func joinerFunc(_ *run, a *args) (any, error) {
	v, err := a.bind("sep")
	if err != nil {
		return nil, err
	}
	sep, err := a.str(v[0], ", ")
	if err != nil {
		return nil, err
	}
	used := false
	return native("joiner", func(*run, *args) (any, error) {
		if !used {
			used = true
			return "", nil
		}
		return sep, nil
	}), nil
}

// cyclerFunc returns an object that cycles through its items.
func cyclerFunc(_ *run, a *args) (any, error) {
	if len(a.list) == 0 {
		return nil, failf("at least one item has to be provided")
	}
	items, at := a.list, 0
	d := NewDict()
	d.set("next", native("next", func(*run, *args) (any, error) {
		v := items[at]
		at = (at + 1) % len(items)
		return v, nil
	}))
	d.set("reset", native("reset", func(*run, *args) (any, error) {
		at = 0
		return nil, nil
	}))
	return &namespace{d}, nil
}
