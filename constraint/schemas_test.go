package constraint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
)

func TestWarm(t *testing.T) {
	if err := NewSchemas(testVocab(t), 3).Warm(); err != nil {
		t.Error(err)
	}
}

func TestSchemasAreCompiledOnce(t *testing.T) {
	c := NewSchemas(testVocab(t), 3)
	const src = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	var wg sync.WaitGroup
	found := make([]*CompiledSchema, 8)
	for i := range found {
		wg.Go(func() {
			s, err := c.Compile(t.Context(), []byte(src), schema.Options{})
			if err != nil {
				t.Error(err)
			}
			found[i] = s
		})
	}
	wg.Wait()
	for _, s := range found {
		if s != found[0] {
			t.Fatal("compiled twice")
		}
	}
	if s, err := c.Compile(t.Context(), []byte(src), schema.Options{Order: schema.OrderAny}); err != nil || s == found[0] {
		t.Errorf("other options: %v, same result %t", err, s == found[0])
	}
	var invalid *schema.InvalidError
	for range 2 {
		if _, err := c.Compile(t.Context(), []byte(`{"type":"strin"}`), schema.Options{}); !errors.As(err, &invalid) {
			t.Errorf("invalid schema: %v", err)
		}
	}
	for i := range 5 {
		if _, err := c.Compile(t.Context(), fmt.Appendf(nil, `{"const":%d}`, i), schema.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.cache.entries); n != 3 || c.cache.len() != 3 {
		t.Errorf("%d schemas kept, want 3", n)
	}
	if s, err := c.Compile(t.Context(), []byte(src), schema.Options{}); err != nil || s == found[0] {
		t.Errorf("the oldest schema was not given up (error %v)", err)
	}
}

// The whole path: a schema, a random model, and documents that parse.
func TestSchemaThroughTheEngine(t *testing.T) {
	e := newEngine(t, testVocab(t), scripted.Random(5), engine.Config{})
	s, err := NewSchemas(e.Vocab(), 3).Compile(t.Context(), []byte(`{
		"type": "object",
		"properties": {"name": {"type": "string"}, "ok": {"type": "boolean"}, "n": {"type": "array", "items": {"enum": ["one", "two"]}}},
		"required": ["name", "ok", "n"], "additionalProperties": false}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tooSmall *engine.BudgetError
	if _, err := e.Submit(t.Context(), engine.Request{Prompt: e.Vocab().Encode("x"), MaxTokens: 2, Constraint: s.Constraint}); !errors.As(err, &tooSmall) {
		t.Fatalf("a budget of 2: %v", err)
	}
	closed, forced := 0, 0
	for seed := range uint64(40) {
		r := collect(t, e, engine.Request{
			Prompt: e.Vocab().Encode("x"), MaxTokens: tooSmall.Minimum + int(seed), Constraint: s.Constraint,
			Sampling: sampling.Options{Temperature: 1, Seed: seed},
		})
		var doc struct {
			Name *string
			OK   *bool
			N    []string
		}
		d := json.NewDecoder(strings.NewReader(r.Text))
		d.DisallowUnknownFields()
		if err := d.Decode(&doc); err != nil || doc.Name == nil || doc.OK == nil || doc.N == nil {
			t.Fatalf("seed %d: %q: %v", seed, r.Text, err)
		}
		if slices.ContainsFunc(doc.N, func(s string) bool { return s != "one" && s != "two" }) {
			t.Errorf("seed %d: %q", seed, r.Text)
		}
		if r.Constraint.BudgetClosed {
			closed++
		}
		forced += r.Constraint.ForcedTokens
	}
	if closed == 0 || forced < 40 {
		t.Errorf("%d of 40 closed by the budget, %d tokens forced", closed, forced)
	}
}

func TestInstruction(t *testing.T) {
	c := NewSchemas(testVocab(t), 3)
	for src, want := range map[string]string{
		`{ "type" : "string" }`: `{"type":"string"}`,
		`{}`:                    "Answer with JSON and nothing else.",
		`true`:                  "Answer with JSON and nothing else.",
	} {
		s, err := c.Compile(t.Context(), []byte(src), schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Instruction(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", src, got)
		}
	}
}
