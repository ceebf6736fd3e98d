package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
)

func client(t *testing.T, cfg Config, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	cfg.URL, cfg.Log = s.URL+"/v1/", slog.New(slog.DiscardHandler)
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const answerBody = `{"model": "m", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 2, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}}}`

// TestBackoff checks that delays double, that Retry-After is honoured in each
// of its formats, and that a delay that is too long ends the tries.
func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		header, value string
		status, tries int
		waits         []time.Duration // 0: between half of the backoff and all of it
	}{
		{"", "", 500, 4, []time.Duration{0, 0, 0}},
		{"Retry-After", "3", 429, 4, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}},
		{"Retry-After", "0.5", 503, 4, []time.Duration{time.Second / 2, time.Second / 2, time.Second / 2}},
		{"Retry-After-Ms", "250", 429, 4, []time.Duration{time.Second / 4, time.Second / 4, time.Second / 4}},
		{"Retry-After", "120", 429, 1, nil},
		{"Retry-After", "soon", 429, 4, []time.Duration{0, 0, 0}},
		{"X-Should-Retry", "false", 500, 1, nil},
		{"", "", 400, 1, nil},
	} {
		asked := 0
		cl := client(t, Config{Model: "m", Backoff: time.Second}, func(w http.ResponseWriter, r *http.Request) {
			asked++
			if c.header != "" {
				w.Header().Set(c.header, c.value)
			}
			w.WriteHeader(c.status)
		})
		var waits []time.Duration
		cl.wait = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
		_, err := cl.Complete(t.Context(), &Request{})
		var e *Error
		if !errors.As(err, &e) || e.Tries != c.tries || asked != c.tries || e.Status != c.status || len(waits) != len(c.waits) {
			t.Errorf("%s %s: %d tries, waits %v, %v", c.header, c.value, asked, waits, err)
			continue
		}
		for i, w := range c.waits {
			full := time.Second << i
			if w == 0 && (waits[i] < full/2 || waits[i] > full) || w != 0 && waits[i] != w {
				t.Errorf("%s %s: waits %v", c.header, c.value, waits)
			}
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := http.Header{"Retry-After": {now.Add(7 * time.Second).Format(http.TimeFormat)}}
	if d := retryAfter(h, now); d != 7*time.Second {
		t.Error(d)
	}
	if d := retryAfter(h, now.Add(time.Hour)); d != 0 {
		t.Error(d)
	}
}

func TestComplete(t *testing.T) {
	asked := 0
	c := client(t, Config{Key: "secret", Model: "m", Backoff: time.Nanosecond, PricePrompt: 10, PriceCompletion: 20}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s %v", r.URL.Path, r.Header)
		}
		if asked++; asked == 1 {
			// The answer is unusable, but its usage counts.
			io.WriteString(w, `{"error": {"message": "overloaded"}, "usage": {"prompt_tokens": 2, "completion_tokens": 1}}`)
			return
		}
		io.WriteString(w, answerBody)
	})
	got, err := c.Complete(t.Context(), &Request{Messages: []Message{{Role: "user", Content: "x"}}})
	if err != nil || got.Text != "hi" || got.Tries != 2 || got.Usage.Prompt != 4 || got.Usage.Completion != 4 || got.Usage.Cached != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	if want := (4*10 + 4*20) / 1e6; got.Usage.Cost < want*0.999 || got.Usage.Cost > want*1.001 || c.Total().Prompt != 4 {
		t.Errorf("%+v", got.Usage)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		kind    Kind
		message string
		code    string
	}{
		{400, `{"error": {"message": "no", "code": "bad", "type": "t"}}`, Refused, "no", "bad"},
		{400, `{"error": {"message": "no", "code": 7, "type": "t"}}`, Refused, "no", "7"},
		{400, `{"error": {"message": "no", "code": null, "type": "t"}}`, Refused, "no", "t"},
		{404, `{"error": "gone"}`, Refused, "gone", ""},
		{422, `{"detail": [{"loc": ["body"]}]}`, Refused, `[{"loc": ["body"]}]`, ""},
		{422, `{"detail": "no"}`, Refused, "no", ""},
		{401, `{"message": "who?"}`, Denied, "who?", ""},
		{500, `<html>`, Unavailable, "<html>", ""},
		{504, ``, TimedOut, "", ""},
		{301, ``, Malformed, "", ""},
	} {
		cl := client(t, Config{Model: "m", Retries: -1}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, err := cl.Complete(t.Context(), &Request{})
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Message != c.message || e.Code != c.code || e.Status != c.status {
			t.Errorf("%d %s: %+v", c.status, c.body, err)
		}
		if !strings.HasPrefix(err.Error(), "remote: "+c.kind.String()) {
			t.Error(err)
		}
	}
	for _, url := range []string{"", "example.com/v1", "ftp://x/v1", "http://"} {
		if _, err := New(Config{URL: url}); err == nil {
			t.Errorf("%q was taken", url)
		}
	}
	c := client(t, Config{Model: "m", Retries: -1}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // so that the server notices the end of the connection
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Complete(ctx, &Request{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestStreamEnds checks the results of the different ends of a stream.
func TestStreamEnds(t *testing.T) {
	const piece = `data: {"choices": [{"delta": {"content": "hi"}}]}` + "\n\n"
	const end = `data: {"choices": [{"delta": {}, "finish_reason": "length"}]}` + "\n\n"
	for _, c := range []struct {
		name, body string
		kind       Kind
		fine       bool
		finish     string
	}{
		{"done", piece + end + "data: [DONE]\n\n", 0, true, "length"},
		{"no DONE", piece + end, 0, true, "length"},
		{"no reason", piece + "data: [DONE]\n\n", 0, true, "stop"},
		{"cut", piece, Cut, false, ""},
		{"cut in an event", piece + `data: {"cho`, Cut, false, ""},
		{"nothing", "", Cut, false, ""},
		{"an error", piece + `data: {"error": {"message": "busy"}}` + "\n\n", Unavailable, false, ""},
		{"no JSON", piece + "data: hello\n\n", Malformed, false, ""},
		{"an endless event", piece + "data: " + strings.Repeat("x", maxEvent+1), Malformed, false, ""},
		{"other fields", "\ufeff: note\r\nevent: x\r\nid: 5\r\ndata: {\"choices\": [{\"delta\":\rdata:{\"content\": \"hi\"}}]}\r\n\r\n" + end, 0, true, "length"},
	} {
		cl := client(t, Config{Model: "m", Timeout: 300 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, c.body) })
		s, err := cl.Stream(t.Context(), &Request{})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for err == nil {
			var p Piece
			if p, err = s.Next(); err == nil {
				text += p.Text
			}
		}
		var e *Error
		if c.fine != (err == io.EOF) || !c.fine && (!errors.As(err, &e) || e.Kind != c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := s.Completion(); c.fine && (text != "hi" || got.Finish != c.finish || got.Text != text) {
			t.Errorf("%s: %q %+v", c.name, text, got)
		}
		s.Close()
	}
	// A silent stream times out.
	cl := client(t, Config{Model: "m", Timeout: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, piece)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s, err := cl.Stream(t.Context(), &Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err = s.Next(); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err = s.Next(); !errors.As(err, &e) || e.Kind != TimedOut {
		t.Error(err)
	}
}

// TestCalls checks that calls are assembled regardless of how an upstream
// splits them.
func TestCalls(t *testing.T) {
	for _, c := range []struct{ name, deltas, want string }{
		{"OpenAI's way", `[{"index":0,"id":"a","function":{"name":"f","arguments":""}}] [{"index":0,"function":{"arguments":"{\"x\":"}}] [{"index":0,"function":{"arguments":"1}"}}] [{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]`, `[{a f {"x":1}} {b g {}}]`},
		{"mixed", `[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"g","arguments":"["}}] [{"index":1,"function":{"arguments":"]"}},{"index":0,"function":{"arguments":"}"}}]`, `[{a f {}} {b g []}]`},
		{"one index for all", `[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}] [{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]`, `[{a f {}} {b g {}}]`},
		{"no index", `[{"id":"a","function":{"name":"f","arguments":"{"}}] [{"function":{"arguments":"}"}}] [{"id":"b","function":{"name":"g","arguments":"{}"}}]`, `[{a f {}} {b g {}}]`},
		{"neither index nor ID", `[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}]`, `[{ f {}} { f {}}]`},
		{"one index, no ID", `[{"index":0,"function":{"name":"f","arguments":"{}"}}] [{"index":0,"function":{"name":"g","arguments":"{}"}}]`, `[{ f {}} { g {}}]`},
		{"the ID every time", `[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}] [{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]`, `[{a f {}}]`},
		{"an object", `[{"id":"a","function":{"name":"f","arguments":{"x": 1}}}]`, `[{a f {"x": 1}}]`},
		{"none", `[]`, `[]`},
	} {
		cl := client(t, Config{Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
			for _, d := range strings.Split(c.deltas, "] [") {
				d = "[" + strings.TrimSuffix(strings.TrimPrefix(d, "["), "]") + "]"
				fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": {\"tool_calls\": %s}}]}\n\n", d)
			}
			io.WriteString(w, `data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
		})
		s, err := cl.Stream(t.Context(), &Request{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := fmt.Sprint(s.Completion().Calls); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		s.Close()
	}
	cl := client(t, Config{Model: "m"}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"choices": [{"message": {"content": null, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}, {"id": "b", "function": {"name": "g", "arguments": {"x": 1}}}]}, "finish_reason": "tool_calls"}]}`)
	})
	got, err := cl.Complete(t.Context(), &Request{})
	if err != nil || fmt.Sprint(got.Calls) != `[{a f {}} {b g {"x": 1}}]` {
		t.Errorf("%+v %v", got, err)
	}
}

// TestProbe checks that what the upstream rejects or ignores counts as not
// offered.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		owner string
		does  string // names of members of the body that have an effect
		want  Capabilities
	}{
		{"acme", "", Capabilities{Engine: OpenAI}},
		{"vllm", "logprobs json_schema json_object tools", Capabilities{VLLM, true, true, true, true}},
		{"sglang", "json_schema", Capabilities{Engine: SGLang, JSONSchema: true}},
		{"llamacpp", "tools", Capabilities{Engine: Llama, Tools: true}},
		{"acme", "json_object", Capabilities{Engine: OpenAI, JSONObject: true}},
	} {
		does := strings.Fields(c.does)
		cl := client(t, Config{Retries: -1}, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprintf(w, `{"data": [{"id": "m", "owned_by": %q}]}`, c.owner)
				return
			}
			body, _ := io.ReadAll(r.Body)
			has := func(name string) bool { return strings.Contains(string(body), `"`+name+`"`) }
			text, logprobs := "Hello!", "null"
			if has("json_schema") && slices.Contains(does, "json_schema") {
				text = `{\"ok\": true}`
			}
			if has("json_object") && slices.Contains(does, "json_object") {
				text = `{\"hello\": 1}`
			}
			if has("logprobs") && slices.Contains(does, "logprobs") {
				logprobs = `{"content": [{"token": "H", "logprob": -1, "bytes": [72]}]}`
			}
			if has("tools") && !slices.Contains(does, "tools") {
				w.WriteHeader(400)
				return
			}
			fmt.Fprintf(w, `{"choices": [{"message": {"content": "%s"}, "logprobs": %s, "finish_reason": "stop"}]}`, text, logprobs)
		})
		got, err := cl.Probe(t.Context())
		if err != nil || got != c.want || cl.Capabilities() != c.want || cl.Model() != "m" {
			t.Errorf("%s %q: %+v %s %v", c.owner, c.does, got, cl.Model(), err)
		}
	}
	cl := client(t, Config{Retries: -1}, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) })
	if _, err := cl.Probe(t.Context()); err == nil {
		t.Error("a key that is not accepted was taken for an answer")
	}
}

