package server

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/backend/remote"
)

// TestUpstreamStream checks streams of an upstream's streams.
func TestUpstreamStream(t *testing.T) {
	for _, c := range []struct {
		name, line, with string
		tokens           string // the text of all token events
		last             string // the kind of the last event
		code             string // of an error
	}{
		{"good", good, ``, good, "done", ""},
		{"fenced", "```json\n" + good + "\n```", ``, "```json\n" + good + "\n```", "done", ""},
		{"repaired", `{"name": "Ann", "age": 5,}`, `, "repair": true`, `{"name": "Ann", "age": 5,}`, "done", ""},
		{"broken", broken, ``, broken, "error", "validation_failed"},
		{"wrong", wrong, ``, wrong, "error", "validation_failed"},
		{"wrong and loose", wrong, `, "strict": false`, wrong, "done", ""},
		{"empty", "", ``, "", "error", "empty_answer"},
		{"cut in the middle", "!cut " + good, ``, good, "error", "upstream_unavailable"},
		{"cut by the budget", `!length {"name": "Ann"`, ``, `{"name": "Ann"`, "error", "validation_failed"},
		{"refused", "!refusal I won't.", ``, "", "error", "refused_by_model"},
		{"reasoning", "!think Ann, I think.|" + good, ``, good, "done", ""},
		{"not JSON lines", "häßlich " + good, ``, "häßlich " + good, "done", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, url := startUpstream(t, remote.Capabilities{}, Config{}, c.line)
			_, events := postStream(t, url+"/generate_json", `{"prompt": "Who?", "stream": true, "schema": `+personSchema+c.with+`}`)
			text, thought := "", ""
			for _, e := range events {
				switch e.name {
				case "token":
					text += at(e.data, "text").(string)
				case "reasoning":
					thought += at(e.data, "text").(string)
				}
			}
			last := events[len(events)-1]
			if strings.ToValidUTF8(text, "") != strings.ToValidUTF8(c.tokens, "") && c.name != "not JSON lines" || last.name != c.last {
				t.Errorf("%q, then %v", text, last)
			}
			if c.last == "error" && at(last.data, "error", "code") != c.code {
				t.Errorf("%v", last.data)
			}
			if c.last == "done" && !strings.Contains(c.with, "strict") && (at(last.data, "json", "age") != 5.0 || at(last.data, "constraint", "validated") != true || at(last.data, "usage", "completion_tokens") != 5.0 || at(last.data, "usage", "cost") == nil) {
				t.Errorf("%v", last.data)
			}
			if strings.HasPrefix(c.line, "!think") && (thought != "Ann, I think." || at(last.data, "reasoning") != thought) {
				t.Errorf("thought %q: %v", thought, last.data)
			}
			if u.requests()[0]["stream"] != true {
				t.Errorf("asked %v", u.requests()[0])
			}
		})
	}
	// An error before the stream begins is an error response, not an event.
	_, url := startUpstream(t, remote.Capabilities{}, Config{}, "!401")
	status, _, got := post(t, url+"/generate_json", `{"prompt": "Who?", "stream": true}`)
	if status != 502 || at(got, "error", "failure", "category") != "not_authorized" {
		t.Errorf("%d %v", status, got)
	}
}

