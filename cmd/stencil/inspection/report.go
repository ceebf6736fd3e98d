// Package inspection describes model files: metadata, tensors, vocabulary and memory requirements. A report can be printed
// as text or as JSON.
package inspection

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/vocab"
)

// A Report describes a model file.
type Report struct {
	File       string      `json:"file"`
	Version    uint32      `json:"gguf_version"`
	Bytes      int64       `json:"bytes"`
	Metadata   []Entry     `json:"metadata"`
	Tensors    Tensors     `json:"tensors"`
	Vocabulary *Vocabulary `json:"vocabulary"` // nil: none
	// NoVocabulary is the reason why there is none.
	NoVocabulary string  `json:"no_vocabulary,omitempty"`
	Memory       *Memory `json:"memory"` // nil: there are no weights
	// Unsupported is the reason why llama.cpp can't load the model; "" also if there is no llama.cpp to ask.
	Unsupported string `json:"unsupported,omitempty"`
}

// An Entry is a key-value pair of the metadata.
type Entry struct {
	Key   string `json:"key"`
	Type  string `json:"type"`
	Value any    `json:"value"`            // of an array, the first elements
	Len   int    `json:"length,omitempty"` // of an array

	words string
}

// Tensors summarises the tensors of a file.
type Tensors struct {
	Sum
	Types      []Sum    `json:"types"`
	Incomplete string   `json:"incomplete,omitempty"` // why the file is too short
	List       []Tensor `json:"list,omitempty"`
}

// A Sum is the total over the tensors of one type, or over all tensors.
type Sum struct {
	Type       string `json:"type,omitempty"`
	Count      int    `json:"count"`
	Parameters int64  `json:"parameters"`
	Bytes      int64  `json:"bytes"`
}

// A Tensor describes a tensor of a file.
type Tensor struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	Shape []int64 `json:"shape"`
}

// A Vocabulary describes the tokens of a file.
type Vocabulary struct {
	Tokens       int     `json:"tokens"`
	Kinds        []Kind  `json:"kinds"`
	Model        string  `json:"model"`
	PreTokenizer string  `json:"pre_tokenizer,omitempty"`
	Longest      Longest `json:"longest"`
	Beginning    *Token  `json:"beginning_of_text"` // nil: none
	// AddsBeginning reports whether that token is added at the start of each prompt.
	AddsBeginning bool      `json:"adds_beginning_of_text"`
	ToolCalls     CallForm  `json:"tool_calls"`
	Reasoning     ThoughtAs `json:"reasoning"`
	End           []Token   `json:"end_of_generation"`
	Template      int       `json:"chat_template"` // its length in characters; 0: none
}

// A Kind is the number of tokens of one kind.
type Kind struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// Longest is the token with the most bytes.
type Longest struct {
	ID    int32 `json:"id"`
	Bytes int   `json:"bytes"`
}

// A Token is a token with its text.
type Token struct {
	ID   int32  `json:"id"`
	Text string `json:"text"`
}

// A CallForm is how a model writes tool calls.
type CallForm struct {
	Format  string `json:"format"`
	Known   bool   `json:"known"`             // derived from the chat template
	Unknown string `json:"unknown,omitempty"` // why it is unknown
	Example string `json:"example,omitempty"` // one or two calls
	Nested  string `json:"nested,omitempty"`  // how objects and arrays in arguments differ from the template's
}

// ThoughtAs is how a model marks its reasoning.
type ThoughtAs struct {
	Format string `json:"format"`
	Known  bool   `json:"known"`
}

// Memory is the memory that a model needs, in bytes.
type Memory struct {
	Context int   `json:"context,omitempty"` // 0: the default
	Weights int64 `json:"weights"`
	Cache   int64 `json:"cache"`
	Compute int64 `json:"compute"`
	Output  int64 `json:"output"`
	Total   int64 `json:"total"`

	estimate llama.Estimate
}

// Options select the content of a report.
type Options struct {
	Tensors  bool   // list every tensor
	ToolForm string // format of tool calls; "": as in the chat template
	Context  backend.ContextParams
}

