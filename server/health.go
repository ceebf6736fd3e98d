package server

import "net/http"

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
	Model  string `json:"model"`
	Active int    `json:"active"` // sequences that generate
	Queued int    `json:"queued"` // requests that wait
}

// readyz says that requests are served.
func (s *Server) readyz(*http.Request) (answer, error) {
	m, err := s.ready()
	if err != nil {
		return nil, err
	}
	stats := m.engine.Stats()
	return jsonAnswer{readyReply{"ok", m.name, stats.Active, stats.Queued}}, nil
}