// TestUpstreamStreams checks streams of several texts: each is a request of its own
// to the upstream, and each is validated.
func TestUpstreamStreams(t *testing.T) {
	other := strings.Replace(good, "Ann", "Bob", 1)
	u, url := startUpstream(t, remote.Capabilities{}, Config{}, good, other, good)
	_, events := postStream(t, url+"/generate_json", `{"prompt": "Who?", "stream": true, "n": 3, "seed": 7, "schema": `+personSchema+`}`)
	texts, done := [3]string{}, [3]string{}
	for _, e := range events {
		index, _ := at(e.data, "index").(float64)
		switch e.name {
		case "token":
			texts[int(index)] += at(e.data, "text").(string)
		case "done":
			done[int(index)] = at(e.data, "text").(string)
			if at(e.data, "constraint", "validated") != true || at(e.data, "usage", "completion_tokens") != 5.0 {
				t.Errorf("%v", e.data)
			}
		default:
			t.Errorf("%v", e)
		}
	}
	seeds, names := map[any]bool{}, 0
	for _, b := range u.requests() {
		seeds[b["seed"]] = true
	}
	for i := range texts {
		if texts[i] == other {
			names++
		}
		if texts[i] != done[i] || texts[i] != good && texts[i] != other {
			t.Errorf("%q %q", texts, done)
		}
	}
	if len(u.requests()) != 3 || len(seeds) != 3 || names != 1 {
		t.Errorf("%d requests, seeds %v, %d of the second", len(u.requests()), seeds, names)
	}
	// One that fails ends all of them; one that can't start is an error response.
	_, url = startUpstream(t, remote.Capabilities{}, Config{}, good, wrong)
	_, events = postStream(t, url+"/generate_json", `{"prompt": "Who?", "stream": true, "n": 2, "schema": `+personSchema+`}`)
	if last := events[len(events)-1]; last.name != "error" || at(last.data, "error", "code") != "validation_failed" {
		t.Errorf("%v", last)
	}
	_, url = startUpstream(t, remote.Capabilities{}, Config{}, good, "!401")
	status, _, got := post(t, url+"/generate_json", `{"prompt": "Who?", "stream": true, "n": 2}`)
	if status != 502 || at(got, "error", "failure", "category") != "not_authorized" {
		t.Errorf("%d %v", status, got)
	}
}

