package server

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// encoded returns a text in an encoding of bodies.
func encoded(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch name {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw deflate":
		w, err = flate.NewWriter(&b, 6)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	default:
		return []byte(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEncodings checks that compressed bodies are read, within the limits of what is in them, and what the answers to others are.
func TestEncodings(t *testing.T) {
	srv, url := start(t, setup{reply: "yes", cfg: Config{BodyLimit: 64 << 10}})
	send := func(path, header string, body []byte, chunked bool) (int, string, http.Header) {
		t.Helper()
		in := io.Reader(bytes.NewReader(body))
		if chunked {
			in = io.MultiReader(in)
		}
		r, err := http.NewRequest("POST", url+path, in)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if header != "" {
			r.Header.Set("Content-Encoding", header)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text), resp.Header
	}
	const question = `{"model": "tiny", "max_tokens": 5, "temperature": 0, "messages": [{"role": "user", "content": "x"}]}`
	bomb := `{"messages": [{"role": "user", "content": "` + strings.Repeat("x", 1<<20) + `"}]}`
	for header, name := range map[string]string{"gzip": "gzip", "x-gzip": "gzip", "GZIP": "gzip", "deflate": "deflate", " deflate ": "raw deflate", "zstd": "zstd", "br": "br", "identity": "", "identity, zstd": "zstd"} {
		for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/api/chat"} {
			for _, chunked := range []bool{false, true} {
				if status, text, _ := send(path, header, encoded(t, name, question), chunked); status != 200 || !strings.Contains(text, "yes") {
					t.Errorf("%s, %q: %d %s", path, header, status, text)
				}
			}
		}
		if name == "" {
			continue
		}
		whole := encoded(t, name, question)
		for what, body := range map[string][]byte{"cut off": whole[:len(whole)-3], "of something else": []byte(question), "empty": nil, "damaged": append(bytes.Clone(whole[:len(whole)/2]), bytes.Repeat([]byte{0xA5}, 40)...)} {
			if status, text, _ := send("/v1/chat/completions", header, body, false); status != 400 {
				t.Errorf("%q, %s: %d %s", header, what, status, text)
			}
		}
		if status, text, _ := send("/v1/chat/completions", header, encoded(t, name, bomb), true); status != 413 {
			t.Errorf("%q, a bomb: %d %s", header, status, text)
		}
	}
	for _, header := range []string{"compress", "gzip, br", "exi", strings.Repeat("x", 5000)} {
		status, text, answer := send("/v1/chat/completions", header, encoded(t, "gzip", question), false)
		if status != 415 || !strings.Contains(text, "unsupported_encoding") || !strings.Contains(text, "zstd") || answer.Get("Accept-Encoding") != "gzip, deflate, zstd, br" || len(text) > 2000 {
			t.Errorf("%.20q: %d %s %v", header, status, text, answer)
		}
	}
	srv.memory.mu.Lock()
	defer srv.memory.mu.Unlock()
	if srv.memory.held != 0 || len(srv.memory.clients) != 0 {
		t.Error(fmt.Sprint(srv.memory.held, " bytes are still held"))
	}
}
