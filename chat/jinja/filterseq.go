package jinja

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// divide binds the arguments of a filter that divides a list by a number.
func (r *run) divide(x any, a *args, filter, number string) (v []any, n int, items []any, err error) {
	if v, err = a.bind(number, "fill_with"); err != nil {
		return nil, 0, nil, err
	}
	if n, err = a.int(v[0], 0); err != nil {
		return nil, 0, nil, err
	}
	if n < 1 {
		return nil, 0, nil, failf("%s wants a positive number", filter)
	}
	items, err = r.iterate(x)
	return v, n, items, err
}

func filterBatch(r *run, x any, a *args) (any, error) {
	v, n, items, err := r.divide(x, a, "batch", "linecount")
	if err != nil {
		return nil, err
	}
	out := &List{lazy: true}
	for part := range slices.Chunk(items, n) {
		part = slices.Clone(part)
		if given(v[1]) && v[1] != nil {
			r.spend(n)
			for len(part) < n && r.over == nil {
				part = append(part, v[1])
			}
		}
		out.Items = append(out.Items, &List{Items: part})
	}
	return out, nil
}

func filterSlice(r *run, x any, a *args) (any, error) {
	v, n, items, err := r.divide(x, a, "slice", "slices")
	if err != nil {
		return nil, err
	}
	out := &List{lazy: true}
	size, extra := len(items)/n, len(items)%n
	for i := 0; i < n && r.spend(1); i++ {
		k := size
		if i < extra {
			k++
		}
		part := slices.Clone(items[:k])
		items = items[k:]
		if given(v[1]) && v[1] != nil && i >= extra && extra > 0 {
			part = append(part, v[1])
		}
		out.Items = append(out.Items, &List{Items: part})
	}
	return out, nil
}

func filterItems(_ *run, x any, a *args) (any, error) {
	if err := a.none(); err != nil {
		return nil, err
	}
	switch x := x.(type) {
	case undefined:
		return &List{lazy: true}, nil
	case *Dict:
		return x.items(), nil
	}
	return nil, failf("Can only get item pairs from a mapping.")
}

// items returns the pairs of a dictionary as tuples.
func (d *Dict) items() *List {
	out := &List{Items: make([]any, len(d.keys))}
	for i, key := range d.keys {
		out.Items[i] = &List{Items: []any{key, d.values[i]}, Tuple: true}
	}
	return out
}

func filterList(r *run, x any, a *args) (any, error) {
	if err := a.none(); err != nil {
		return nil, err
	}
	items, err := r.iterate(x)
	return &List{Items: items}, err
}

func filterFirst(r *run, x any, a *args) (any, error) {
	items, err := r.iterate(x)
	if err != nil || len(items) == 0 {
		return undefined{"No first item, sequence was empty."}, err
	}
	return items[0], a.none()
}

func filterLast(r *run, x any, a *args) (any, error) {
	items, err := r.iterate(x)
	if err != nil || len(items) == 0 {
		return undefined{"No last item, sequence was empty."}, err
	}
	return items[len(items)-1], a.none()
}

func filterLength(r *run, x any, a *args) (any, error) {
	n, ok := length(x)
	if s, isString := x.(string); isString {
		r.spend(len(s) / 64)
	}
	if !ok {
		return nil, failf("object of type '%s' has no len()", typeName(x))
	}
	return int64(n), a.none()
}

// length implements len(v).
func length(v any) (int, bool) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), true
	case *List:
		return len(v.Items), !v.lazy
	case *Dict:
		return v.Len(), true
	case undefined:
		return 0, true
	case *loop:
		return len(v.items), true
	}
	return 0, false
}

func filterMap(r *run, x any, a *args) (any, error) {
	items, err := r.iterate(x)
	if err != nil {
		return nil, err
	}
	out := &List{Items: make([]any, 0, len(items)), lazy: true}
	if len(a.list) == 0 {
		v, err := a.bind("attribute", "default")
		if err != nil {
			return nil, err
		}
		if !given(v[0]) {
			return nil, failf("map requires a filter argument")
		}
		for _, item := range items {
			value, err := r.path(item, v[0], v[1])
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, value)
		}
		return out, nil
	}
	name := r.str(a.list[0])
	fn, ok := filters[name]
	if !ok {
		return nil, failf("no filter named '%s'", name)
	}
	rest := &args{callArgs{a.list[1:], a.names, a.named}, name}
	for _, item := range items {
		if !r.spend(1) {
			break
		}
		value, err := fn(r, item, rest)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, value)
	}
	return out, nil
}

