package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// openPaths require no key: monitoring uses them.
var openPaths = map[string]bool{"/healthz": true, "/readyz": true, "/health": true, "/v1/health": true}

// Key returns the API key of a request, "" if it has none. OpenAI's and Ollama's
// clients send it as a bearer token, Anthropic's in X-Api-Key.
func Key(r *http.Request) string {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return r.Header.Get("X-Api-Key")
}

// Owner returns an identifier of what a request's client stores, derived from its API key, from which the key can't be
// recovered; "" if it has none.
func Owner(r *http.Request) string {
	key := Key(r)
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// known reports whether a request carries one of the server's keys.
func (g *Guard) known(r *http.Request) bool {
	key := Key(r)
	given := sha256.Sum256([]byte(key))
	found := 0
	for _, k := range g.keys { // compare all of them, so that timing reveals nothing
		found |= subtle.ConstantTimeCompare(given[:], k[:])
	}
	return found != 0 && key != ""
}

// Client returns an identifier derived from the API key of a request that Check has
// admitted, from which the key can't be recovered; "" if no keys are configured.
func (g *Guard) Client(r *http.Request) string {
	if len(g.keys) == 0 || !g.known(r) {
		return ""
	}
	return "key " + Owner(r)
}
