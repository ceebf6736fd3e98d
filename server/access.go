package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"stencil/server/problem"
)

// openPaths need no key: whatever watches the server asks there.
var openPaths = map[string]bool{"/healthz": true, "/readyz": true}

// authorize checks a request's key, where keys are needed. OpenAI's and
// Ollama's clients send it as a bearer token, Anthropic's in a header of its
// own.
func (s *Server) authorize(r *http.Request) error {
	if len(s.cfg.APIKeys) == 0 || openPaths[r.URL.Path] {
		return nil
	}
	key := r.Header.Get("X-Api-Key")
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "bearer") {
		key = strings.TrimSpace(token)
	}
	given := sha256.Sum256([]byte(key))
	found := 0
	for _, k := range s.cfg.APIKeys { // all of them, so that time tells nothing
		known := sha256.Sum256([]byte(k))
		found |= subtle.ConstantTimeCompare(given[:], known[:])
	}
	if found == 0 || key == "" {
		return errNoKey
	}
	return nil
}

// crossOrigin lets web pages of other origins ask, if they may. Browsers ask
// first, with OPTIONS.
func (s *Server) crossOrigin(next http.Handler) http.Handler {
	if len(s.cfg.CORSOrigins) == 0 {
		return next
	}
	any := slices.Contains(s.cfg.CORSOrigins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		h := w.Header()
		h.Add("Vary", "Origin")
		if origin == "" || !any && !slices.Contains(s.cfg.CORSOrigins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		if any {
			h.Set("Access-Control-Allow-Origin", "*")
		}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, X-Should-Retry")
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Methods", "GET, POST, HEAD, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "*")
		if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
			h.Set("Access-Control-Allow-Headers", asked) // "*" does not cover Authorization
		}
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	})
}

// Errors of requests that no handler has to do with.
var (
	errNoRoute  = problem.New(problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Code: "not_found", Message: "there is nothing at this path"})
	errNoMethod = problem.New(problem.Problem{Status: http.StatusMethodNotAllowed, Kind: problem.Invalid, Code: "method_not_allowed", Message: "this path does not take that method"})
	errNoKey    = problem.New(problem.Problem{Status: http.StatusUnauthorized, Kind: problem.Denied, Code: "invalid_api_key", Message: "the request bears no API key that is known here"})
)
