package server

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// routes is the table of what is where.
func (s *Server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	vectors := &vectorsAPI{models: s.models, timeout: s.cfg.RequestTimeout}
	own, openai, claude := &nativeAPI{s.text}, &openAI{s.text}, &anthropicAPI{s.text}
	llama := &ollamaAPI{service: s.text, vectors: vectors, version: s.cfg.Version}
	outcomes := &feedbackAPI{models: s.models, outcomes: &s.assess.outcomes}
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.NoRoute(s.adapt(fails(errNoRoute), byPath))
	r.NoMethod(s.adapt(fails(errNoMethod), byPath))

	r.POST("/generate", s.adapt(own.generate, everyone))
	r.POST("/generate_json", s.adapt(own.generateJSON, everyone))

	r.POST("/agent/run", s.adapt(s.agents.agentRun, everyone))

	r.POST("/schema/check", s.adapt(own.schemaCheck, everyone))
	r.POST("/grammar/check", s.adapt(own.grammarCheck, everyone))

	r.POST("/v1/chat/completions", s.adapt(openai.chatCompletions, everyone))
	r.POST("/v1/responses", s.adapt(openai.responses, everyone))
	r.POST("/v1/completions", s.adapt(openai.completions, everyone))
	r.POST("/v1/embeddings", s.adapt(vectors.openAIEmbeddings, everyone))
	r.POST("/v1/rerank", s.adapt(vectors.rerank, everyone))
	r.POST("/rerank", s.adapt(vectors.rerank, everyone))

	r.GET("/v1/models", s.adapt(openai.listModels, everyone))
	r.GET("/v1/models/*name", s.adapt(openai.getModel, everyone))

	r.POST("/v1/messages", s.adapt(claude.messages, anthropic))
	r.POST("/v1/messages/count_tokens", s.adapt(claude.countTokens, anthropic))

	r.POST("/api/chat", s.adapt(llama.ollamaChat, ollama))
	r.POST("/api/generate", s.adapt(llama.ollamaGenerate, ollama))
	r.POST("/api/embed", s.adapt(llama.ollamaEmbed, ollama))
	r.POST("/api/embeddings", s.adapt(llama.ollamaEmbeddings, ollama))
	r.GET("/api/tags", s.adapt(llama.ollamaTags, ollama))
	r.GET("/api/ps", s.adapt(llama.ollamaPs, ollama))
	r.POST("/api/show", s.adapt(llama.ollamaShow, ollama))
	r.GET("/api/version", s.adapt(llama.ollamaVersion, ollama))
	r.HEAD("/", s.adapt(llama.ollamaHello, everyone))

	r.POST("/feedback", s.adapt(outcomes.report, everyone))
	r.GET("/feedback", s.adapt(outcomes.calibrations, everyone))

	r.GET("/metrics", s.adapt(s.writeMetrics, everyone))
	r.GET("/healthz", s.adapt(s.healthz, everyone))
	r.GET("/readyz", s.adapt(s.readyz, everyone))
	return s.crossOrigin(r)
}

// errorBodies write a problem as the dialect of a route has it. The id is the
// request's.
type errorBodies func(p *problem, r *http.Request, id string) any

// everyone is for routes of dialects without an error body of their own. A client
// of Anthropic's may ask there too.
func everyone(p *problem, r *http.Request, id string) any {
	if r.Header.Get("Anthropic-Version") != "" {
		return anthropicErrorBody(p, id)
	}
	return p.reply()
}

func anthropic(p *problem, _ *http.Request, id string) any { return anthropicErrorBody(p, id) }

func ollama(p *problem, _ *http.Request, id string) any { return ollamaErrorBody(p, id) }

// byPath is for paths at which there is nothing: they belong to the dialect whose
// paths begin like them.
func byPath(p *problem, r *http.Request, id string) any {
	switch path := r.URL.Path + "/"; {
	case strings.HasPrefix(path, "/api/"):
		return ollama(p, r, id)
	case strings.HasPrefix(path, "/v1/messages/"):
		return anthropic(p, r, id)
	}
	return everyone(p, r, id)
}

func fails(err error) handler {
	return func(*http.Request) (answer, error) { return nil, err }
}
