package server

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend/remote"
)

// A scriptedUpstream is a real HTTP server that answers chat completions from a script: one line per request,
// and the last line for all further requests.
type scriptedUpstream struct {
	mu     sync.Mutex
	lines  []string
	asked  []map[string]any // bodies of the requests
	models string           // answer of /models
}

// requests returns the bodies received.
func (u *scriptedUpstream) requests() []map[string]any {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked
}

// The words that a line of a script may begin with; any other line is the model's text.
//
//	!429 3        status, and Retry-After
//	!empty        no body
//	!raw TEXT     TEXT as the body
//	!length TEXT  a text that max_tokens cut off
//	!parsed TEXT  a document as data, beside other text
//	!refusal TEXT a refusal
//	!cut TEXT     a stream that ends after TEXT; for whole answers a body that does
//	!hang         nothing at all
//	!endless      a text that never ends, as fast as it is read
//	!empties TEXT TEXT as an event, without end
//	!switch       another protocol, and then nothing
//	!think A|B    reasoning A, then text B
//	!calls A|B|C  text A, then calls B and C, each a name and arguments
func (u *scriptedUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		io.WriteString(w, u.models)
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	u.mu.Lock()
	line := u.lines[min(len(u.asked), len(u.lines)-1)]
	u.asked = append(u.asked, body)
	u.mu.Unlock()
	word, rest, _ := strings.Cut(line, " ")
	message, finish := map[string]any{"role": "assistant", "content": line}, "stop"
	var status int
	switch {
	case len(word) == 4 && word[0] == '!' && word[1] >= '1' && word[1] <= '9':
		fmt.Sscanf(word, "!%d", &status)
		if rest != "" {
			w.Header().Set("Retry-After", rest)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error": {"message": "scripted %d", "type": "scripted", "code": "scripted"}}`, status)
		return
	case word == "!empty":
		return
	case word == "!raw":
		io.WriteString(w, rest)
		return
	case word == "!length":
		message["content"], finish = rest, "length"
	case word == "!parsed":
		message["content"], message["parsed"] = "see parsed", json.RawMessage(rest)
	case word == "!refusal":
		message["content"], message["refusal"] = nil, rest
	case word == "!think":
		thought, text, _ := strings.Cut(rest, "|")
		message["content"], message["reasoning_content"] = text, thought
	case word == "!calls":
		parts := strings.Split(rest, "|")
		message["content"], message["tool_calls"], finish = parts[0], scriptedCalls(parts[1:]), "tool_calls"
	case word == "!cut":
		message["content"] = rest
	case word == "!hang":
		<-r.Context().Done()
		return
	case word == "!empties":
		for r.Context().Err() == nil {
			fmt.Fprintf(w, "%s\n\n", rest)
		}
		return
	case word == "!switch":
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
		io.Copy(io.Discard, conn) // until it is closed at the other end
		return
	}
	text, _ := message["content"].(string)
	var logprobs any
	if body["logprobs"] == true {
		logprobs = map[string]any{"content": []any{map[string]any{"token": text, "logprob": -0.5, "top_logprobs": scriptedTop(body["top_logprobs"])}}}
	}
	usage := map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	if body["stream"] != true {
		out, _ := json.Marshal(map[string]any{"model": "far-1", "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish, "logprobs": logprobs}}, "usage": usage})
		if word == "!cut" {
			out = out[:len(out)/2]
			w.Header().Set("Content-Length", "9999")
		}
		w.Write(out)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v any) {
		out, _ := json.Marshal(v)
		fmt.Fprintf(w, ": ping\r\n\r\ndata: %s\r\n\r\n", out)
		w.(http.Flusher).Flush()
	}
	if refusal, ok := message["refusal"]; ok {
		send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"refusal": refusal}}}})
	}
	if thought, ok := message["reasoning_content"]; ok {
		send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"reasoning_content": thought}}}})
	}
	for i := 0; i < len(text); i += 7 {
		piece := text[i:min(i+7, len(text))]
		send(map[string]any{"model": "far-1", "choices": []any{map[string]any{"delta": map[string]any{"content": piece}}}})
	}
	for word == "!endless" && r.Context().Err() == nil {
		send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": "on and "}}}})
	}
	if calls, ok := message["tool_calls"].([]any); ok {
		sendCalls(send, calls)
	}
	if word == "!cut" {
		return
	}
	send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{}, "finish_reason": finish, "logprobs": logprobs}}})
	send(map[string]any{"choices": []any{}, "usage": usage})
	io.WriteString(w, "data: [DONE]\n\n")
}

