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

	r.POST("/v1/chat/completions", s.adapt(s.chatCompletions))

	r.GET("/v1/models", s.adapt(s.listModels))

	r.GET("/healthz", s.adapt(s.healthz))
	r.GET("/readyz", s.adapt(s.readyz))
	return r
}

func fails(err error) handler {
	return func(*http.Request) (answer, error) { return nil, err }
}
