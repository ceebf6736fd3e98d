package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/stencil-json/stencil/server/anthropic"
	"github.com/stencil-json/stencil/server/decisions"
	"github.com/stencil-json/stencil/server/feedback"
	"github.com/stencil-json/stencil/server/llamacpp"
	"github.com/stencil-json/stencil/server/native"
	"github.com/stencil-json/stencil/server/ollama"
	"github.com/stencil-json/stencil/server/openai/conversations"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/stored"
	"github.com/stencil-json/stencil/server/vectors"
	"github.com/stencil-json/stencil/server/wire"
)

// routes returns the route table.
func (s *Server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	vectors := &vectors.Handlers{Models: s.models, Timeout: s.cfg.RequestTimeout}
	decisions := &decisions.Handlers{Models: s.models, Timeout: s.cfg.RequestTimeout}
	own, openai, claude := &native.Handlers{Service: s.text}, s.openai, &anthropic.Handlers{Service: s.text}
	talks := &conversations.Handlers{Store: func() *stored.Store { return openai.Responses }, Read: openai.ReadItems, Log: s.cfg.Log}
	llama := &ollama.Handlers{Service: s.text, Vectors: vectors}
	lcpp := llamacpp.New(llamacpp.Handlers{Service: s.text, SlotFolder: s.cfg.SlotFolder, SlotBytes: s.cfg.SlotBytes, SlotOwners: len(s.cfg.Access.Keys) > 1, Hold: s.memory.hold})
	outcomes := &feedback.Handlers{Models: s.models, Outcomes: &s.assess.Outcomes}
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.NoRoute(s.adapt(func(q *http.Request) (wire.Answer, error) { return nil, noRoute(q, r.Routes()) }, byPath))
	r.NoMethod(func(c *gin.Context) { // gin has set the header
		s.adapt(fails(noMethod(c.Request, c.Writer.Header().Get("Allow"))), byPath)(c)
	})

	r.POST("/generate", s.adapt(own.Generate, everyone))
	r.POST("/generate_json", s.adapt(own.GenerateJSON, everyone))

	r.POST("/agent/run", s.adapt(s.agents.Run, everyone))

	r.POST("/schema/check", s.adapt(s.timed(own.SchemaCheck), everyone))
	r.POST("/grammar/check", s.adapt(s.timed(own.GrammarCheck), everyone))

	r.POST("/validate", s.adapt(s.timed(own.Validate), everyone))
	r.POST("/repair", s.adapt(s.timed(own.Repair), everyone))
	r.POST("/signals", s.adapt(s.timed(own.Signals), everyone))

	r.POST("/v1/chat/completions", s.adapt(openai.Chat, everyone))
	r.POST("/v1/responses", s.adapt(openai.CreateResponse, everyone))
	r.POST("/v1/responses/input_tokens", s.adapt(s.timed(openai.CountInput), everyone))
	r.POST("/v1/responses/compact", s.adapt(fails(errNoCompaction), everyone))
	r.GET("/v1/responses/:id", s.adapt(openai.GetResponse, everyone))
	r.DELETE("/v1/responses/:id", s.adapt(openai.DeleteResponse, everyone))
	r.GET("/v1/responses/:id/input_items", s.adapt(openai.ListInput, everyone))
	r.POST("/v1/responses/:id/cancel", s.adapt(openai.CancelResponse, everyone))
	r.POST("/v1/conversations", s.adapt(talks.Create, everyone))
	r.GET("/v1/conversations/:id", s.adapt(talks.Get, everyone))
	r.POST("/v1/conversations/:id", s.adapt(talks.Update, everyone))
	r.DELETE("/v1/conversations/:id", s.adapt(talks.Delete, everyone))
	r.POST("/v1/conversations/:id/items", s.adapt(talks.AddItems, everyone))
	r.GET("/v1/conversations/:id/items", s.adapt(talks.ListItems, everyone))
	r.GET("/v1/conversations/:id/items/:item", s.adapt(talks.GetItem, everyone))
	r.DELETE("/v1/conversations/:id/items/:item", s.adapt(talks.DeleteItem, everyone))
	r.POST("/v1/completions", s.adapt(openai.Completions, everyone))
	r.POST("/v1/embeddings", s.adapt(vectors.Embeddings, everyone))
	r.POST("/v1/rerank", s.adapt(vectors.Rerank, everyone))
	r.POST("/v1/decisions", s.adapt(decisions.OpenAI, everyone))
	r.POST("/v1/systemone", s.adapt(decisions.SystemOne, everyone))
	r.POST("/decide", s.adapt(decisions.Native, everyone))
	r.POST("/rerank", s.adapt(vectors.Rerank, everyone))

	r.GET("/v1/models", s.adapt(openai.ListModels, either))
	r.GET("/v1/models/*name", s.adapt(openai.GetModel, either))

	r.POST("/v1/messages", s.adapt(claude.Messages, anthropicBody))
	r.POST("/v1/messages/count_tokens", s.adapt(s.timed(claude.CountTokens), anthropicBody))

	r.POST("/api/chat", s.adapt(llama.Chat, ollamaBody))
	r.POST("/api/generate", s.adapt(llama.Generate, ollamaBody))
	r.POST("/api/embed", s.adapt(llama.Embed, ollamaBody))
	r.POST("/api/embeddings", s.adapt(llama.Embeddings, ollamaBody))
	r.GET("/api/tags", s.adapt(llama.Tags, ollamaBody))
	r.GET("/api/ps", s.adapt(llama.Ps, ollamaBody))
	r.POST("/api/show", s.adapt(llama.Show, ollamaBody))
	r.GET("/api/version", s.adapt(llama.ShowVersion, ollamaBody))
	r.POST("/api/pull", s.adapt(llama.Pull, ollamaBody))
	r.HEAD("/", s.adapt(llama.Hello, everyone))
	r.GET("/", s.adapt(s.home(llama.Hello), everyone))

	for _, path := range []string{"/completion", "/completions"} {
		r.POST(path, s.adapt(lcpp.Completion, llamacppBody))
	}
	for _, path := range []string{"/chat/completions/input_tokens", "/v1/chat/completions/input_tokens"} {
		r.POST(path, s.adapt(s.timed(lcpp.CountChat), llamacppBody))
	}
	for _, path := range []string{"/health", "/v1/health"} {
		r.GET(path, s.adapt(lcpp.Health, llamacppBody))
	}
	r.POST("/infill", s.adapt(lcpp.Infill, llamacppBody))
	r.POST("/tokenize", s.adapt(s.timed(lcpp.Tokenize), llamacppBody))
	r.POST("/detokenize", s.adapt(s.timed(lcpp.Detokenize), llamacppBody))
	r.POST("/apply-template", s.adapt(s.timed(lcpp.ApplyTemplate), llamacppBody))
	r.GET("/props", s.adapt(lcpp.Props, llamacppBody))
	r.POST("/props", s.adapt(llamacpp.NotOffered("settings are not changed while the server runs; requests have fields for them, and the server flags"), llamacppBody))
	slots := lcpp.Slots
	if s.cfg.NoSlots {
		slots = llamacpp.NotOffered("the server was started with --no-slots")
	}
	r.GET("/slots", s.adapt(slots, llamacppBody))
	r.POST("/slots/:id", s.adapt(lcpp.SlotAction, llamacppBody))
	r.GET("/lora-adapters", s.adapt(lcpp.Adapters, llamacppBody))
	r.POST("/lora-adapters", s.adapt(lcpp.SetAdapters, llamacppBody))
	r.GET("/models", s.adapt(openai.ListModels, llamacppBody))
	r.POST("/models/load", s.adapt(lcpp.Load, llamacppBody))
	r.POST("/models/unload", s.adapt(lcpp.Unload, llamacppBody))
	proxy := s.adapt(fails(llamacpp.ErrNoProxy), llamacppBody)
	r.GET("/cors-proxy", proxy)
	r.POST("/cors-proxy", proxy)
	r.POST("/models", s.adapt(llamacpp.NotOffered("models are not downloaded by request; stencil pull does it"), llamacppBody))
	// OpenAI's paths without the /v1 prefix.
	r.POST("/chat/completions", s.adapt(openai.Chat, llamacppBody))
	r.POST("/responses", s.adapt(openai.CreateResponse, llamacppBody))
	r.POST("/responses/input_tokens", s.adapt(s.timed(openai.CountInput), llamacppBody))
	for _, path := range []string{"/embedding", "/embeddings"} {
		r.POST(path, s.adapt(vectors.LlamaServer, llamacppBody))
	}
	r.POST("/reranking", s.adapt(vectors.Rerank, everyone))
	r.POST("/v1/reranking", s.adapt(vectors.Rerank, everyone))

	r.POST("/feedback", s.adapt(outcomes.Report, everyone))
	r.GET("/feedback", s.adapt(outcomes.Calibrations, everyone))

	r.GET("/metrics", s.adapt(s.writeMetrics, everyone))
	r.GET("/healthz", s.adapt(s.healthz, everyone))
	r.GET("/readyz", s.adapt(s.readyz, everyone))
	return s.guard.CrossOrigin(r)
}

