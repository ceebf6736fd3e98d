package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/agent/files"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/access"
)

// A recordedDialect describes how a dialect requests a text.
type recordedDialect struct {
	path   string
	base   string   // members of every request
	budget string   // token budget
	inner  string   // the object that holds sampling options, such as "options"; "": the top level
	stream string   // fields that request a stream
	whole  string   // fields that request no stream, if streams are the default
	schema []string // fields that request a document of a person
	tools  string   // "": the dialect has none
	more   []string // fields of this dialect only
}

const (
	userX       = `"messages":[{"role":"user","content":"x"}]`
	weatherTool = `{"type":"object","properties":{"days":{"type":"integer","minimum":1,"maximum":7},"unit":{"enum":["C","F"]}},"required":["days","unit"],"additionalProperties":false}`
	chatTools   = `"tools":[{"type":"function","function":{"name":"weather","description":"of a city","parameters":` + weatherTool + `}},{"type":"function","function":{"name":"now"}}]`
	tagsFormat  = `{"type":"structural_tag","structures":[{"begin":"<a>","schema":{"type":"integer"},"end":"</a>"}],"triggers":["<a"]}`
)

var recordedDialects = map[string]recordedDialect{
	"chat": {path: "/v1/chat/completions", base: `"model":"tiny",` + userX, budget: `"max_tokens":40`, stream: `"stream":true,"stream_options":{"include_usage":true}`,
		schema: []string{
			`"response_format":{"type":"json_schema","json_schema":{"name":"p","strict":true,"schema":` + personSchema + `}}`, `"response_format":{"type":"json_schema","schema":` + personSchema + `}`,
			`"json_schema":` + personSchema, `"guided_json":` + strconv.Quote(personSchema), `"structured_outputs":{"json":` + personSchema + `}`,
			`"json_mode":{"schema":` + personSchema + `}`, `"response_format":{"type":"json","value":` + personSchema + `}`,
		},
		tools: chatTools,
		more: []string{
			`"response_format":{"type":"json_object"}`, `"response_format":{"type":"regex","value":"[a-c]{3}"}`, `"response_format":{"type":"grammar","value":"root ::= \"yes\" | \"no\""}`,
			`"response_format":{"type":"text"}`, `"response_format":` + tagsFormat, `"guided_choice":["red","green"]`, `"guided_regex":"[0-9]{2}"`, `"guided_grammar":"root ::= [a-z]+ \".\""`,
			`"structured_outputs":{"choice":["red","green"]}`, `"structured_outputs":{"json_object":true}`, `"ebnf":"root ::= \"a\" \"b\""`, `"structured_outputs":{"structural_tag":` + strconv.Quote(tagsFormat) + `}`,
			`"logprobs":true,"top_logprobs":2,"max_tokens":9`, `"max_completion_tokens":3`, `"n_predict":3`, `"reasoning_effort":"high"`, `"reasoning_effort":"none"`, `"chat_template_kwargs":{"a":1}`, `"repetition_penalty":1.2`,
			`"modalities":["text"]`, `"timings_per_token":true`, `"verbosity":"low"`, `"functions":[]`,
			`"messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"name":"ann"}]`,
			`"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"Well, "}],"continue_final_message":true,"add_generation_prompt":false`,
			`"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"now","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"now","arguments":"[1"}}]},{"role":"tool","tool_call_id":"c1","content":"noon"}]`,
		}},
	"completions": {path: "/v1/completions", base: `"model":"tiny","prompt":"x"`, budget: `"max_tokens":40`, stream: `"stream":true,"stream_options":{"include_usage":true}`,
		schema: []string{`"guided_json":` + personSchema, `"schema":` + personSchema},
		more: []string{
			`"logprobs":2`, `"echo":true`, `"prompt":["a","b"]`, `"prompt":["a","b"],"n":2,"seed":4`, `"prompt":[5,6,7]`, `"prompt":[[5,6],[7]],"echo":true`, `"regex":"[a-c]{3}"`, `"grammar":"root ::= \"yes\""`,
			`"response_format":{"type":"json_object"}`, `"prompt":["a","b"],"guided_choice":["red","green"],"logprobs":1`,
		}},
	"responses": {path: "/v1/responses", base: `"model":"tiny","input":"x"`, budget: `"max_output_tokens":40`, stream: `"stream":true`,
		schema: []string{`"text":{"format":{"type":"json_schema","name":"p","strict":true,"schema":` + personSchema + `}}`},
		tools:  `"tools":[{"type":"function","name":"weather","description":"of a city","parameters":` + weatherTool + `},{"type":"function","name":"now"}]`,
		more: []string{
			`"text":{"format":{"type":"json_object"}}`, `"include":["message.output_text.logprobs"],"max_output_tokens":6`, `"top_logprobs":2,"max_output_tokens":6`, `"instructions":"Be brief.","metadata":{"a":"b"}`, `"text":{"verbosity":"medium"}`,
			`"reasoning":{"effort":"low","summary":"auto"}`, `"truncation":"disabled","background":false,"store":true`, `"input":[{"role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"reasoning","id":"r"}]`,
			`"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c1","name":"now","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"now","arguments":""},{"type":"function_call_output","call_id":"c1","output":"noon"},{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"one"}]}]`,
		}},
	"messages": {path: "/v1/messages", base: `"model":"tiny",` + userX, budget: `"max_tokens":40`, stream: `"stream":true`,
		schema: []string{`"output_config":{"format":{"type":"json_schema","schema":` + personSchema + `}}`, `"output_format":{"type":"json_schema","schema":` + personSchema + `}`},
		tools:  `"tools":[{"name":"weather","description":"of a city","input_schema":` + weatherTool + `},{"name":"now","input_schema":{"type":"object"}}]`,
		more: []string{
			`"system":"Be brief."`, `"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `"stop_sequences":["lo"]`, `"thinking":{"type":"enabled","budget_tokens":10}`, `"thinking":{"type":"disabled"}`,
			`"output_config":{"effort":"high"}`, `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"Well, "}]`,
			`"messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},{"type":"tool_use","id":"c1","name":"now","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"late"}]},{"type":"text","text":"so?"}]}]`,
			`"metadata":{"user_id":"u"},"betas":["x"]`, `"n":2`, `"container":"c"`,
		}},
	"ollama chat": {path: "/api/chat", base: `"model":"tiny",` + userX, budget: `"num_predict":40`, inner: "options", whole: `"stream":false`,
		schema: []string{`"format":` + personSchema}, tools: chatTools,
		more: []string{
			`"format":"json"`, `"format":""`, `"think":true`, `"think":"high"`, `"think":false`, `"logprobs":true`, `"top_logprobs":2`, `"keep_alive":-1`, `"options":{"num_ctx":100,"mirostat":0,"seed":3,"top_k":3,"num_predict":9}`,
			`"options":{"stop":["lo"],"frobnicate":1}`, `"messages":[]`, `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"function":{"name":"now","arguments":{}}}]},{"role":"tool","tool_name":"now","content":"noon"}]`,
		}},
	"ollama generate": {path: "/api/generate", base: `"model":"tiny","prompt":"x"`, budget: `"num_predict":40`, inner: "options", whole: `"stream":false`,
		schema: []string{`"format":` + personSchema},
		more:   []string{`"system":"Be brief."`, `"raw":true`, `"prompt":""`, `"prompt":"","keep_alive":0`, `"format":"json"`, `"raw":true,"top_logprobs":1`, `"template":"x"`}},
	"native": {path: "/generate", base: userX, budget: `"max_tokens":40`, stream: `"stream":true`,
		schema: []string{`"schema":` + personSchema, `"json_mode":{"schema":` + personSchema + `}`},
		more: []string{
			`"messages":null,"prompt":"x"`, `"messages":null,"prompt":"x","system":"Be brief."`, `"system":"Be brief."`, `"logprobs":true,"top_logprobs":2`, `"regex":"[a-c]{3}"`, `"grammar":"root ::= \"yes\" | \"no\""`, `"choice":["red","green"]`,
			`"messages":null,"prompt":"x","prompt_schema":"always","schema":` + personSchema, `"model":"tiny:latest"`, `"inputs":"y"`,
		}},
	"native json": {path: "/generate_json", base: userX, budget: `"max_tokens":60`, stream: `"stream":true`,
		schema: []string{`"schema":` + personSchema},
		more: []string{
			`"seed":1`, `"schema":{"enum":["red","green",5,null]}`, `"schema":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":3}`, `"schema":` + personSchema + `,"whitespace":"pretty"`, `"schema":` + personSchema + `,"whitespace":{"max":2}`,
			`"schema":` + personSchema + `,"property_order":"any"`, `"schema":{"type":"object","properties":{"a":{"type":"string","contentEncoding":"base64"},"b":{"const":5}},"required":["b"]}`,
			`"schema":{"type":"integer","not":{"multipleOf":3}},"on_unsupported":"validate"`, `"schema":{"type":"object","unevaluatedProperties":false,"properties":{"a":{"type":"integer","maximum":9}},"required":["a"]},"strict":false`,
			`"logprobs":true,"schema":` + personSchema, `"n":2,"seed":9,"schema":` + personSchema,
		}},
	"tgi": {path: "/generate", base: `"inputs":"x"`, budget: `"max_new_tokens":40`, inner: "parameters", stream: `"stream":true`,
		schema: []string{`"parameters":{"max_new_tokens":40,"grammar":{"type":"json","value":` + personSchema + `}}`, `"parameters":{"max_new_tokens":40,"grammar":{"type":"json_schema","value":{"name":"p","schema":` + personSchema + `}}}`},
		more: []string{
			`"parameters":{"details":true,"max_new_tokens":9,"return_full_text":true}`, `"parameters":{"details":true,"do_sample":true,"seed":5,"top_n_tokens":2,"max_new_tokens":9}`,
			`"parameters":{"grammar":{"type":"regex","value":"[a-c]{3}"},"watermark":true,"what":1}`, `"parameters":{"stop":["lo"],"details":true,"repetition_penalty":1.1}`,
		}},
	"llama.cpp": {path: "/completion", base: `"model":"tiny","prompt":"x"`, budget: `"n_predict":40`, stream: `"stream":true`,
		schema: []string{`"json_schema":` + personSchema, `"schema":` + personSchema},
		more: []string{
			`"n_probs":2,"return_tokens":true,"n_predict":6`, `"prompt":["a",[5,6]],"n_predict":3`, `"prompt":[5,"a",6],"n_predict":3`, `"prompt":{"prompt_string":"a"},"n_predict":3`, `"grammar":"root ::= \"yes\""`, `"grammar":""`,
			`"response_fields":["content","generation_settings/top_k"]`, `"ignore_eos":true,"n_predict":3`, `"logit_bias":[["a",false],[5,2.5]],"n_predict":3`, `"temperature":-1,"top_p":3`, `"id_slot":0,"cache_prompt":false,"n_keep":4`,
			`"n_indent":2,"t_max_predict_ms":100000`, `"timings_per_token":true,"n_predict":2`, `"lora":[{"id":0,"scale":1}]`,
		}},
	"sglang": {path: "/generate", base: `"text":"x"`, budget: `"max_new_tokens":40`, inner: "sampling_params", stream: `"stream":true`,
		schema: []string{`"sampling_params":{"max_new_tokens":40,"json_schema":` + strconv.Quote(personSchema) + `}`},
		more:   []string{`"sampling_params":{"max_new_tokens":9,"temperature":0}`, `"sampling_params":{"regex":"[a-c]{3}"}`, `"sampling_params":{"ebnf":"root ::= \"yes\""}`, `"sampling_params":{"stop":"lo"}`, `"rid":"r","return_logprob":true`}},
}

