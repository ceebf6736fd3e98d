package eval

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// A Score compares an answer with the expected one.
type Score struct {
	Exact bool `json:"exact"` // the documents are equal
	Right int  `json:"right"` // expected leaves that the answer has
	Total int  `json:"total"` // expected leaves
}

// Compare scores a document. Numbers are compared by value. The order of keys does
// not matter, that of items does. An empty container is a leaf.
func Compare(answer, expected []byte) Score {
	want, err := leaves(expected)
	if err != nil {
		return Score{}
	}
	s := Score{Total: len(want)}
	got, err := leaves(answer)
	if err != nil {
		return s
	}
	for pointer, value := range want {
		if v, ok := got[pointer]; ok && v == value {
			s.Right++
		}
	}
	s.Exact = s.Right == len(want) && len(got) == len(want)
	return s
}

// CompareText scores free text, ignoring white space at both ends.
func CompareText(answer string, expected []byte) Score {
	var want string
	if json.Unmarshal(expected, &want) != nil {
		want = string(expected)
	}
	if strings.TrimSpace(answer) == strings.TrimSpace(want) {
		return Score{Exact: true, Right: 1, Total: 1}
	}
	return Score{Total: 1}
}

// leaves returns the scalars of a document by their path, in a form that is the same
// for equal values.
func leaves(document []byte) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	out := map[string]string{}
	collect(out, "", v)
	return out, nil
}

func collect(out map[string]string, pointer string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			collect(out, pointer+"/"+strconv.Quote(key), x)
		}
		if len(v) == 0 {
			out[pointer] = "{}"
		}
	case []any:
		for i, x := range v {
			collect(out, pointer+"/"+strconv.Itoa(i), x)
		}
		if len(v) == 0 {
			out[pointer] = "[]"
		}
	case json.Number:
		out[pointer] = "n" + plainNumber(string(v))
	case string:
		out[pointer] = "s" + v
	case bool:
		out[pointer] = strconv.FormatBool(v)
	default:
		out[pointer] = "null"
	}
}

// maxExponent keeps numbers such as 1e999999999 from being expanded.
const maxExponent = 400

// plainNumber returns a number as a fraction, so that 5, 5.0 and 5e0 are the same.
func plainNumber(text string) string {
	if _, e, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(e); err != nil || n > maxExponent || n < -maxExponent {
			return text
		}
	}
	if r, ok := new(big.Rat).SetString(text); ok {
		return r.RatString()
	}
	return text
}
