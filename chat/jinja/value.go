package jinja

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/stencil-json/stencil/chat/jinja/python"
)

// Values are Go values of these types: nil (None), bool, int64, float64,
// string, *big.Int (a number of a document that is too large to calculate
// with), *List, *Dict, undefined, *namespace, callable and *loop.

// Verbatim is a value that is always written unchanged. It is neither a string nor
// a list nor a dictionary, and otherwise behaves like a number.
type Verbatim string

// undefined is the value of a missing name, attribute or item.
type undefined struct{ what string }

func (u undefined) err() error { return failf("%s", u.what) }

// List is a list or a tuple. A template can modify only those that it created
// itself.
type List struct {
	Items []any
	Tuple bool
	own   bool // created by the template itself
	lazy  bool // a generator in Python: true even if empty
}

// NewList returns a list of values of [FromGo].
func NewList(items ...any) *List { return &List{Items: items} }

// Dict is a dictionary that keeps the order in which keys were first set.
type Dict struct {
	keys, values []any
	index        map[any]int

	keeps bool // its JSON, since it never changes
	json  atomic.Pointer[keptJSON]
}

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{index: map[any]int{}} }

// Set sets a key to a value of [FromGo].
func (d *Dict) Set(key string, value any) { d.set(key, value) }

// Keep declares that the dictionary will never be changed. It may then be used by several renderings at a time, and its
// JSON is written only once; templates can't change what they didn't create.
func (d *Dict) Keep() { d.keeps = true }

// Len returns the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// Keys returns the keys that are strings, in order.
func (d *Dict) Keys() []string {
	out := make([]string, 0, len(d.keys))
	for _, k := range d.keys {
		if s, ok := k.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Get returns the value of a key.
func (d *Dict) Get(key string) (any, bool) { return d.get(key) }

// hashKey returns the index key of a dictionary key: as in Python, equal numbers
// are one key, and True equals 1. The second result is false for lists and other
// unhashable values.
func hashKey(key any) (any, bool) {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1), true
		}
		return int64(0), true
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<53 {
			return int64(k), true
		}
		return k, true
	case nil, int64, string:
		return k, true
	case *List:
		if k.Tuple {
			text, ok := repr(k, 1<<16)
			return [1]string{text}, ok
		}
	}
	return nil, false
}

func (d *Dict) set(key, value any) error {
	h, ok := hashKey(key)
	if !ok {
		return failf("unhashable type: '%s'", typeName(key))
	}
	if i, ok := d.index[h]; ok {
		d.values[i] = value
		return nil
	}
	d.index[h] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, value)
	return nil
}

func (d *Dict) get(key any) (any, bool) {
	h, ok := hashKey(key)
	if !ok {
		return nil, false
	}
	i, ok := d.index[h]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// namespace is the result of namespace(), the only value whose attributes can be
// set.
type namespace struct{ dict *Dict }

// callable is a function, method or macro.
type callable interface {
	call(r *run, args callArgs) (any, error)
	String() string
}

// callArgs are the evaluated arguments of a call.
type callArgs struct {
	list  []any
	names []string
	named []any
}

// FromGo converts a Go value to a template value: nil, booleans, numbers, strings,
// json.Number, json.RawMessage, []any, []string, map[string]any (keys sorted), and
// *List and *Dict, which are returned unchanged.
func FromGo(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, Verbatim, *List, *Dict:
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case float32:
		return float64(v), nil
	case json.Number:
		return number(string(v))
	case json.RawMessage:
		return FromJSON(v)
	case []string:
		list := &List{Items: make([]any, len(v))}
		for i, s := range v {
			list.Items[i] = s
		}
		return list, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("jinja: %w", err)
	}
	return FromJSON(data)
}

// FromJSON parses a JSON document. Objects keep their order, and numbers their
// type: 1 is an integer, 1.0 is not.
func FromJSON(data []byte) (any, error) { return fromJSON(data, number) }

// FromJSONAsWritten is FromJSON, but numbers keep their spelling: 1.50 and 1e5 are [Verbatim].
func FromJSONAsWritten(data []byte) (any, error) { return fromJSON(data, numberAsWritten) }

func fromJSON(data []byte, number func(string) (any, error)) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := fromDecoder(d, number)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return v, nil
		}
		if err == nil {
			err = fmt.Errorf("data after the document")
		}
	}
	return nil, fmt.Errorf("jinja: %w", err)
}

func fromDecoder(d *json.Decoder, number func(string) (any, error)) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return number(string(t))
	case json.Delim:
		if t == '[' {
			list := new(List)
			for d.More() {
				v, err := fromDecoder(d, number)
				if err != nil {
					return nil, err
				}
				list.Items = append(list.Items, v)
			}
			_, err := d.Token()
			return list, err
		}
		dict := NewDict()
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := fromDecoder(d, number)
			if err != nil {
				return nil, err
			}
			dict.set(key, v)
		}
		_, err := d.Token()
		return dict, err
	default:
		return t, nil // nil, bool or string
	}
}

// numberAsWritten returns a number, as a Verbatim if it would be written in another way.
func numberAsWritten(s string) (any, error) {
	v, err := number(s)
	if f, ok := v.(float64); ok && err == nil && string(python.AppendFloat(nil, f)) != s {
		return Verbatim(s), nil
	}
	return v, err
}

