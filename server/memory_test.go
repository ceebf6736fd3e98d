package server

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/server/access"
)

// postAs posts a body with an API key.
func postAs(t testing.TB, key, url string, body io.Reader) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Error(err)
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return nil
	}
	return resp
}

// TestBodiesTogether checks that the bodies of all requests share a limit, and those of a client a part of it, beyond
// which requests get a Retry-After.
func TestBodiesTogether(t *testing.T) {
	srv, url := start(t, setup{cfg: Config{MemoryLimit: 8 << 20, Access: access.Config{Keys: []string{"one", "other", "third"}}}}) // 512 KiB of bodies, 256 of a client
	held := func() int64 {
		srv.memory.mu.Lock()
		defer srv.memory.mu.Unlock()
		return srv.memory.held
	}
	most, rest := strings.Repeat(" ", 200<<10), `{"prompt": "x", "max_tokens": 2}`
	// begin sends all of a body but its end.
	begin := func(key string) (end func()) {
		r, w := io.Pipe()
		answered := make(chan int, 1)
		go func() {
			if resp := postAs(t, key, url+"/generate", r); resp != nil {
				resp.Body.Close()
				answered <- resp.StatusCode
			}
			close(answered)
		}()
		before := held()
		if _, err := io.WriteString(w, most); err != nil {
			t.Fatal(err)
		}
		poll.Until(func() bool { return held()-before >= bodyCost*200<<10 })
		return func() {
			if _, err := io.WriteString(w, rest); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if status := <-answered; status != http.StatusOK {
				t.Errorf("%s: status %d", key, status)
			}
		}
	}
	check := func(what, key, body string, want int) {
		t.Helper()
		resp := postAs(t, key, url+"/generate", strings.NewReader(body))
		if resp == nil {
			return
		}
		answer := decoded(t, resp)
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, %v", what, resp.StatusCode, answer)
		}
		if want == http.StatusServiceUnavailable && (resp.Header.Get("Retry-After") == "" || at(answer, "error", "code") != "out_of_memory") {
			t.Errorf("%s: %v, %v", what, resp.Header, answer)
		}
	}
	one := begin("one")
	check("a second one", "one", most+rest, http.StatusServiceUnavailable)
	check("a small one", "one", rest, http.StatusOK)
	check("another client", "other", most+rest, http.StatusOK)
	other := begin("other")
	check("a third client", "third", most+rest, http.StatusServiceUnavailable)
	check("a small one of it", "third", rest, http.StatusOK)
	one()
	other()
	poll.Until(func() bool { return held() == 0 })
	check("afterwards", "one", most+rest, http.StatusOK)
	// A body that never fits is refused before it is read.
	check("one that is too large", "one", strings.Repeat(" ", 300<<10)+rest, http.StatusRequestEntityTooLarge)
	poll.Until(func() bool { return held() == 0 })
	srv.memory.mu.Lock()
	defer srv.memory.mu.Unlock()
	if n := len(srv.memory.clients); n > 0 {
		t.Errorf("%d clients are remembered", n)
	}
}

// TestBodiesWithheld checks that a client can't keep others' bodies out with many that it doesn't end, and that pieces
// of a body cost no more than the body at once.
func TestBodiesWithheld(t *testing.T) {
	m := &memory{limit: 1 << 20}
	withheld := 0
	for {
		c := &charged{body: iotest.OneByteReader(strings.NewReader(strings.Repeat(" ", 1000))), memory: m, client: "one"}
		if _, err := io.ReadAll(c); errors.As(err, new(errNoMemory)) {
			c.release()
			break
		} else if err != nil {
			t.Fatal(err)
		}
		withheld++
	}
	if withheld != 1<<19/bodyStep {
		t.Errorf("%d bodies of one client", withheld)
	}
	c := &charged{body: strings.NewReader(strings.Repeat(" ", int(m.largest()))), memory: m, client: "other"}
	if n, err := io.Copy(io.Discard, c); err != nil || n != m.largest() {
		t.Errorf("another client's: %d bytes, %v", n, err)
	}
	if err := m.take("third", 1); err == nil {
		t.Error("there is more memory than the limit")
	}
	c.release()
	if err := m.take("third", 1); err != nil {
		t.Error(err)
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