// errorBodies return a problem as the error body of a route's dialect. The id is the request's.
type errorBodies func(p *problem.Problem, r *http.Request, id string) any

// everyone is for dialects without an error body of their own.
func everyone(p *problem.Problem, _ *http.Request, _ string) any { return p.Reply() }

// either is for routes that OpenAI's and Anthropic's dialects share.
func either(p *problem.Problem, r *http.Request, id string) any {
	if r.Header.Get("Anthropic-Version") != "" {
		return anthropic.ErrorBody(p, id)
	}
	return p.Reply()
}

func anthropicBody(p *problem.Problem, _ *http.Request, id string) any {
	return anthropic.ErrorBody(p, id)
}

func ollamaBody(p *problem.Problem, _ *http.Request, id string) any { return ollama.ErrorBody(p, id) }

func llamacppBody(p *problem.Problem, _ *http.Request, id string) any {
	return llamacpp.ErrorBody(p, id)
}

// byPath is for unknown paths: it picks the dialect by the path's prefix.
func byPath(p *problem.Problem, r *http.Request, id string) any {
	switch path := r.URL.Path + "/"; {
	case strings.HasPrefix(path, "/api/"):
		return ollamaBody(p, r, id)
	case strings.HasPrefix(path, "/v1/messages/"):
		return anthropicBody(p, r, id)
	}
	return either(p, r, id)
}