// scriptedTop returns n alternatives.
func scriptedTop(n any) []any {
	out := []any{}
	for i := range int(max(0, number(n))) {
		out = append(out, map[string]any{"token": fmt.Sprintf("t%d", i), "logprob": -0.5 - float64(i), "bytes": []int{'t', '0' + i}})
	}
	return out
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

// startUpstream runs a scripted upstream and a server in front of it.
func startUpstream(t testing.TB, caps remote.Capabilities, cfg Config, script ...string) (*scriptedUpstream, string) {
	t.Helper()
	u := &scriptedUpstream{lines: script}
	far := httptest.NewServer(u)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c, err := remote.New(remote.Config{
		URL: far.URL + "/v1", Model: "far", Capabilities: &caps, Timeout: 400 * time.Millisecond, Backoff: time.Millisecond, Retries: 2, MaxWait: 2 * time.Second,
		PricePrompt: 1, PriceCompletion: 2, Log: cfg.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := New(cfg)
	srv.AddUpstream("far", c)
	near := httptest.NewServer(srv.Handler())
	t.Cleanup(func() {
		near.Close()
		far.CloseClientConnections()
		far.Close()
	})
	return u, near.URL
}

// An askedCase is a script and the expected result of a request. The request's members are added to a prompt
// and the schema of a person.
type askedCase struct {
	name   string
	script []string
	with   string // further members
	status int
	want   string // the JSON of the answer, or the code of the error
	tries  int    // requests to the upstream; 0: not checked
	steps  string // steps of the edits, joined by commas
}

const (
	good   = `{"name": "Ann", "age": 5}`
	wrong  = `{"name": "Ann", "age": 500}`
	broken = `{"name": "Ann", "age": }`
	strict = `, "retry_max": 0`
	mend   = `, "repair": true, "retry_max": 0`
	loose  = `, "strict": false, "retry_max": 0`
)

var askedCases = []askedCase{
	{"as it is", []string{good}, ``, 200, good, 1, ""},
	{"compact", []string{`{"name":"Ann","age":5}`}, ``, 200, good, 1, ""},
	{"pretty", []string{"{\n  \"name\": \"Ann\",\n  \"age\": 5\n}\n"}, ``, 200, good, 1, ""},
	{"further keys in any order", []string{`{"age": 5, "name": "Ann"}`}, ``, 200, good, 1, ""},

	// Clean-up, in every mode.
	{"fence", []string{"```json\n" + good + "\n```"}, strict, 200, good, 1, "code_fence"},
	{"fence without a language", []string{"```\n" + good + "\n```"}, strict, 200, good, 1, "code_fence"},
	{"fence and talk", []string{"Sure!\n```json\n" + good + "\n```\nAnything else?"}, strict, 200, good, 1, "code_fence"},
	{"fence that does not end", []string{"```json\n" + good}, strict, 200, good, 1, "code_fence"},
	{"fence of one line", []string{"```json " + good + "```"}, strict, 200, good, 1, "code_fence"},
	{"fence in upper case", []string{"```JSON\n" + good + "\n```"}, strict, 200, good, 1, "code_fence"},
	{"two fences, one fits", []string{"```json\n" + wrong + "\n```\nBetter:\n```json\n" + good + "\n```"}, strict, 200, good, 1, "code_fence"},
	{"a fence of something else first", []string{"```sh\nls\n```\n```json\n" + good + "\n```"}, strict, 200, good, 1, "code_fence"},
	{"talk before", []string{"Here is the JSON: " + good}, strict, 200, good, 1, "surrounding_text"},
	{"talk after", []string{good + "\nI hope this helps."}, strict, 200, good, 1, "surrounding_text"},
	{"talk on both sides", []string{"The person is\n" + good + "\nas asked."}, strict, 200, good, 1, "surrounding_text"},
	{"talk with a note", []string{"As [1] says: " + good}, strict, 200, good, 1, "surrounding_text"},
	{"talk with braces in strings", []string{`So: {"name": "}{", "age": 5} it is`}, strict, 200, `{"name": "}{", "age": 5}`, 1, "surrounding_text"},
	{"two documents, one fits", []string{"Not " + wrong + " but " + good + " is right"}, strict, 200, good, 1, "surrounding_text"},
	{"the same twice", []string{good + " or again " + good}, strict, 200, good, 1, "surrounding_text"},
	{"two documents that fit", []string{good + " or " + `{"name": "Bo", "age": 6}`}, strict, 422, "validation_failed", 1, ""},
	{"byte-order mark", []string{"\ufeff" + good}, strict, 200, good, 1, "byte_order_mark"},
	{"byte-order mark and fence", []string{"\ufeff```json\n" + good + "\n```"}, strict, 200, good, 1, "byte_order_mark,code_fence"},
	{"bold keys", []string{`{**"name"**: "Ann", "age": 5}`}, strict, 200, good, 1, "emphasis"},
	{"bold values", []string{`{"name": **"Ann"**, "age": **5**}`}, strict, 200, good, 1, "emphasis,emphasis"},
	{"italic values", []string{`{"name": *"Ann"*, "age": _5_}`}, strict, 200, good, 1, "emphasis,emphasis"},
	{"values as code", []string{"{\"name\": `\"Ann\"`, \"age\": `5`}"}, strict, 200, good, 1, "emphasis,emphasis"},
	{"bold text in a string stays", []string{`{"name": "**Ann**", "age": 5}`}, strict, 200, `{"name": "**Ann**", "age": 5}`, 1, ""},
	{"typographic quotes", []string{`{“name”: “Ann”, “age”: 5}`}, strict, 200, good, 1, "typographic_quotes"},
	{"typographic quotes, German", []string{`{„name“: „Ann“, „age“: 5}`}, strict, 200, good, 1, "typographic_quotes"},
	{"typographic quotes in a string stay", []string{`{"name": "“Ann”", "age": 5}`}, strict, 200, `{"name": "“Ann”", "age": 5}`, 1, ""},
	{"everything at once", []string{"\ufeffOf course:\n```json\n{“name”: **“Ann”**, “age”: 5}\n```\nDone."}, mend, 200, good, 1, "byte_order_mark,code_fence,emphasis,typographic_quotes"},
	{"a fence in a string stays", []string{"{\"name\": \"```x```\", \"age\": 5}"}, strict, 200, "{\"name\": \"```x```\", \"age\": 5}", 1, ""},

	// Strict: broken documents are errors.
	{"strict, trailing comma", []string{`{"name": "Ann", "age": 5,}`}, strict, 422, "validation_failed", 1, ""},
	{"strict, single quotes", []string{`{'name': 'Ann', 'age': 5}`}, strict, 422, "validation_failed", 1, ""},
	{"strict, bracket missing", []string{`{"name": "Ann", "age": 5`}, strict, 422, "validation_failed", 1, ""},
	{"strict, two brackets", []string{good + "}"}, strict, 422, "validation_failed", 1, ""},
	{"strict, comment", []string{`{"name": "Ann", "age": 5 /* five */}`}, strict, 422, "validation_failed", 1, ""},
	{"strict, arithmetic", []string{`{"name": "Ann", "age": 2 + 3}`}, strict, 422, "validation_failed", 1, ""},
	{"strict, no JSON at all", []string{"I can't do that, Dave."}, strict, 422, "validation_failed", 1, ""},
	{"strict, text for an integer", []string{`{"name": "Ann", "age": "5"}`}, strict, 422, "validation_failed", 1, ""},
	{"strict, wrong document", []string{wrong}, strict, 422, "validation_failed", 1, ""},
	{"strict, a key missing", []string{`{"name": "Ann"}`}, strict, 422, "validation_failed", 1, ""},
	{"strict, a key too many", []string{`{"name": "Ann", "age": 5, "x": 1}`}, strict, 422, "validation_failed", 1, ""},
	{"strict, another type", []string{`[1]`}, strict, 422, "validation_failed", 1, ""},
	{"strict, a string of JSON", []string{`"{\"name\": \"Ann\", \"age\": 5}"`}, strict, 422, "validation_failed", 1, ""},
	{"strict, Python", []string{`{"name": None, "age": 5}`}, strict, 422, "validation_failed", 1, ""},

	// Repair.
	{"trailing comma", []string{`{"name": "Ann", "age": 5,}`}, mend, 200, good, 1, "comma"},
	{"comma missing", []string{`{"name": "Ann" "age": 5}`}, mend, 200, good, 1, "comma"},
	{"colon missing", []string{`{"name" "Ann", "age": 5}`}, mend, 200, good, 1, "colon"},
	{"equals for colon", []string{`{"name" = "Ann", "age" = 5}`}, mend, 200, good, 1, "colon,colon"},
	{"single quotes", []string{`{'name': 'Ann', 'age': 5}`}, mend, 200, good, 1, "quotes,quotes,quotes"},
	{"keys without quotes", []string{`{name: "Ann", age: 5}`}, mend, 200, good, 1, "quotes,quotes"},
	{"value without quotes", []string{`{"name": Ann, "age": 5}`}, mend, 200, good, 1, "quotes"},
	{"last quote missing", []string{`{"name": "Ann, "age": 5}`}, mend, 200, good, 1, "quotes"},
	{"first quote missing", []string{`{"name": Ann", "age": 5}`}, mend, 200, good, 1, "quotes"},
	{"quotes inside", []string{`{"name": "the "Ann" one", "age": 5}`}, mend, 200, `{"name": "the \"Ann\" one", "age": 5}`, 1, "quotes"},
	{"line break inside", []string{"{\"name\": \"An\nn\", \"age\": 5}"}, mend, 200, `{"name": "An\nn", "age": 5}`, 1, "escapes"},
	{"bracket missing", []string{`{"name": "Ann", "age": 5`}, mend, 200, good, 1, "truncated"},
	{"bracket too many", []string{good + "}"}, mend, 200, good, 1, "bracket"},
	{"wrong bracket", []string{`{"name": "Ann", "age": 5]`}, mend, 200, good, 1, "bracket"},
	{"comment in a line", []string{"{\"name\": \"Ann\", // her\n\"age\": 5}"}, mend, 200, good, 1, "comment"},
	{"comment in between", []string{`{"name": "Ann", "age": 5 /* five */}`}, mend, 200, good, 1, "comment"},
	{"plus sign", []string{`{"name": "Ann", "age": +5}`}, mend, 200, good, 1, "number"},
	{"text for an integer", []string{`{"name": "Ann", "age": "5"}`}, mend, 200, good, 1, "coercion"},
	{"number for a text", []string{`{"name": 5, "age": 5}`}, mend, 200, `{"name": "5", "age": 5}`, 1, "coercion"},
	{"a string of JSON", []string{`"{\"name\": \"Ann\", \"age\": 5}"`}, mend, 200, good, 1, "json_in_string"},
	{"an escaped document", []string{`{\"name\": \"Ann\", \"age\": 5}`}, mend, 200, good, 1, "escaped_document"},
	{"fence and trailing comma", []string{"```json\n{\"name\": \"Ann\", \"age\": 5,}\n```"}, mend, 200, good, 1, "code_fence,comma"},
	{"talk and single quotes", []string{"Here: {'name': 'Ann', 'age': 5}"}, mend, 200, good, 1, "surrounding_text,quotes,quotes,quotes"},
	{"Python", []string{`{'name': 'Ann', 'age': '5',}`}, mend, 200, good, 1, "quotes,quotes,quotes,quotes,comma,coercion"},
	{"text after", []string{`{"name": "Ann", "age": 5,} That is all.`}, mend, 200, good, 1, "comma,trailing_text"},
	{"assignment", []string{`const person = {name: "Ann", age: 5};`}, mend, 200, good, 1, "surrounding_text,quotes,quotes,trailing_text"},

	// What can't be repaired unambiguously is an error.
	{"arithmetic", []string{`{"name": "Ann", "age": 2 + 3}`}, mend, 422, "validation_failed", 1, ""},
	{"multiplication by a name", []string{`{"name": "Ann", "age": 100 * price}`}, mend, 422, "validation_failed", 1, ""},
	{"a call", []string{`{"name": "Ann", "age": len(x)}`}, mend, 422, "validation_failed", 1, ""},
	{"concatenation", []string{`{"name": "A" + "nn", "age": 5}`}, mend, 422, "validation_failed", 1, ""},
	{"ellipsis", []string{`{"name": "Ann", ...}`}, mend, 422, "validation_failed", 1, ""},
	{"a value missing", []string{broken}, mend, 422, "validation_failed", 1, ""},
	{"a string cut off", []string{`{"age": 5, "name": "An`}, mend, 422, "validation_failed", 1, ""},
	{"cut by the budget", []string{`!length {"name": "Ann", "age": 5`}, mend, 422, "validation_failed", 1, ""},
	{"cut by the budget between values", []string{`!length {"name": "Ann",`}, mend, 422, "validation_failed", 1, ""},
	{"whole in spite of the budget", []string{`!length ` + good}, mend, 200, good, 1, ""},
	{"leading zeros", []string{`{"name": "Ann", "age": 05}`}, mend, 422, "validation_failed", 1, ""},
	{"a fraction for an integer", []string{`{"name": "Ann", "age": "5.5"}`}, mend, 422, "validation_failed", 1, ""},
	{"a word for an integer", []string{`{"name": "Ann", "age": "five"}`}, mend, 422, "validation_failed", 1, ""},
	{"wrong document", []string{wrong}, mend, 422, "validation_failed", 1, ""},
	{"undefined", []string{`{"name": undefined, "age": 5}`}, mend, 422, "validation_failed", 1, ""},
	{"no JSON at all", []string{"I can't do that, Dave."}, mend, 422, "validation_failed", 1, ""},

	// Neither: unchanged, with a warning.
	{"loose, wrong document", []string{wrong}, loose, 200, wrong, 1, ""},
	{"loose, fence and wrong document", []string{"```\n" + wrong + "\n```"}, loose, 200, wrong, 1, "code_fence"},
	{"loose, broken", []string{broken}, loose, 200, "null", 1, ""},
	{"loose, text", []string{"I can't do that, Dave."}, loose, 200, "null", 1, ""},
	{"loose, text for an integer", []string{`{"name": "Ann", "age": "5"}`}, loose, 200, `{"name": "Ann", "age": "5"}`, 1, ""},
	{"loose and repair, repaired", []string{`{"name": "Ann", "age": "5",}`}, loose + `, "repair": true`, 200, good, 1, "comma,coercion"},
	{"loose and repair, wrong", []string{`{"name": "Ann", "age": 500,}`}, loose + `, "repair": true`, 200, wrong, 1, "comma"},
	{"loose, good", []string{good}, loose, 200, good, 1, ""},
	{"loose, empty", []string{""}, loose, 422, "empty_answer", 1, ""},

	// Re-asked.
	{"broken twice, then good", []string{broken, broken, good}, ``, 200, good, 3, ""},
	{"broken once, then good", []string{broken, good}, ``, 200, good, 2, ""},
	{"wrong twice, then good", []string{wrong, wrong, good}, ``, 200, good, 3, ""},
	{"empty, then good", []string{"", good}, ``, 200, good, 2, ""},
	{"blank, then good", []string{" \n", good}, ``, 200, good, 2, ""},
	{"talk, then fenced", []string{"No.", "```json\n" + good + "\n```"}, ``, 200, good, 2, "code_fence"},
	{"arithmetic, then good", []string{`{"name": "Ann", "age": 2 + 3}`, good}, ``, 200, good, 2, ""},
	{"cut, then good", []string{`!length {"name": "A`, good}, ``, 200, good, 2, ""},
	{"broken three times", []string{broken, broken, broken, good}, ``, 422, "validation_failed", 3, ""},
	{"wrong three times", []string{wrong}, ``, 422, "validation_failed", 3, ""},
	{"empty three times", []string{""}, ``, 422, "empty_answer", 3, ""},
	{"no further try", []string{broken, good}, `, "retry_max": 0`, 422, "validation_failed", 1, ""},
	{"one further try", []string{broken, broken, good}, `, "retry_max": 1`, 422, "validation_failed", 2, ""},
	{"five further tries", []string{broken, broken, wrong, "", broken, good}, `, "retry_max": 5`, 200, good, 6, ""},
	{"loose tries too", []string{broken, good}, `, "strict": false`, 200, good, 2, ""},
	{"loose gives up", []string{wrong}, `, "strict": false`, 200, wrong, 3, ""},
	{"repair before another try", []string{`{"name": "Ann", "age": 5,}`, wrong}, `, "repair": true`, 200, good, 1, "comma"},
	{"repair fails, then good", []string{broken, good}, `, "repair": true`, 200, good, 2, ""},
	{"wrong, then repaired", []string{wrong, `{"name": "Ann", "age": "5"}`}, `, "repair": true`, 200, good, 2, "coercion"},
	{"too many for retry_max", []string{good}, `, "retry_max": 17`, 400, "invalid_value", 0, ""},
	{"a fraction for retry_max", []string{good}, `, "retry_max": 0.5`, 400, "invalid_value", 0, ""},

	// The upstream's failures.
	{"429, then good", []string{"!429", good}, strict, 200, good, 2, ""},
	{"429 with Retry-After, then good", []string{"!429 0.05", good}, strict, 200, good, 2, ""},
	{"429 twice, then good", []string{"!429", "!429", good}, strict, 200, good, 3, ""},
	{"429 for ever", []string{"!429"}, strict, 429, "upstream_rate_limited", 3, ""},
	{"429 for longer than we wait", []string{"!429 60", good}, strict, 429, "upstream_rate_limited", 1, ""},
	{"500, then good", []string{"!500", good}, strict, 200, good, 2, ""},
	{"502, 503, then good", []string{"!502", "!503 0", good}, strict, 200, good, 3, ""},
	{"500 for ever", []string{"!500"}, strict, 503, "upstream_unavailable", 3, ""},
	{"another protocol", []string{"!switch"}, strict, 502, "upstream_malformed", 1, ""},
	{"504 for ever", []string{"!504"}, strict, 504, "timeout", 3, ""},
	{"529 for ever", []string{"!529"}, strict, 503, "upstream_unavailable", 3, ""},
	{"400", []string{"!400"}, strict, 400, "upstream_refused", 1, ""},
	{"401", []string{"!401"}, strict, 502, "upstream_denied", 1, ""},
	{"403", []string{"!403"}, strict, 502, "upstream_denied", 1, ""},
	{"404", []string{"!404"}, strict, 400, "upstream_refused", 1, ""},
	{"422", []string{"!422"}, strict, 400, "upstream_refused", 1, ""},
	{"a redirect", []string{"!302"}, strict, 502, "upstream_malformed", 1, ""},
	{"an empty body", []string{"!empty"}, strict, 502, "upstream_malformed", 1, ""},
	{"a body that is no JSON", []string{"!raw <html>busy</html>"}, strict, 502, "upstream_malformed", 1, ""},
	{"a body without choices", []string{`!raw {"choices": []}`}, strict, 502, "upstream_malformed", 1, ""},
	{"a body without a message", []string{`!raw {"choices": [{"index": 0}]}`}, strict, 502, "upstream_malformed", 1, ""},
	{"an error with status 200", []string{`!raw {"error": {"message": "overloaded"}}`, good}, strict, 200, good, 2, ""},
	{"a body cut off, then good", []string{"!cut " + good, good}, strict, 200, good, 2, ""},
	{"a body cut off for ever", []string{"!cut " + good}, strict, 503, "upstream_unavailable", 3, ""},
	{"no answer", []string{"!hang"}, strict + `, "timeout": 0.2`, 504, "timeout", 1, ""},
	{"no answer, then good", []string{"!hang", good}, strict, 200, good, 2, ""},
	{"429, broken, 500, good", []string{"!429", broken, "!500", good}, ``, 200, good, 4, ""},
	{"content in parts", []string{`!raw {"choices": [{"message": {"content": [{"type": "text", "text": "{\"name\": \"Ann\","}, {"type": "text", "text": " \"age\": 5}"}]}, "finish_reason": "stop"}]}`}, strict, 200, good, 1, ""},
	{"content null", []string{`!raw {"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}`}, strict, 422, "empty_answer", 1, ""},
	{"a refusal", []string{"!refusal I won't."}, ``, 422, "refused_by_model", 1, ""},
	{"data beside text", []string{"!parsed " + good}, strict, 200, good, 1, ""},
	{"wrong data, then good", []string{"!parsed " + wrong, good}, ``, 200, good, 2, ""},
	{"reasoning apart", []string{"!think Ann it is.|" + good}, strict, 200, good, 1, ""},
	{"reasoning in marks", []string{"<think>\nAnn it is.\n</think>\n\n" + good}, strict, 200, good, 1, "reasoning"},
	{"reasoning with a draft", []string{"<think>" + wrong + "</think>" + good}, strict, 200, good, 1, "reasoning"},

	// What is not supported with an upstream.
	{"two that are wrong", []string{wrong}, `, "n": 2, "retry_max": 0`, 422, "validation_failed", 2, ""},
	{"logprobs that there are not", []string{good}, `, "logprobs": true`, 400, "not_offered", 0, ""},
	{"a bad schema", []string{good}, `, "whitespace": 5`, 400, "invalid_value", 0, ""},
}

// TestUpstream runs the cases between an upstream and a client.
func TestUpstream(t *testing.T) {
	if len(askedCases) < 150 {
		t.Errorf("only %d cases", len(askedCases))
	}
	for _, c := range askedCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, url := startUpstream(t, remote.Capabilities{}, Config{}, c.script...)
			status, header, got := post(t, url+"/generate_json", `{"prompt": "Who?", "schema": `+personSchema+c.with+`}`)
			if c.tries > 0 && len(u.requests()) != c.tries {
				t.Errorf("%d requests, want %d", len(u.requests()), c.tries)
			}
			if status != c.status {
				t.Fatalf("status %d: %v", status, got)
			}
			if status != 200 {
				if code := at(got, "error", "code"); code != c.want {
					t.Errorf("code %v: %v", code, got)
				}
				wait := header.Get("Retry-After") != ""
				if wait != (status == 429 || status == 503) || wait == (header.Get("X-Should-Retry") == "false") {
					t.Errorf("headers %v", header)
				}
				if c.tries > 0 {
					for _, key := range []string{"category", "description", "technical_details", "occurred_at", "recoverable"} {
						if at(got, "error", "failure", key) == nil {
							t.Errorf("no %s in %v", key, got)
						}
					}
				}
				return
			}
			text, _ := json.Marshal(got["json"])
			var want any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if wanted, _ := json.Marshal(want); string(text) != string(wanted) {
				t.Errorf("%s, want %s", text, wanted)
			}
			var steps []string
			edits, _ := at(got, "constraint", "edits").([]any)
			for _, e := range edits {
				steps = append(steps, e.(map[string]any)["step"].(string))
			}
			if strings.Join(steps, ",") != c.steps {
				t.Errorf("steps %v, want %s", edits, c.steps)
			}
			if at(got, "constraint", "strategy") != "instructed" || len(at(got, "constraint", "enforced").([]any)) > 0 || len(at(got, "constraint", "checked").([]any)) == 0 {
				t.Errorf("receipt %v", got["constraint"])
			}
			valid := at(got, "constraint", "validated")
			if warned := got["warnings"] != nil; valid != (c.want != "null" && c.want != wrong && !strings.Contains(c.want, `"5"}`)) && warned {
				t.Errorf("validated %v: %v", valid, got)
			}
			if valid == false && got["warnings"] == nil {
				t.Errorf("not valid and no warning: %v", got)
			}
		})
	}
}

