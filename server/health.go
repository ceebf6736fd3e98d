package server

import (
	"net/http"
)

type healthReply struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
}

// healthz says that the process is alive.
func (s *Server) healthz(*http.Request) (answer, error) {
	return jsonAnswer{healthReply{"ok", s.cfg.Version}}, nil
}

type readyReply struct {
	Status string `json:"status"`
	Model  string `json:"model"`  // the first one
	Active int    `json:"active"` // sequences that generate
	Queued int    `json:"queued"` // requests that wait
}

// readyz says that requests are served.
func (s *Server) readyz(*http.Request) (answer, error) {
	hosts, err := s.models.list()
	if err != nil {
		return nil, err
	}
	reply := readyReply{Status: "ok", Model: hosts[0].name}
	for _, h := range hosts {
		if m := h.inMemory(); m != nil {
			stats := m.text.Stats()
			reply.Active += stats.Active
			reply.Queued += stats.Queued
		}
	}
	return jsonAnswer{reply}, nil
}
