package jinja

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// methodFunc is a method of a value, x.name(a).
type methodFunc func(r *run, x any, a *args) (any, error)

// The methods of Python's types that don't mutate, and append and pop of lists, which
// templates use as queues; these two work on lists that the template created itself,
// since others may be shared.
var strMethods, dictMethods, listMethods, floatMethods map[string]methodFunc

// unsafeMethods change a list or dictionary in place.
var unsafeMethods = map[string][]string{
	"list": {"extend", "insert", "remove", "reverse", "sort", "clear"},
	"dict": {"update", "pop", "popitem", "clear", "setdefault"},
}

// method returns a value's method of that name.
func method(x any, name string) (any, bool) {
	var table map[string]methodFunc
	switch x.(type) {
	case string:
		table = strMethods
	case *Dict:
		table = dictMethods
	case *List:
		table = listMethods
	case float64:
		table = floatMethods
	}
	fn, ok := table[name]
	if !ok {
		if kind := typeName(x); slices.Contains(unsafeMethods[kind], name) {
			return native(name, func(*run, *args) (any, error) {
				return nil, failf("access to attribute '%s' of '%s' object is unsafe.", name, kind)
			}), true
		}
		return nil, false
	}
	return native(name, func(r *run, a *args) (any, error) { return fn(r, x, a) }), true
}

// pythonSpace implements str.isspace for a character.
func pythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func init() { // not literals: methods call each other through run
	text := func(f func(s string) string) methodFunc {
		return func(r *run, x any, a *args) (any, error) {
			if err := a.none(); err != nil {
				return nil, err
			}
			s := f(x.(string))
			r.made(len(s))
			return s, nil
		}
	}
	all := func(ok func(r rune) bool) methodFunc {
		return func(_ *run, x any, a *args) (any, error) {
			s := x.(string)
			return s != "" && strings.IndexFunc(s, func(r rune) bool { return !ok(r) }) < 0, a.none()
		}
	}
	number := func(r rune) bool { return unicode.Is(unicode.Nd, r) }
	strMethods = map[string]methodFunc{
		"strip":  stripMethod(strings.TrimFunc, strings.Trim),
		"lstrip": stripMethod(strings.TrimLeftFunc, strings.TrimLeft),
		"rstrip": stripMethod(strings.TrimRightFunc, strings.TrimRight),
		"lower":  text(strings.ToLower), "upper": text(strings.ToUpper), "casefold": text(strings.ToLower),
		"capitalize": text(capitalize), "title": text(titleMethod), "swapcase": text(swapcase),
		"split": strSplit(false), "rsplit": strSplit(true), "splitlines": strSplitlines,
		"partition": strPartition(strings.Index), "rpartition": strPartition(strings.LastIndex),
		"startswith": strAffix(strings.HasPrefix), "endswith": strAffix(strings.HasSuffix),
		"removeprefix": strRemove(strings.TrimPrefix), "removesuffix": strRemove(strings.TrimSuffix),
		"replace": strReplace, "join": strJoin, "format": strFormat,
		"find": strFind(strings.Index, false), "rfind": strFind(strings.LastIndex, false),
		"index": strFind(strings.Index, true), "rindex": strFind(strings.LastIndex, true), "count": strCount,
		"center": strPad('^'), "ljust": strPad('<'), "rjust": strPad('>'), "zfill": strZfill,
		"isspace": all(pythonSpace), "isalpha": all(unicode.IsLetter), "isdecimal": all(number), "isdigit": all(number), "isnumeric": all(unicode.IsNumber),
		"isalnum": all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }),
		"isascii": func(_ *run, x any, a *args) (any, error) {
			return strings.IndexFunc(x.(string), func(r rune) bool { return r > 0x7f }) < 0, a.none()
		},
		"islower": func(r *run, x any, a *args) (any, error) { return tests["lower"](r, x, a) },
		"isupper": func(r *run, x any, a *args) (any, error) { return tests["upper"](r, x, a) },
	}
	dictMethods = map[string]methodFunc{
		"items": func(r *run, x any, a *args) (any, error) {
			r.spend(x.(*Dict).Len())
			return x.(*Dict).items(), a.none()
		},
		"keys":   func(_ *run, x any, a *args) (any, error) { return &List{Items: x.(*Dict).keys}, a.none() },
		"values": func(_ *run, x any, a *args) (any, error) { return &List{Items: x.(*Dict).values}, a.none() },
		"copy":   func(_ *run, x any, a *args) (any, error) { return x, a.none() }, // both are immutable
		"get": func(_ *run, x any, a *args) (any, error) {
			v, err := a.bind("key", "default")
			if err != nil {
				return nil, err
			}
			if value, ok := x.(*Dict).get(v[0]); ok {
				return value, nil
			}
			if given(v[1]) {
				return v[1], nil
			}
			return nil, nil
		},
	}
	listMethods = map[string]methodFunc{
		"copy": func(r *run, x any, a *args) (any, error) {
			r.spend(len(x.(*List).Items))
			return &List{Items: slices.Clone(x.(*List).Items), own: true}, a.none()
		},
		"append": listAppend, "pop": listPop,
		"count": func(r *run, x any, a *args) (any, error) {
			v, err := a.one("value")
			n := int64(0)
			for _, item := range x.(*List).Items {
				if r.equal(item, v) {
					n++
				}
			}
			return n, err
		},
		"index": func(r *run, x any, a *args) (any, error) {
			v, err := a.one("value")
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(x.(*List).Items, func(item any) bool { return r.equal(item, v) })
			if i < 0 {
				return nil, failf("value is not in list")
			}
			return int64(i), nil
		},
	}
	floatMethods = map[string]methodFunc{
		"is_integer": func(_ *run, x any, a *args) (any, error) {
			f := x.(float64)
			return f == math.Trunc(f) && !math.IsInf(f, 0), a.none()
		},
	}
}

