package server

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// TestClosedObjects checks, on every path, that a schema that names members
// and says nothing about others gets no others unless open_objects is set.
// The model here tries to write one.
func TestClosedObjects(t *testing.T) {
	const (
		schema = `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"object","allOf":[{"properties":{"b":{"type":"integer"}}}]}}}`
		reply  = `{"a":{"b":1,"zzz":2},"zzz":3}`
		tools  = `{"type":"function","function":{"name":"f","parameters":` + schema + `}}`
		user   = `"messages":[{"role":"user","content":"x"}]`
	)
	_, url := start(t, setup{next: scripted.SayText(loadVocab(t), reply)})
	for _, c := range []struct{ path, body, receipt string }{
		{"/generate", `"prompt":"x","schema":` + schema, "constraint"},
		{"/generate", `"prompt":"x","json_mode":{"schema":` + schema + `,%s}`, "constraint"},
		{"/generate_json", `"prompt":"x","schema":` + schema, "constraint"},
		{"/v1/chat/completions", user + `,"response_format":{"type":"json_schema","json_schema":{"name":"d","schema":` + schema + `}}`, "x_constraint"},
		{"/v1/chat/completions", user + `,"response_format":{"type":"json_schema","json_schema":{"name":"d","strict":true,"schema":` + schema + `}}`, "x_constraint"},
		{"/v1/completions", `"prompt":"x","structured_outputs":{"json":` + schema + `}`, "x_constraint"},
		{"/v1/responses", `"input":"x","text":{"format":{"type":"json_schema","name":"d","schema":` + schema + `}}`, "x_constraint"},
		{"/v1/messages", `"max_tokens":60,` + user + `,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`, "x_constraint"},
		{"/api/chat", `"model":"tiny","stream":false,` + user + `,"format":` + schema, "x_constraint"},
		{"/api/generate", `"stream":false,"prompt":"x","format":` + schema, "x_constraint"},
		{"/generate", `"inputs":"x","parameters":{"max_new_tokens":60,"grammar":{"type":"json","value":` + schema + `}}`, "x_constraint"},
		{"/generate", `"text":"x","sampling_params":{"max_new_tokens":60,"json_schema":` + strconv.Quote(schema) + `}`, ""},
	} {
		for _, open := range []bool{false, true} {
			option := fmt.Sprintf(`"open_objects":%v`, open)
			body := "{" + strings.Replace(c.body, ",%s", ","+option, 1)
			if !strings.Contains(c.body, "%s") {
				body += "," + option
			}
			if strings.HasPrefix(c.path, "/v1") || strings.Contains(c.body, "prompt\"") {
				body += `,"model":"tiny","temperature":0`
			}
			status, _, got := post(t, url+c.path, body+"}")
			raw, _ := json.Marshal(got)
			if status != 200 || strings.Contains(string(raw), "zzz") != open || !strings.Contains(string(raw), "b") {
				t.Errorf("%s %s: %d %s", c.path, body, status, raw)
			}
			if c.receipt != "" && (at(got, c.receipt, "closed") == true) == open {
				t.Errorf("%s %s: receipt %v", c.path, body, got[c.receipt])
			}
		}
	}
	for _, c := range []struct{ schema string }{{`{"type":"object"}`}, {`{"type":"object","properties":{"q":{}},"additionalProperties":true}`}, {`{"type":"object","properties":{"q":{}},"minProperties":2}`}} {
		status, _, got := post(t, url+"/generate", `{"prompt":"x","temperature":0,"schema":`+c.schema+`}`)
		if status != 200 || !strings.Contains(got["text"].(string), "zzz") || at(got, "constraint", "closed") != nil {
			t.Errorf("%s: %d %v", c.schema, status, got)
		}
	}
	for _, open := range []bool{false, true} {
		_, _, got := post(t, url+"/schema/check", fmt.Sprintf(`{"schema":%s,"open_objects":%v}`, schema, open))
		if got["ok"] != true || (got["closed"] == true) == open {
			t.Errorf("check: %v", got)
		}
	}
	_, _, got := post(t, url+"/schema/check", `{"schema":{"type":"object","properties":{"q":{}},"minProperties":2}}`)
	if at(got, "warnings", 0, "keyword") != "minProperties" || at(got, "warnings", 0, "pointer") != "/minProperties" {
		t.Errorf("more members than are named: %v", got)
	}

	v := familyVocab(t, "qwen25")
	url = serve(t, v, scripted.SayText(v, `<tool_call>
{"name": "f", "arguments": `+strings.NewReplacer(":", ": ", ",", ", ").Replace(reply)+`}
</tool_call>`))
	for _, c := range []struct{ path, body string }{
		{"/v1/chat/completions", user + `,"tools":[` + tools + `],"tool_choice":"required"`},
		{"/v1/chat/completions", user + `,"tools":[` + tools + `]`},
		{"/v1/messages", `"max_tokens":90,` + user + `,"tools":[{"name":"f","input_schema":` + schema + `}]`},
		{"/v1/responses", `"input":"x","tools":[{"type":"function","name":"f","parameters":` + schema + `}]`},
		{"/api/chat", `"stream":false,` + user + `,"tools":[` + tools + `]`},
	} {
		for _, open := range []bool{false, true} {
			body := fmt.Sprintf(`{"model":"tiny","temperature":0,%s,"open_objects":%v}`, c.body, open)
			status, _, got := post(t, url+c.path, body)
			raw, _ := json.Marshal(got)
			if status != 200 || strings.Contains(string(raw), "zzz") != open || (at(got, "x_constraint", "closed") == true) == open {
				t.Errorf("%s %s: %d %s", c.path, body, status, raw)
			}
		}
	}
}
