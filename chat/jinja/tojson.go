package jinja

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/stencil-json/stencil/chat/jinja/python"
)

// filterToJSON implements Python's json.dumps with the arguments that chat
// templates use: by default one line, separators ", " and ": ", and minimal
// escaping.
func filterToJSON(r *run, x any, a *args) (any, error) {
	v, err := a.bind("ensure_ascii", "indent", "separators", "sort_keys")
	if err != nil {
		return nil, err
	}
	w := jsonWriter{jsonStyle: jsonStyle{", ", ": ", boolArg(v[0], false), boolArg(v[3], false)}, limit: max(r.bytes, 0), r: r}
	if given(v[1]) && v[1] != nil {
		w.lines, w.comma = true, ","
		if s, ok := v[1].(string); ok {
			w.indent = s
		} else {
			n, err := a.int(v[1], 0)
			if err != nil {
				return nil, err
			}
			const widest = 1000
			w.indent = strings.Repeat(" ", min(max(n, 0), widest))
		}
	}
	if given(v[2]) && v[2] != nil {
		pair, ok := v[2].(*List)
		if !ok || len(pair.Items) != 2 {
			return nil, failf("separators must be two strings")
		}
		if w.comma, err = a.str(pair.Items[0], ""); err != nil {
			return nil, err
		}
		if w.colon, err = a.str(pair.Items[1], ""); err != nil {
			return nil, err
		}
	}
	if err := w.value(x); err != nil {
		return nil, err
	}
	r.made(len(w.b))
	return string(w.b), nil
}

// A jsonStyle is how JSON on one line is written.
type jsonStyle struct {
	comma, colon    string
	ascii, sortKeys bool
}

// keptJSON is the JSON of a dictionary that never changes, and the steps that it took.
type keptJSON struct {
	style jsonStyle
	text  string
	steps int
}

type jsonWriter struct {
	b []byte
	jsonStyle
	lines  bool // each element on a separate line
	indent string
	limit  int
	depth  int
	r      *run
}

func (w *jsonWriter) value(v any) error {
	if len(w.b) > w.limit || w.depth > maxDepth || !w.r.spend(1) {
		w.r.exceed("a value is too long or too deep for JSON")
		return w.r.over
	}
	switch v := v.(type) {
	case nil:
		w.b = append(w.b, "null"...)
	case bool:
		w.b = strconv.AppendBool(w.b, v)
	case int64:
		w.b = strconv.AppendInt(w.b, v, 10)
	case *big.Int:
		w.b = v.Append(w.b, 10)
	case float64:
		w.float(v)
	case string:
		w.string(v)
	case Verbatim:
		w.b = append(w.b, v...)
	case *List:
		return w.group('[', ']', len(v.Items), func(i int) error { return w.value(v.Items[i]) })
	case *Dict:
		if v.keeps && !w.lines {
			return w.kept(v)
		}
		return w.dict(v)
	default:
		return failf("Object of type %s is not JSON serializable", typeName(v))
	}
	return nil
}

func (w *jsonWriter) float(f float64) {
	switch {
	case math.IsNaN(f):
		w.b = append(w.b, "NaN"...)
	case math.IsInf(f, 1):
		w.b = append(w.b, "Infinity"...)
	case math.IsInf(f, -1):
		w.b = append(w.b, "-Infinity"...)
	default:
		w.b = python.AppendFloat(w.b, f)
	}
}

// group writes n elements between brackets.
func (w *jsonWriter) group(open, end byte, n int, element func(i int) error) error {
	w.b = append(w.b, open)
	w.depth++
	for i := range n {
		if i > 0 {
			w.b = append(w.b, w.comma...)
		}
		w.newline()
		if err := element(i); err != nil {
			return err
		}
	}
	w.depth--
	if n > 0 {
		w.newline()
	}
	w.b = append(w.b, end)
	return nil
}

func (w *jsonWriter) newline() {
	if !w.lines {
		return
	}
	w.b = append(w.b, '\n')
	for range w.depth {
		w.b = append(w.b, w.indent...)
		if len(w.b) > w.limit {
			return
		}
	}
}

// kept writes a dictionary that never changes.
func (w *jsonWriter) kept(d *Dict) error {
	if k := d.json.Load(); k != nil && k.style == w.jsonStyle && w.r.spend(k.steps) && len(k.text) <= w.limit {
		w.b = append(w.b, k.text...)
		return nil
	}
	start, steps := len(w.b), w.r.steps
	if err := w.dict(d); err != nil {
		return err
	}
	d.json.Store(&keptJSON{w.jsonStyle, string(w.b[start:]), steps - w.r.steps})
	return nil
}

func (w *jsonWriter) dict(d *Dict) error {
	order := make([]int, len(d.keys))
	for i := range order {
		order[i] = i
	}
	if w.sortKeys {
		var failure error
		slices.SortStableFunc(order, func(i, j int) int {
			lt, err := w.r.less(d.keys[i], d.keys[j])
			if err != nil {
				failure = err
			}
			if lt {
				return -1
			}
			if gt, _ := w.r.less(d.keys[j], d.keys[i]); gt {
				return 1
			}
			return 0
		})
		if failure != nil {
			return failure
		}
	}
	return w.group('{', '}', len(order), func(i int) error {
		switch key := d.keys[order[i]].(type) {
		case string:
			w.string(key)
		case nil, bool, int64, float64: // keys are strings in JSON
			w.b = append(w.b, '"')
			w.value(key)
			w.b = append(w.b, '"')
		default:
			return failf("keys must be str, int, float, bool or None, not %s", typeName(key))
		}
		w.b = append(w.b, w.colon...)
		return w.value(d.values[order[i]])
	})
}

func (w *jsonWriter) string(s string) {
	w.b = append(w.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b = append(w.b, '\\', byte(r))
		case r == '\n':
			w.b = append(w.b, `\n`...)
		case r == '\r':
			w.b = append(w.b, `\r`...)
		case r == '\t':
			w.b = append(w.b, `\t`...)
		case r == '\b':
			w.b = append(w.b, `\b`...)
		case r == '\f':
			w.b = append(w.b, `\f`...)
		case r < 0x20, w.ascii && r >= 0x7f && r < 0x10000:
			w.b = fmt.Appendf(w.b, `\u%04x`, r)
		case w.ascii && r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			w.b = fmt.Appendf(w.b, `\u%04x\u%04x`, hi, lo)
		default:
			w.b = append(w.b, string(r)...)
		}
	}
	w.b = append(w.b, '"')
}

// JSON returns a value of [FromGo] as JSON, with the given separators after
// elements and keys.
func JSON(v any, comma, colon string) string {
	limits := Limits{}.withDefaults()
	w := jsonWriter{jsonStyle: jsonStyle{comma: comma, colon: colon}, limit: limits.Bytes, r: &run{limits: limits, steps: limits.Steps, bytes: limits.Bytes, deadline: time.Now().Add(limits.Time)}}
	if w.value(v) != nil {
		return "null" // longer or deeper than a request may be
	}
	return string(w.b)
}
