package sets

import (
	"encoding/json"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// normal drops everything but letters and digits, and writes in lower case.
func normal(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// written is a value as text: a string's own, nothing of null, anything else as
// it is spelt, so that 9.00 does not become 9.
func written(value json.RawMessage) string {
	var s string
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case json.Unmarshal(value, &s) == nil:
		return s
	}
	return string(value)
}

// members are those of an object, nil of anything else.
func members(document json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(document, &m) != nil {
		return nil
	}
	return m
}

// fields judges an object of values taken out of a text.
type fields struct {
	want map[string]*string // nil: the text says nothing of it
	text string             // "": values need not stand in a text
}

func (f fields) judge(a Answer) Score {
	s := Score{Fields: len(f.want)}
	got, text := members(a.Document), normal(f.text)
	// An object with none of the keys, such as a copy of the schema, is no answer.
	if !slices.ContainsFunc(slices.Collect(maps.Keys(f.want)), func(name string) bool { return got[name] != nil }) {
		got = nil
	}
	for name, want := range f.want {
		wanted := ""
		if want != nil {
			wanted = normal(*want)
		}
		given := normal(written(got[name]))
		if wanted != "" {
			s.Wanted++
		}
		if given != "" {
			s.Given++
			if f.text != "" {
				s.Checked++
				if strings.Contains(text, given) {
					s.Standing++
				}
			}
		}
		// Nothing is right where nothing was wanted, but not without a document.
		if got != nil && given == wanted {
			s.Right++
			if wanted != "" {
				s.Hits++
			}
		}
	}
	return s
}

// number judges an object with a member that has to be a number.
type number struct {
	name string
	want *big.Rat
}

func (n number) judge(a Answer) Score {
	s := Score{Fields: 1, Wanted: 1}
	text := written(members(a.Document)[n.name])
	if text == "" {
		return s
	}
	s.Given = 1
	if got := numeric(text); got != nil && got.Cmp(n.want) == 0 {
		s.Right, s.Hits = 1, 1
	}
	return s
}

// amount is a number with what people write around one.
var amount = regexp.MustCompile(`^[^\d.+-]{0,8}([+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|[+-]?\.\d+)[^\d]*$`)

// numeric reads a number, such as "$1,200.50" or "5 km"; nil where there is none
// or more than one.
func numeric(text string) *big.Rat {
	m := amount.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil
	}
	if digits := strings.ReplaceAll(m[1], ",", ""); moderate(digits) {
		if r, ok := new(big.Rat).SetString(digits); ok {
			return r
		}
	}
	return nil
}

// A fact is something that a document with keys of the model's own choice has to
// say.
type fact struct {
	Keys   []string `json:"keys"`             // under any of these
	Values []string `json:"values,omitempty"` // one of these
	Items  []string `json:"items,omitempty"`  // all of these, in a list or a text
}

// facts judges an object whose keys are the model's choice. What else it holds does
// not count: nobody said what else it may hold.
type facts struct {
	want []fact
	flat bool // only the document's own members count: the client looks nowhere else
}

// A leaf is a value with the key under which it stands, that in its normal form:
// with a list's items that of the list. Lists and objects are leaves too.
type leaf struct{ key, value string }

func (f facts) judge(a Answer) Score {
	s := Score{Fields: len(f.want), Wanted: len(f.want)}
	if a.Document == nil {
		return s
	}
	depth := 0
	if f.flat {
		depth = maxDepth - 1
	}
	all := leaves(nil, "", a.Document, depth)
	for _, want := range f.want {
		given, right := false, false
		for _, l := range all {
			if l.value != "" && names(want.Keys, l.key) {
				given = true
				right = right || want.has(l)
			}
		}
		if given {
			s.Given++
		}
		if right {
			s.Right++
			s.Hits++
		}
	}
	return s
}

func names(keys []string, key string) bool {
	for _, k := range keys {
		if normal(k) == key {
			return true
		}
	}
	return false
}

// has tells whether a leaf says the fact.
func (f fact) has(l leaf) bool {
	if len(f.Items) > 0 {
		text := normal(l.value)
		for _, item := range f.Items {
			if !strings.Contains(text, normal(item)) {
				return false
			}
		}
		return true
	}
	for _, v := range f.Values {
		if normal(v) == normal(l.value) {
			return true
		}
		if x, y := numeric(v), numeric(l.value); x != nil && y != nil && x.Cmp(y) == 0 {
			return true
		}
	}
	return false
}

// maxDepth is that to which documents are looked through.
const maxDepth = 32

// leaves appends the values of a document.
func leaves(out []leaf, key string, value json.RawMessage, depth int) []leaf {
	if depth > maxDepth {
		return out
	}
	if m := members(value); m != nil {
		for name, v := range m {
			out = leaves(out, normal(name), v, depth+1)
		}
		return append(out, leaf{key, string(value)})
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) == nil && items != nil {
		for _, v := range items {
			out = leaves(out, key, v, depth+1)
		}
		return append(out, leaf{key, string(value)})
	}
	return append(out, leaf{key, written(value)})
}
