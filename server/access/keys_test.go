package access

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestClient checks that clients are distinguished by their keys,
// if keys are required.
func TestClient(t *testing.T) {
	request := func(key string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/generate", nil)
		r.Header.Set("Authorization", "Bearer "+key)
		return r
	}
	g := New(Config{Keys: []string{"one", "two"}})
	one, two := g.Client(request("one")), g.Client(request("two"))
	if one == "" || one == two || one != g.Client(request("one")) || strings.Contains(one, "one") {
		t.Errorf("clients %q and %q", one, two)
	}
	if c := g.Client(request("three")); c != "" {
		t.Errorf("an unknown key is client %q", c)
	}
	if c := New(Config{}).Client(request("one")); c != "" {
		t.Errorf("without keys, a client may call itself %q", c)
	}
}
