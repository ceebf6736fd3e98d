package remote

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// An answer far longer than max_tokens is rejected, regardless of its parts.
func TestAnswersAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, delta := range map[string]string{
		"text":      `{"content": "` + long + `"}`,
		"reasoning": `{"reasoning": "` + long + `"}`,
		"arguments": `{"tool_calls": [{"index": 0, "function": {"arguments": "` + long + `"}}]}`,
		"calls":     `{"tool_calls": [` + strings.Repeat(`{},`, 500) + `{}]}`,
		"refusal":   `{"refusal": "` + long + `"}`,
	} {
		sent := 0
		c := client(t, Config{Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil && sent < 100<<20 {
				n, err := fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": %s}]}\n\n", delta)
				if sent += n; err != nil {
					return
				}
			}
		})
		s, err := c.Stream(t.Context(), &Request{MaxTokens: 20})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = s.Next()
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != Malformed || !strings.Contains(e.Message, "max_tokens") {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	c := client(t, Config{Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "`+strings.Repeat("x", 1<<20)+`"}}]}`)
	})
	if _, err := c.Complete(t.Context(), &Request{MaxTokens: 20}); err == nil || !strings.Contains(err.Error(), "max_tokens") {
		t.Errorf("a body: %v", err)
	}
	if _, err := c.Complete(t.Context(), &Request{}); err != nil {
		t.Errorf("a body where nothing is said of tokens: %v", err)
	}
}

// The key is removed from quoted messages of an upstream.
func TestKeyStaysHere(t *testing.T) {
	const key = "sk-secret/0123456789"
	for status, said := range map[int]string{
		401: `{"error": {"message": "Incorrect API key provided: ` + key + `", "code": "` + key + `"}}`,
		400: `{"error": "Bearer ` + strings.ReplaceAll(key, "/", `\/`) + ` is wrong"}`,
		403: strings.Repeat("x", maxMessage-5) + key,
		200: "no JSON: " + key,
	} {
		c := client(t, Config{Model: "m", Key: key}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, said)
		})
		_, err := c.Complete(t.Context(), &Request{})
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%d: %v", status, err)
		}
		if text := err.Error() + e.Code; strings.Contains(text, "secret") || strings.Contains(text, key[:4]) {
			t.Errorf("%d: %s", status, text)
		}
	}
}
