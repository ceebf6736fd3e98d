package server

import (
	"net/http"

	"github.com/stencil-json/stencil/server/wire"
)

type healthReply struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
}

// healthz reports that the process is alive.
func (s *Server) healthz(*http.Request) (wire.Answer, error) {
	return wire.JSON{Value: healthReply{"ok", s.cfg.Version}}, nil
}

type readyReply struct {
	Status string `json:"status"`
	Model  string `json:"model"`  // the first model's name
	Active int    `json:"active"` // sequences being generated
	Queued int    `json:"queued"` // requests waiting
}

// readyz reports that requests can be served.
func (s *Server) readyz(*http.Request) (wire.Answer, error) {
	hosts, err := s.models.List()
	if err != nil {
		return nil, err
	}
	reply := readyReply{Status: "ok", Model: hosts[0].Name}
	for _, h := range hosts {
		if m := h.InMemory(); m != nil {
			stats := m.Text.Stats()
			reply.Active += stats.Active
			reply.Queued += stats.Queued
		}
	}
	return wire.JSON{Value: reply}, nil
}
