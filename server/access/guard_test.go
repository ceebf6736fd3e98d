package access

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/server/problem"
)

func TestCheck(t *testing.T) {
	open := Config{}
	network := Config{Listen: "0.0.0.0"}
	named := Config{Listen: "gpu.example.com", Hosts: []string{"LLM.example.com", ".apps.example.com"}, Origins: []string{"https://page.example"}}
	keys := Config{Keys: []string{"k"}}
	const evil = "http://evil.example"
	for _, test := range []struct {
		cfg    Config
		host   string
		header string // name: value, by line
		status int
	}{
		{open, "localhost:8080", "", 200},
		{open, "LocalHost.", "", 200},
		{open, "app.localhost", "", 200},
		{open, "127.0.0.1:8080", "", 200},
		{open, "[::1]:8080", "", 200},
		{open, "::1", "", 200},
		{open, "192.168.1.7:8080", "", 200},
		{open, "evil.example", "", 403},
		{open, "localhost.evil.example:8080", "", 403},
		{open, "127.0.0.1.evil.example", "", 403},
		{open, "evillocalhost", "", 403},
		{open, "printer.local", "", 403},
		{open, "gpu", "", 403},
		{open, "", "", 200}, // HTTP/1.0
		{network, "gpu:8080", "", 200},
		{network, "gpu.local", "", 200},
		{network, "host.docker.internal:8080", "", 200},
		{network, "evil.example", "", 403},
		{named, "gpu.example.com", "", 200},
		{named, "llm.example.com:443", "", 200},
		{named, "a.apps.example.com", "", 200},
		{named, "example.com", "", 403},
		{named, "apps.example.com.evil.example", "", 403},
		{Config{Hosts: []string{"*"}}, "evil.example", "", 200},

		{open, "localhost:8080", "Origin: " + evil, 403},
		{open, "localhost:8080", "Origin: null", 403},
		{open, "localhost:8080", "Origin: http://localhost.evil.example", 403},
		{open, "localhost:8080", "Origin: file://", 403},
		{open, "localhost:8080", "Origin: http://localhost:8080", 200},
		{open, "localhost:8080", "Origin: http://localhost:3000", 200},
		{open, "127.0.0.1:8080", "Origin: http://[::1]:3000", 200},
		{open, "192.168.1.7:8080", "Origin: http://192.168.1.7:8080", 200},
		{open, "192.168.1.7:8080", "Origin: http://192.168.1.8", 403},
		{named, "gpu.example.com", "Origin: https://page.example", 200},
		{named, "gpu.example.com", "Origin: https://llm.example.com", 200},
		{named, "gpu.example.com", "Origin: http://page.example", 403},
		{Config{Origins: []string{"*"}}, "localhost", "Origin: " + evil, 200},
		{Config{Origins: []string{"null"}}, "localhost", "Origin: null", 200},
		{open, "localhost", "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors", 403},
		{open, "localhost", "Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate", 200},
		{open, "localhost", "Sec-Fetch-Site: same-origin", 200},

		{open, "localhost", "Origin: http://localhost\nContent-Type: text/plain", 415},
		{open, "localhost", "Origin: http://localhost\nContent-Type: application/x-www-form-urlencoded", 415},
		{open, "localhost", "Origin: http://localhost\nContent-Type: multipart/form-data; boundary=x", 415},
		{open, "localhost", "Origin: http://localhost\nContent-Type:", 415},
		{open, "localhost", "Origin: http://localhost\nContent-Type: application/problem+json", 200},
		{open, "localhost", "Content-Type: text/plain", 200},
		{open, "localhost", "Content-Type: application/x-www-form-urlencoded", 200}, // curl -d

		{keys, "evil.example", "", 401},
		{keys, "evil.example", "Authorization: Bearer k", 200},
		{keys, "evil.example", "X-Api-Key: k\nOrigin: " + evil, 200},
		{keys, "localhost", "X-Api-Key: k\nOrigin: " + evil + "\nContent-Type: text/plain", 415},
	} {
		if err := test.cfg.Check(); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/generate", strings.NewReader("{}"))
		r.Host = test.host
		r.Header.Set("Content-Type", "application/json")
		for line := range strings.SplitSeq(test.header, "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok {
				r.Header.Set(name, strings.TrimSpace(value))
			}
		}
		status := 200
		if err := New(test.cfg).Check(r); err != nil {
			var known interface{ Problem() problem.Problem }
			if !errors.As(err, &known) {
				t.Fatal(err)
			}
			status = known.Problem().Status
		}
		if status != test.status {
			t.Errorf("%+v, host %q, %q: %d, want %d", test.cfg, test.host, test.header, status, test.status)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	for _, c := range []Config{
		{Hosts: []string{""}}, {Hosts: []string{"http://x"}}, {Hosts: []string{"a b"}},
		{Origins: []string{"example.com"}}, {Origins: []string{"https://example.com/page"}}, {Origins: []string{""}},
	} {
		if c.Check() == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestHealthUnderAnyName checks that monitoring may use any Host name for health checks.
func TestHealthUnderAnyName(t *testing.T) {
	g := New(Config{})
	r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
	r.Host = "balancer.example"
	if err := g.Check(r); err != nil {
		t.Error(err)
	}
	r.URL.Path = "/metrics"
	if g.Check(r) == nil {
		t.Error("metrics under any name")
	}
}
