package generation

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stencil-json/stencil/engine"
)

func TestSurprise(t *testing.T) {
	tokens := func(list ...string) (out []engine.Token) {
		for _, text := range list {
			out = append(out, engine.Token{Bytes: []byte(text), Logprob: -3})
		}
		return out
	}
	document := tokens("{\n", "  \"", "a", "\":", " \"")
	value := tokens("x", "\",", "\"")
	for i := range value {
		value[i].Logprob = float32(math.Log(0.5))
	}
	g := &Generation{Constraint: &Constraint{document: json.RawMessage("{}")}}
	forced := tokens("a")
	forced[0].Forced = true
	if got := g.Surprise(append(append(tokens("{\n", "  \"", "\":", " \""), forced...), value...)); got == nil || *got != 0.5 {
		t.Errorf("with a layout: %v, want 0.5", got)
	}
	if got := g.Surprise(document[:2]); got != nil {
		t.Errorf("nothing but a layout: %v", *got)
	}
	// Only the end was allowed, which the model found unlikely.
	end := append(tokens("\"}"), value[0])
	end[0].Allowed = math.Exp(-3)
	if got := g.Surprise(end); got == nil || math.Abs(*got-(1-math.Sqrt(0.5))) > 1e-6 {
		t.Errorf("with an end: %v, want %g", got, 1-math.Sqrt(0.5))
	}
	free := &Generation{}
	if got := free.Surprise(document[:2]); got == nil || *got < 0.9 {
		t.Errorf("free text: %v", got)
	}
}