// Of returns the report on an open file.
func Of(path string, g *vocab.GGUF, opt Options) (*Report, error) {
	r := &Report{File: path, Version: g.Version, Bytes: g.Size, Metadata: []Entry{}}
	for _, p := range g.Pairs {
		r.Metadata = append(r.Metadata, Entry{p.Key, p.Value.Type.String(), value(p.Value), p.Value.Len(), p.Value.String()})
	}
	r.Tensors.read(g, opt.Tensors)
	v, err := vocab.FromGGUF(g)
	if err != nil {
		r.NoVocabulary = err.Error()
	} else {
		r.Vocabulary = vocabulary(v, opt.ToolForm)
	}
	if len(g.Tensors) == 0 {
		return r, nil
	}
	e, err := llama.EstimateMemory(path, opt.Context)
	if err != nil {
		return nil, err
	}
	if err := llama.CheckArchitecture(g.Str("general.architecture")); errors.Is(err, backend.ErrArchitecture) {
		r.Unsupported = err.Error()
	}
	r.Memory = &Memory{opt.Context.Size, e.Weights, e.Cache, e.Compute, e.Output, e.Total(), e}
	return r, nil
}

// shown is the maximum number of array elements in a report.
const shown = 6

// value returns a value for JSON. Infinities and NaN, which JSON lacks, become strings.
func value(v vocab.Value) any {
	if v.Type == vocab.TypeArray {
		list := []any{}
		for i := range min(v.Len(), shown) {
			list = append(list, value(v.At(i)))
		}
		return list
	}
	if text, ok := v.Str(); ok {
		return text
	}
	if b, ok := v.Bool(); ok {
		return b
	}
	if f, ok := v.Float(); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f
	}
	if _, ok := v.Float(); ok {
		return v.String()
	}
	return json.Number(v.String())
}

func (t *Tensors) read(g *vocab.GGUF, all bool) {
	t.Types = []Sum{}
	for _, x := range g.Tensors {
		i := slices.IndexFunc(t.Types, func(s Sum) bool { return s.Type == x.Type.String() })
		if i < 0 {
			i = len(t.Types)
			t.Types = append(t.Types, Sum{Type: x.Type.String()})
		}
		for _, s := range []*Sum{&t.Types[i], &t.Sum} {
			s.Count++
			s.Parameters += x.Elements()
			s.Bytes += max(0, x.Size)
		}
		if all {
			t.List = append(t.List, Tensor{x.Name, x.Type.String(), x.Shape})
		}
	}
	slices.SortFunc(t.Types, func(a, b Sum) int {
		if a.Type < b.Type {
			return -1
		}
		return 1
	})
	if err := g.CheckTensors(); err != nil {
		t.Incomplete = err.Error()
	}
}

func vocabulary(v *vocab.Vocab, form string) *Vocabulary {
	out := &Vocabulary{
		Tokens: v.Len(), Kinds: []Kind{}, Model: v.Model().String(), End: []Token{}, AddsBeginning: v.AddBOS(),
		Template: len([]rune(v.ChatTemplate())),
	}
	counts := map[vocab.Kind]int{}
	for id := range int32(v.Len()) {
		counts[v.Kind(id)]++
		if n := len(v.Bytes(id)); n > out.Longest.Bytes {
			out.Longest = Longest{id, n}
		}
	}
	for k := range vocab.Kind(math.MaxUint8) {
		if counts[k] > 0 {
			out.Kinds = append(out.Kinds, Kind{k.String(), counts[k]})
		}
	}
	out.PreTokenizer, _ = v.Pre()
	if bos, ok := v.BOS(); ok {
		out.Beginning = &Token{bos, v.Text(bos)}
	}
	p := chat.NewPromptsAs(v, "", form)
	calls, known := p.CallForm()
	out.ToolCalls = CallForm{Format: calls.Name, Known: known, Example: example(calls)}
	if calls.Arguments.NestedAsJSON() {
		out.ToolCalls.Nested = "objects and arrays within arguments are JSON; the chat template has a format of its own for them"
	}
	if err := p.CallFormMissing(); err != nil {
		out.ToolCalls.Unknown = err.Error()
	}
	thoughts, known := p.ThoughtForm()
	out.Reasoning = ThoughtAs{thoughts.Name, known}
	for _, id := range v.EOG() {
		out.End = append(out.End, Token{id, v.Text(id)})
	}
	return out
}

// example returns one or two calls written in a format.
func example(form chat.CallForm) string {
	calls := []chat.ToolCall{
		{ID: "abcdefghi", Name: "get_weather", Arguments: json.RawMessage(`{"city": "Paris", "days": 3, "hourly": true}`)},
		{ID: "jklmnopqr", Name: "get_time", Arguments: json.RawMessage(`{"city": "Rome"}`)},
	}
	if form.Next == "" {
		calls = calls[:1]
	}
	if len(form.Triggers) == 0 {
		return "" // channels
	}
	text, err := form.Write(calls)
	if err != nil {
		return ""
	}
	return text
}
