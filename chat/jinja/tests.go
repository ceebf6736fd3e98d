package jinja

import (
	"math/big"
	"strings"
	"unicode"
)

// testFunc is a test: x is name(a).
type testFunc func(r *run, x any, a *args) (bool, error)

// tests are the tests by name.
var tests map[string]testFunc

func init() { // not a literal: select looks up tests
	plain := func(f func(x any) bool) testFunc {
		return func(_ *run, x any, a *args) (bool, error) { return f(x), a.none() }
	}
	compare := func(op string) testFunc {
		return func(r *run, x any, a *args) (bool, error) {
			y, err := a.one("other")
			if err != nil {
				return false, err
			}
			return r.compare(op, x, y)
		}
	}
	isUndefined := func(x any) bool { _, ok := x.(undefined); return ok }
	isString := func(x any) bool { _, ok := x.(string); return ok }
	isMapping := func(x any) bool { _, ok := x.(*Dict); return ok }
	isInteger := func(x any) bool {
		switch x.(type) {
		case int64, *big.Int:
			return true
		}
		return false
	}
	isBool := func(x any) bool { _, ok := x.(bool); return ok }
	isFloat := func(x any) bool { _, ok := x.(float64); return ok }
	isSequence := func(x any) bool {
		switch x.(type) {
		case string, *List, *Dict, undefined:
			return true
		}
		return false
	}
	tests = map[string]testFunc{
		"defined":   plain(func(x any) bool { return !isUndefined(x) }),
		"undefined": plain(isUndefined),
		"none":      plain(func(x any) bool { return x == nil }),
		"boolean":   plain(isBool),
		"true":      plain(func(x any) bool { return x == true }),
		"false":     plain(func(x any) bool { return x == false }),
		"string":    plain(isString),
		"integer":   plain(isInteger),
		"float":     plain(isFloat),
		"number":    plain(func(x any) bool { return isInteger(x) || isFloat(x) || isBool(x) }),
		"mapping":   plain(isMapping),
		"sequence":  plain(isSequence),
		"iterable":  plain(isSequence),
		"callable":  plain(func(x any) bool { _, ok := x.(callable); return ok }),
		"escaped":   plain(func(any) bool { return false }),
		"lower":     plain(func(x any) bool { s, ok := x.(string); return ok && cased(s) && s == strings.ToLower(s) }),
		"upper":     plain(func(x any) bool { s, ok := x.(string); return ok && cased(s) && s == strings.ToUpper(s) }),
		"sameas": func(r *run, x any, a *args) (bool, error) {
			y, err := a.one("other")
			if err != nil {
				return false, err
			}
			switch x.(type) {
			case *List, *Dict:
				return x == y, nil
			}
			return typeName(x) == typeName(y) && r.equal(x, y), nil
		},
		"odd":  parity(1),
		"even": parity(0),
		"divisibleby": func(r *run, x any, a *args) (bool, error) {
			y, err := a.one("num")
			if err != nil {
				return false, err
			}
			rest, err := r.operate("%", x, y)
			return err == nil && r.equal(rest, int64(0)), err
		},
		"in": compare("in"),
		"filter": func(r *run, x any, a *args) (bool, error) {
			_, ok := filters[r.str(x)]
			return ok, a.none()
		},
		"test": func(r *run, x any, a *args) (bool, error) {
			_, ok := tests[r.str(x)]
			return ok, a.none()
		},
	}
	for op, names := range map[string][]string{
		"==": {"eq", "equalto", "=="}, "!=": {"ne", "!="}, "<": {"lt", "lessthan", "<"}, ">": {"gt", "greaterthan", ">"},
		"<=": {"le", "<="}, ">=": {"ge", ">="},
	} {
		for _, name := range names {
			tests[name] = compare(op)
		}
	}
}

// parity returns odd or even.
func parity(rest int64) testFunc {
	return func(_ *run, x any, a *args) (bool, error) {
		n, ok := asInt(x)
		if !ok {
			return false, failf("odd and even want a whole number, not %s", typeName(x))
		}
		return n&1 == rest, a.none()
	}
}

// cased reports whether s has letters with case.
func cased(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }) >= 0
}