func stripMethod(space func(string, func(rune) bool) string, set func(s, chars string) string) methodFunc {
	return func(_ *run, x any, a *args) (any, error) {
		v, err := a.bind("chars")
		if err != nil {
			return nil, err
		}
		if !given(v[0]) || v[0] == nil {
			return space(x.(string), pythonSpace), nil
		}
		chars, err := a.str(v[0], "")
		return set(x.(string), chars), err
	}
}

// titleMethod implements s.title(): a capital after any non-letter.
func titleMethod(s string) string {
	var b strings.Builder
	inWord := false
	for _, r := range s {
		if inWord {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteRune(unicode.ToTitle(r))
		}
		inWord = unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r)
	}
	return b.String()
}

func swapcase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func stringList(parts []string) *List {
	list := &List{Items: make([]any, len(parts))}
	for i, p := range parts {
		list.Items[i] = p
	}
	return list
}

// strSplit returns split or rsplit.
func strSplit(fromRight bool) methodFunc {
	return func(r *run, x any, a *args) (any, error) {
		v, err := a.bind("sep", "maxsplit")
		if err != nil {
			return nil, err
		}
		limit, err := a.int(v[1], -1)
		if err != nil {
			return nil, err
		}
		s := x.(string)
		r.made(len(s))
		if !given(v[0]) || v[0] == nil {
			return stringList(splitSpace(s, limit, fromRight)), nil
		}
		sep, err := a.str(v[0], "")
		switch {
		case err != nil:
			return nil, err
		case sep == "":
			return nil, failf("empty separator")
		case limit < 0 || !fromRight:
			if limit >= 0 {
				limit++
			}
			return stringList(strings.SplitN(s, sep, limit)), nil
		}
		var parts []string
		for ; limit > 0; limit-- {
			i := strings.LastIndex(s, sep)
			if i < 0 {
				break
			}
			parts = append(parts, s[i+len(sep):])
			s = s[:i]
		}
		parts = append(parts, s)
		slices.Reverse(parts)
		return stringList(parts), nil
	}
}

// splitSpace splits at runs of whitespace.
func splitSpace(s string, limit int, fromRight bool) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, pythonSpace)
	}
	var parts []string
	if fromRight {
		for s = strings.TrimRightFunc(s, pythonSpace); s != "" && limit > 0; limit-- {
			i := strings.LastIndexFunc(s, pythonSpace)
			_, n := utf8.DecodeRuneInString(s[max(i, 0):])
			if i < 0 {
				n, i = 0, 0
			}
			parts = append(parts, s[i+n:])
			s = strings.TrimRightFunc(s[:i], pythonSpace)
		}
		if s != "" {
			parts = append(parts, s)
		}
		slices.Reverse(parts)
		return parts
	}
	for s = strings.TrimLeftFunc(s, pythonSpace); s != "" && limit > 0; limit-- {
		i := strings.IndexFunc(s, pythonSpace)
		if i < 0 {
			i = len(s)
		}
		parts = append(parts, s[:i])
		s = strings.TrimLeftFunc(s[i:], pythonSpace)
	}
	if s != "" {
		parts = append(parts, s)
	}
	return parts
}

