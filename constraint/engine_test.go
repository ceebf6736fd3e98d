package constraint

import (
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// testVocab is the small vocabulary of package scripted.
func testVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	v, err := scripted.Vocabulary()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// newEngine returns an engine on a scripted model, closed when the test ends.
func newEngine(t testing.TB, v *vocab.Vocab, next scripted.Func, cfg engine.Config) *engine.Engine {
	t.Helper()
	e, err := engine.New(scripted.New(v, next, scripted.Options{}), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// collect returns the only result of a request.
func collect(t testing.TB, e *engine.Engine, req engine.Request) *engine.Result {
	t.Helper()
	stream, err := e.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	results, err := stream.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}