func fails(err error) wire.Handler {
	return func(*http.Request) (wire.Answer, error) { return nil, err }
}

// errNoCompaction is the error where OpenAI's API summarizes conversations.
var errNoCompaction = problem.New(problem.Problem{
	Status: http.StatusNotFound, Kind: problem.NotFound, Code: "not_offered",
	Message: "conversations are not compacted here; /v1/responses takes them whole, and with truncation: \"auto\" drops the oldest turns of one that is too long",
})

// noMethod returns the error for a path that takes only other methods.
func noMethod(r *http.Request, allowed string) error {
	method := r.Method[:min(len(r.Method), wire.LongestName)]
	return problem.New(problem.Problem{Status: http.StatusMethodNotAllowed, Kind: problem.Invalid, Code: "method_not_allowed", Message: fmt.Sprintf("this path takes %s, not %s", allowed, method)})
}

// noRoute returns the error for an unknown path. It suggests a similar route: clients often omit a path's prefix, or
// repeat it.
func noRoute(r *http.Request, routes gin.RoutesInfo) error {
	path := strings.ToValidUTF8(r.URL.Path[:min(len(r.URL.Path), wire.LongestName)], "")
	message := fmt.Sprintf("there is nothing at %s", path)
	var known []string
	near := ""
	for _, one := range routes {
		known = append(known, one.Path)
		if one.Path == "/v1"+path || one.Path == "/api"+path {
			near = one.Path
			break
		}
		if one.Path != "/" && (strings.HasSuffix(one.Path, strings.TrimSuffix(path, "/")) || strings.HasSuffix(path, one.Path)) && len(one.Path) > len(near) && path != "/" && !strings.HasPrefix(path, "/v1/") {
			near = one.Path
		}
	}
	if near == "" {
		near = wire.Nearest(path, known)
	}
	if near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return problem.New(problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Code: "not_found", Message: message})
}
