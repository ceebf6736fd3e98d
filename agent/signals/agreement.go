package signals

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/stencil-json/stencil/schema/jsondoc"
)

// Agreement returns the agreement of texts, from 0 to 1: the mean over all pairs, as
// defined in the package comment. A pair is compared as text unless both are JSON. It is
// nil for fewer than two texts. Time is quadratic in their number.
func Agreement(texts []string) *float64 {
	if len(texts) < 2 {
		return nil
	}
	list := make([]*sample, len(texts))
	for i, t := range texts {
		list[i] = newSample(t)
	}
	sum, pairs := 0.0, 0
	for i, a := range list {
		for _, b := range list[:i] {
			sum += a.agrees(b)
			pairs++
		}
	}
	out := clamp(sum / float64(pairs))
	return &out
}

// sample is an analysed text.
type sample struct {
	text   string // with every run of white space as one space
	words  map[string]bool
	leaves map[string]any // of a JSON object or array, by pointer; nil for any other text
}

func newSample(text string) *sample {
	s := &sample{text: strings.Join(strings.Fields(text), " "), words: map[string]bool{}}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var document any
	if json.Valid([]byte(text)) && d.Decode(&document) == nil {
		s.leaves = map[string]any{}
		collect(document, "", s.leaves)
		return s
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(s.text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		s.words[w] = true
	}
	return s
}

// collect adds the leaves of a value.
func collect(value any, pointer string, to map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			to[pointer] = "{}"
			return
		}
		for name, x := range v {
			collect(x, pointer+"/"+jsondoc.EscapePointer(name), to)
		}
	case []any:
		if len(v) == 0 {
			to[pointer] = "[]"
			return
		}
		for i, x := range v {
			collect(x, pointer+"/"+strconv.Itoa(i), to)
		}
	case string:
		to[pointer] = `"` + v
	default:
		to[pointer] = v
	}
}

func (s *sample) agrees(other *sample) float64 {
	if s.text == other.text {
		return 1
	}
	if s.leaves != nil && other.leaves != nil {
		return shared(s.leaves, other.leaves, sameLeaf)
	}
	// A document has no words here, so it shares nothing with a text.
	return shared(s.words, other.words, func(_, _ bool) bool { return true })
}

// shared returns the number of keys with the same value in both maps, divided by the
// number of distinct keys.
func shared[V any](a, b map[string]V, same func(x, y V) bool) float64 {
	both, equal := 0, 0
	for k, x := range a {
		if y, ok := b[k]; ok {
			both++
			if same(x, y) {
				equal++
			}
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(equal) / float64(all)
	}
	return 0
}

// sameLeaf reports whether two leaves are equal. Integers without a decimal point or
// exponent are compared as text, because float64 cannot distinguish large ones.
func sameLeaf(x, y any) bool {
	a, ok := x.(json.Number)
	b, also := y.(json.Number)
	if !ok || !also || a == b {
		return x == y
	}
	if !strings.ContainsAny(string(a)+string(b), ".eE") {
		return false
	}
	m, err := a.Float64()
	n, otherErr := b.Float64()
	return err == nil && otherErr == nil && m == n
}
