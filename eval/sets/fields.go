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

// normal returns the letters and digits of a text in lower case.
func normal(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// written returns a value as text: the content of a string, "" for null, and other
// values as written, so that 9.00 does not become 9.
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

// members returns the members of an object, nil for other values.
func members(document json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(document, &m) != nil {
		return nil
	}
	return m
}

// fields judges an object of values extracted from a text.
type fields struct {
	want map[string]*string // nil: the text does not mention it
	text string             // "": values need not occur in a text
}

func (f fields) judge(a Answer) Score {
	s := Score{Fields: len(f.want)}
	got, text := members(a.Document), normal(f.text)
	// An object with none of the keys, such as a copy of the schema, is not an
	// answer.
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
		// An empty value is right if none is wanted, but not without a document.
		if got != nil && given == wanted {
			s.Right++
			if wanted != "" {
				s.Hits++
			}
		}
	}
	return s
}

// number judges an object with one numeric member.
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

// amount matches a number with the symbols and units that people write around it.
var amount = regexp.MustCompile(`^[^\d.+-]{0,8}([+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|[+-]?\.\d+)[^\d]*$`)

// numeric parses a number, such as "$1,200.50" or "5 km"; nil if there is none or
// more than one.
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

// A fact is a statement that a document must contain, with keys that the model may
// choose.
type fact struct {
	Keys   []string `json:"keys"`             // under one of these
	Values []string `json:"values,omitempty"` // one of these values
	Items  []string `json:"items,omitempty"`  // all of these, in a list or a text
}

// facts judges an object whose keys the model chooses. Its other content is ignored,
// as cases don't restrict it.
type facts struct {
	want []fact
	flat bool // only top-level members count, as the client uses no others
}

// A leaf is a value with its normalised key. Items of a list have the key of the
// list. Lists and objects are leaves too.
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

// has reports whether a leaf states the fact.
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

// maxDepth is the maximum depth to which documents are searched.
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
