package jinja

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/chat/jinja/python"
)

// percent implements format % values: Python's printf-style formatting.
func (r *run) percent(format string, values any) (any, error) {
	list := []any{values}
	if t, ok := values.(*List); ok && t.Tuple {
		list = t.Items
	}
	dict, _ := values.(*Dict)
	var b strings.Builder
	used := 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		var named any
		if i < len(format) && format[i] == '(' {
			end := strings.IndexByte(format[i:], ')')
			if end < 0 {
				return nil, failf("incomplete format key")
			}
			if dict == nil {
				return nil, failf("format requires a mapping")
			}
			name := format[i+1 : i+end]
			var ok bool
			if named, ok = dict.get(name); !ok {
				return nil, failf("%s", name)
			}
			i += end + 1
			used = len(list) // the mapping counts as used
		} else {
			named = absent{}
		}
		var s spec
		i = s.parsePercent(format, i)
		if i >= len(format) {
			return nil, failf("incomplete format")
		}
		if format[i] == '%' {
			b.WriteByte('%')
			continue
		}
		v := named
		if !given(v) {
			if used >= len(list) {
				return nil, failf("not enough arguments for format string")
			}
			v = list[used]
			used++
		}
		text, err := r.verb(&s, format[i], v)
		if err != nil {
			return nil, err
		}
		if !r.made(len(text)) {
			return "", nil
		}
		b.WriteString(text)
	}
	if used < len(list) && dict == nil {
		return nil, failf("not all arguments converted during string formatting")
	}
	return b.String(), nil
}

// spec is the format of a value: width, precision and so on.
type spec struct {
	fill      string
	align     byte // '<', '>', '^', '=' or 0
	sign      byte // '+', ' ' or 0
	alt       bool // "#"
	group     byte // ',' or '_' or 0
	width     int
	precision int // -1: none
}

// widest limits widths and precisions, so that a format can't request
// gigabytes.
const widest = 10_000

func (s *spec) parsePercent(f string, i int) int {
	s.precision = -1
	s.align, s.fill = '>', " "
	zero := false
	for ; i < len(f); i++ {
		switch f[i] {
		case '-':
			s.align = '<'
		case '0':
			zero = true
		case '+':
			s.sign = '+'
		case ' ':
			if s.sign == 0 {
				s.sign = ' '
			}
		case '#':
			s.alt = true
		default:
			if zero && s.align == '>' {
				s.align, s.fill = '=', "0"
			}
			s.width, i = digits(f, i)
			if i < len(f) && f[i] == '.' {
				s.precision, i = digits(f, i+1)
			}
			return i
		}
	}
	return i
}

// digits parses a number at i, limited by widest.
func digits(f string, i int) (n, end int) {
	for ; i < len(f) && f[i] >= '0' && f[i] <= '9'; i++ {
		n = min(n*10+int(f[i]-'0'), widest)
	}
	return n, i
}

// verb formats v with a printf verb.
func (r *run) verb(s *spec, verb byte, v any) (string, error) {
	switch verb {
	case 's', 'r':
		text := r.str(v)
		if verb == 'r' {
			text = r.repr(v)
		}
		if s.align == '=' {
			s.align, s.fill = '>', " "
		}
		return r.finish(s, "", s.cut(text))
	case 'c':
		if n, ok := asInt(v); ok {
			v = string(rune(n))
		}
		text, ok := v.(string)
		if !ok || utf8.RuneCountInString(text) != 1 {
			return "", failf("%%c requires int or char")
		}
		return r.finish(s, "", text)
	case 'd', 'i', 'u':
		if f, ok := v.(float64); ok {
			v = int64(f)
		}
		verb = 'd'
	}
	if strings.IndexByte("dxXobeEfFgG", verb) < 0 {
		return "", failf("unsupported format character '%c'", verb)
	}
	if _, ok := asFloat(v); !ok {
		if _, ok := v.(*big.Int); !ok || verb != 'd' {
			return "", failf("%%%c format: a number is required, not %s", verb, typeName(v))
		}
	}
	return r.number(s, verb, v)
}

// cut truncates a text to the precision.
func (s *spec) cut(text string) string {
	if s.precision < 0 {
		return text
	}
	chars := []rune(text)
	return string(chars[:min(len(chars), s.precision)])
}

// number formats a number.
func (r *run) number(s *spec, verb byte, v any) (string, error) {
	sign, text, percent := "", "", ""
	if base, ok := map[byte]int{'d': 10, 'x': 16, 'X': 16, 'o': 8, 'b': 2}[verb]; ok {
		n, ok := v.(*big.Int)
		if !ok {
			i, ok := asInt(v)
			if !ok {
				return "", failf("an integer is required, not %s", typeName(v))
			}
			n = big.NewInt(i)
		}
		text = n.Text(base)
		if verb == 'X' {
			text = strings.ToUpper(text)
		}
		if strings.HasPrefix(text, "-") {
			sign, text = "-", text[1:]
		}
		if s.alt && base != 10 {
			sign += "0" + string(verb)
		}
	} else {
		f, _ := asFloat(v)
		precision := s.precision
		if precision < 0 {
			precision = 6
		}
		switch verb {
		case '%':
			f, verb, percent = f*100, 'f', "%"
		case 'F':
			verb = 'f'
		case 'g', 'G':
			precision = max(precision, 1)
		}
		// Go's %e, %f and %g equal C's.
		text = fmt.Sprintf("%.*"+string(verb), precision, f)
		if strings.HasPrefix(text, "-") {
			sign, text = "-", text[1:]
		}
	}
	if sign == "" && s.sign != 0 {
		sign = string(s.sign)
	}
	if s.group != 0 {
		text = grouped(text, s.group)
	}
	return r.finish(s, sign, text+percent)
}