// TestStrict checks that strict mode is requested only where it is accepted.
func TestStrict(t *testing.T) {
	caps := Capabilities{Engine: OpenAI, JSONSchema: true}
	for schema, want := range map[string]string{
		`{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}`:                                                  "true",
		`{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}`:                                                                                 "false",
		`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"], "additionalProperties": false}`:                                         "false",
		`{"type": "array", "items": {"type": "integer"}}`:                                                                                                                 "false",
		`{"type": "object", "properties": {"a": {"items": {"type": "object", "properties": {"x": {}}}}}, "required": ["a"], "additionalProperties": false}`:               "false",
		`{"type": "object", "properties": {"a": {"$ref": "#/$defs/s"}}, "required": ["a"], "additionalProperties": false, "$defs": {"s": {"anyOf": [{"type": "null"}]}}}`: "true",
		`{}`: "none", `true`: "none",
	} {
		extra, ok := caps.Format(Format{Schema: []byte(schema)})
		got := "none"
		if ok {
			got = fmt.Sprint(extra["response_format"].(map[string]any)["json_schema"].(map[string]any)["strict"])
		}
		if got != want {
			t.Errorf("%s: strict %s, want %s", schema, got, want)
		}
	}
}

func TestModel(t *testing.T) {
	m := NewModel(client(t, Config{Model: "m"}, nil))
	for i := range 256 {
		if b := m.Vocab().Bytes(int32(i)); len(b) != 1 || b[0] != byte(i) {
			t.Errorf("token %d is %q", i, b)
		}
	}
	if _, err := m.NewContext(backend.ContextParams{}); !errors.Is(err, ErrNoLogits) || m.Close() != nil || !m.Vocab().IsEOG(256) {
		t.Error(err)
	}
}

// FuzzEvents checks that any bytes are events or an error, regardless of how
// they are split.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: x\n\n", "data: a\ndata: b\r\n\r\n", ": c\n\ndata:x\r\r", "\ufeffdata: x\n\n", "data\n\n", "event: y\ndata: x\n", "data: \n\ndata: z\n\n"} {
		f.Add(s)
	}
	read := func(r io.Reader) (list []string, err error) {
		e := NewEvents(r)
		for {
			data, err := e.Next()
			if err != nil {
				return list, err
			}
			list = append(list, string(data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole, err := read(strings.NewReader(text))
		slow, slowErr := read(oneByte{strings.NewReader(text)})
		if !slices.Equal(whole, slow) || err != io.EOF || slowErr != io.EOF {
			t.Fatalf("%q %v, byte by byte %q %v", whole, err, slow, slowErr)
		}
		for _, line := range whole {
			if strings.ContainsAny(line, "\r") {
				t.Fatalf("%q holds the end of a line", line)
			}
		}
	})
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return o.r.Read(p[:1])
}
