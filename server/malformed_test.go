package server

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A malformed is a malformed request and its error. The golden file has one per
// line, which the server's answer must match exactly.
type malformed struct {
	Path   string          `json:"path"`
	Body   string          `json:"body"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer"`
}

// deep returns a schema nested n levels deep.
func deep(n int) string {
	return strings.Repeat(`{"items":`, n) + `{}` + strings.Repeat(`}`, n)
}

// malformedBodies are the bodies sent to each path. One that begins with a
// comma is appended to the members that the path needs.
var malformedBodies = map[string][]string{
	"/v1/chat/completions": {
		``, `[]`, `"x"`, `{`, `{}`, `{"messages":[]}`, `{"messages":"hi"}`, `{"messages":[{}]}`, `{"messages":[{"role":"user"}]}`,
		`{"messages":[{"role":"robot","content":"x"}]}`, `{"messages":[{"role":"user","content":5}]}`, `{"messages":[{"role":"user","content":[{"text":"x"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`, `{"messages":[{"role":"user","content":[{"type":"text"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"input_audio"}]}]}`, `{"messages":[{"role":"tool","content":"x"}]}`,
		`{"messages":[{"role":"assistant","tool_calls":5}]}`, `{"messages":[{"role":"assistant","tool_calls":[{"id":"a"}]}]}`, `{"messages":[{"role":"user","content":"x"},5]}`,
		`,"model":5`, `,"model":"gpt-9"`, `,"max_tokens":0`, `,"max_tokens":-5`, `,"max_tokens":"many"`, `,"max_completion_tokens":1.5`, `,"temperature":"hot"`, `,"temperature":-1`,
		`,"temperature":1000`, `,"top_p":2`, `,"top_k":-3`, `,"min_p":7`, `,"n":0`, `,"n":1000`, `,"n":"two"`, `,"seed":"x"`, `,"stop":{}`, `,"stop":[""]`,
		`,"stop":["a"` + strings.Repeat(`,"b"`, 128) + `]`, `,"logit_bias":{"":1}`, `,"logit_bias":{"99999":1}`, `,"logit_bias":{"1":1000}`, `,"presence_penalty":"x"`,
		`,"frequency_penalty":200`, `,"logprobs":5`, `,"top_logprobs":3`, `,"logprobs":true,"top_logprobs":99`, `,"stream":"yes"`, `,"stream_options":{"include_usage":true}`,
		`,"stream":true,"stream_options":{"include_usage":5}`, `,"modalities":["audio"]`, `,"reasoning_effort":"total"`, `,"chat_template_kwargs":[]`, `,"functions":[{}]`, `,"audio":{"voice":"x"}`,
		`,"signals":5`, `,"signals":{"sampels":3}`, `,"signals":{"samples":3},"n":2`, `,"web_search_options":{}`, `,"verbosity":"some"`, `,"respose_format":{}`, `,"response_formats":{}`, `,"shcema":{}`, `,"guided_jsn":{}`,
		`,"response_format":5`, `,"response_format":{}`, `,"response_format":{"type":"xml"}`, `,"response_format":{"type":5}`, `,"response_format":{"type":"json_schema"}`,
		`,"response_format":{"type":"json_schema","json_schema":{}}`, `,"response_format":{"type":"json_schema","json_schema":{"name":"x","shema":{}}}`,
		`,"response_format":{"type":"json_schema","json_schema":{"name":5,"schema":{}}}`, `,"response_format":{"type":"json_schema","json_schema":{"strict":"yes","schema":{}}}`,
		`,"response_format":{"type":"json_object","json_schema":{}}`, `,"response_format":{"type":"text","schema":{}}`, `,"response_format":{"type":"json_object","schma":{}}`,
		`,"response_format":{"type":"regex"}`, `,"response_format":{"type":"regex","value":"("}`, `,"response_format":{"type":"grammar","value":"root"}`,
		`,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"strin"}}}`, `,"response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"#/nowhere"}}}`,
		`,"response_format":{"type":"json_schema","json_schema":{"strict":true,"schema":{"$ref":"https://example.com/x"}}}`,
		`,"response_format":{"type":"json_schema","json_schema":{"strict":true,"schema":{"type":"object","requird":["a"]}}}`,
		`,"response_format":{"type":"json_schema","json_schema":{"schema":{"allOf":[{"type":"string"},{"type":"number"}]}}}`, `,"response_format":{"type":"json_schema","json_schema":{"schema":false}}`,
		`,"response_format":{"type":"json_schema","json_schema":{"schema":{"minLength":-1}}}`, `,"response_format":{"type":"json_schema","json_schema":{"schema":{"pattern":"["}}}`,
		`,"response_format":{"type":"json_object"},"grammar":"root ::= \"x\""`, `,"response_format":{"type":"json_object"},"json_schema":{}`, `,"guided_json":{},"guided_regex":"x"`, `,"guided_json":"{"`, `,"guided_choice":[]`,
		`,"structured_outputs":{}`, `,"structured_outputs":5`, `,"structured_outputs":{"jsn":{}}`, `,"structured_outputs":{"json":{},"regex":"x"}`, `,"structured_outputs":{"structural_tag":"x"}`, `,"response_format":{"type":"structural_tag","structures":[{"begin":"<a>","schema":{},"end":""}],"triggers":["<b"]}`,
		`,"structured_outputs":{"json":{},"whitespace_pattern":" "}`, `,"json_mode":{"schema":{},"regex":"x"}`, `,"json_mode":{"schemas":{}}`, `,"repair":"yes"`, `,"constrained_decoding":5`,
		`,"tools":5`, `,"tools":[5]`, `,"tools":[{}]`, `,"tools":[{"type":"web_search"}]`, `,"tools":[{"type":"function"}]`, `,"tools":[{"type":"function","function":{}}]`,
		`,"tools":[{"type":"function","function":{"name":"a b"}}]`, `,"tools":[{"type":"function","function":{"name":"a","paramaters":{}}}]`,
		`,"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}]`, `,"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"strin"}}}]`,
		`,"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"string"}}}]`, `,"tools":[{"type":"function","function":{"name":"a","strict":true,"parameters":{"requird":[]}}}]`,
		`,"tool_choice":"required"`, `,"tool_choice":"always"`, `,"tool_choice":5`, `,"tool_choice":{"type":"function","function":{"name":"a"}}`,
		`,"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"function","function":{"name":"b"}}`, `,"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{}`,
		`,"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"function"}`, `,"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`,
		`,"tools":[{"type":"function","function":{"name":"a"}}],"parallel_tool_calls":"no"`, `,"prompt_schema":"maybe"`, `,"timeout":-1`, `,"timeout":"x"`, `,"keep_alive":"soon"`, `,"keep_alive":[]`, `,"deterministic":1`,
		`,"reasoning":"much"`, `,"on_budget":"stop"`, `,"messages":[]`,
		`,"max_tokens":3,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"string","minLength":50}}}`,
		`,"max_tokens":2,"tool_choice":"required","tools":[{"type":"function","function":{"name":"a"}}]`,
		`,"json_schema":` + deep(600), `,"grammar":"root ::= root"`,
		`,"user":"\u0000","stop":5`, `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 300) + `"}]}`,
	},
	"/completion": {
		``, `[]`, `{}`, `{"prompt":5}`, `{"prompt":[]}`, `{"prompt":{}}`, `{"prompt":[[]]}`, `{"prompt":[true]}`, `{"prompt":{"prompt_string":"x","multimodal_data":["a"]}}`, `{"prompt":[-1,"a"]}`,
		`,"model":"gpt-9"`, `,"n_predict":"many"`, `,"n_probs":-1`, `,"temperature":"hot"`, `,"top_k":1.5`, `,"logit_bias":[5]`, `,"logit_bias":[["",1]]`, `,"logit_bias":{"a":null}`, `,"response_fields":5`, `,"response_fields":[5]`,
		`,"n_indent":-1`, `,"t_max_predict_ms":"x"`, `,"grammar":"root"`, `,"json_schema":5`, `,"json_schema":{"type":"strin"}`, `,"grammar":"root ::= \"a\"","json_schema":{}`, `,"lora":[{"id":0}]`, `,"stop":5`, `,"ignore_eos":"x"`, `,"n":0`, `,"messages":[{}]`,
	},
	"/infill":         {`{}`, `{"input_prefix":"a"}`, `{"input_prefix":5,"input_suffix":"b"}`, `{"input_prefix":"a","input_suffix":"b","input_extra":5}`, `{"input_prefix":"a","input_suffix":"b","input_extra":[{}]}`, `{"input_prefix":"a","input_suffix":"b","n_predict":"x"}`},
	"/tokenize":       {``, `{"content":5}`, `{"content":[null]}`, `{"contents":"a"}`, `{"content":"a","with_pieces":5}`},
	"/detokenize":     {``, `{"tokens":5}`, `{"tokens":[99999999]}`, `{"tokens":["a"]}`},
	"/apply-template": {``, `{}`, `{"messages":[5]}`, `{"messages":[{"role":"robot","content":"x"}]}`},
	"/models/load":    {``, `{}`, `{"model":"none"}`, `{"model":5}`},
	"/models/unload":  {``, `{}`, `{"model":"tiny"}`},
	"/v1/completions": {
		`{}`, `{"prompt":5}`, `{"prompt":[]}`, `{"prompt":[true]}`, `{"prompt":[null]}`, `{"prompt":[[1,null]]}`, `,"stop":[null]`, `{"prompt":[99999]}`, `{"prompt":["a",5]}`, `{"prompt":""}`, `,"messages":[{}]`, `,"suffix":"x"`, `,"echo":true,"logprobs":1`, `,"best_of":3`, `,"logprobs":true`,
		`,"logprobs":99`, `{"prompt":["a","b"],"stream":5}`, `,"max_tokens":2,"min_tokens":3`, `,"moderation":{"model":"m","policy":{"output":{"mode":"block"}}}`, `,"skip_special_tokens":5`, `,"max_tokens":null,"n":-1`, `,"tools":[{}]`,
	},
	"/v1/responses": {
		`{}`, `{"input":5}`, `{"input":[]}`, `{"input":[{"type":"item_reference","id":"x"}]}`, `{"input":[{"role":"user"}]}`, `{"input":[{"type":"function_call_output","call_id":5,"output":"x"}]}`,
		`{"input":[{"type":"function_call_output","call_id":"x"}]}`, `,"text":5`, `,"text":{"fromat":{}}`, `,"text":{"format":{}}`, `,"text":{"format":{"type":"json_schema"}}`, `,"text":{"format":{"type":"yaml"}}`,
		`,"text":{"format":{"type":"json_schema","name":"x","strict":true,"schema":{"$ref":"https://example.com/x"}}}`, `,"text":{"verbosity":"some"}`, `,"previous_response_id":"x"`, `,"conversation":"x"`, `,"conversation":5`, `,"background":5`, `,"background":true,"store":false`,
		`,"truncation":"some"`, `,"max_output_tokens":0`, `,"tools":[{"type":"teleport"}]`, `,"tools":[{"name":"a"}]`, `,"tools":[{"type":"function","name":""}]`, `,"tools":[{"type":"function","name":"a","function":{}}]`,
		`,"context_management":[{"type":"summary"}]`, `,"multi_agent":{"enabled":true}`, `,"signals":{"samples":3},"stream":true`, `,"include":5`, `,"instructions":5`, `,"reasoning":{"efort":"low"}`, `,"text":{"format":{"type":"json_object"}},"grammar":"root ::= \"x\""`,
	},
	"/v1/conversations": {`[]`, `{"items":5}`, `{"items":[5]}`, `{"items":[{"role":"user"}]}`, `{"items":[{"type":"item_reference","id":"x"}]}`, `{"metadata":5}`, `{"metadata":{"a":5}}`, `{"item":[]}`},
	"/v1/messages": {
		``, `{}`, `{"model":"tiny","max_tokens":9}`, `{"model":"tiny","max_tokens":9,"messages":[]}`, `{"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, `{"model":"tiny","messages":[{"role":"user","content":"x"}]}`,
		`{"model":"tiny","max_tokens":9,"messages":[{"role":"robot","content":"x"}]}`, `{"model":"tiny","max_tokens":9,"messages":[{"role":"user"}]}`, `{"model":"tiny","max_tokens":9,"messages":[{"role":"user","content":5}]}`,
		`{"model":"tiny","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image"}]}]}`, `{"model":"tiny","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}`,
		`{"model":"tiny","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[]}]}`, `,"model":"claude-9"`, `,"max_tokens":0`, `,"temperature":"x"`, `,"system":5`, `,"system":[{"type":"image"}]`,
		`,"stop_sequences":"a b","stream":5`, `,"stop_sequences":[5]`, `,"output_config":5`, `,"output_config":{"fromat":{}}`, `,"output_config":{"format":{}}`, `,"output_config":{"format":{"type":"json"}}`,
		`,"output_config":{"format":{"type":"json_schema"}}`, `,"output_config":{"format":{"type":"json_schema","schema":{"type":"x"}}}`, `,"output_config":{"format":{"type":"json_schema","schema":{"$ref":"https://example.com/x"}}}`,
		`,"output_cofnig":{}`, `,"tools":[{"name":"a"}]`, `,"tools":[{"name":"a","input_shema":{}}]`, `,"tools":[{"type":"web_search_20250305","name":"web_search"}]`, `,"tools":[{"name":"a","input_schema":{"type":"x"}}]`,
		`,"tool_choice":{"type":"any"}`, `,"tools":[{"name":"a","input_schema":{}}],"tool_choice":{"type":"tool"}`, `,"tools":[{"name":"a","input_schema":{}}],"tool_choice":{"type":"tool","name":"b"}`,
		`,"tools":[{"name":"a","input_schema":{}}],"tool_choice":{"type":"some"}`, `,"signals":{"weights":{"own":-1}}`, `,"thinking":{"type":"deep"}`, `,"thinking":{"type":"enabled","budget_tokens":0}`, `,"thinking":{}`, `,"mcp_servers":[{}]`, `,"container":{"skills":[{}]}`, `,"compaction":{"type":"summarize"}`, `,"output_config":{"task_budget":{"type":"words"}}`, `,"response_format":{"type":"json_object"}`,
		`,"max_tokens":2,"output_config":{"format":{"type":"json_schema","schema":{"type":"string","minLength":50}}}`,
	},
	"/v1/messages/count_tokens": {`{}`, `{"model":"tiny","messages":[{"role":"user","content":[{"type":"video"}]}]}`},
	"/api/chat": {
		``, `{}`, `{"model":"llama9","messages":[{"role":"user","content":"x"}]}`, `{"model":"tiny","messages":[{"content":"x"}]}`, `{"model":"tiny","messages":[{"role":"user","content":5}]}`,
		`{"model":"tiny","messages":[{"role":"user","content":"x","images":["AAAA"]}]}`, `{"model":"tiny","messages":5}`, `,"format":"yaml"`, `,"format":5`, `,"format":[]`, `,"format":{"type":"x"}`, `,"format":{"$ref":"https://example.com/x"}`, `,"fromat":"json"`,
		`,"options":5`, `,"options":{"num_predict":0}`, `,"options":{"temperature":"x"}`, `,"options":{"top_p":3}`, `,"signals":"full"`, `,"options":{"mirostat":3}`, `,"options":{"stop":5}`, `,"think":"hard"`, `,"stream":5`, `,"keep_alive":"x"`,
		`,"tools":[{}]`, `,"response_format":{"type":"json_object"}`, `,"options":{"num_predict":2},"format":{"type":"string","minLength":50}`,
	},
	"/api/generate": {
		`{"prompt":"x"}`, `{"model":"tiny","prompt":5}`, `,"prompt":"y"`, `,"suffix":"x"`, `,"template":"x"`, `,"context":["x"]`, `,"context":[99999]`, `,"context":[1],"raw":true`, `,"suffix":"x","system":"y"`, `,"images":["x"]`, `,"raw":true,"system":"x"`, `,"format":"xml"`,
	},
	"/feedback":      {``, `[]`, `{"success":true,"ID":"x"}`, `{"id":"x","success":true}`},
	"/api/show":      {`{}`, `{"model":"llama9"}`, `{"model":5}`},
	"/schema/check":  {`{}`, `{"schema":{},"whitespace":5}`, `{"schma":{}}`, `{"schema":{},"strct":true}`},
	"/grammar/check": {`{}`, `{"grammar":5}`, `{"gramar":""}`},
	"/validate":      {`{}`, `{"schema":5,"text":""}`, `{"schema":{},"document":5,"text":"5"}`, `{"gramar":"","text":""}`, `{"regex":"(","text":""}`},
	"/repair":        {`{}`, `{"text":5}`, `{"text":"a","strategies":["x"]}`, `{"text":"a","schema":{"type":"x"}}`},
	"/signals":       {`{}`, `{"text":5}`, `{"text":"a","weights":{"own":-1}}`, `{"text":"a","samples":5}`},
	"/nowhere":       {`{}`},
	"/api/nowhere":   {`{}`},
	"/api/tags":      {`{}`},
	"/v1/models":     {`{}`},
}

