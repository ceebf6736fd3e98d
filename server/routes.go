package server

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// routes is the table of what is where.
func (s *Server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.NoRoute(s.adapt(fails(errNoRoute)))
	r.NoMethod(s.adapt(fails(errNoMethod)))

	r.POST("/generate", s.adapt(s.generate))
	r.POST("/generate_json", s.adapt(s.generateJSON))

	r.POST("/agent/run", s.adapt(s.agentRun))

	r.POST("/schema/check", s.adapt(s.schemaCheck))
	r.POST("/grammar/check", s.adapt(s.grammarCheck))

	r.POST("/v1/chat/completions", s.adapt(s.chatCompletions))
	r.POST("/v1/responses", s.adapt(s.responses))
	r.POST("/v1/completions", s.adapt(s.completions))
	r.POST("/v1/embeddings", s.adapt(s.openAIEmbeddings))
	r.POST("/v1/rerank", s.adapt(s.rerank))
	r.POST("/rerank", s.adapt(s.rerank))

	r.GET("/v1/models", s.adapt(s.listModels))
	r.GET("/v1/models/*name", s.adapt(s.getModel))

	r.POST("/v1/messages", s.adapt(s.messages))
	r.POST("/v1/messages/count_tokens", s.adapt(s.countTokens))

	r.POST("/api/chat", s.adapt(s.ollamaChat))
	r.POST("/api/generate", s.adapt(s.ollamaGenerate))
	r.POST("/api/embed", s.adapt(s.ollamaEmbed))
	r.POST("/api/embeddings", s.adapt(s.ollamaEmbeddings))
	r.GET("/api/tags", s.adapt(s.ollamaTags))
	r.GET("/api/ps", s.adapt(s.ollamaPs))
	r.POST("/api/show", s.adapt(s.ollamaShow))
	r.GET("/api/version", s.adapt(s.ollamaVersion))
	r.HEAD("/", s.adapt(s.ollamaHello))

	r.POST("/feedback", s.adapt(s.report))
	r.GET("/feedback", s.adapt(s.calibrations))

	r.GET("/metrics", s.adapt(s.writeMetrics))
	r.GET("/healthz", s.adapt(s.healthz))
	r.GET("/readyz", s.adapt(s.readyz))
	return s.crossOrigin(r)
}

func fails(err error) handler {
	return func(*http.Request) (answer, error) { return nil, err }
}
