package arms

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/eval"
	"github.com/stencil-json/stencil/eval/sets"
)

func TestParse(t *testing.T) {
	a, err := Parse(`never=http://127.0.0.1:8080/v1/,{"mode": "json", "ask": "template", "prompt_schema": "never", "model": "m"}`)
	if err != nil || a.Name != "never" || a.URL != "http://127.0.0.1:8080" || a.Mode != JSON || a.Ask != AskTemplate || len(a.Body) != 2 || string(a.Body["prompt_schema"]) != `"never"` {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := Parse("x=https://h"); err != nil || a.Mode != Constrained || a.Body != nil {
		t.Errorf("%+v %v", a, err)
	}
	for text, want := range map[string]string{
		"http://h": "NAME=URL", "=http://h": "NAME=URL", "a=h": "not the address", "a=ftp://h": "not the address", "a=http://h,": "fields of the request", "a=http://h,[]": "fields of the request",
		`a=http://h,{} {}`: "one object", "a=http://h,null": "one object", `a=http://h,{"mode": "best"}`: "mode: ", `a=http://h,{"ask": 5}`: "ask: ", `a=http://h,{"stream": true}`: `"stream" can't`, `a=http://h,{"messages": []}`: `"messages" can't`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// caseOf returns the case of a line in the format of eval.ReadCases.
func caseOf(t *testing.T, line string) sets.Case {
	in, err := eval.ReadCases(strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	list, err := sets.Own(in)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestBody(t *testing.T) {
	document := caseOf(t, `{"id": "1", "system": "S", "prompt": "P", "schema": {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": ["string", "null"]}, "n": {"type": "integer"}}}, "expected": {"a": 5}, "max_tokens": 9}`)
	calling := sets.Case{Messages: []sets.Message{{Role: "user", Content: "P"}}, Tools: []sets.Tool{{Name: "f", Parameters: json.RawMessage(`{}`)}}}
	open := sets.Case{Messages: []sets.Message{{Role: "user", Content: "P"}}}
	for _, c := range []struct {
		mode Mode
		ask  Ask
		of   *sets.Case
		has  []string
		not  []string
	}{
		{Constrained, "", &document, []string{`"content":"S"`, `"json_schema":{"name":"answer","schema":{"type"`, `"strict":true`, `"max_tokens":9`, `"temperature":0`}, []string{"fits this", "tools"}},
		{Constrained, AskTemplate, &document, []string{`S\n\nAnswer with JSON of this form, and nothing else:\n{\"b\": \"…\", \"a\": \"… or null\", \"n\": 0}`, "json_schema"}, nil},
		{Constrained, AskType, &document, []string{`nothing else:\n{b: string; a: string | null; n: number}`}, nil},
		{Constrained, AskKeys, &document, []string{`Its keys: \"b\", \"a\" (or null), \"n\".`}, nil},
		{Free, "", &document, []string{`S\n\nAnswer with JSON that fits this JSON Schema, and nothing else:\n{\"type\":\"object\"`}, []string{"response_format", "tools"}},
		{Free, AskNothing, &document, []string{`"content":"S"`}, []string{"fits this", "response_format"}},
		{JSON, "", &document, []string{"fits this", `"response_format":{"type":"json_object"}`}, nil},
		{Tools, "", &document, []string{`"tool_choice":"required"`, `"name":"answer"`, `"parallel_tool_calls":false`, `"parameters":{"type"`}, []string{"response_format", "fits this"}},
		{ToolsAuto, "", &document, []string{`"tool_choice":"auto"`}, nil},
		{ToolsText, "", &document, []string{`"tool_choice":"auto"`, `"name":"answer"`, `"parallel_tool_calls":false`}, nil},
		{Constrained, "", &open, []string{`"response_format":{"type":"json_object"}`, `[{"content":"P","role":"user"}]`}, []string{"max_tokens"}},
		{Free, "", &open, []string{`"messages":[{`}, []string{"response_format", "fits this"}},
		{Constrained, "", &calling, []string{`"tool_choice":"required"`, `"name":"f"`}, []string{"response_format", "These functions", "parallel_tool_calls"}},
		{ToolsAuto, "", &calling, []string{`"tool_choice":"auto"`}, nil},
		{Free, "", &calling, []string{`These functions can be called:\n[{\"name\":\"f\"`}, []string{`"tools"`}},
	} {
		a := Arm{Mode: c.mode, Ask: c.ask}
		if err := a.Check(c.of); err != nil {
			t.Error(err)
		}
		body, err := a.body(c.of)
		if err != nil {
			t.Error(err)
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(body); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(b.String(), `"role":"user","content":"P"`, `"content":"P","role":"user"`)
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s %s: %s is not in %s", c.mode, c.ask, want, text)
			}
		}
		for _, bad := range c.not {
			if strings.Contains(text, bad) {
				t.Errorf("%s %s: %s is in %s", c.mode, c.ask, bad, text)
			}
		}
	}
	for place, want := range map[Place]string{
		PlaceAfter: `{"content":"S\n\nI","role":"system"},{"content":"P"`, PlaceBefore: `{"content":"I\n\nS","role":"system"},{"content":"P"`,
		PlaceUser: `{"content":"S","role":"system"},{"content":"P\n\nI"`, PlaceBeforeUser: `{"content":"S","role":"system"},{"content":"I\n\nP"`,
	} {
		text, err := json.Marshal(place.put(document.Messages, "I"))
		var list []map[string]string
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		if text, _ = json.Marshal(list); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s %v", place, text, err)
		}
		if alone := place.put(open.Messages, "I"); place == PlaceBefore && (len(alone) != 2 || alone[0].Role != "system") {
			t.Errorf("%v", alone)
		}
	}
	// Fields of the arm override those of the case, which is not changed.
	a := Arm{Mode: Free, Body: map[string]json.RawMessage{"temperature": json.RawMessage("0.5")}}
	if body, err := a.body(&document); err != nil || string(body["temperature"].(json.RawMessage)) != "0.5" || document.Messages[0].Content != "S" {
		t.Errorf("%v %v", body, err)
	}
	for _, c := range []struct {
		arm Arm
		of  *sets.Case
	}{{Arm{Mode: JSON}, &calling}, {Arm{Mode: Tools}, &open}, {Arm{Mode: ToolsAuto}, &open}, {Arm{Mode: ToolsText}, &open}, {Arm{Mode: Free, Ask: AskTemplate}, &calling}} {
		if c.arm.Check(c.of) == nil {
			t.Errorf("%+v can be asked", c.arm)
		}
	}
}

func TestDocumentIn(t *testing.T) {
	for text, want := range map[string]string{
		` {"a": 1} `: `{"a": 1}`,
		"Here:\n```json\n{\"a\": \"}\"}\n```\nYes":    `{"a": "}"}`,
		"{not} it\n```\n[1, 2]\n```":                  `[1, 2]`,
		"```json\n{\"a\": 1}":                         `{"a": 1}`,
		"```\nnothing\n```\nbut {\"a\": {\"b\": 2}}!": `{"a": {"b": 2}}`,
		`it is {a} or {"a": 1} or {"b": 2}`:           `{"a": 1}`,
		`<think>{"a": 0}</think>{"a": 1}`:             `{"a": 1}`,
		`see [1] and {"a": 1}`:                        `{"a": 1}`,
		`{"a": 1`:                                     ``,
		`none`:                                        ``,
		strings.Repeat("{", 100_000):                  ``,
	} {
		if got := string(documentIn(text)); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

func TestCallsIn(t *testing.T) {
	for text, want := range map[string]string{
		`[{"name": "f", "arguments": {"n": 1}}, {"name": "g", "arguments": {}}]`:                                                 `[{f {"n": 1}} {g {}}]`,
		"<tool_call>\n{\"name\": \"f\", \"parameters\": {\"n\": 1}}\n</tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 2}}": `[{f {"n": 1}} {f {"n": 2}}]`,
		`I would call f([1]) {"n": 1}`:                               `[]`,
		strings.Repeat(`{"name": "f", "arguments": {}}`, maxCalls+5): fmt.Sprint(strings.Fields(strings.Repeat(`{f§{}} `, maxCalls))),
	} {
		if got := fmt.Sprint(callsIn(text)); got != strings.ReplaceAll(want, "§", " ") {
			t.Errorf("%.80s: %s, want %s", text, got, want)
		}
	}
}

// TestReadToolsText checks that in mode ToolsText, calls are searched for in the text
// if the answer has none.
func TestReadToolsText(t *testing.T) {
	calling, document := sets.Case{Tools: []sets.Tool{{Name: "f"}}}, sets.Case{Schema: json.RawMessage("{}")}
	text := message{Content: "So:\n```json\n{\"name\": \"answer\", \"arguments\": {\"n\": 1}}\n```"}
	call := message{Content: `{"name": "g", "arguments": {}}`, Calls: []sets.Call{{Name: "f", Arguments: "{}"}}}
	for _, c := range []struct {
		mode Mode
		of   *sets.Case
		in   message
		want string
	}{
		{ToolsText, &calling, text, `[{answer {"n": 1}}] `}, {ToolsAuto, &calling, text, "[] "}, {ToolsText, &calling, call, "[{f {}}] "},
		{ToolsText, &document, text, `[] {"n": 1}`}, {ToolsAuto, &document, text, "[] "},
	} {
		got := read(&Arm{Mode: c.mode}, c.of, c.in)
		if s := fmt.Sprintf("%v %s", got.Calls, got.Document); s != c.want {
			t.Errorf("%s: %s, not %s", c.mode, s, c.want)
		}
	}
}

// scripted is a server whose answers depend on prompt and response format.
type scripted struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // models and prompts
	model string
}

func newScripted(t *testing.T) *scripted {
	s := &scripted{model: "m1"}
	loading := map[string]bool{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.URL.Path == "/v1/models" {
			fmt.Fprintf(w, `{"data": [{"id": %q}]}`, s.model)
			return
		}
		var body struct {
			Model    string          `json:"model"`
			Messages []sets.Message  `json:"messages"`
			Format   json.RawMessage `json:"response_format"`
			Tools    json.RawMessage `json:"tools"`
			Flavour  string          `json:"flavour"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer key" {
			t.Errorf("%s %s %v", r.URL, r.Header, err)
		}
		prompt := body.Messages[len(body.Messages)-1].Content
		s.asked = append(s.asked, body.Flavour+" "+prompt)
		content := `{"a": 5}`
		switch {
		case prompt == "loading" && !loading[body.Flavour]:
			loading[body.Flavour] = true
			w.WriteHeader(503)
			return
		case prompt == "refused" && body.Format != nil:
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error": {"message": "no such keyword"}}`)
			return
		case prompt == "empty":
			fmt.Fprint(w, `{"choices": []}`)
			return
		case body.Tools != nil:
			fmt.Fprint(w, `{"choices": [{"message": {"content": null, "tool_calls": [{"function": {"name": "answer", "arguments": "{\"a\": 5}"}}]}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}`)
			return
		case body.Format == nil && prompt == "hard":
			content = "I can't."
		case body.Format == nil:
			content = "```json\n{\"a\": 6}\n```"
		}
		text, _ := json.Marshal(content)
		fmt.Fprintf(w, `{"choices": [{"message": {"content": %s}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 10, "completion_tokens": 4}}`, text)
	}))
	t.Cleanup(s.Close)
	return s
}

func someCases(t *testing.T) (out []sets.Case) {
	for i, prompt := range []string{"easy", "hard", "refused", "loading", "empty", "x", "y"} {
		out = append(out, caseOf(t, fmt.Sprintf(`{"id": "%d", "task": "t", "prompt": %q, "schema": {"type": "object", "properties": {"a": {"const": 5}}}, "expected": {"a": 5}}`, i, prompt)))
	}
	return out
}

func someArms(url string) []Arm {
	flavour := func(name string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"flavour": json.RawMessage(`"` + name + `"`)}
	}
	return []Arm{
		{Name: "schema", URL: url, Mode: Constrained, Body: flavour("schema")}, {Name: "free", URL: url, Mode: Free, Body: flavour("free")}, {Name: "tools", URL: url, Mode: Tools, Body: flavour("tools")},
	}
}

