package jinja

import (
	"html"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// filterFunc is a filter: x|name(a).
type filterFunc func(r *run, x any, a *args) (any, error)

// filters are the filters by name.
var filters map[string]filterFunc

func init() { // not a literal: "map" looks up filters
	text := func(f func(s string) string) filterFunc {
		return func(r *run, x any, a *args) (any, error) {
			if err := a.none(); err != nil {
				return nil, err
			}
			s := f(r.str(x))
			r.made(len(s))
			return s, nil
		}
	}
	same := func(_ *run, x any, a *args) (any, error) { return x, a.none() }
	filters = map[string]filterFunc{
		"abs": filterAbs, "attr": filterAttr, "batch": filterBatch, "slice": filterSlice,
		"capitalize": text(capitalize), "lower": text(strings.ToLower), "upper": text(strings.ToUpper), "title": text(titleFilter),
		"escape": text(html.EscapeString), "e": text(html.EscapeString), "safe": same,
		"default": filterDefault, "d": filterDefault,
		"dictsort": filterDictsort, "items": filterItems, "list": filterList, "string": text(func(s string) string { return s }),
		"first": filterFirst, "last": filterLast, "length": filterLength, "count": filterLength,
		"float": filterFloat, "int": filterInt, "round": filterRound,
		"format": filterFormat, "indent": filterIndent, "join": filterJoin, "replace": filterReplace,
		"trim": filterTrim, "truncate": filterTruncate, "wordcount": filterWordcount, "center": filterCenter,
		"map": filterMap, "select": selector(false, true), "reject": selector(false, false),
		"selectattr": selector(true, true), "rejectattr": selector(true, false),
		"max": extreme(false), "min": extreme(true), "sum": filterSum,
		"reverse": filterReverse, "sort": filterSort, "unique": filterUnique, "groupby": filterGroupby,
		"tojson": filterToJSON, "from_json": filterFromJSON, "fromjson": filterFromJSON,
	}
}

func filterAbs(_ *run, x any, a *args) (any, error) {
	if n, ok := asInt(x); ok {
		if n == math.MinInt64 {
			return nil, errTooLarge()
		}
		return max(n, -n), a.none()
	}
	if f, ok := x.(float64); ok {
		return math.Abs(f), a.none()
	}
	return nil, failf("bad operand type for abs(): '%s'", typeName(x))
}

func filterAttr(r *run, x any, a *args) (any, error) {
	v, err := a.one("name")
	if err != nil {
		return nil, err
	}
	name := r.str(v)
	if v, ok := r.ownAttribute(x, name); ok {
		return v, nil
	}
	return undefined{"'" + typeName(x) + " object' has no attribute '" + name + "'"}, nil
}

func filterDefault(_ *run, x any, a *args) (any, error) {
	v, err := a.bind("default_value", "boolean")
	if err != nil {
		return nil, err
	}
	_, missing := x.(undefined)
	if missing || boolArg(v[1], false) && !truth(x) {
		if !given(v[0]) {
			return "", nil
		}
		return v[0], nil
	}
	return x, nil
}

func filterInt(r *run, x any, a *args) (any, error) {
	v, err := a.bind("default", "base")
	if err != nil {
		return nil, err
	}
	base, err := a.int(v[1], 10)
	if err != nil {
		return nil, err
	}
	otherwise := v[0]
	if !given(otherwise) {
		otherwise = int64(0)
	}
	switch x := x.(type) {
	case undefined:
		return nil, x.err()
	case string:
		text := strings.ReplaceAll(strings.TrimSpace(x), "_", "")
		if base == 16 || base == 8 || base == 2 {
			text = strings.TrimPrefix(strings.ToLower(text), map[int]string{16: "0x", 8: "0o", 2: "0b"}[base])
		}
		if len(text) > 4300 {
			return otherwise, nil // Python's own limit on digits
		}
		if base >= 2 && base <= 36 {
			if n, ok := new(big.Int).SetString(text, base); ok {
				if n.IsInt64() {
					return n.Int64(), nil
				}
				return n, nil
			}
		}
		if f, ok := parseFloat(x); ok && math.Abs(f) < 1<<63 {
			return int64(f), nil
		}
		return otherwise, nil
	case float64:
		if math.Abs(x) < 1<<63 {
			return int64(x), nil
		}
		return otherwise, nil
	case *big.Int:
		return x, nil
	}
	if n, ok := asInt(x); ok {
		return n, nil
	}
	return otherwise, nil
}

// parseFloat implements float(s).
func parseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xXpP") { // Go parses hexadecimal, Python does not
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func filterFloat(_ *run, x any, a *args) (any, error) {
	v, err := a.bind("default")
	if err != nil {
		return nil, err
	}
	switch x := x.(type) {
	case undefined:
		return nil, x.err()
	case string:
		if f, ok := parseFloat(x); ok {
			return f, nil
		}
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		return f, nil
	}
	if f, ok := asFloat(x); ok {
		return f, nil
	}
	if !given(v[0]) {
		return 0.0, nil
	}
	return v[0], nil
}

func filterRound(_ *run, x any, a *args) (any, error) {
	v, err := a.bind("precision", "method")
	if err != nil {
		return nil, err
	}
	precision, err := a.int(v[0], 0)
	if err != nil {
		return nil, err
	}
	method, err := a.str(v[1], "common")
	if err != nil {
		return nil, err
	}
	f, ok := asFloat(x)
	if !ok {
		return nil, failf("type %s doesn't define __round__ method", typeName(x))
	}
	scale := math.Pow(10, float64(precision))
	switch method {
	case "ceil":
		return math.Ceil(f*scale) / scale, nil
	case "floor":
		return math.Floor(f*scale) / scale, nil
	case "common":
	default:
		return nil, failf("method must be common, ceil or floor")
	}
	if n, ok := asInt(x); ok && precision >= 0 {
		return n, nil
	}
	if precision < 0 {
		f = math.RoundToEven(f*scale) / scale
	} else if precision < 300 { // more digits than a float has
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', precision, 64), 64)
	}
	if _, ok := asInt(x); ok {
		return int64(f), nil
	}
	return f, nil
}

func filterFormat(r *run, x any, a *args) (any, error) {
	if len(a.list) > 0 && len(a.names) > 0 {
		return nil, failf("can't handle positional and keyword arguments at the same time")
	}
	if len(a.names) > 0 {
		d, err := dictOf(a)
		if err != nil {
			return nil, err
		}
		return r.percent(r.str(x), d)
	}
	return r.percent(r.str(x), &List{Items: a.list, Tuple: true})
}

func filterIndent(r *run, x any, a *args) (any, error) {
	v, err := a.bind("width", "first", "blank")
	if err != nil {
		return nil, err
	}
	indent, ok := v[0].(string)
	if !ok {
		n, err := a.int(v[0], 4)
		if err != nil {
			return nil, err
		}
		pad, err := r.repeat(" ", int64(max(n, 0)))
		if err != nil {
			return nil, err
		}
		indent = pad.(string)
	}
	lines := splitLines(r.str(x)+"\n", false)
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == 0 && boolArg(v[1], false) || i > 0 && (line != "" || boolArg(v[2], false)) {
			if !r.made(len(indent)) {
				break
			}
			b.WriteString(indent)
		}
		r.made(len(line))
		b.WriteString(line)
	}
	return b.String(), nil
}