// splitLines implements s.splitlines(keepends).
func splitLines(s string, keep bool) []string {
	var lines []string
	for s != "" {
		i := strings.IndexFunc(s, func(r rune) bool {
			return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
		})
		if i < 0 {
			return append(lines, s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		end := i
		if keep {
			end += n
		}
		lines = append(lines, s[:end])
		s = s[i+n:]
	}
	return lines
}

func strSplitlines(r *run, x any, a *args) (any, error) {
	v, err := a.bind("keepends")
	if err != nil {
		return nil, err
	}
	r.made(len(x.(string)))
	return stringList(splitLines(x.(string), boolArg(v[0], false))), nil
}

func strPartition(index func(s, sep string) int) methodFunc {
	return func(_ *run, x any, a *args) (any, error) {
		v, err := a.one("sep")
		if err != nil {
			return nil, err
		}
		sep, err := a.str(v, "")
		if err != nil {
			return nil, err
		}
		if sep == "" {
			return nil, failf("empty separator")
		}
		s := x.(string)
		parts := []string{s, "", ""}
		if i := index(s, sep); i >= 0 {
			parts = []string{s[:i], sep, s[i+len(sep):]}
		} else if a.fn == "rpartition()" {
			parts = []string{"", "", s}
		}
		list := stringList(parts)
		list.Tuple = true
		return list, nil
	}
}

// strAffix returns startswith or endswith; the argument may be a tuple.
func strAffix(has func(s, affix string) bool) methodFunc {
	return func(_ *run, x any, a *args) (any, error) {
		v, err := a.one("prefix")
		if err != nil {
			return nil, err
		}
		list, ok := v.(*List)
		if !ok || !list.Tuple {
			list = &List{Items: []any{v}}
		}
		for _, item := range list.Items {
			affix, err := a.str(item, "")
			if err != nil {
				return nil, err
			}
			if has(x.(string), affix) {
				return true, nil
			}
		}
		return false, nil
	}
}

func strRemove(remove func(s, affix string) string) methodFunc {
	return func(_ *run, x any, a *args) (any, error) {
		v, err := a.one("prefix")
		if err != nil {
			return nil, err
		}
		affix, err := a.str(v, "")
		return remove(x.(string), affix), err
	}
}

func strReplace(r *run, x any, a *args) (any, error) {
	v, err := a.bind("old", "new", "count")
	if err != nil {
		return nil, err
	}
	if !given(v[0]) || !given(v[1]) {
		return nil, failf("replace() needs what to replace, and by what")
	}
	old, err := a.str(v[0], "")
	if err != nil {
		return nil, err
	}
	by, err := a.str(v[1], "")
	if err != nil {
		return nil, err
	}
	n, err := a.int(v[2], -1)
	if err != nil {
		return nil, err
	}
	return r.replace(x.(string), old, by, n)
}

// replace replaces the first n occurrences, all if n is negative. The size of the
// result is checked before it is allocated.
func (r *run) replace(s, old, by string, n int) (any, error) {
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(n, count)
	}
	if !r.made(len(s) + count*len(by)) {
		return "", nil
	}
	return strings.Replace(s, old, by, n), nil
}

func strJoin(r *run, x any, a *args) (any, error) {
	v, err := a.one("iterable")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, failf("sequence item %d: expected str instance, %s found", i, typeName(item))
		}
		if !r.made(len(s) + len(x.(string))) {
			return "", nil
		}
		parts[i] = s
	}
	return strings.Join(parts, x.(string)), nil
}