func TestRun(t *testing.T) {
	tryAgain = 0
	s, cases := newScripted(t), someCases(t)
	list := someArms(s.URL)
	var lines bytes.Buffer
	results, err := Run(t.Context(), Config{Arms: list, Key: "key", Write: &lines}, cases)
	if err != nil || len(results) != 21 || len(s.asked) != 24 {
		t.Fatalf("%d results, %d asked, %v", len(results), len(s.asked), err)
	}
	// The arms take turns within each case, and in being first.
	for i, want := range []string{"schema easy", "free easy", "tools easy", "free hard", "tools hard", "schema hard", "tools refused"} {
		if s.asked[i] != want {
			t.Errorf("%d: %s, want %s", i, s.asked[i], want)
		}
	}
	report := Summarize(results, []string{"t"}, list, "schema", 1)
	by := map[string]Row{}
	for _, row := range report.Rows {
		by[row.Arm] = row
	}
	check := func(arm, name string, want float64) {
		t.Helper()
		if got := by[arm].Figures[name]; got == nil || got.Value < want-1e-9 || got.Value > want+1e-9 {
			t.Errorf("%s %s: %+v, want %g", arm, name, got, want)
		}
	}
	check("schema", "fields", 5.0/7)
	check("schema", "f1", 10.0/12)
	check("schema", "valid", 5.0/7)
	check("schema", "prompt_tokens", 10)
	check("free", "fields", 0)
	check("free", "valid", 0)
	check("free", "f1", 0)
	check("tools", "fields", 6.0/7)
	check("tools", "completion_tokens", 3)
	if r := by["schema"]; r.Failures["400"] != 1 || r.Failures["protocol"] != 1 || r.Model != "m1" || r.Differences != nil {
		t.Errorf("%+v", r)
	}
	if d := by["free"].Differences["fields"]; by["free"].Paired != 7 || d == nil || d.Value > -0.7 || d.Bounds == nil || d.Bounds[1] >= 0 {
		t.Errorf("%+v", d)
	}
	if by["tools"].Figures["standing"] != nil {
		t.Error("there is no text for values to stand in")
	}
	var table, page strings.Builder
	if err := errors.Join(report.Table(&table), report.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.String(), "400: 1, protocol: 1") || !strings.Contains(table.String(), "Differences to schema") || strings.Count(page.String(), "<rect x") != 3 {
		t.Errorf("%s\n%s", table.String(), page.String())
	}
	if text, err := json.Marshal(report); err != nil || !strings.Contains(string(text), `"bounds":[`) {
		t.Errorf("%s %v", text, err)
	}

	// With half of the results, only the rest is requested, and the report is the
	// same except for times.
	half := strings.Join(strings.SplitAfter(lines.String(), "\n")[:10], "")
	done, err := ReadResults(strings.NewReader(half))
	if err != nil || len(done) != 10 {
		t.Fatal(len(done), err)
	}
	s.asked = nil
	again, err := Run(t.Context(), Config{Arms: list, Key: "key", Done: done}, cases)
	if err != nil || len(again) != 21 || len(s.asked) != 11 {
		t.Fatalf("%d results, %d asked, %v", len(again), len(s.asked), err)
	}
	for i, row := range Summarize(again, []string{"t"}, list, "schema", 1).Rows {
		if got, want := row.Figures["fields"], report.Rows[i].Figures["fields"]; got.Value != want.Value || *got.Bounds != *want.Bounds {
			t.Errorf("%s: %+v, want %+v", row.Arm, got, want)
		}
	}
	// If all results exist, no server is needed.
	s.asked = nil
	done, err = ReadResults(&lines)
	if err != nil {
		t.Fatal(err)
	}
	if again, err = Run(t.Context(), Config{Arms: list, Done: done}, cases); err != nil || len(again) != 21 || len(s.asked) != 0 {
		t.Errorf("%d results, %d asked, %v", len(again), len(s.asked), err)
	}
	// Results of other requests or models are rejected.
	list[1].Mode = JSON
	if _, err := Run(t.Context(), Config{Arms: list, Done: done}, cases); err == nil || !strings.Contains(err.Error(), "another request") {
		t.Error(err)
	}
	list[1].Mode = Free
	s.model = "m2"
	if _, err := Run(t.Context(), Config{Arms: list, Key: "key", Done: done[:4]}, cases); err == nil || !strings.Contains(err.Error(), "m2") {
		t.Error(err)
	}
	if _, err := ReadResults(strings.NewReader("{}\n{\"mode\": 5}\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
}

func TestRunStops(t *testing.T) {
	cases := someCases(t)
	if out, err := Run(t.Context(), Config{Arms: someArms("http://127.0.0.1:1")}, cases); err == nil || len(out) != 0 {
		t.Errorf("%d %v", len(out), err)
	}
	s := newScripted(t)
	ctx, cancel := context.WithCancel(t.Context())
	out, err := Run(ctx, Config{Arms: someArms(s.URL), Key: "key", Parallel: 2, Progress: func(int) { cancel() }}, cases)
	if !errors.Is(err, context.Canceled) || len(out) == 0 || len(out) == 21 {
		t.Errorf("%d %v", len(out), err)
	}
	open := sets.Case{Set: "s", ID: "1"}
	if _, err := Run(t.Context(), Config{Arms: []Arm{{Name: "a", Mode: Tools}}}, []sets.Case{open}); err == nil || !strings.Contains(err.Error(), "needs a schema") {
		t.Error(err)
	}
	// A server that is too slow fails the case, one without models the run.
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(404)
			return
		}
		<-release
	}))
	defer slow.Close()
	defer close(release)
	if _, err := Run(t.Context(), Config{Arms: someArms(slow.URL)}, cases[:1]); err == nil || !strings.Contains(err.Error(), "names no model") {
		t.Error(err)
	}
	one := Arm{Name: "a", URL: slow.URL, Mode: Free, Body: map[string]json.RawMessage{"model": json.RawMessage(`"m"`)}}
	if out, err := Run(t.Context(), Config{Arms: []Arm{one}, Timeout: 20 * time.Millisecond}, cases[:1]); err != nil || out[0].Failure != "timeout" || out[0].Fields != 1 || out[0].Right != 0 {
		t.Errorf("%+v %v", out, err)
	}
}

