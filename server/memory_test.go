package server

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
)

// TestBodiesTogether checks that the bodies of all requests share a limit, beyond which
// requests get a Retry-After.
func TestBodiesTogether(t *testing.T) {
	srv, url := start(t, setup{cfg: Config{MemoryLimit: 4 << 20}}) // 256 KiB of bodies
	half, rest := strings.Repeat(" ", 200<<10), `{"prompt": "x", "max_tokens": 2}`
	r, w := io.Pipe()
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Post(url+"/generate", "application/json", r)
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	if _, err := io.WriteString(w, half); err != nil {
		t.Fatal(err)
	}
	poll.Until(func() bool { return srv.memory.held.Load() >= bodyCost*200<<10 })
	status, header, answer := post(t, url+"/generate", half+rest)
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || at(answer, "error", "code") != "out_of_memory" {
		t.Errorf("a second one: status %d, %v", status, answer)
	}
	if status, _, answer := post(t, url+"/generate", rest); status != http.StatusOK {
		t.Errorf("a small one: status %d, %v", status, answer)
	}
	if _, err := io.WriteString(w, rest); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the first one: status %d", status)
	}
	poll.Until(func() bool { return srv.memory.held.Load() == 0 })
	// A body that never fits is refused before it is read.
	if status, _, answer := post(t, url+"/generate", strings.Repeat(" ", 300<<10)+rest); status != http.StatusRequestEntityTooLarge {
		t.Errorf("one that is too large: status %d, %v", status, answer)
	}
}

// A prompt that can't fit is refused without being tokenized.
func TestPromptFarTooLong(t *testing.T) {
	srv, url := start(t, setup{eng: engine.Config{Context: backend.ContextParams{Size: 100}}})
	longest := srv.models.SomeServed().Text.Vocab().Trie().Depth
	text := strings.Repeat("x", max(101*longest, 1<<20+1))
	for path, body := range map[string]string{
		"/generate":            `{"prompt": "` + text + `"}`,
		"/v1/chat/completions": `{"messages": [{"role": "user", "content": "` + text + `"}]}`,
	} {
		status, _, answer := post(t, url+path, body)
		if status != http.StatusBadRequest || at(answer, "error", "code") != "context_length_exceeded" || !strings.Contains(at(answer, "error", "message").(string), "more than") {
			t.Errorf("%s: status %d, %v", path, status, answer)
		}
	}
}
