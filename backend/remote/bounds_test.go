package remote

import (
	"context"
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

// A stream that goes on without text is ended, whatever it is filled with; pieces of text with much around them are not.
func TestSilentStreamsAreBounded(t *testing.T) {
	blank := strings.Repeat(" ", 1000)
	for name, c := range map[string]struct {
		event string
		fine  bool
	}{
		"comments":         {":" + blank + "\n\n", false},
		"blank lines":      {strings.Repeat("\n", 1000), false},
		"no choices":       {"data: {\"choices\": []}" + blank + "\n\n", false},
		"usage":            {"data: {\"choices\": [], \"usage\": {\"completion_tokens\": 1}}" + blank + "\n\n", false},
		"empty deltas":     {"data: {\"choices\": [{\"delta\": {\"content\": \"\"}}]}" + blank + "\n\n", false},
		"many ends":        {"data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}" + blank + "\n\n", false},
		"tokens, no text":  {"data: {\"choices\": [{\"delta\": {}, \"logprobs\": {\"content\": [{\"token\": \"\", \"logprob\": 0}]}}]}" + blank + "\n\n", false},
		"text with much":   {"data: {\"choices\": [{\"delta\": {\"content\": \"x\"}}]" + blank + "}\n\n", true},
		"text in comments": {"data: {\"choices\": [{\"delta\": {\"content\": \"x\"}}]}\n\n:" + blank + "\n\n", true},
	} {
		sent := 0
		cl := client(t, Config{Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil && sent < 64<<20 && (!c.fine || sent < 8<<20) {
				n, err := io.WriteString(w, c.event)
				if sent += n; err != nil {
					return
				}
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		})
		s, err := cl.Stream(t.Context(), &Request{MaxTokens: 2000})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = s.Next()
		}
		var e *Error
		if c.fine != (err == io.EOF) || !c.fine && (!errors.As(err, &e) || e.Kind != Malformed) {
			t.Errorf("%s: %v after %d bytes", name, err, sent)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An answer with another protocol's status ends at once, although its body is the connection, and takes no connection with it.
func TestSwitchingProtocols(t *testing.T) {
	ended := make(chan struct{}, 100)
	c := client(t, Config{Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn) // until the client has closed it
		ended <- struct{}{}
	})
	for name, ask := range map[string]func() error{
		"complete": func() error { _, err := c.Complete(t.Context(), &Request{}); return err },
		"stream":   func() error { _, err := c.Stream(t.Context(), &Request{}); return err },
	} {
		var e *Error
		if err := ask(); !errors.As(err, &e) || e.Kind != Malformed || e.Status != http.StatusSwitchingProtocols || e.Tries != 1 {
			t.Errorf("%s: %v", name, err)
		}
		<-ended
	}
	if caps, err := c.Probe(t.Context()); err != nil || len(caps.Names()) != 0 {
		t.Errorf("%v %v", caps, err)
	}
}

// The body of an answer is closed with the context, and the wait for it ends then.
func TestBodiesEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := client(t, Config{Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	if _, err := c.Complete(ctx, &Request{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
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