// malformedBase are the members to which a body that begins with a comma is
// appended.
var malformedBase = map[string]string{
	"/v1/chat/completions": `{"messages":[{"role":"user","content":"x"}]`, "/completion": `{"prompt":"x"`,
	"/v1/completions": `{"prompt":"x"`, "/v1/responses": `{"input":"x"`,
	"/v1/messages": `{"messages":[{"role":"user","content":"x"}]`, "/api/chat": `{"messages":[{"role":"user","content":"x"}]`, "/api/generate": `{"model":"tiny","prompt":"x"`,
}

// malformedNeeds are members missing from malformedBase so that bodies can set
// them.
var malformedNeeds = map[string][]string{
	"/v1/messages": {`"model":"tiny"`, `"max_tokens":60`}, "/api/chat": {`"model":"tiny"`},
}

func malformedBody(path, body string) string {
	if !strings.HasPrefix(body, ",") {
		return body
	}
	full := malformedBase[path]
	for _, need := range malformedNeeds[path] {
		name, _, _ := strings.Cut(need, ":")
		if !strings.Contains(body, ","+name+":") {
			full += "," + need
		}
	}
	return full + body + "}"
}

func TestMalformed(t *testing.T) {
	_, url := start(t, setup{reply: "x", eng: engine.Config{Context: backend.ContextParams{Size: 300}}, cfg: Config{StrictModels: true}})
	golden := filepath.Join("testdata", "malformed.jsonl")
	want := map[[2]string]malformed{}
	if !*update {
		file, err := os.Open(golden)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var m malformed
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			want[[2]string{m.Path, m.Body}] = m
		}
	}
	var out strings.Builder
	n := 0
	for _, path := range slices.Sorted(maps.Keys(malformedBodies)) {
		for _, body := range malformedBodies[path] {
			n++
			got := sendMalformed(t, url, path, malformedBody(path, body))
			got.Body = body
			line, err := wire.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(line, '\n'))
			if w := want[[2]string{path, body}]; !*update && (got.Status != w.Status || string(got.Answer) != string(w.Answer)) {
				t.Errorf("%s %.200s\n got %d %s\nwant %d %s", path, body, got.Status, got.Answer, w.Status, w.Answer)
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d malformed requests", n)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func sendMalformed(t *testing.T, url, path, body string) malformed {
	t.Helper()
	resp, err := http.Post(url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode < 400 || resp.StatusCode >= 500 {
		t.Errorf("%s %.200s: %d %s", path, body, resp.StatusCode, answer)
	}
	if resp.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%s %.200s: X-Should-Retry %q", path, body, resp.Header.Get("X-Should-Retry"))
	}
	var whole map[string]any
	if err := json.Unmarshal(answer, &whole); err != nil {
		t.Fatalf("%s %.200s: %q: %v", path, body, answer, err)
	}
	delete(whole, "request_id") // new in every request
	if answer, err = wire.Marshal(whole); err != nil {
		t.Fatal(err)
	}
	return malformed{Path: path, Status: resp.StatusCode, Answer: answer}
}

// TestBombs checks that constraints that explode are refused in time, under
// every name, and leave the server unharmed.
func TestBombs(t *testing.T) {
	_, url := start(t, setup{})
	ref := `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`
	for _, bomb := range []string{
		`"regex":"a{99999999}"`, `"regex":"(a{999}){999}"`, `"regex":"` + strings.Repeat("(a|", 3000) + "b" + strings.Repeat(")", 3000) + `"`,
		`"schema":` + deep(5000), `"schema":{"type":"array","minItems":99999999}`, `"schema":{"type":"string","minLength":50000000}`, `"schema":` + ref,
		`"grammar":"root ::= ` + strings.Repeat("(", 20000) + `"`, `"grammar":"root ::= \"a\"{99999999}"`, `"grammar":"root ::= a{1000}\na ::= \"x\"{1000}"`,
	} {
		for _, stream := range []bool{false, true} {
			begin := time.Now()
			resp, err := http.Post(url+"/generate", "application/json", strings.NewReader(fmt.Sprintf(`{"prompt":"x","max_tokens":20,"stream":%t,%s}`, stream, bomb)))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 400 && resp.StatusCode != 422 {
				t.Errorf("%.80s: %d %.300s", bomb, resp.StatusCode, body)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("%.80s took %v", bomb, took)
			}
		}
		status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 30, "schema": `+personSchema+`}`)
		if status != 200 || at(got, "constraint", "validated") != true {
			t.Fatalf("after %.80s: %d %v", bomb, status, got)
		}
	}
}

// TestMalformedTransport checks errors of the transport rather than of the
// JSON.
func TestMalformedTransport(t *testing.T) {
	_, url := start(t, setup{reply: "x", cfg: Config{BodyLimit: 1 << 20}})
	address := strings.TrimPrefix(url, "http://")
	for _, test := range []struct {
		name, request string
		status        int
	}{
		{"no request at all", "hello\r\n\r\n", 400},
		{"a length that is no number", "POST /generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n", 400},
		{"two lengths", "POST /generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
		{"length and chunks", "POST /generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: banana\r\n\r\n{}", 501},
		{"a broken chunk", "POST /generate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		{"no host", "GET /healthz HTTP/1.1\r\n\r\n", 400},
		{"two hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
		{"a forged header line", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX Y: z\r\n\r\n", 400},
		{"NUL in a header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Y: \x00\r\n\r\n", 400},
		{"headers without end", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Y: " + strings.Repeat("y", 2<<20) + "\r\n\r\n", 431},
		{"NUL in the body", "POST /generate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 15\r\n\r\n{\"prompt\":\"\x00x\"}", 400},
		{"no UTF-8", "POST /generate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{\"prompt\":\"\xc3\"}", 400},
		{"a method that is not there", "BREW /generate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405},
		{"a body that ends early", "POST /generate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 99\r\n\r\n{}", 400},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(conn, test.request)
			if strings.Contains(test.name, "early") {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
		}()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if resp.StatusCode != test.status {
			body, _ := io.ReadAll(resp.Body)
			t.Errorf("%s: %d %s, want %d", test.name, resp.StatusCode, body, test.status)
		}
		conn.Close()
	}
	// A body of 100 MB is refused long before its end.
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", io.LimitReader(zeros{}, 100<<20))
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("100 MB: %d", resp.StatusCode)
		}
	} else if !strings.Contains(fmt.Sprint(err), "reset") && !strings.Contains(fmt.Sprint(err), "broken pipe") {
		t.Errorf("100 MB: %v", err)
	}
	// An identifier that is not safe to log is replaced.
	_, header, _ := send(t, "GET", url+"/healthz", "", "X-Request-Id", "a b=\"c\"")
	if id := header.Get("X-Request-Id"); !strings.HasPrefix(id, "req-") {
		t.Errorf("request id %q", id)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

// TestRoutesTried holds that some test of this package sends a body to each route that takes one.
func TestRoutesTried(t *testing.T) {
	source, err := os.ReadFile("routes.go")
	if err != nil {
		t.Fatal(err)
	}
	routes := map[string]bool{}
	for _, m := range regexp.MustCompile(`r\.POST\("([^":]+)`).FindAllStringSubmatch(string(source), -1) {
		routes[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`range \[\]string\{(.*)\}`).FindAllStringSubmatch(string(source), -1) {
		for path := range strings.SplitSeq(m[1], ", ") {
			routes[strings.Trim(path, `"`)] = true
		}
	}
	tests, err := filepath.Glob("*_test.go")
	if err != nil || len(routes) < 40 {
		t.Fatal(routes, err)
	}
	var all strings.Builder
	for _, name := range tests {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for path := range routes {
		// Paths stand between quotes, or before the rest of a path or a query.
		if !regexp.MustCompile("[\"`]"+regexp.QuoteMeta(path)+"([\"`?]|[0-9])").MatchString(all.String()) && !strings.Contains(all.String(), `url+"`+path) {
			t.Errorf("no test asks %s", path)
		}
	}
}