// path returns the value of an attribute path such as "function.name" or 0.
// If a part is missing, it returns otherwise, if that is given.
func (r *run) path(v, attribute, otherwise any) (any, error) {
	parts := []any{attribute}
	if _, ok := asInt(attribute); !ok {
		parts = parts[:0]
		for _, part := range strings.Split(r.str(attribute), ".") {
			if n, err := strconv.ParseInt(part, 10, 64); err == nil {
				parts = append(parts, n)
			} else {
				parts = append(parts, part)
			}
		}
	}
	for _, part := range parts {
		r.spend(1)
		var err error
		if v, err = r.item(v, part); err != nil {
			return nil, err
		}
		if _, missing := v.(undefined); missing && given(otherwise) && otherwise != nil {
			v = otherwise
		}
	}
	return v, nil
}

// selector returns select, reject and their variants for attributes.
func selector(attribute, keep bool) filterFunc {
	return func(r *run, x any, a *args) (any, error) {
		items, err := r.iterate(x)
		if err != nil {
			return nil, err
		}
		rest := args{callArgs{a.list, a.names, a.named}, a.fn}
		var attr any
		if attribute {
			if len(rest.list) == 0 {
				return nil, failf("%s needs an attribute", a.fn)
			}
			attr, rest.list = rest.list[0], rest.list[1:]
		}
		test := func(_ *run, v any, _ *args) (bool, error) { return truth(v), nil }
		if len(rest.list) > 0 {
			name := r.str(rest.list[0])
			fn, ok := tests[name]
			if !ok {
				return nil, failf("no test named '%s'", name)
			}
			test, rest.list, rest.fn = fn, rest.list[1:], name
		}
		out := &List{lazy: true}
		for _, item := range items {
			if !r.spend(1) {
				break
			}
			v := item
			if attribute {
				if v, err = r.path(item, attr, absent{}); err != nil {
					return nil, err
				}
			}
			ok, err := test(r, v, &rest)
			if err != nil {
				return nil, err
			}
			if ok == keep {
				out.Items = append(out.Items, item)
			}
		}
		return out, nil
	}
}

// sortKey returns the value by which items are compared.
func (r *run) sortKey(v, attribute any, caseSensitive bool) (any, error) {
	if given(attribute) && attribute != nil {
		var err error
		if names, ok := attribute.(string); ok && strings.Contains(names, ",") {
			key := new(List)
			for _, name := range strings.Split(names, ",") {
				k, err := r.sortKey(v, name, caseSensitive)
				if err != nil {
					return nil, err
				}
				key.Items = append(key.Items, k)
			}
			return key, nil
		}
		if v, err = r.path(v, attribute, absent{}); err != nil {
			return nil, err
		}
	}
	if s, ok := v.(string); ok && !caseSensitive {
		r.made(len(s))
		return strings.ToLower(s), nil
	}
	return v, nil
}

// sorted sorts items by their keys; the sort is stable.
func (r *run) sorted(items, keys []any, reverse bool) ([]any, error) {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	var failure error
	slices.SortStableFunc(order, func(i, j int) int {
		if failure != nil || r.over != nil {
			return 0
		}
		a, b := keys[i], keys[j]
		if reverse {
			a, b = b, a
		}
		lt, err := r.less(a, b)
		if err != nil {
			failure = err
			return 0
		}
		if lt {
			return -1
		}
		if gt, _ := r.less(b, a); gt {
			return 1
		}
		return 0
	})
	out := make([]any, len(items))
	for i, k := range order {
		out[i] = items[k]
	}
	return out, failure
}