// Fields of dialects with sampling at the top level, and of every dialect.
var (
	recordedSampling = []string{
		`"temperature":0.7,"top_k":5,"top_p":0.9,"min_p":0.01,"typical_p":0.9,"seed":3`, `"repeat_penalty":1.3,"repeat_last_n":8,"presence_penalty":0.5,"frequency_penalty":0.5,"seed":4`,
		`"logit_bias":{"5":-100,"6":3},"seed":5`, `"stop":["lo"]`, `"stop":"zzz"`, `"n":2,"seed":5`, `"temperature":-2`, `"stpo":"x"`,
	}
	recordedOwn = []string{
		`"signals":true`, `"signals":{"instruction":"compact","weights":{"own":0.5}}`, `"signals":{"samples":3}`, `"reasoning":true`, `"reasoning":{"effort":"high","max_tokens":8}`, `"reasoning":false`,
		`"prompt_schema":"always"`, `"prompt_schema":"never","signals":true`, `"forced":false`, `"deterministic":true`, `"timeout":100`, `"keep_alive":"5m"`, `"retry_max":1`, `"user":"u","metadata":{}`, `"whatever":1`, `"signals":{"samples":3,"what":1}`,
	}
	recordedConstrained = []string{``, `"signals":true`, `"prompt_schema":"always"`, `"forced":false`, `"reasoning":true`}
)

