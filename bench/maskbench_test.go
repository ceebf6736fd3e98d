package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/vocab"
)

// listEngine accepts exactly the documents listed in its schema, which is a JSON
// array of strings, and misbehaves on request.
type listEngine struct {
	vocab *vocab.Vocab
	quit  chan struct{} // ends hanging matchers
}

func (e *listEngine) Compile(schema []byte) (Constraint, error) {
	switch string(schema) {
	case `"refused"`:
		return nil, &CompileError{Keyword: "fancy", Err: errors.New("schema: fancy is not known")}
	case `"panic"`:
		panic("deliberate")
	case `"hang"`:
		return &listConstraint{engine: e, hang: true}, nil
	}
	c := &listConstraint{engine: e}
	if err := json.Unmarshal(schema, &c.documents); err != nil {
		return nil, err
	}
	return c, nil
}

type listConstraint struct {
	engine    *listEngine
	documents []string
	hang      bool
}

func (c *listConstraint) NewMatcher() walk.Matcher { return &listMatcher{constraint: c} }
func (c *listConstraint) Draft() string            { return "2020-12" }

type listMatcher struct {
	constraint *listConstraint
	text       string
}

func (m *listMatcher) completions() []string {
	var out []string
	for _, d := range m.constraint.documents {
		if rest, ok := strings.CutPrefix(d, m.text); ok {
			out = append(out, rest)
		}
	}
	return out
}

func (m *listMatcher) Mask() (walk.Mask, error) {
	if m.constraint.hang {
		<-m.constraint.engine.quit
	}
	set := tokenSet{}
	v := m.constraint.engine.vocab
	for id := range int32(v.Len()) {
		for _, rest := range m.completions() {
			if text := string(v.Bytes(id)); text != "" && strings.HasPrefix(rest, text) {
				set[id] = true
			}
		}
		if v.IsEOG(id) && m.Accepting() {
			set[id] = true
		}
	}
	return set, nil
}

func (m *listMatcher) Accept(token int32) error {
	_, err := m.AcceptBytes(m.constraint.engine.vocab.Bytes(token))
	return err
}

func (m *listMatcher) AcceptBytes(text []byte) (int, error) {
	for i, b := range text {
		m.text += string([]byte{b})
		if len(m.completions()) == 0 {
			m.text = m.text[:len(m.text)-1]
			return i, fmt.Errorf("byte %d is refused", i)
		}
	}
	return len(text), nil
}

func (m *listMatcher) Accepting() bool {
	for _, rest := range m.completions() {
		if rest == "" {
			return true
		}
	}
	return false
}

func (m *listMatcher) ShortestCompletion() []byte {
	all := m.completions()
	best := all[0]
	for _, rest := range all {
		if len(rest) < len(best) {
			best = rest
		}
	}
	return []byte(best)
}

// tokenSet is a mask for tests.
type tokenSet map[int32]bool

func (s tokenSet) Has(token int32) bool { return s[token] }
func (s tokenSet) Len() int             { return len(s) }
func (s tokenSet) AppendTokens(dst []int32) []int32 {
	return append(dst, slices.Sorted(maps.Keys(s))...)
}

