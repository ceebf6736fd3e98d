package server

import (
	"net/http"

	"github.com/stencil-json/stencil/server/wire"
)

type healthReply struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
}

// healthz says that the process is alive.
func (s *Server) healthz(*http.Request) (wire.Answer, error) {
	return wire.JSON{Value: healthReply{"ok", s.cfg.Version}}, nil
}

type readyReply struct {
	Status string `json:"status"`
	Model  string `json:"model"`  // the first one
	Active int    `json:"active"` // sequences that generate
	Queued int    `json:"queued"` // requests that wait
}

// readyz says that requests are served.
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
