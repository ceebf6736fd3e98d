package jinja

import (
	"math"
	"slices"
	"strings"
)

// operate implements x op y for an arithmetic operator.
func (r *run) operate(op string, x, y any) (any, error) {
	if op == "~" {
		a, b := r.str(x), r.str(y)
		r.made(len(a) + len(b))
		return a + b, nil
	}
	for _, v := range []any{x, y} {
		if u, ok := v.(undefined); ok {
			return nil, u.err()
		}
	}
	if a, ok := x.(string); ok && op == "%" {
		return r.percent(a, y)
	}
	i, iok := asInt(x)
	j, jok := asInt(y)
	if iok && jok {
		return intOperation(op, i, j)
	}
	f, fok := asFloat(x)
	g, gok := asFloat(y)
	if fok && gok {
		return floatOperation(op, f, g)
	}
	switch op {
	case "+":
		switch a := x.(type) {
		case string:
			b, ok := y.(string)
			if !ok {
				return nil, failf("can only concatenate str (not \"%s\") to str", typeName(y))
			}
			if !r.made(len(a) + len(b)) {
				return "", nil
			}
			return a + b, nil
		case *List:
			b, ok := y.(*List)
			if !ok || a.Tuple != b.Tuple {
				return nil, failf("can only concatenate %s (not \"%s\") to %s", typeName(x), typeName(y), typeName(x))
			}
			r.made(16 * (len(a.Items) + len(b.Items)))
			return &List{Items: slices.Concat(a.Items, b.Items), Tuple: a.Tuple}, nil
		}
	case "*":
		if iok {
			x, y, j = y, x, i
			jok = true
		}
		if jok {
			return r.repeat(x, max(j, 0))
		}
	}
	return nil, failf("unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(x), typeName(y))
}

// repeat implements x * n for a string or a list.
func (r *run) repeat(x any, n int64) (any, error) {
	size := 1
	switch x := x.(type) {
	case string:
		size = max(1, len(x))
	case *List:
		size = max(1, 16*len(x.Items))
	default:
		return nil, failf("can't multiply sequence by non-int of type '%s'", typeName(x))
	}
	if n > int64(r.limits.Bytes/size) || !r.made(size*int(n)) {
		r.exceed("made more than %d bytes of text", r.limits.Bytes)
		return x, nil
	}
	if list, ok := x.(*List); ok {
		return &List{Items: slices.Repeat(list.Items, int(n)), Tuple: list.Tuple}, nil
	}
	return strings.Repeat(x.(string), int(n)), nil
}

func intOperation(op string, i, j int64) (any, error) {
	switch op {
	case "+":
		if s := i + j; (s > i) == (j > 0) {
			return s, nil
		}
		return nil, errTooLarge()
	case "-":
		if s := i - j; (s < i) == (j > 0) {
			return s, nil
		}
		return nil, errTooLarge()
	case "*":
		if i == 0 || j == 0 {
			return int64(0), nil
		}
		if p := i * j; p/j == i && !(i == -1 && j == math.MinInt64) && !(j == -1 && i == math.MinInt64) {
			return p, nil
		}
		return nil, errTooLarge()
	case "**":
		if j < 0 {
			return floatOperation(op, float64(i), float64(j))
		}
		p := int64(1)
		for ; j > 0; j-- {
			if p == 0 || p == 1 && i == 1 {
				break
			}
			if i == -1 {
				return p * (1 - 2*(j%2)), nil
			}
			next, err := intOperation("*", p, i)
			if err != nil {
				return nil, err
			}
			p = next.(int64)
		}
		return p, nil
	}
	if j == 0 {
		return nil, divisionByZero(op, "integer")
	}
	switch op {
	case "/":
		return float64(i) / float64(j), nil
	case "//":
		q := i / j
		if i%j != 0 && (i < 0) != (j < 0) {
			q--
		}
		return q, nil
	}
	m := i % j
	if m != 0 && (m < 0) != (j < 0) {
		m += j
	}
	return m, nil
}

func errTooLarge() error {
	return failf("whole number is too large")
}

func divisionByZero(op, kind string) error {
	if op == "/" && kind == "integer" {
		return failf("division by zero")
	}
	return failf("%s division or modulo by zero", kind)
}

func floatOperation(op string, f, g float64) (any, error) {
	switch op {
	case "+":
		return f + g, nil
	case "-":
		return f - g, nil
	case "*":
		return f * g, nil
	case "**":
		return math.Pow(f, g), nil
	}
	if g == 0 {
		return nil, divisionByZero(op, "float")
	}
	switch op {
	case "/":
		return f / g, nil
	case "//":
		return math.Floor(f / g), nil
	}
	m := math.Mod(f, g)
	if m != 0 && (m < 0) != (g < 0) {
		m += g
	}
	return m, nil
}

func (r *run) compare(op string, x, y any) (bool, error) {
	switch op {
	case "==":
		return r.equal(x, y), nil
	case "!=":
		return !r.equal(x, y), nil
	case "<":
		return r.less(x, y)
	case ">":
		return r.less(y, x)
	case "<=":
		gt, err := r.less(y, x)
		return !gt, err
	case ">=":
		lt, err := r.less(x, y)
		return !lt, err
	}
	in, err := r.contains(y, x)
	return in == (op == "in"), err
}

// contains implements item in list.
func (r *run) contains(list, item any) (bool, error) {
	switch l := list.(type) {
	case string:
		sub, ok := item.(string)
		if !ok {
			if u, ok := item.(undefined); ok {
				return false, u.err()
			}
			return false, failf("'in <string>' requires string as left operand, not %s", typeName(item))
		}
		r.spend(len(l) / 64)
		return strings.Contains(l, sub), nil
	case *List:
		return slices.ContainsFunc(l.Items, func(v any) bool { return r.equal(v, item) }), nil
	case *Dict:
		_, ok := l.get(item)
		return ok, nil
	case undefined:
		return false, nil
	}
	return false, failf("argument of type '%s' is not iterable", typeName(list))
}