// An upstream that never comes to its text, and one that changes the protocol, fail by what they send, not by time alone, and the
// message says what it was.
func TestUpstreamNeverAnswers(t *testing.T) {
	for line, says := range map[string]string{
		"!switch":                             "the upstream answered with status 101",
		"!empties :":                          "the upstream's answer could not be read",
		`!empties data: {"choices": []}`:      "the upstream's answer could not be read",
		`!empties data: {"choices": [{}]}`:    "the upstream's answer could not be read",
		"!500":                                "the upstream fails with status 500 after 3 tries",
		"!429":                                "the upstream takes no more requests for now",
		`!raw {"error": {"message": "full"}}`: "the upstream reports an error after 3 tries",
	} {
		for _, stream := range []bool{false, true} {
			if !stream && strings.HasPrefix(line, "!empties") || stream && strings.HasPrefix(line, "!raw") {
				continue
			}
			_, url := startUpstream(t, remote.Capabilities{}, Config{}, line)
			resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "stream": %v}`, stream)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !strings.Contains(string(text), says) || strings.Contains(string(text), "be reached") {
				t.Errorf("%s, stream %v: %v %d %s", line, stream, err, resp.StatusCode, text)
			}
		}
	}
}

// TestUpstreamAlternatives checks that the upstream's alternatives are passed on.
func TestUpstreamAlternatives(t *testing.T) {
	u, url := startUpstream(t, remote.Capabilities{Logprobs: true}, Config{}, "Hi")
	const chat = `{"messages": [{"role": "user", "content": "x"}], "logprobs": true, "top_logprobs": 2`
	status, _, got := post(t, url+"/v1/chat/completions", chat+`}`)
	top := at(got, "choices", 0, "logprobs", "content", 0, "top_logprobs")
	if status != 200 || at(top, 0, "token") != "t0" || at(top, 1, "logprob") != -1.5 || at(top, 1, "bytes", 1) != float64('1') || got["warnings"] != nil || u.requests()[0]["top_logprobs"] != 2.0 {
		t.Errorf("%d %v", status, got)
	}
	found := false
	for _, chunk := range chatChunks(t, url, chat+`, "stream": true}`) {
		found = found || at(chunk, "choices", 0, "logprobs", "content", 0, "top_logprobs", 1, "token") == "t1"
	}
	if !found {
		t.Error("none in the stream")
	}
	if _, _, got = post(t, url+"/generate", `{"prompt": "x", "logprobs": true, "top_logprobs": 1}`); at(got, "logprobs", 0, "top_logprobs", 0, "token") != "t0" {
		t.Errorf("%v", got)
	}
	if _, _, got = post(t, url+"/v1/completions", `{"prompt": "x", "logprobs": 2}`); at(got, "choices", 0, "logprobs", "top_logprobs", 0, "t1") != -1.5 {
		t.Errorf("%v", got)
	}
}

// TestStrategies checks the strategy for each set of capabilities, and that it is
// always the same.
func TestStrategies(t *testing.T) {
	schemaOf := func(body map[string]any, path ...any) bool {
		return at(body, append(path, "properties", "age")...) != nil
	}
	for _, c := range []struct {
		caps   remote.Capabilities
		with   string
		want   asking.Strategy
		line   string
		judged func(body map[string]any) bool
	}{
		{remote.Capabilities{}, `"schema": ` + personSchema, asking.Instructed, good, func(b map[string]any) bool {
			system, _ := at(b, "messages", 0, "content").(string)
			return at(b, "messages", 0, "role") == "system" && strings.Contains(system, `"age"`) && strings.Contains(system, "100 * price") && strings.Contains(system, "Start with {") && b["response_format"] == nil
		}},
		{remote.Capabilities{JSONObject: true}, `"schema": ` + personSchema, asking.Instructed, good, func(b map[string]any) bool {
			return at(b, "response_format", "type") == "json_object" && strings.Contains(at(b, "messages", 0, "content").(string), `"age"`)
		}},
		{remote.Capabilities{JSONSchema: true}, `"schema": ` + personSchema, asking.Structured, good, func(b map[string]any) bool {
			return schemaOf(b, "response_format", "json_schema", "schema") && b["logprobs"] == nil && len(b["messages"].([]any)) == 1
		}},
		{remote.Capabilities{JSONSchema: true, Logprobs: true}, `"schema": ` + personSchema, asking.StructuredLogprobs, good, func(b map[string]any) bool {
			return schemaOf(b, "response_format", "json_schema", "schema") && b["logprobs"] == true
		}},
		{remote.Capabilities{JSONSchema: true}, `"prompt_schema": "always", "schema": ` + personSchema, asking.Structured, good, func(b map[string]any) bool {
			return strings.Contains(at(b, "messages", 0, "content").(string), `"age"`)
		}},
		{remote.Capabilities{Engine: remote.VLLM}, `"schema": ` + personSchema, asking.Native, good, func(b map[string]any) bool { return schemaOf(b, "structured_outputs", "json") }},
		{remote.Capabilities{Engine: remote.Stencil}, `"schema": ` + personSchema, asking.Native, good, func(b map[string]any) bool { return schemaOf(b, "structured_outputs", "json") }},
		{remote.Capabilities{Engine: remote.Llama}, `"schema": ` + personSchema, asking.Native, good, func(b map[string]any) bool { return schemaOf(b, "json_schema") }},
		{remote.Capabilities{Engine: remote.SGLang}, `"schema": ` + personSchema, asking.Native, good, func(b map[string]any) bool { return schemaOf(b, "response_format", "json_schema", "schema") }},
		{remote.Capabilities{Engine: remote.VLLM}, `"regex": "[a-z]+"`, asking.Native, "abc", func(b map[string]any) bool { return at(b, "structured_outputs", "regex") == "[a-z]+" }},
		{remote.Capabilities{Engine: remote.SGLang}, `"regex": "[a-z]+"`, asking.Native, "abc", func(b map[string]any) bool { return b["regex"] == "[a-z]+" }},
		{remote.Capabilities{JSONSchema: true}, `"regex": "[a-z]+"`, asking.Instructed, " abc\n", func(b map[string]any) bool {
			return strings.Contains(at(b, "messages", 0, "content").(string), "[a-z]+")
		}},
		{remote.Capabilities{Engine: remote.Llama}, `"grammar": "root ::= [a-z]+"`, asking.Native, "abc", func(b map[string]any) bool { return b["grammar"] == "root ::= [a-z]+" }},
		{remote.Capabilities{Engine: remote.Stencil}, `"choice": ["abc", "x"]`, asking.Native, "abc", func(b map[string]any) bool { return at(b, "structured_outputs", "choice", 0) == "abc" }},
		{remote.Capabilities{}, `"choice": ["abc", "x"]`, asking.Instructed, "abc", func(b map[string]any) bool { return strings.Contains(at(b, "messages", 0, "content").(string), "abc") }},
	} {
		u, url := startUpstream(t, c.caps, Config{}, c.line)
		for range 2 {
			status, _, got := post(t, url+"/generate", `{"prompt": "Who?", `+c.with+`}`)
			if status != 200 || at(got, "constraint", "strategy") != string(c.want) || at(got, "constraint", "validated") != true || strings.TrimSpace(c.line) != at(got, "text") {
				t.Errorf("%+v %s: %d %v", c.caps, c.with, status, got)
			}
		}
		if !c.judged(u.requests()[0]) || !c.judged(u.requests()[1]) {
			t.Errorf("%+v %s: asked %v", c.caps, c.with, u.requests()[0])
		}
	}
}

// TestFeedback checks that a re-ask tells the model what is wrong, where, and which
// rules it broke, and that the usage of all attempts is counted.
func TestFeedback(t *testing.T) {
	u, url := startUpstream(t, remote.Capabilities{}, Config{}, "{\"name\": \"Ann\",\n \"age\" 5}", wrong, good)
	_, _, got := post(t, url+"/generate_json", `{"messages": [{"role": "user", "content": "Who?"}], "schema": `+personSchema+`}`)
	if at(got, "usage", "prompt_tokens") != 30.0 || at(got, "usage", "completion_tokens") != 15.0 || at(got, "usage", "total_tokens") != 45.0 || at(got, "constraint", "tries") != 3.0 {
		t.Errorf("%v", got)
	}
	if cost, _ := at(got, "usage", "cost").(float64); cost < 5.9e-05 || cost > 6.1e-05 {
		t.Errorf("cost %v", cost)
	}
	for i, want := range [][]string{{"not JSON", "Line 2", "column 8", `"age" 5}`, "no arithmetic"}, {`"/age"`, "maximum", "150", "Start with {"}} {
		list := u.requests()[i+1]["messages"].([]any)
		last := at(list[len(list)-1], "content").(string)
		for _, w := range want {
			if !strings.Contains(last, w) {
				t.Errorf("no %q in %q", w, last)
			}
		}
		if at(list[len(list)-1], "role") != "user" || at(list[len(list)-2], "role") != "assistant" || len(list) != 6 {
			t.Errorf("%v", list)
		}
	}
	text := metricsOf(t, url)
	for _, want := range []string{
		`stencil_answer_tries_total{model="far",strategy="instructed",cause="json_parse",outcome="asked_again"} 1`,
		`stencil_answer_tries_total{model="far",strategy="instructed",cause="schema_validation",outcome="asked_again"} 1`,
		`stencil_answer_tries_total{model="far",strategy="instructed",cause="none",outcome="accepted"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

func metricsOf(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, resp.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestFailureLog checks that the log has all details of a failure, and that the
// description has none of the upstream's own words.
func TestFailureLog(t *testing.T) {
	var log lockedBuffer
	cfg := Config{Log: slog.New(slog.NewJSONHandler(&log, nil)), RetryMax: -1}
	_, url := startUpstream(t, remote.Capabilities{}, cfg, broken, "!500")
	post(t, url+"/generate_json", `{"prompt": "Who?", "schema": `+personSchema+`}`)
	_, _, got := post(t, url+"/generate_json", `{"prompt": "Who?", "schema": `+personSchema+`}`)
	var failures []map[string]any
	for line := range strings.Lines(log.String()) {
		var one map[string]any
		if json.Unmarshal([]byte(line), &one) == nil && one["failure"] != nil {
			failures = append(failures, one)
		}
	}
	if len(failures) != 2 {
		t.Fatalf("%d failures in %s", len(failures), log.String())
	}
	for i, stage := range []string{"json_parse", "upstream"} {
		f := failures[i]
		if at(f, "failure", "stage") != stage || at(f, "failure", "parser") != "instructed" || at(f, "failure", "model") != "far" || at(f, "failure", "cause") == nil || at(f, "id") == nil {
			t.Errorf("%v", f)
		}
		for _, key := range []string{"category", "description", "technical_details", "occurred_at", "recoverable"} {
			if at(f, "reason", key) == nil {
				t.Errorf("no %s in %v", key, f)
			}
		}
	}
	if at(failures[0], "failure", "content") != broken {
		t.Errorf("%v", failures[0])
	}
	if at(got, "error", "failure", "recoverable") != true || strings.Contains(at(got, "error", "message").(string), "scripted") {
		t.Errorf("%v", got)
	}
	if when, err := time.Parse(time.RFC3339Nano, at(got, "error", "failure", "occurred_at").(string)); err != nil || time.Since(when) > time.Minute {
		t.Errorf("%v %v", when, err)
	}
}

// TestChain puts one server in front of another: the second has the model and applies
// the masks.
func TestChain(t *testing.T) {
	for _, said := range []string{"", `{"name": "Ann", "age": 5}`} {
		_, far := start(t, setup{reply: said})
		c, err := remote.New(remote.Config{URL: far + "/v1", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		caps, err := c.Probe(t.Context())
		if err != nil || caps.Engine != remote.Stencil || !caps.Logprobs || !caps.JSONSchema || !caps.JSONObject || !caps.Tools || c.Model() != "tiny" {
			t.Fatalf("%+v %s %v", caps, c.Model(), err)
		}
		srv := New(Config{Log: slog.New(slog.DiscardHandler)})
		srv.AddUpstream("near", c)
		near := listen(t, srv)
		const body = `{"prompt": "Who?", "max_tokens": 80, "seed": 3, "schema": ` + personSchema
		status, _, got := post(t, near+"/generate_json", body+`}`)
		if status != 200 || at(got, "constraint", "validated") != true || at(got, "constraint", "strategy") != "native" || at(got, "json", "age") == nil || at(got, "usage", "completion_tokens").(float64) < 5 {
			t.Errorf("%d %v", status, got)
		}
		_, events := postStream(t, near+"/generate_json", body+`, "stream": true}`)
		text := ""
		for _, e := range events {
			if e.name == "token" {
				text += at(e.data, "text").(string)
			}
		}
		last := events[len(events)-1]
		if last.name != "done" || at(last.data, "text") != text || at(last.data, "constraint", "validated") != true || at(last.data, "usage", "completion_tokens").(float64) < 5 {
			t.Errorf("%q, then %v", text, last)
		}
		if text != at(got, "text") {
			t.Errorf("streamed %q, whole %q", text, at(got, "text"))
		}
		status, _, got = post(t, near+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "Who?"}], "max_tokens": 80, "logprobs": true, "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": `+personSchema+`}}}`)
		if status != 200 || at(got, "x_constraint", "validated") != true || len(at(got, "choices", 0, "logprobs", "content").([]any)) == 0 {
			t.Errorf("%d %v", status, got)
		}
		status, _, got = post(t, near+"/generate_json", body+`, "logprobs": true}`)
		if status != 200 || at(got, "fields", "/age", "confidence") == nil {
			t.Errorf("%d %v", status, got)
		}
		for _, choice := range []string{`"required", "parallel_tool_calls": false`, `{"type": "function", "function": {"name": "weather"}}`} {
			calling := strings.Replace(chatBody(weatherTools+`, "seed": 3, "tool_choice": `+choice), "tiny", "near", 1)
			status, _, got = post(t, near+"/v1/chat/completions", calling)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			if status != 200 || len(calls) != 1 || !checkWeather(callsOf(calls)[0][0], callsOf(calls)[0][1]) || at(got, "x_constraint", "validated") != true || at(got, "x_constraint", "strategy") != "tools" {
				t.Fatalf("%s: %d %v", choice, status, got)
			}
			if streamed := readCalls(t, near, calling); len(streamed) != 1 || !checkWeather(streamed[0][0], streamed[0][1]) {
				t.Errorf("%s: streamed %v", choice, streamed)
			}
		}
		status, _, got = post(t, near+"/generate", `{"prompt": "Say", "max_tokens": 10, "choice": ["yes", "no"]}`)
		if status != 200 || at(got, "text") != "yes" && at(got, "text") != "no" {
			t.Errorf("%d %v", status, got)
		}
		status, _, got = post(t, near+"/generate", `{"prompt": "Say", "max_tokens": 10}`)
		if status != 200 || at(got, "text") == "" {
			t.Errorf("%d %v", status, got)
		}
	}
}

// TestUpstreamStreamOutOfTime checks that a stream that exceeds its time limit
// reports so, wherever its events are at that moment.
func TestUpstreamStreamOutOfTime(t *testing.T) {
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			_, url := startUpstream(t, remote.Capabilities{}, Config{RequestTimeout: 100 * time.Millisecond}, "!endless")
			_, events := postStream(t, url+"/generate", `{"prompt": "Who?", "stream": true, "max_tokens": 1000000}`)
			if last := events[len(events)-1]; last.name != "error" || at(last.data, "error", "code") != "timeout" {
				t.Errorf("the last event is %v", last)
			}
		})
	}
}