// listen runs a server behind a real listener.
func listen(t testing.TB, srv *Server) string {
	t.Helper()
	h := httptest.NewServer(srv.Handler())
	t.Cleanup(h.Close)
	return h.URL
}

// Instructed requests begin with an exchange that shows an example, which fits the schema, and have a rule against markdown in strings.
func TestUpstreamExample(t *testing.T) {
	for _, schema := range []string{
		personSchema,
		`{"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}, "when": {"type": "string", "format": "date-time"}, "price": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.01}}, "required": ["id", "when", "price"], "additionalProperties": false}`,
		`{"type": "array", "minItems": 2, "uniqueItems": true, "items": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}}`,
		`{"$ref": "#/$defs/order", "$defs": {"order": {"type": "object", "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/line"}}, "note": {"type": ["string", "null"]}}, "required": ["lines"]}, "line": {"type": "object", "properties": {"sku": {"type": "string", "minLength": 8, "maxLength": 8}, "count": {"type": "integer", "minimum": 1}}, "required": ["sku", "count"]}}}`,
		`{"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer", "maximum": -3}}, "required": ["kind", "x"]}, {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}]}`,
	} {
		u, url := startUpstream(t, remote.Capabilities{}, Config{}, "no")
		post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "retry_max": 0, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": `+schema+`}}}`)
		list := u.requests()[0]["messages"].([]any)
		if len(list) != 4 || !strings.Contains(at(list[0], "content").(string), "without bold or italics") || at(list[1], "role") != "user" || at(list[2], "role") != "assistant" || at(list[3], "content") != "x" {
			t.Errorf("%s: %v", schema, list)
			continue
		}
		example := at(list[2], "content").(string)
		if status, _, got := post(t, url+"/validate", `{"schema": `+schema+`, "document": `+example+`}`); status != 200 || got["valid"] != true {
			t.Errorf("%s doesn't fit %s: %v", example, schema, got)
		}
	}
	for with, caps := range map[string]remote.Capabilities{`"prompt_schema": "never"`: {}, `"n": 1`: {Engine: remote.OpenAI, JSONSchema: true}} {
		u, url := startUpstream(t, caps, Config{}, good)
		post(t, url+"/generate_json", `{"prompt": "Who?", `+with+`, "schema": `+personSchema+`}`)
		if text := fmt.Sprint(u.requests()[0]["messages"]); strings.Contains(text, "example values") {
			t.Errorf("%s: %s", with, text)
		}
	}
}
