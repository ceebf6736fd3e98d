package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// openPaths need no key: whatever watches the server asks there.
var openPaths = map[string]bool{"/healthz": true, "/readyz": true, "/health": true, "/v1/health": true}

// Key returns the key that a request bears, "" if it bears none. OpenAI's and
// Ollama's clients send it as a bearer token, Anthropic's in a header of its
// own.
func Key(r *http.Request) string {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return r.Header.Get("X-Api-Key")
}

// known reports whether a request bears one of the server's keys.
func (g *Guard) known(r *http.Request) bool {
	key := Key(r)
	given := sha256.Sum256([]byte(key))
	found := 0
	for _, k := range g.keys { // all of them, so that time tells nothing
		found |= subtle.ConstantTimeCompare(given[:], k[:])
	}
	return found != 0 && key != ""
}

// Client returns a name for who bears the key of a request that Check has let through,
// from which the key can't be told; "" where requests need none.
func (g *Guard) Client(r *http.Request) string {
	if len(g.keys) == 0 || !g.known(r) {
		return ""
	}
	sum := sha256.Sum256([]byte(Key(r)))
	return "key " + hex.EncodeToString(sum[:])
}