// TestRunCalls checks that the report of a set of calls counts the causes of wrong ones, and gives tokens and the share of forced ones
// where a server has a receipt.
func TestRunCalls(t *testing.T) {
	prompts := []string{"right", "wrong_function", "wrong_value", "missing_argument", "extra_argument", "wrong_count", "no_call", "parse_failure", "request_failed"}
	var questions, answers []string
	for i, prompt := range prompts {
		questions = append(questions, fmt.Sprintf(`{"id": "q%d", "question": [[{"role": "user", "content": %q}]], "function": [{"name": "f", "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}, {"name": "g", "parameters": {"type": "dict", "properties": {}}}]}`, i, prompt))
		answers = append(answers, fmt.Sprintf(`{"id": "q%d", "ground_truth": [{"f": {"x": [1]}}]}`, i))
	}
	cases, err := sets.BFCL("calls", []byte(strings.Join(questions, "\n")), []byte(strings.Join(answers, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	none, err := sets.BFCL("nothing", []byte(strings.Replace(questions[0], `"right"`, `"unwanted_call"`, 1)+"\n"+questions[6]), nil)
	if err != nil {
		t.Fatal(err)
	}
	const right = `{"function": {"name": "f", "arguments": "{\"x\": 1}"}}`
	replies := map[string]string{
		"right": right, "unwanted_call": right, "wrong_count": right + ", " + right, "no_call": "",
		"wrong_function": strings.Replace(right, `"f"`, `"g"`, 1), "wrong_value": strings.Replace(right, "1}", "2}", 1), "parse_failure": strings.Replace(right, "1}", "1", 1),
		"missing_argument": strings.Replace(right, `\"x\": 1`, "", 1), "extra_argument": strings.Replace(right, "1}", `1, \"y\": 1}`, 1),
	}
	server := func(receipt string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Messages []sets.Message }
			if r.Method == http.MethodGet {
				fmt.Fprint(w, `{"data": [{"id": "m"}]}`)
				return
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			calls, ok := replies[body.Messages[0].Content]
			if !ok {
				w.WriteHeader(400)
				return
			}
			fmt.Fprintf(w, `{"choices": [{"message": {"content": null, "tool_calls": [%s]}}], "usage": {"prompt_tokens": 20, "completion_tokens": 10}%s}`, calls, receipt)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	list := []Arm{{Name: "ours", URL: server(`, "x_constraint": {"forced_tokens": 4}`), Mode: ToolsAuto}, {Name: "theirs", URL: server(""), Mode: ToolsAuto}}
	var lines bytes.Buffer
	all := append(cases, none...)
	results, err := Run(t.Context(), Config{Arms: list, Write: &lines}, all)
	if err != nil {
		t.Fatal(err)
	}
	report := Summarize(results, []string{"calls", "nothing"}, list, "ours", 1)
	if len(report.Rows) != 4 {
		t.Fatalf("%+v", report.Rows)
	}
	for _, row := range report.Rows {
		want := map[sets.Cause]int{sets.UnwantedCall: 1}
		if row.Set == "calls" {
			want = map[sets.Cause]int{}
			for _, prompt := range prompts[1:] {
				want[sets.Cause(prompt)] = 1
			}
			if row.Totals.Prompt != 160 || row.Totals.Completion != 80 || row.Totals.Median != 10 || row.Totals.Seconds <= 0 {
				t.Errorf("%s: %+v", row.Arm, row.Totals)
			}
		}
		if !maps.Equal(row.Causes, want) {
			t.Errorf("%s %s: %v, want %v", row.Set, row.Arm, row.Causes, want)
		}
		if f := row.Figures["forced"]; (f != nil) != (row.Arm == "ours") || f != nil && f.Value != 0.4 {
			t.Errorf("%s: forced %+v", row.Arm, f)
		}
	}
	var table, page strings.Builder
	if err := errors.Join(report.Table(&table), report.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(table.String()), " ")
	for _, want := range []string{
		"set arm right wrong function wrong value missing argument extra argument wrong count no call in text unwanted call parse failure request failed prompt completion median forced seconds",
		"calls ours 1/9 1 1 1 1 1 1 0 0 1 1 160 80 10 40.0% ", "calls theirs 1/9 1 1 1 1 1 1 0 0 1 1 160 80 10 - ", "nothing ours 1/2 0 0 0 0 0 0 0 1 0 0 40 20 10 40.0% ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, table.String())
		}
	}
	if !strings.Contains(page.String(), "<td>1/9</td>") {
		t.Error(page.String())
	}
	for _, want := range []string{`"cause":"wrong_value"`, `"forced_tokens":4`} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("no result has %s", want)
		}
	}
	// Results are judged again, so those of an earlier version get their causes.
	done, err := ReadResults(strings.NewReader(strings.ReplaceAll(lines.String(), `"cause":"wrong_value",`, "")))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(t.Context(), Config{Arms: list, Done: done}, all)
	if err != nil || Summarize(again, []string{"calls"}, list, "ours", 1).Rows[0].Causes[sets.WrongValue] != 1 {
		t.Error(err)
	}
}
