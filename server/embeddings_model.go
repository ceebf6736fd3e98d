package server

import (
	"fmt"
	"net/http"

	"stencil/backend"
	"stencil/embedding"
	"stencil/engine"
	"stencil/vocab"
)

// A purpose is what a request wants of a model. The words are Ollama's, where it
// has one.
type purpose string

const (
	toGenerate purpose = "completion"
	toEmbed    purpose = "embedding"
	toRerank   purpose = "rerank"
)

// serves reports whether the model can be asked for a purpose.
func (m *served) serves(p purpose) bool {
	if p == toGenerate {
		return m.here != nil || m.remote
	}
	return m.embeddings != nil && m.embeddings.Info().Reranks() == (p == toRerank)
}

// purposes lists what the model can be asked for.
func (m *served) purposes() (out []purpose) {
	for _, p := range []purpose{toGenerate, toEmbed, toRerank} {
		if m.serves(p) {
			out = append(out, p)
		}
	}
	return out
}

// A purposeError says that a model is asked for what it can't do.
type purposeError struct {
	model  string
	wanted purpose
	served []purpose
	remote bool
}

// Error implements error.
func (e *purposeError) Error() string {
	does := map[purpose]string{toGenerate: "generates text", toEmbed: "gives embeddings", toRerank: "reranks documents"}
	lacks := map[purpose]string{
		toGenerate: "it does not generate text", toEmbed: "it does not give embeddings", toRerank: "it does not rerank documents",
	}[e.wanted]
	switch {
	case e.remote:
		lacks = "it is behind an upstream, which is asked for text alone"
	case e.wanted == toEmbed && e.served[0] == toGenerate:
		lacks = "it was not loaded for embeddings, as stencil serve --embeddings does"
	}
	return fmt.Sprintf("the model %q %s; %s", e.model, does[e.served[0]], lacks)
}

// embedsOnly describes a model that generates no text.
type embedsOnly struct{ e *embedding.Engine }

func (o embedsOnly) Vocab() *vocab.Vocab  { return o.e.Model().Vocab() }
func (o embedsOnly) Model() backend.Model { return o.e.Model() }
func (o embedsOnly) ContextLimit() int    { return o.e.Limit() }
func (o embedsOnly) Parallel() int        { return 1 }
func (o embedsOnly) Stats() engine.Stats {
	s := o.e.Stats()
	return engine.Stats{Queued: s.Queued, Active: s.Active}
}

func (e *purposeError) problem() problem {
	return problem{status: http.StatusBadRequest, kind: kindInvalid, param: "model", code: "model_not_capable", message: e.Error()}
}