// request builds a body; of members given twice the last one counts.
func (d recordedDialect) request(stream bool, more ...string) recording {
	if d.inner != "" && !slices.ContainsFunc(more, func(m string) bool { return strings.HasPrefix(m, `"`+d.inner+`"`) }) {
		more = append([]string{`"` + d.inner + `":{` + d.budget + `,"temperature":0.5,"seed":1}`}, more...)
	} else if d.inner == "" {
		seed := `"seed":1,"temperature":0.5`
		more = append([]string{d.budget, seed}, more...)
	}
	if stream {
		more = append(more, d.stream)
	} else {
		more = append(more, d.whole)
	}
	names, members := []string{}, map[string]json.RawMessage{}
	for _, m := range append([]string{d.base}, more...) {
		dec := json.NewDecoder(strings.NewReader("{" + m + "}"))
		dec.Token()
		for dec.More() {
			name, _ := dec.Token()
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				panic(fmt.Sprintf("%s: %v", m, err))
			}
			if d.inner != "" && name == d.inner {
				for _, need := range []string{d.budget, `"seed":1`} {
					member, _, _ := strings.Cut(need, ":")
					if !strings.Contains(string(value), member) {
						value = append(value[:len(value)-1:len(value)-1], ","+need+"}"...)
					}
				}
			}
			if members[name.(string)] == nil {
				names = append(names, name.(string))
			}
			members[name.(string)] = value
		}
	}
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: "{", false: ","}[i == 0], name, members[name])
	}
	return recording{method: "POST", path: d.path, body: b.String() + "}"}
}

// both returns a request as a whole and as a stream.
func (d recordedDialect) both(more ...string) []recording {
	return []recording{d.request(false, more...), d.request(true, more...)}
}

// texts returns requests for every feature of a dialect.
func (d recordedDialect) texts() (out []recording) {
	out = append(out, d.both()...)
	for _, m := range d.more {
		out = append(out, d.both(m)...)
	}
	if d.inner == "" {
		for _, m := range recordedSampling {
			out = append(out, d.request(false, m))
		}
		out = append(out, d.request(true, `"n":2,"seed":5`), d.request(true, `"stop":["lo"]`))
	}
	for i, m := range recordedOwn {
		out = append(out, d.request(i%2 == 1, m))
	}
	for _, s := range d.schema {
		out = append(out, d.both(s)...)
	}
	for _, m := range recordedConstrained[1:] {
		out = append(out, d.both(d.schema[0], m)...)
	}
	return out
}

