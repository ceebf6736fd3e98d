package server

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"testing"
)

// fuzzDialect feeds a dialect's decoder. For any input, a server without a model
// answers with the mistake, or that it can't serve the request yet.
func fuzzDialect(f *testing.F, path string) {
	for _, body := range malformedBodies[path] {
		if len(body) < 1000 {
			f.Add([]byte(malformedBody(path, body)))
		}
	}
	for _, body := range []string{
		`{"model":"tiny","max_tokens":9,"messages":[{"role":"user","content":"x"}],"input":"x","prompt":"x"}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"a","content":"y"}]}`,
		`{"inputs":"x","parameters":{"grammar":{"type":"json","value":{}}}}`, `{"text":"x","sampling_params":{"json_schema":"{}"}}`,
	} {
		f.Add([]byte(body))
	}
	h := New(Config{Log: slog.New(slog.DiscardHandler)}).Handler()
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", path, bytes.NewReader(body)))
		if !json.Valid(w.Body.Bytes()) || w.Code != 503 && (w.Code < 400 || w.Code >= 500) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func FuzzReadChat(f *testing.F)           { fuzzDialect(f, "/v1/chat/completions") }
func FuzzReadCompletion(f *testing.F)     { fuzzDialect(f, "/v1/completions") }
func FuzzReadResponses(f *testing.F)      { fuzzDialect(f, "/v1/responses") }
func FuzzReadMessages(f *testing.F)       { fuzzDialect(f, "/v1/messages") }
func FuzzReadOllamaChat(f *testing.F)     { fuzzDialect(f, "/api/chat") }
func FuzzReadOllamaGenerate(f *testing.F) { fuzzDialect(f, "/api/generate") }
func FuzzReadGenerate(f *testing.F)       { fuzzDialect(f, "/generate") }
func FuzzReadLlama(f *testing.F)          { fuzzDialect(f, "/completion") }
func FuzzReadInfill(f *testing.F)         { fuzzDialect(f, "/infill") }
