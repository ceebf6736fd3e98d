package server

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
)

// leaning returns a model that, wherever a value of an enumeration may begin,
// prefers the alternatives by their weights: their first letters differ.
func leaning(t *testing.T, weights map[string]float64) scripted.Func {
	v := loadVocab(t)
	return func(history []int32, logits []float32) {
		for id := range logits {
			logits[id] = -20
		}
		for word, w := range weights {
			first := v.TokenizeText(nil, []byte(word[:1]))
			logits[first[0]] = float32(math.Log(w))
		}
	}
}

// TestAlternatives checks that the distribution over the alternatives of an
// enumeration is the model's own, whichever was written.
func TestAlternatives(t *testing.T) {
	weights := map[string]float64{"red": 0.6, "green": 0.3, "blue": 0.1}
	_, url := start(t, setup{next: leaning(t, weights)})
	seen := map[string]bool{}
	for seed := range 30 {
		_, _, got := post(t, url+"/generate_json", fmt.Sprintf(`{"prompt": "x", "max_tokens": 30, "seed": %d, "temperature": 1, "top_k": 0, "top_p": 1, "min_p": 0,
			"schema": {"type": "object", "properties": {"color": {"$ref": "#/$defs/c"}}, "required": ["color"], "additionalProperties": false, "$defs": {"c": {"enum": ["red", "green", "blue"]}}}}`, seed))
		color, _ := at(got, "json", "color").(string)
		seen[color] = true
		field := at(got, "fields", "/color")
		sum := 0.0
		for name, w := range weights {
			p, _ := at(field, "alternatives", name).(float64)
			sum += p
			if math.Abs(p-w) > 0.01 {
				t.Errorf("seed %d: %s has %g, want %g", seed, name, p, w)
			}
		}
		if math.Abs(sum-1) > 1e-6 || at(field, "confidence") != at(field, "alternatives", color) {
			t.Errorf("seed %d, %s: %v adds up to %g", seed, color, field, sum)
		}
	}
	if len(seen) != 3 {
		t.Errorf("written: %v", seen)
	}
}

// TestFieldsOfKinds checks that booleans, constants and nullable enumerations
// have alternatives that add up to 1; other leaves have only a confidence.
func TestFieldsOfKinds(t *testing.T) {
	_, url := start(t, setup{})
	const schema = `{"type": "object", "properties": {
		"b": {"type": "boolean"}, "c": {"const": 5}, "e": {"anyOf": [{"enum": ["ab", "ac"]}, {"type": "null"}]}, "n": {"type": "integer", "minimum": 10, "maximum": 99},
		"s": {"type": "string", "minLength": 1, "maxLength": 4}, "l": {"type": "array", "items": {"type": ["boolean", "null"]}, "minItems": 2, "maxItems": 2}},
		"required": ["b", "c", "e", "n", "s", "l"], "additionalProperties": false}`
	for seed := range 20 {
		_, _, got := post(t, url+"/generate_json", fmt.Sprintf(`{"prompt": "x", "max_tokens": 80, "seed": %d, "schema": %s}`, seed, schema))
		fields, _ := got["fields"].(map[string]any)
		if len(fields) != 7 {
			t.Fatalf("seed %d: fields %v of %v", seed, fields, got)
		}
		for pointer, alternatives := range map[string]int{"/b": 2, "/c": 0, "/e": 3, "/n": 0, "/s": 0, "/l/0": 3, "/l/1": 3} {
			f := fields[pointer]
			p, ok := at(f, "confidence").(float64)
			list, _ := at(f, "alternatives").(map[string]any)
			sum := 0.0
			for _, x := range list {
				sum += x.(float64)
			}
			if !ok || p < 0 || p > 1 || len(list) != alternatives || alternatives > 0 && math.Abs(sum-1) > 1e-5 {
				t.Errorf("seed %d: %s: %v (sum %g)", seed, pointer, f, sum)
			}
		}
		if at(fields["/c"], "confidence") != 1.0 {
			t.Errorf("a constant: %v", fields["/c"])
		}
		pressure := at(got, "constraint", "pressure")
		if mean, most := at(pressure, "mean").(float64), at(pressure, "max").(float64); mean <= 0 || mean > most || most > 1 || at(pressure, "at") == nil {
			t.Errorf("pressure %v", pressure)
		}
	}
}

// TestConfidence checks that a model that wants what the schema requires is
// confident and under no pressure.
func TestConfidence(t *testing.T) {
	_, url := start(t, setup{next: scripted.SayText(loadVocab(t), `{"name":"Ann","age":42}`)})
	_, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 40, "temperature": 0, "schema": `+personSchema+`}`)
	for _, pointer := range []string{"/name", "/age"} {
		if p, _ := at(got, "fields", pointer, "confidence").(float64); p < 0.5 || p > 1 {
			t.Errorf("%s: %v", pointer, at(got, "fields", pointer))
		}
	}
	if most := at(got, "constraint", "pressure", "max").(float64); most > 1e-4 {
		t.Errorf("pressure %v", at(got, "constraint", "pressure"))
	}
}

// TestShortened checks that a document closed by the budget reports where.
func TestShortened(t *testing.T) {
	_, url := start(t, setup{next: scripted.SayText(loadVocab(t), `{"name":"`+strings.Repeat("go on and ", 50))})
	_, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 30, "temperature": 0, "schema": `+personSchema+`}`)
	list, _ := at(got, "constraint", "shortened").([]any)
	if at(got, "constraint", "budget_closed") != true || got["finish_reason"] != "stop" || !slices.Contains(list, any("/name")) {
		t.Errorf("%v", got)
	}
}

// TestTimeout checks that a request may set a shorter time limit than the
// server's.
func TestTimeout(t *testing.T) {
	srv, url := start(t, setup{opt: scripted.Options{Delay: 5 * time.Millisecond}})
	body := `{"prompt": "x", "max_tokens": 3000, "timeout": 0.05, ` + endless(t) + ``
	status, header, got := post(t, url+"/generate", body+`}`)
	if status != 504 || at(got, "error", "code") != "timeout" || header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v", status, got)
	}
	_, events := postStream(t, url+"/generate", body+`, "stream": true}`)
	if last := events[len(events)-1]; last.name != "error" || at(last.data, "error", "code") != "timeout" || len(events) < 2 {
		t.Errorf("%v", last)
	}
	if s := srv.models.SomeServed().Engine.Stats(); s.Active != 0 {
		t.Errorf("left over: %+v", s)
	}
}

// TestDeterministic checks that a deterministic request is decoded alone
// regardless of concurrent requests.
func TestDeterministic(t *testing.T) {
	_, url := start(t, setup{opt: scripted.Options{Delay: time.Millisecond}, eng: engine.Config{Parallel: 4}})
	const body = `{"prompt": "x", "max_tokens": 30, "seed": 4, "deterministic": true}`
	_, _, alone := post(t, url+"/generate", body)
	done := make(chan bool)
	go func() {
		defer close(done)
		post(t, url+"/generate", `{"prompt": "y", "max_tokens": 60, "n": 3}`)
	}()
	if _, _, beside := post(t, url+"/generate", body); beside["text"] != alone["text"] {
		t.Errorf("beside others %q, alone %q", beside["text"], alone["text"])
	}
	<-done
}