// calls returns requests with tools, if the dialect has them.
func (d recordedDialect) calls() (out []recording) {
	if d.tools == "" {
		return nil
	}
	choices := []string{`"tool_choice":"required"`, `"tool_choice":"none"`, `"tool_choice":{"type":"function","function":{"name":"now"}}`, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"weather"}}]}}`}
	if d.path == "/v1/messages" {
		choices = []string{`"tool_choice":{"type":"any"}`, `"tool_choice":{"type":"none"}`, `"tool_choice":{"type":"tool","name":"now"}`, `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`}
	}
	out = append(out, d.both(d.tools)...)
	for _, c := range choices {
		out = append(out, d.both(d.tools, c)...)
	}
	out = append(out, d.both(d.tools, d.schema[0])...)
	out = append(out, d.both(d.tools, `"signals":true`)...)
	return append(out, d.both(d.tools, choices[0], `"signals":true`)...)
}

func get(path string, header ...string) recording {
	return recording{method: "GET", path: path, header: header}
}

func to(path, body string) recording { return recording{method: "POST", path: path, body: body} }

func recordedSites() (out []recordedSite) {
	local := func(s setup) func(t *testing.T) string {
		return func(t *testing.T) string {
			_, url := start(t, s)
			return url
		}
	}
	for _, name := range []string{"chat", "completions", "responses", "messages", "ollama chat", "ollama generate", "native", "native json", "tgi", "sglang", "llama.cpp"} {
		d := recordedDialects[name]
		out = append(out,
			recordedSite{name: name, start: local(setup{}), list: append(d.texts(), counted)},
			recordedSite{name: name + " says", start: local(setup{reply: "hello there, wörld"}), list: slices.Concat(d.both(), d.both(`"signals":true`), d.calls())},
			recordedSite{name: name + " person", start: local(setup{reply: `{"name":"Ann","age":12}` + "\n" + noteText}), list: slices.Concat(d.both(d.schema[0], `"signals":true`), d.both(`"signals":true`))},
			recordedSite{name: name + " block", start: local(setup{reply: "It is Paris.\n\n" + noteBlock}), list: slices.Concat(d.both(`"signals":true`), d.both())},
		)
	}
	out = append(out, recordedForms()...)
	out = append(out, recordedUpstreams()...)
	chat, native, njson, messages, ollama := recordedDialects["chat"], recordedDialects["native"], recordedDialects["native json"], recordedDialects["messages"], recordedDialects["ollama chat"]
	prose := "Sure:\n```json\n{\"name\": \"Ann\", \"age\": 5,}\n```"
	out = append(out,
		recordedSite{name: "unmasked", start: local(setup{reply: prose}), list: slices.Concat(
			chat.both(chat.schema[0], `"constrained_decoding":false,"repair":true`), chat.both(chat.schema[0], `"constrained_decoding":false,"retry_max":1`),
			njson.both(njson.schema[0], `"constrained_decoding":false,"repair":true`), njson.both(njson.schema[0], `"constrained_decoding":false,"repair":true,"n":2`),
			native.both(`"regex":"[a-z]+","constrained_decoding":false,"strict":false,"retry_max":0`), native.both(`"choice":["a","b"],"constrained_decoding":false,"retry_max":0`),
			njson.both(`"constrained_decoding":false,"repair":true`), njson.both(njson.schema[0], `"constrained_decoding":false,"repair":true,"signals":true`),
			chat.both(chat.tools, `"tool_choice":"required"`, chat.schema[0], `"constrained_decoding":false`), native.both(`"messages":null,"prompt":"x","constrained_decoding":false,"retry_max":1,"schema":`+personSchema), []recording{counted},
		)},
		recordedSite{name: "small", start: local(setup{eng: engine.Config{Context: backend.ContextParams{Size: 96}, Parallel: 1}}), list: slices.Concat(
			chat.both(`"max_tokens":2`, chat.schema[0]), chat.both(`"max_tokens":9,"on_budget":"truncate"`, chat.schema[0]), chat.both(`"messages":[{"role":"user","content":"`+strings.Repeat("word ", 200)+`"}]`),
			messages.both(`"max_tokens":2`, messages.schema[0]), messages.both(`"messages":[{"role":"user","content":"`+strings.Repeat("word ", 200)+`"}]`),
			ollama.both(`"options":{"num_predict":2}`, ollama.schema[0]), ollama.both(`"messages":[{"role":"user","content":"`+strings.Repeat("word ", 200)+`"}]`),
			njson.both(`"max_tokens":12`, njson.schema[0]), njson.both(`"max_tokens":12`, njson.schema[0], `"signals":true`), njson.both(`"max_tokens":80`, njson.schema[0], `"signals":true`), native.both(`"max_tokens":4000`),
			[]recording{to("/generate", `{"inputs":"`+strings.Repeat("word ", 200)+`"}`), to("/generate", `{"text":"`+strings.Repeat("word ", 200)+`","stream":true}`)},
		)},
		recordedSite{name: "validated", start: local(setup{reply: `{"a":[1,1]}`}), list: slices.Concat(
			njson.both(`"schema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"},"contains":{"const":2},"uniqueItems":true}},"required":["a"]},"on_unsupported":"validate","retry_max":0`),
			njson.both(`"schema":{"type":"object","properties":{"a":{"$dynamicRef":"#x"}},"required":["a"]},"on_unsupported":"validate"`),
			njson.both(`"schema":{"type":"object","properties":{"a":{"$dynamicRef":"#x"}},"required":["a"]},"on_unsupported":"ignore"`),
			njson.both(`"schema":{"type":"object","format":"what"}`), []recording{counted},
		)},
	)
	return append(out, recordedElsewhere()...)
}

