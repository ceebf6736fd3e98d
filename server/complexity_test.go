package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema"
)

// alternatives returns a schema with n alternatives at /payload.
func alternatives(n int, closed string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"type":"object","properties":{"p%d":{"type":"integer"}},"required":["p%d"]%s}`, i, i, closed))
	}
	return `{"type":"object","properties":{"payload":{"oneOf":[` + strings.Join(list, ",") + `]}},"required":["payload"]}`
}

// TestComplexity checks that a costly part of a schema is reported with its place, cost and a remedy: by the check, in
// the answer, its receipt and the log.
func TestComplexity(t *testing.T) {
	var log bytes.Buffer
	_, url := start(t, setup{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}})
	costly := alternatives(84, "")
	_, _, got := post(t, url+"/schema/check", `{"schema": `+costly+`}`)
	w := at(got, "warnings", 0)
	if got["ok"] != true || at(w, "pointer") != "/properties/payload" || at(w, "keyword") != "complexity" || !strings.HasPrefix(at(w, "reason").(string), "oneOf of 84 open objects: ") ||
		!strings.Contains(at(w, "hint").(string), "add additionalProperties: false") {
		t.Errorf("%v", got["warnings"])
	}
	status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 60, "strict": true, "schema": `+costly+`}`)
	if status != 200 || at(got, "constraint", "warnings", 0, "pointer") != "/properties/payload" || !strings.Contains(fmt.Sprint(got["warnings"]), "84 open objects") {
		t.Errorf("%d %v", status, got)
	}
	if text := log.String(); !strings.Contains(text, "a schema is costly") || !strings.Contains(text, "pointer=/properties/payload") {
		t.Errorf("log: %s", text)
	}
	for _, fine := range []string{alternatives(160, `,"additionalProperties":false`), alternatives(40, "")} {
		if _, _, got = post(t, url+"/schema/check", `{"schema": `+fine+`}`); len(got["warnings"].([]any)) != 0 {
			t.Errorf("%.80s: %v", fine, got["warnings"])
		}
	}
	// An error about a limit names the flag that sets it, and the likely cause.
	_, url = start(t, setup{cfg: Config{SchemaLimits: schema.Limits{Bytes: 1000, Depth: 4}}})
	for body, want := range map[string]string{
		costly: "schema: more than 1000 bytes; the server's flag --schema-bytes sets this limit",
		`{"items":{"items":{"items":{"items":{"items":{}}}}}}`: "--schema-depth",
	} {
		if status, _, got = post(t, url+"/generate_json", `{"prompt": "x", "schema": `+body+`}`); status != 400 || at(got, "error", "code") != "schema_limit" || !strings.Contains(at(got, "error", "message").(string), want) {
			t.Errorf("%d %v", status, got)
		}
	}
	_, url = start(t, setup{cfg: Config{SchemaLimits: schema.Limits{Steps: 3}}})
	if status, _, got = post(t, url+"/generate_json", `{"prompt": "x", "schema": `+costly+`}`); status != 400 || at(got, "error", "details", 0, "pointer") != "/properties/payload" ||
		!strings.Contains(at(got, "error", "details", 0, "hint").(string), "additionalProperties") {
		t.Errorf("%d %v", status, got)
	}
}