// grouped inserts a separator between groups of three digits.
func grouped(text string, sep byte) string {
	end := strings.IndexAny(text, ".eE")
	if end < 0 {
		end = len(text)
	}
	var b strings.Builder
	for i := range end {
		if i > 0 && (end-i)%3 == 0 {
			b.WriteByte(sep)
		}
		b.WriteByte(text[i])
	}
	return b.String() + text[end:]
}

// finish adds sign and padding to a text.
func (r *run) finish(s *spec, sign, text string) (string, error) {
	if s.align == '=' {
		v, err := r.pad(text, s.width-utf8.RuneCountInString(sign), s.fill, '>')
		if err != nil {
			return "", err
		}
		return sign + v.(string), nil
	}
	v, err := r.pad(sign+text, s.width, s.fill, s.align)
	if err != nil {
		return "", err
	}
	return v.(string), nil
}

// strFormat implements format.format(a).
func strFormat(r *run, x any, a *args) (any, error) {
	format := x.(string)
	var b strings.Builder
	next := 0 // argument of the next "{}"
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '{' && c != '}' {
			b.WriteByte(c)
			continue
		}
		if i+1 < len(format) && format[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		end := strings.IndexByte(format[i:], '}')
		if c == '}' || end < 0 {
			return nil, failf("single '%c' encountered in format string", c)
		}
		field := format[i+1 : i+end]
		i += end
		name, layout, _ := strings.Cut(field, ":")
		name, conversion, _ := strings.Cut(name, "!")
		if name == "" || name[0] == '.' || name[0] == '[' {
			name = fmt.Sprint(next) + name
			next++
		}
		v, err := r.field(name, a)
		if err != nil {
			return nil, err
		}
		switch conversion {
		case "":
		case "s":
			v = r.str(v)
		case "r":
			v = r.repr(v)
		default:
			return nil, failf("unknown conversion specifier '%s'", conversion)
		}
		text, err := r.layout(v, layout)
		if err != nil {
			return nil, err
		}
		if !r.made(len(text)) {
			return "", nil
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// field returns the value of a field name such as "0.name[key]".
func (r *run) field(name string, a *args) (any, error) {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	base, rest := name[:end], name[end:]
	var v any = absent{}
	if n, used := digits(base, 0); used == len(base) {
		if n < len(a.list) {
			v = a.list[n]
		}
	} else {
		for i, known := range a.names {
			if known == base {
				v = a.named[i]
			}
		}
	}
	if !given(v) {
		return nil, failf("format() has no argument '%s'", base)
	}
	for rest != "" {
		var err error
		if rest[0] == '.' {
			part := rest[1:]
			if end = strings.IndexAny(part, ".["); end < 0 {
				end = len(part)
			}
			v, err = r.attribute(v, part[:end])
			rest = part[end:]
		} else {
			part, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return nil, failf("expected ']' in a format string")
			}
			var key any = part
			if n, used := digits(part, 0); used == len(part) && part != "" {
				key = int64(n)
			}
			v, err = r.item(v, key)
			rest = after
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// layout implements format(v, layout).
func (r *run) layout(v any, layout string) (string, error) {
	if layout == "" {
		return r.str(v), nil
	}
	s := spec{fill: " ", precision: -1}
	i := 0
	if _, n := utf8.DecodeRuneInString(layout); len(layout) > n && strings.IndexByte("<>^=", layout[n]) >= 0 {
		s.fill, s.align, i = layout[:n], layout[n], n+1
	} else if strings.IndexByte("<>^=", layout[0]) >= 0 {
		s.align, i = layout[0], 1
	}
	has := func(set string) bool { return i < len(layout) && strings.IndexByte(set, layout[i]) >= 0 }
	if has("+- ") {
		if s.sign = layout[i]; s.sign == '-' {
			s.sign = 0
		}
		i++
	}
	if has("#") {
		s.alt = true
		i++
	}
	if has("0") && s.align == 0 {
		s.fill, s.align = "0", '='
	}
	s.width, i = digits(layout, i)
	if has(",_") {
		s.group = layout[i]
		i++
	}
	if has(".") {
		s.precision, i = digits(layout, i+1)
	}
	verb := byte(0)
	if i < len(layout) {
		verb = layout[i]
		i++
	}
	if i < len(layout) {
		return "", failf("invalid format specifier '%s'", layout)
	}
	_, isFloat := v.(float64)
	_, isInt := asInt(v)
	if _, isBool := v.(bool); isBool && verb == 0 {
		isInt = false
	}
	if !isFloat && !isInt {
		if verb != 0 && verb != 's' || s.align == '=' {
			return "", failf("format code '%s' can't be used for '%s'", layout, typeName(v))
		}
		if s.align == 0 {
			s.align = '<'
		}
		return r.finish(&s, "", s.cut(r.str(v)))
	}
	if s.align == 0 {
		s.align = '>'
	}
	switch {
	case verb == 0 && isInt || verb == 'n':
		verb = 'd'
	case verb == 0 && s.precision < 0:
		text := string(python.AppendFloat(nil, v.(float64)))
		sign := ""
		if strings.HasPrefix(text, "-") {
			sign, text = "-", text[1:]
		} else if s.sign != 0 {
			sign = string(s.sign)
		}
		if s.group != 0 {
			text = grouped(text, s.group)
		}
		return r.finish(&s, sign, text)
	case verb == 0:
		verb = 'g'
	case strings.IndexByte("dxXobeEfFgG%", verb) < 0, isFloat && strings.IndexByte("dxXob", verb) >= 0:
		return "", failf("format code '%c' can't be used for '%s'", verb, typeName(v))
	}
	return r.number(&s, verb, v)
}