// strFind returns find, index or their variants from the right.
func strFind(index func(s, sub string) int, must bool) methodFunc {
	return func(r *run, x any, a *args) (any, error) {
		v, err := a.bind("sub", "start", "end")
		if err != nil {
			return nil, err
		}
		sub, err := a.str(v[0], "")
		if err != nil {
			return nil, err
		}
		s, skipped, err := r.window(x.(string), v[1], v[2], a)
		if err != nil {
			return nil, err
		}
		i := index(s, sub)
		if i < 0 {
			if must {
				return nil, failf("substring not found")
			}
			return int64(-1), nil
		}
		return int64(skipped + utf8.RuneCountInString(s[:i])), nil
	}
}

// window returns the characters of s from start to end, and the number of characters
// skipped.
func (r *run) window(s string, start, end any, a *args) (string, int, error) {
	r.spend(len(s) / 64)
	if !given(start) && !given(end) {
		return s, 0, nil
	}
	chars := []rune(s)
	var bounds [3]*int64
	for i, v := range []any{start, end} {
		if !given(v) || v == nil {
			continue
		}
		n, err := a.int(v, 0)
		if err != nil {
			return "", 0, err
		}
		wide := int64(n)
		bounds[i] = &wide
	}
	places := sliceIndices(len(chars), bounds)
	if len(places) == 0 {
		return "", 0, nil
	}
	from := places[0]
	return string(chars[from : from+len(places)]), from, nil
}

func strCount(r *run, x any, a *args) (any, error) {
	v, err := a.bind("sub", "start", "end")
	if err != nil {
		return nil, err
	}
	sub, err := a.str(v[0], "")
	if err != nil {
		return nil, err
	}
	s, _, err := r.window(x.(string), v[1], v[2], a)
	return int64(strings.Count(s, sub)), err
}

func strPad(align byte) methodFunc {
	return func(r *run, x any, a *args) (any, error) {
		v, err := a.bind("width", "fillchar")
		if err != nil {
			return nil, err
		}
		width, err := a.int(v[0], 0)
		if err != nil {
			return nil, err
		}
		fill, err := a.str(v[1], " ")
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(fill) != 1 {
			return nil, failf("The fill character must be exactly one character long")
		}
		return r.pad(x.(string), width, fill, align)
	}
}

// pad pads s to width characters; align '<' aligns it left, '>' right, and '^'
// centres it.
func (r *run) pad(s string, width int, fill string, align byte) (any, error) {
	room := width - utf8.RuneCountInString(s)
	if room <= 0 {
		return s, nil
	}
	if !r.made(len(s) + room*len(fill)) {
		return "", nil
	}
	left := 0
	switch align {
	case '>':
		left = room
	case '^':
		left = room/2 + room&width&1 // Python's rule for an odd remainder
	}
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, room-left), nil
}

func strZfill(r *run, x any, a *args) (any, error) {
	v, err := a.one("width")
	if err != nil {
		return nil, err
	}
	width, err := a.int(v, 0)
	if err != nil {
		return nil, err
	}
	s, sign := x.(string), ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	padded, err := r.pad(s, width-len(sign), "0", '>')
	if err != nil {
		return nil, err
	}
	return sign + padded.(string), nil
}

// listAppend implements list.append. The items are copied, because a slice or the
// keys of a dictionary may share them.
func listAppend(r *run, x any, a *args) (any, error) {
	v, err := a.one("object")
	list := x.(*List)
	if err == nil && (list.Tuple || !list.own) {
		err = failf("access to attribute 'append' of '%s' object is unsafe.", typeName(x))
	}
	if err != nil || !r.made(16*len(list.Items)) {
		return nil, err
	}
	list.Items = append(slices.Clip(list.Items), v)
	return nil, nil
}

// listPop implements list.pop.
func listPop(r *run, x any, a *args) (any, error) {
	v, err := a.bind("index")
	list := x.(*List)
	if err == nil && (list.Tuple || !list.own) {
		err = failf("access to attribute 'pop' of '%s' object is unsafe.", typeName(x))
	}
	if err != nil {
		return nil, err
	}
	i, err := a.int(v[0], -1)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		i += len(list.Items)
	}
	switch {
	case len(list.Items) == 0:
		return nil, failf("pop from empty list")
	case i < 0 || i >= len(list.Items):
		return nil, failf("pop index out of range")
	case !r.made(16 * len(list.Items)):
		return nil, nil
	}
	item := list.Items[i]
	list.Items = append(slices.Clone(list.Items[:i]), list.Items[i+1:]...)
	return item, nil
}