// recordedForms returns sites for families of models, each of which writes calls and
// reasoning in its own form.
func recordedForms() (out []recordedSite) {
	const arguments = `{"days": 3, "unit": "C"}`
	for i, f := range forms {
		for kind, reply := range map[string]string{"a": f.reply, "b": f.call} {
			site := recordedSite{name: fmt.Sprintf("form %d%s %s", i, kind, f.name), start: func(t *testing.T) string {
				v := f.vocab(t)
				return serve(t, v, sayAnyhow(v, strings.ReplaceAll(reply, "{}", arguments), 5))
			}}
			for _, name := range []string{"chat", "responses", "messages", "ollama chat"} {
				d := recordedDialects[name]
				budget := strings.Replace(d.budget, "40", "200", 1) + `,"temperature":0`
				if d.inner != "" {
					budget = `"options":{` + budget + `}`
				}
				required := `"tool_choice":"required"`
				if name == "messages" {
					required = `"tool_choice":{"type":"any"}`
				}
				if kind == "a" {
					out := d.both(budget, d.tools)
					if name == "chat" {
						out = slices.Concat(out, d.both(budget, d.tools, `"signals":true`), d.both(budget, `"reasoning":true`), []recording{get("/v1/models")})
					}
					site.list = append(site.list, out...)
				} else {
					site.list = append(site.list, d.request(len(site.list)%2 == 0, budget, d.tools, required, `"reasoning":false`))
				}
			}
			out = append(out, site)
		}
	}
	slices.SortFunc(out, func(a, b recordedSite) int { return strings.Compare(a.name, b.name) })
	return out
}

// recordedUpstreams returns sites with models behind an upstream. Each request has a
// server of its own, so that its script starts from the beginning.
func recordedUpstreams() (out []recordedSite) {
	n := 0
	add := func(caps remote.Capabilities, script []string, list ...recording) {
		for _, r := range list {
			n++
			var up *scriptedUpstream
			seen := 0
			r.body = strings.Replace(r.body, `"tiny"`, `"far"`, 1)
			out = append(out, recordedSite{name: fmt.Sprintf("upstream %d", n), list: []recording{r}, start: func(t *testing.T) (url string) {
				up, url = startUpstream(t, caps, Config{}, script...)
				return url
			}, asked: func() (list []string) {
				all := up.requests()
				for _, body := range all[seen:] {
					raw, _ := json.Marshal(body)
					list = append(list, steady(string(raw)))
				}
				seen = len(all)
				slices.Sort(list)
				return list
			}})
		}
	}
	var all []recordedDialect
	for _, name := range []string{"chat", "completions", "responses", "messages", "ollama chat", "ollama generate", "native", "native json", "tgi", "sglang"} {
		all = append(all, recordedDialects[name])
	}
	every := remote.Capabilities{JSONSchema: true, Logprobs: true, Tools: true}
	for _, d := range all {
		add(remote.Capabilities{}, []string{"Hello, wörld!"}, d.both()...)
		add(remote.Capabilities{}, []string{good}, d.both(d.schema[0])...)
		add(every, []string{good}, d.both(d.schema[0], `"signals":true`)...)
		add(remote.Capabilities{}, []string{"It is so.\n\n" + noteBlock}, d.both(`"signals":true`)...)
		add(remote.Capabilities{}, []string{"!401"}, d.both()...)
		add(remote.Capabilities{}, []string{"!503"}, d.both()...)
		add(remote.Capabilities{}, []string{wrong}, d.request(false, d.schema[0]), d.request(true, d.schema[0]))
		if d.tools != "" {
			add(every, []string{"!calls I look.|" + fits}, d.both(d.tools)...)
			add(every, []string{"!calls |" + tooMany, "!calls |" + fits}, d.both(d.tools)...)
			add(remote.Capabilities{}, []string{"x"}, d.request(false, d.tools))
		}
	}
	chat, completions, native, njson := recordedDialects["chat"], recordedDialects["completions"], recordedDialects["native"], recordedDialects["native json"]
	for _, script := range [][]string{{broken, good}, {"```json\n" + good + "\n```"}, {"I can't."}, {"!refusal No."}, {"!parsed " + good}, {"!length {\"name\": \"A"}, {"!empty"}, {"!raw {"}, {"!429"}, {"!429 1", good}, {"!400"}, {"!think hm|" + good}, {"!cut " + good}, {`{"name": "Ann", "age": "5"}`}} {
		add(remote.Capabilities{}, script, njson.both(njson.schema[0])...)
		add(remote.Capabilities{}, script, njson.both(njson.schema[0], `"repair":true,"retry_max":0`)...)
		add(remote.Capabilities{JSONObject: true}, script, chat.both(chat.schema[0], `"strict":false`)...)
	}
	for _, e := range []string{remote.OpenAI, remote.VLLM, remote.Stencil, remote.Llama, remote.SGLang} {
		caps := remote.Capabilities{Engine: e, Tools: true}
		add(caps, []string{good}, native.request(false, native.schema[0]), native.request(true, native.schema[0], `"signals":true`), chat.request(false, chat.tools, chat.schema[0]))
		add(caps, []string{"abc"}, native.request(false, `"regex":"[a-z]+"`), native.request(true, `"grammar":"root ::= [a-z]+"`), native.request(false, `"choice":["abc","x"]`))
		add(caps, []string{`{"answer": ` + good + `, "signals": ` + noteText + `}`}, native.both(native.schema[0], `"signals":true`)...)
	}
	add(every, []string{"Hi"}, chat.both(`"logprobs":true,"top_logprobs":2`)...)
	add(remote.Capabilities{}, []string{"Hi"}, chat.request(false, `"logprobs":true`), completions.request(false, `"prompt":[5,6]`), chat.request(false, `"n":2`), chat.request(false, `"signals":{"samples":2}`),
		chat.request(false, `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"W"}],"continue_final_message":true,"add_generation_prompt":false`),
		chat.request(false, chat.more[len(chat.more)-1]), chat.request(false, recordedSampling[0]), chat.request(false, recordedSampling[1]), chat.request(false, recordedSampling[2]), native.request(false, `"prompt_schema":"always"`, native.schema[0]),
		to("/v1/messages/count_tokens", `{"model":"tiny",`+userX+`}`), to("/v1/embeddings", `{"model":"tiny","input":"x"}`), get("/v1/models"), get("/api/tags"), get("/api/ps"), to("/api/show", `{"model":"tiny"}`), get("/readyz"), get("/metrics"))
	add(remote.Capabilities{}, []string{final("far away")}, to("/agent/run", `{"query":"x","seed":3}`), to("/agent/run", `{"query":"x","seed":3,"stream":true}`))
	add(every, []string{`!calls Let me see.|list_dir {}`, final("empty")}, to("/agent/run", `{"query":"x","seed":3}`))
	add(remote.Capabilities{}, []string{"no JSON"}, to("/agent/run", `{"query":"x","seed":3}`))
	add(remote.Capabilities{}, []string{"!401"}, to("/agent/run", `{"query":"x","seed":3}`), to("/agent/run", `{"query":"x","seed":3,"stream":true}`))
	return out
}