func filterReplace(r *run, x any, a *args) (any, error) {
	v, err := a.bind("old", "new", "count")
	if err != nil {
		return nil, err
	}
	n := -1
	if given(v[2]) && v[2] != nil {
		if n, err = a.int(v[2], -1); err != nil {
			return nil, err
		}
	}
	if !given(v[0]) || !given(v[1]) {
		return nil, failf("replace needs what to replace, and by what")
	}
	return r.replace(r.str(x), r.str(v[0]), r.str(v[1]), n)
}

func filterTrim(r *run, x any, a *args) (any, error) {
	v, err := a.bind("chars")
	if err != nil {
		return nil, err
	}
	s := r.str(x)
	if !given(v[0]) || v[0] == nil {
		return strings.TrimFunc(s, pythonSpace), nil
	}
	chars, err := a.str(v[0], "")
	return strings.Trim(s, chars), err
}

func filterTruncate(r *run, x any, a *args) (any, error) {
	v, err := a.bind("length", "killwords", "end", "leeway")
	if err != nil {
		return nil, err
	}
	size, err := a.int(v[0], 255)
	if err != nil {
		return nil, err
	}
	end, err := a.str(v[2], "...")
	if err != nil {
		return nil, err
	}
	leeway, err := a.int(v[3], 5)
	if err != nil {
		return nil, err
	}
	chars := []rune(r.str(x))
	r.made(4 * len(chars))
	cut := size - utf8.RuneCountInString(end)
	switch {
	case cut < 0:
		return nil, failf("expected length >= %d, got %d", utf8.RuneCountInString(end), size)
	case len(chars) <= size+leeway:
		return string(chars), nil
	}
	s := string(chars[:cut])
	if !boolArg(v[1], false) {
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			s = s[:i]
		}
	}
	return s + end, nil
}

func filterWordcount(r *run, x any, a *args) (any, error) {
	words := strings.FieldsFunc(r.str(x), func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsNumber(c) })
	return int64(len(words)), a.none()
}

func filterCenter(r *run, x any, a *args) (any, error) {
	v, err := a.bind("width")
	if err != nil {
		return nil, err
	}
	width, err := a.int(v[0], 80)
	if err != nil {
		return nil, err
	}
	return r.pad(r.str(x), width, " ", '^')
}

// capitalize implements s.capitalize().
func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[n:])
}

// titleFilter capitalises the first letter of each word; words are separated
// by spaces, dashes and opening brackets.
func titleFilter(s string) string {
	var b strings.Builder
	start := true
	for _, r := range s {
		boundary := unicode.IsSpace(r) || strings.ContainsRune("-({[<", r)
		if start && !boundary {
			b.WriteRune(unicode.ToUpper(r))
		} else {
			b.WriteRune(unicode.ToLower(r))
		}
		start = boundary
	}
	return b.String()
}

// filterFromJSON parses a text as JSON. Anything else is returned unchanged.
func filterFromJSON(r *run, x any, a *args) (any, error) {
	s, ok := x.(string)
	if !ok {
		return x, a.none()
	}
	if !r.made(16 * len(s)) { // the values take more memory than their text
		return nil, a.none()
	}
	v, err := FromJSON([]byte(s))
	if err != nil {
		return nil, failf("from_json: %s", strings.TrimPrefix(err.Error(), "jinja: "))
	}
	return v, a.none()
}