func number(s string) (any, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	if !strings.ContainsAny(s, ".eE") {
		if n, ok := new(big.Int).SetString(s, 10); ok {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil, fmt.Errorf("jinja: %q is not a number", s)
	}
	return f, nil
}

// typeName returns the Python name of a value's type.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int, Verbatim:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *List:
		if v.Tuple {
			return "tuple"
		}
		return "list"
	case *Dict:
		return "dict"
	case undefined:
		return "Undefined"
	case *namespace:
		return "Namespace"
	case *loop:
		return "LoopContext"
	}
	return "function"
}

// truth implements bool(v).
func truth(v any) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *List:
		return v.lazy || len(v.Items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

// maxDepth limits the depth to which lists and dictionaries are traversed.
// Documents can't be deeper, since encoding/json has a lower limit, but a template
// can nest lists.
const maxDepth = 20_000

// printer formats values as Python's repr does.
type printer struct {
	b     []byte
	limit int  // in bytes
	nodes int  // values that may still be written
	over  bool // a limit, including that of depth, was exceeded
	depth int
}

// repr implements repr(v), truncated at limit bytes.
func repr(v any, limit int) (text string, ok bool) {
	p := printer{limit: limit, nodes: limit}
	p.value(v)
	return string(p.b), !p.over
}

// enter counts nesting; leave must follow. It returns false if nothing more should
// be written.
func (p *printer) enter() bool {
	p.depth++
	p.nodes--
	p.over = p.over || p.depth > maxDepth || p.nodes < 0 || len(p.b) > p.limit
	return !p.over
}

func (p *printer) value(v any) {
	if p.enter() {
		p.plain(v)
	}
	p.depth--
}

func (p *printer) plain(v any) {
	switch v := v.(type) {
	case nil:
		p.b = append(p.b, "None"...)
	case bool:
		if v {
			p.b = append(p.b, "True"...)
		} else {
			p.b = append(p.b, "False"...)
		}
	case int64:
		p.b = strconv.AppendInt(p.b, v, 10)
	case *big.Int:
		p.b = v.Append(p.b, 10)
	case float64:
		p.b = python.AppendFloat(p.b, v)
	case string:
		p.b = python.AppendQuoted(p.b, v)
	case Verbatim:
		p.b = append(p.b, v...)
	case *List:
		open, end := byte('['), byte(']')
		if v.Tuple {
			open, end = '(', ')'
		}
		p.b = append(p.b, open)
		for i, item := range v.Items {
			if i > 0 {
				p.b = append(p.b, ", "...)
			}
			if p.value(item); p.over {
				return
			}
		}
		if v.Tuple && len(v.Items) == 1 {
			p.b = append(p.b, ',')
		}
		p.b = append(p.b, end)
	case *Dict:
		p.b = append(p.b, '{')
		for i, key := range v.keys {
			if i > 0 {
				p.b = append(p.b, ", "...)
			}
			p.value(key)
			p.b = append(p.b, ": "...)
			if p.value(v.values[i]); p.over {
				return
			}
		}
		p.b = append(p.b, '}')
	case undefined:
		p.b = append(p.b, "Undefined"...)
	case *namespace:
		p.b = append(p.b, "<Namespace "...)
		p.value(v.dict)
		p.b = append(p.b, '>')
	case fmt.Stringer:
		p.b = append(p.b, v.String()...)
	}
}

// equal implements a == b.
func (r *run) equal(a, b any) bool {
	if !r.spend(1) {
		return false
	}
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case nil:
		return b == nil
	case undefined:
		_, ok := b.(undefined)
		return ok
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	case *List:
		y, ok := b.(*List)
		if !ok || x.Tuple != y.Tuple || len(x.Items) != len(y.Items) {
			return false
		}
		return x == y || r.deeper(func() bool {
			for i := range x.Items {
				if !r.equal(x.Items[i], y.Items[i]) {
					return false
				}
			}
			return true
		})
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		return x == y || r.deeper(func() bool {
			for i, key := range x.keys {
				if other, ok := y.get(key); !ok || !r.equal(x.values[i], other) {
					return false
				}
			}
			return true
		})
	case bool, int64, float64:
		if i, ok := asInt(a); ok {
			if j, ok := asInt(b); ok {
				return i == j
			}
		}
		f, ok := asFloat(b)
		g, _ := asFloat(a)
		return ok && f == g
	}
	switch b.(type) {
	case *namespace, *loop:
		return a == b
	}
	return false
}

// less implements a < b. Values of different kinds can't be ordered.
func (r *run) less(a, b any) (bool, error) {
	r.spend(1)
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			return x < y, nil // UTF-8 sorts like code points
		}
	}
	if i, ok := asInt(a); ok {
		if j, ok := asInt(b); ok {
			return i < j, nil
		}
	}
	if x, ok := asFloat(a); ok {
		if y, ok := asFloat(b); ok {
			return x < y, nil
		}
	}
	if x, ok := a.(*List); ok {
		if y, ok := b.(*List); ok && x.Tuple == y.Tuple {
			for i := range min(len(x.Items), len(y.Items)) {
				if !r.equal(x.Items[i], y.Items[i]) {
					var result bool
					var err error
					r.deeper(func() bool { result, err = r.less(x.Items[i], y.Items[i]); return true })
					return result, err
				}
			}
			return len(x.Items) < len(y.Items), nil
		}
	}
	for _, v := range []any{a, b} {
		if u, ok := v.(undefined); ok {
			return false, u.err()
		}
	}
	return false, failf("'<' not supported between instances of '%s' and '%s'", typeName(a), typeName(b))
}

// asInt returns a boolean or integer as an integer.
func asInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// asFloat returns any number as a float, except big integers.
func asFloat(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	n, ok := asInt(v)
	return float64(n), ok
}