func TestMaskbench(t *testing.T) {
	v := vocabOf(t, nastyTokens...)
	engine := &listEngine{vocab: v, quit: make(chan struct{})}
	defer close(engine.quit)
	var out bytes.Buffer
	mb := &Maskbench{Engine: engine, Tokenizer: v, Timeout: 300 * time.Millisecond, Jobs: 2, Out: &out}
	sum, err := mb.Run(t.Context(), &Corpus{Paths: []string{"testdata/harness"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		status  Status
		keyword string
		masks   bool
	}{
		"accepts-invalid": {InvalidAccepted, "", true},
		"both-wrong":      {InvalidAccepted, "", true},
		"hangs":           {TimedOut, "", false},
		"panics":          {Crashed, "", false},
		"passes":          {Pass, "", true},
		"refused":         {CompileFailed, "fancy", false},
		"refuses-valid":   {ValidRefused, "", true},
		"surrogate":       {Pass, "", false},
	}
	for line := range strings.Lines(out.String()) {
		var r struct {
			ID      string    `json:"id"`
			Status  Status    `json:"status"`
			TTFM    float64   `json:"ttfm_us"`
			Masks   []float64 `json:"mask_us"`
			Tokens  int       `json:"tokens"`
			Keyword string    `json:"keyword"`
			Skipped int       `json:"skipped"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		w, ok := want[r.ID]
		if !ok {
			t.Errorf("unexpected line for %q", r.ID)
		}
		delete(want, r.ID)
		if r.Status != w.status || r.Keyword != w.keyword || (len(r.Masks) > 0) != w.masks || len(r.Masks) != r.Tokens {
			t.Errorf("%s: got %s", r.ID, shorten(line, 300))
		}
		if (r.TTFM > 0) != (w.status != CompileFailed && w.status != TimedOut && w.status != Crashed) {
			t.Errorf("%s: ttfm %v with status %s", r.ID, r.TTFM, r.Status)
		}
		if (r.Skipped == 1) != (r.ID == "surrogate") {
			t.Errorf("%s: skipped %d", r.ID, r.Skipped)
		}
	}
	if len(want) > 0 {
		t.Errorf("no line for %v", want)
	}
	var table bytes.Buffer
	if err := sum.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"schemas", "p99.9", "compile errors by keyword: fancy 1"} {
		if !strings.Contains(table.String(), line) {
			t.Errorf("no %q in\n%s", line, table.String())
		}
	}
	if sum.Schemas != 8 || sum.Counts[InvalidAccepted] != 2 || sum.Skipped != 1 {
		t.Errorf("summary %+v", sum)
	}
}

// TestMaskbenchReordered runs an engine that accepts one order, with a lenient one
// that accepts two.
func TestMaskbenchReordered(t *testing.T) {
	v := vocabOf(t)
	strict := &listEngine{vocab: v}
	lenient := engineFunc(func(schema []byte) (Constraint, error) {
		return &listConstraint{engine: strict, documents: []string{`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`}}, nil
	})
	mb := &Maskbench{Engine: strict, Lenient: lenient, Tokenizer: v}
	sum, err := mb.Run(t.Context(), &Corpus{Paths: []string{"testdata/reordered.json"}})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Counts[Pass] != 1 || sum.Reordered != 1 {
		t.Errorf("counts %v, reordered %d; want one pass, one reordered", sum.Counts, sum.Reordered)
	}
}

type engineFunc func(schema []byte) (Constraint, error)

func (f engineFunc) Compile(schema []byte) (Constraint, error) { return f(schema) }

func TestQuantiles(t *testing.T) {
	var s sample
	if s.quantile(0.5) != 0 || s.avg() != 0 {
		t.Error("an empty sample has a quantile")
	}
	for i := 1000; i >= 1; i-- {
		s.add(time.Duration(i))
	}
	for q, want := range map[float64]time.Duration{0.25: 250, 0.5: 500, 0.99: 990, 0.999: 999, 1: 1000, 0.0001: 1} {
		if got := s.quantile(q); got != want {
			t.Errorf("quantile %v is %d, want %d", q, got, want)
		}
	}
	if s.avg() != 500 || s.max != 1000 {
		t.Errorf("avg %d max %d", s.avg(), s.max)
	}
}

func TestSlowest(t *testing.T) {
	var s slowest
	for i := range 10 * slowKept {
		s.add(Slow{Took: time.Duration(i * 7919 % (10 * slowKept))}) // a permutation
	}
	list := s.cut()
	if len(list) != slowKept {
		t.Fatalf("kept %d", len(list))
	}
	for i, x := range list {
		if want := time.Duration(10*slowKept - 1 - i); x.Took != want {
			t.Fatalf("place %d is %d, want %d", i, x.Took, want)
		}
	}
}