func (r *run) keys(items []any, attribute any, caseSensitive bool) ([]any, error) {
	keys := make([]any, len(items))
	for i, item := range items {
		var err error
		if keys[i], err = r.sortKey(item, attribute, caseSensitive); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func filterSort(r *run, x any, a *args) (any, error) {
	v, err := a.bind("reverse", "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(x)
	if err != nil {
		return nil, err
	}
	keys, err := r.keys(items, v[2], boolArg(v[1], false))
	if err != nil {
		return nil, err
	}
	out, err := r.sorted(items, keys, boolArg(v[0], false))
	return &List{Items: out}, err
}

func filterDictsort(r *run, x any, a *args) (any, error) {
	v, err := a.bind("case_sensitive", "by", "reverse")
	if err != nil {
		return nil, err
	}
	by, err := a.str(v[1], "key")
	if err != nil {
		return nil, err
	}
	d, ok := x.(*Dict)
	if !ok {
		return nil, failf("dictsort wants a mapping, not %s", typeName(x))
	}
	var at any = int64(0)
	if by == "value" {
		at = int64(1)
	} else if by != "key" {
		return nil, failf("You can only sort by either \"key\" or \"value\"")
	}
	items := d.items().Items
	keys, err := r.keys(items, at, boolArg(v[0], false))
	if err != nil {
		return nil, err
	}
	out, err := r.sorted(items, keys, boolArg(v[2], false))
	return &List{Items: out}, err
}

func filterUnique(r *run, x any, a *args) (any, error) {
	v, err := a.bind("case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(x)
	if err != nil {
		return nil, err
	}
	keys, err := r.keys(items, v[1], boolArg(v[0], false))
	if err != nil {
		return nil, err
	}
	out := &List{lazy: true}
	seen := NewDict()
	for i, key := range keys {
		if _, ok := seen.get(key); ok {
			continue
		}
		if err := seen.set(key, nil); err != nil {
			return nil, err
		}
		out.Items = append(out.Items, items[i])
	}
	return out, nil
}

func filterGroupby(r *run, x any, a *args) (any, error) {
	v, err := a.bind("attribute", "default", "case_sensitive")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(x)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(items))
	for i, item := range items {
		if values[i], err = r.path(item, v[0], v[1]); err != nil {
			return nil, err
		}
	}
	keys, err := r.keys(values, nil, boolArg(v[2], false))
	if err != nil {
		return nil, err
	}
	order := make([]any, len(items))
	for i := range order {
		order[i] = i
	}
	if order, err = r.sorted(order, keys, false); err != nil {
		return nil, err
	}
	out := new(List)
	var group *List
	for n, i := range order {
		i := i.(int)
		if n == 0 || !r.equal(keys[order[n-1].(int)], keys[i]) {
			group = new(List)
			out.Items = append(out.Items, &List{Items: []any{values[i], group}, Tuple: true})
		}
		group.Items = append(group.Items, items[i])
	}
	return out, nil
}

// extreme returns min or max.
func extreme(least bool) filterFunc {
	return func(r *run, x any, a *args) (any, error) {
		v, err := a.bind("case_sensitive", "attribute")
		if err != nil {
			return nil, err
		}
		items, err := r.iterate(x)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return undefined{"No aggregated item, sequence was empty."}, nil
		}
		keys, err := r.keys(items, v[1], boolArg(v[0], false))
		if err != nil {
			return nil, err
		}
		best := 0
		for i := range keys {
			a, b := keys[i], keys[best]
			if !least {
				a, b = b, a
			}
			lt, err := r.less(a, b)
			if err != nil {
				return nil, err
			}
			if lt {
				best = i
			}
		}
		return items[best], nil
	}
}

func filterSum(r *run, x any, a *args) (any, error) {
	v, err := a.bind("attribute", "start")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(x)
	if err != nil {
		return nil, err
	}
	var sum any = int64(0)
	if given(v[1]) {
		sum = v[1]
	}
	for _, item := range items {
		if given(v[0]) && v[0] != nil {
			if item, err = r.path(item, v[0], absent{}); err != nil {
				return nil, err
			}
		}
		if sum, err = r.operate("+", sum, item); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func filterReverse(r *run, x any, a *args) (any, error) {
	if err := a.none(); err != nil {
		return nil, err
	}
	if s, ok := x.(string); ok {
		chars := []rune(s)
		slices.Reverse(chars)
		r.made(len(s))
		return string(chars), nil
	}
	items, err := r.iterate(x)
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	return &List{Items: items, lazy: true}, nil
}

func filterJoin(r *run, x any, a *args) (any, error) {
	v, err := a.bind("d", "attribute")
	if err != nil {
		return nil, err
	}
	sep := ""
	if given(v[0]) {
		sep = r.str(v[0])
	}
	items, err := r.iterate(x)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, item := range items {
		if given(v[1]) && v[1] != nil {
			if item, err = r.path(item, v[1], absent{}); err != nil {
				return nil, err
			}
		}
		s := r.str(item)
		if !r.made(len(s) + len(sep)) {
			break
		}
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}