// recordedElsewhere returns sites for paths that generate no text, and for servers with
// other configurations.
func recordedElsewhere() []recordedSite {
	embeddings := []recording{}
	for _, body := range []string{
		`{"model":"vectors","input":"the cat"}`, `{"model":"vectors","input":["the cat","a dog"],"encoding_format":"base64"}`, `{"model":"vectors","input":[5,6]}`, `{"model":"vectors","input":[[5,6],[7]],"dimensions":3}`,
		`{"model":"both","input":"x"}`, `{"model":"tiny","input":"x"}`, `{"model":"ranks","input":"x"}`, `{"model":"vectors"}`, `{"model":"vectors","input":""}`, `{"model":"vectors","input":[]}`, `{"model":"vectors","input":["a",5]}`, `{"model":"vectors","input":[99999]}`,
		`{"model":"vectors","input":"x","dimensions":99}`, `{"model":"vectors","input":"` + strings.Repeat("cat ", 600) + `"}`, `{"model":"vectors","input":"` + strings.Repeat("cat ", 600) + `","truncate":true}`, `{"model":"vectors","input":"x","imput":1,"timeout":5}`, `{"model":"none","input":"x"}`,
	} {
		embeddings = append(embeddings, to("/v1/embeddings", body))
	}
	for _, body := range []string{`{"model":"vectors","input":"the cat"}`, `{"model":"vectors","input":["a","b"],"options":{"num_ctx":2}}`, `{"model":"vectors"}`, `{"model":"vectors","input":"` + strings.Repeat("cat ", 600) + `","truncate":false}`, `{"model":"tiny","input":"x"}`, `{}`} {
		embeddings = append(embeddings, to("/api/embed", body))
	}
	for _, body := range []string{`{"model":"vectors","prompt":"the cat"}`, `{"model":"vectors"}`, `{"model":"tiny","prompt":"x"}`} {
		embeddings = append(embeddings, to("/api/embeddings", body))
	}
	for _, body := range []string{
		`{"model":"ranks","query":"the cat","documents":["a dog",{"text":"the cat is here"},"the cat"]}`, `{"model":"ranks","query":"the cat","documents":["a dog","the cat"],"top_n":1,"return_documents":true}`,
		`{"model":"vectors","query":"a","documents":["b"]}`, `{"query":"a"}`, `{"model":"ranks","query":"a","documents":[5]}`, `{"model":"ranks","query":"the","documents":["` + strings.Repeat("cat ", 60) + `"]}`, `{"model":"ranks","query":"a","documents":["b"],"rank_fields":["x"]}`,
	} {
		embeddings = append(embeddings, to("/v1/rerank", body), to("/rerank", body))
	}
	embeddings = append(embeddings, to("/v1/chat/completions", `{"model":"vectors",`+userX+`}`), to("/v1/messages", `{"model":"ranks","max_tokens":5,`+userX+`}`), get("/v1/models"), get("/v1/models/ranks"), get("/api/tags"), get("/api/ps"), to("/api/show", `{"model":"vectors"}`), to("/api/show", `{"model":"both"}`), get("/readyz"), get("/metrics"))

	agents := []recording{}
	for _, body := range []string{
		`{"query":"root","seed":3,"parallel":1}`, `{"query":"root","seed":3,"parallel":1,"stream":true}`, `{"query":"root","seed":3,"parallel":1,"bounds":{"depth":2,"frames":4}}`, `{"query":"delta","seed":3,"system":"Be brief.","reasoning":false,"parallel":1}`, `{"query":"root","seed":3,"parallel":1,"bounds":{"tokens":40}}`,
		`{"query":"which way","seed":3,"interactive":true,"parallel":1}`, `{"query":"which way","seed":3,"interactive":true,"parallel":1,"stream":true}`, `{"query":"which way","seed":3,"parallel":1}`, `{}`, `{"query":"x","tools":true}`, `{"query":"x","model":"none","seed":3}`, `{"query":"x","bounds":{"depth":99}}`, `{"query":"x","bounds":{"seconds":0}}`,
		`{"resume":"run_x","answer":"y"}`, `{"resume":"run_x"}`, `{"resume":"run_x","query":"x"}`, `{"resume":"run_x","answers":[{"frame":1}]}`, `{"answer":"y"}`, `{"query":"x","temperatur":1}`, ``,
	} {
		agents = append(agents, to("/agent/run", body))
	}
	way := append([]part{{"which way", wonder("left or right?")}}, deepPlay...)

	var plainPaths []recording
	for _, p := range []string{"/", "/nowhere", "/v1/models", "/v1/models/tiny", "/v1/models/none", "/v1/models/a/b", "/api/tags", "/api/ps", "/api/version", "/healthz", "/readyz", "/feedback", "/generate", "/v1/chat/completions", "/api/nowhere", "/v1/messages", "/v1/messages/nowhere"} {
		plainPaths = append(plainPaths, get(p))
	}
	plainPaths = append(plainPaths, get("/nowhere", "Anthropic-Version", "2023-06-01"), get("/v1/models", "Anthropic-Version", "2023-06-01"), get("/v1/models/none", "Anthropic-Version", "2023-06-01"), get("/v1/models", "X-Request-Id", "my-id.1"), recording{method: "HEAD", path: "/"}, recording{method: "DELETE", path: "/v1/models"}, to("/v1/models", `{}`), to("/api/tags", `{}`))
	checks := []recording{}
	for _, body := range []string{`{"schema":` + personSchema + `}`, `{"schema":{"type":"strin"}}`, `{"schema":{"$ref":"https://example.com/x"}}`, `{"schema":false}`, `{"schema":{"type":"object","requird":[]},"strict":true}`, `{"schema":{"type":"integer"},"whitespace":"pretty","property_order":"any","on_unsupported":"ignore"}`, `{"schema":{"contentEncoding":"x"}}`, `{}`, `{"schema":{"type":"array","uniqueItems":true,"items":{"enum":[1,2]},"minItems":2}}`} {
		checks = append(checks, to("/schema/check", body))
	}
	for _, body := range []string{`{"grammar":"root ::= \"a\" | \"b\""}`, `{"grammar":"root ::= x"}`, `{"grammar":"root ::= root"}`, `{"grammar":5}`, `{"grammer":"x"}`, `{"grammar":"root ::= \"a\"\nx ::= \"b\""}`} {
		checks = append(checks, to("/grammar/check", body))
	}
	texts := []recording{to("/validate", `{"schema":`+personSchema+`,"document":{"name":"Ann"}}`), to("/validate", `{"regex":"a+","text":"ab"}`), to("/validate", `{}`),
		to("/repair", `{"schema":`+personSchema+`,"text":"{'name': '**Ann**', age: \"5\"}"}`), to("/repair", `{"text":"x"}`), to("/repair", `{}`), to("/signals", `{"text":"I think it is 4."}`), to("/signals", `{}`)}
	counting := []recording{}
	for _, body := range []string{`{"model":"tiny",` + userX + `}`, `{"model":"tiny","system":"Be brief.",` + userX + `}`, `{"model":"none",` + userX + `}`, `{}`} {
		counting = append(counting, to("/v1/messages/count_tokens", body))
	}
	shown := []recording{to("/api/show", `{"model":"tiny"}`), to("/api/show", `{"name":"tiny","verbose":true,"what":1}`), to("/api/show", `{"model":"none"}`), to("/api/show", `{}`)}
	outcome := []recording{to("/feedback", `{"model":"tiny","confidence":0.8,"success":true}`), to("/feedback", `{"model":"tiny","confidence":0.4,"success":false}`), to("/feedback", `{"model":"none","confidence":0.4,"success":false}`), to("/feedback", `{"id":"asm_none","success":true}`), to("/feedback", `{"success":true}`),
		to("/feedback", `{"model":"tiny","success":true}`), to("/feedback", `{"model":"tiny","confidence":2,"success":true}`), to("/feedback", `{"id":"x","model":"y","success":true}`), to("/feedback", `{"id":"x","sucess":true}`), get("/feedback"), get("/feedback?model=tiny"), get("/feedback?model=none"), get("/feedback?modle=tiny"),
		recordedDialects["chat"].request(false, `"signals":true`), recordedDialects["messages"].request(true, `"signals":true`)}
	keyed := []recording{get("/v1/models"), get("/v1/models", "Authorization", "Bearer one"), get("/v1/models", "X-Api-Key", "two"), get("/v1/models", "Authorization", "Basic one"), get("/api/tags"), get("/v1/messages", "Anthropic-Version", "2023-06-01"), get("/healthz"), get("/readyz"), get("/nowhere"),
		get("/healthz", "Origin", "https://a.example"), get("/healthz", "Origin", "https://b.example"), {method: "OPTIONS", path: "/v1/chat/completions", header: []string{"Origin", "https://a.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization"}}}
	loading := slices.Concat(plainPaths[:17], []recording{to("/v1/chat/completions", `{`+userX+`}`), to("/v1/messages", `{"model":"x","max_tokens":5,`+userX+`}`), to("/api/chat", `{"model":"x",`+userX+`}`), to("/generate", `{"inputs":"x"}`), to("/v1/embeddings", `{"input":"x"}`), to("/rerank", `{"query":"x","documents":["a"]}`), to("/agent/run", `{"query":"x"}`), get("/metrics")}, checks)
	big := `{"prompt":"` + strings.Repeat("x", 3000) + `"}`
	bodies := []recording{to("/generate", big), to("/v1/messages", big), to("/api/chat", big), to("/v1/chat/completions", big), to("/generate", "\xff"), to("/generate", `{"a":1,"a":2}`), to("/generate", `{"prompt":"x"} x`), to("/generate", "{\"prompt\":\n \"x\",}"), to("/generate", `{"text":"x","prompt":"y"}`), to("/generate", `{"inputs":"x","messages":[]}`)}
	return []recordedSite{
		{name: "embeddings", start: func(t *testing.T) string {
			_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
			return url
		}, list: embeddings},
		{name: "agent", start: func(t *testing.T) string {
			_, url := startAgent(t, setup{}, way...)
			return url
		}, list: append(agents, counted)},
		{name: "agent tools", start: func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("first\nsecond\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			box, err := files.Open(dir, files.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { box.Close() })
			_, url := startAgent(t, setup{cfg: Config{AgentTools: box, AgentBounds: agent.Bounds{Depth: 2}}}, part{"read it", "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>"}, part{"first", final("first and second")})
			return url
		}, list: []recording{to("/agent/run", `{"query":"read it","seed":3,"parallel":1,"bounds":{"tool_steps":1}}`), to("/agent/run", `{"query":"first","seed":3,"parallel":1,"tools":true,"stream":true}`), to("/agent/run", `{"query":"first","seed":3,"tools":false,"parallel":1}`), to("/agent/run", `{"query":"first","bounds":{"depth":3}}`)}},
		{name: "paths", start: func(t *testing.T) string {
			_, url := start(t, setup{reply: "hello", cfg: Config{Version: "v1"}})
			return url
		}, list: slices.Concat(plainPaths, checks, texts, counting, shown, []recording{{method: "GET", path: "/metrics", body: "described"}})},
		{name: "feedback", start: func(t *testing.T) string {
			_, url := startFeedback(t, filepath.Join(t.TempDir(), "feedback.db"))
			return url
		}, list: outcome},
		{name: "feedback off", start: func(t *testing.T) string {
			_, url := start(t, setup{})
			return url
		}, list: outcome[:2]},
		{name: "feedback broken", start: func(t *testing.T) string {
			srv, url := start(t, setup{cfg: Config{Feedback: "testdata"}})
			if srv.OpenFeedback() == nil {
				t.Fatal("a folder was opened as a file")
			}
			return url
		}, list: outcome[:2]},
		{name: "keys", start: func(t *testing.T) string {
			_, url := start(t, setup{cfg: Config{Access: access.Config{Keys: []string{"one", "two"}, Origins: []string{"https://a.example"}}}})
			return url
		}, list: keyed},
		{name: "everywhere", start: func(t *testing.T) string {
			_, url := start(t, setup{cfg: Config{Access: access.Config{Origins: []string{"*"}}}})
			return url
		}, list: keyed[9:]},
		{name: "loading", start: func(t *testing.T) string {
			return listen(t, New(Config{Log: slog.New(slog.DiscardHandler)}))
		}, list: loading},
		{name: "bodies", start: func(t *testing.T) string {
			_, url := start(t, setup{cfg: Config{BodyLimit: 2000}})
			return url
		}, list: bodies},
	}
}

// counted requests the metrics, at the end of a site.
var counted = get("/metrics")
