package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/regular"
)

var update = flag.Bool("update", false, "rewrite the generated pages")

// generated compares a page with the text generated from the code, or rewrites it.
func generated(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("reference", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("docs/reference/%s is not what the code gives: run make docs (%v)", name, err)
	}
}

// folders parses the Go files below a folder, except tests, and returns them by their folders.
func folders(t *testing.T, dir string) map[string][]*ast.File {
	t.Helper()
	out := map[string][]*ast.File{}
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		out[filepath.ToSlash(folder)] = append(out[filepath.ToSlash(folder)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// files parses the Go files below a folder, except tests.
func files(t *testing.T, dir string) (out []*ast.File) {
	t.Helper()
	all := folders(t, dir)
	for _, folder := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[folder]...)
	}
	return out
}

// literal returns the text of a string literal.
func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// calledName returns the name of the called function.
func calledName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// An explanation is the text of the reference for an error code.
type explanation struct {
	status  string
	means   string
	whatNow string
}

// explanations are the explanations of all error codes of the server.
var explanations = map[string]explanation{
	"assessment_not_found":        {"404", "`POST /feedback` names an assessment that this server does not know", "send the `id` that the answer's `assessment` had, to the server that gave it"},
	"body_too_slow":               {"408", "the body did not arrive within a minute", "send it faster"},
	"body_too_large":              {"413", "the body exceeds the server's limit", "send less, or raise `--body-limit`"},
	"budget_too_small":            {"400", "no document that fits the constraint fits into the budget", "raise `max_tokens` to at least `minimum`, which the error has; for agents, `bounds`"},
	"cancelled":                   {"499", "the client hung up", "keep both sides of the connection open until the answer is complete; else only logs show it"},
	"chat_template_failed":        {"400", "the model's chat template can't write this conversation", "the message has the template's reason; often the order of roles, or a content of another type"},
	"constraint_limit":            {"422", "the constraint exceeded a limit on states, memory or time during generation, or while `/validate` read the text", "simplify what `/schema/check` calls costly; [limits](../limits.md)"},
	"conversation_not_found":      {"404", "no conversation of that id is stored for this key", "it may have been given up for others: `--responses-max`, `--responses-time`"},
	"context_length_exceeded":     {"400", "the prompt is longer than the model's context", "`n_prompt_tokens` and `n_ctx` say by how much; shorten it, or raise `--context`"},
	"duplicate_field":             {"400", "a field occurs twice in the body", "remove one of the two"},
	"empty_answer":                {"422", "a model without masks wrote nothing, after all retries", "`failure` says what it was asked; ask again, or another model"},
	"empty_prompt":                {"400", "the prompt is empty and the model has no token to begin with", "send a text"},
	"events_not_kept":             {"400", "the events of a response after that number have made room for others", "`GET` the response without `stream`"},
	"feedback_off":                {"404", "the server keeps no outcomes", "start it without `--feedback off`"},
	"feedback_unavailable":        {"503", "the file of outcomes can't be opened or written", "look at the server's log; another server may have it open"},
	"grammar_limit":               {"400", "a grammar or pattern is too large to be compiled", "shorten it; the message names the limit"},
	"host_not_allowed":            {"403", "`Host` is a name that the server does not have", "`--allowed-host` ([access](../operate/access.md))"},
	"infill_not_supported":        {"501", "the model has no tokens for filling in text", "use a model made for it, such as Qwen-Coder"},
	"internal_error":              {"500", "a failure of the server's own", "the log has it under the `X-Request-Id` of the answer; please report it"},
	"invalid_api_key":             {"401", "no key, or an unknown one", "`Authorization: Bearer KEY` or `X-Api-Key: KEY`"},
	"invalid_grammar":             {"400", "a grammar or regular expression has errors, or no text can satisfy it", "`details` has line, column and reason; `stencil grammar check`"},
	"invalid_json":                {"400", "the body is not one JSON object", "the message has line and column"},
	"invalid_schema":              {"400", "a schema is malformed, or has a misspelt keyword", "`details` has pointer, keyword and hint; `\"strict\": false` turns misspelt keywords into warnings"},
	"invalid_utf8":                {"400", "the body is not UTF-8", "the message has the first bad byte"},
	"invalid_value":               {"400", "a field has a value that it can't have", "`param` names it, the message what it can have"},
	"item_not_found":              {"404", "`item_reference`, or the path of a conversation's item, names one that is not stored", "send the item itself; [stored responses](../clients/responses.md)"},
	"loading":                     {"503", "the model is still being loaded", "retry after `Retry-After`; clients of OpenAI's do so by themselves"},
	"method_not_allowed":          {"405", "the path takes other methods", "use one of those that the message and the header `Allow` name; see [HTTP](http.md)"},
	"model_damaged":               {"422", "the model computes numbers that are not finite", "fetch the file again; check its adapters"},
	"model_in_use":                {"409", "a model that requests use can't be unloaded", "wait until they have ended"},
	"model_not_capable":           {"400", "the model can't do what the path is for, such as embeddings", "name another model; `GET /v1/models` lists them"},
	"model_not_found":             {"404", "no model of that name is served", "`GET /v1/models` lists those that are; leave `model` out for the first"},
	"model_not_loadable":          {"422", "a model from `--models` can't be loaded", "the message says why; `stencil inspect FILE`"},
	"model_not_loaded":            {"400", "the server was started with `--no-models-autoload`, and the model is not in memory", "`POST /models/load`"},
	"mutually_exclusive_fields":   {"400", "`conversation` and `previous_response_id`", "keep one of them"},
	"no_proxy":                    {"403", "`/cors-proxy` is llama-server's: this server does not proxy requests", "send them directly"},
	"no_room_to_store":            {"413", "a conversation, or a response with `background: true`, is too large to be stored", "raise `--responses-bytes`, or delete others"},
	"no_slot":                     {"503", "`GET /slots?fail_on_no_slot=1`, and every place is taken", "retry, or raise `--parallel`"},
	"no_token_allowed":            {"422", "`logit_bias` bans every token that the constraint allows", "ban less"},
	"no_tokenizer":                {"501", "the model is behind an upstream, whose tokens are not known", "ask a local model"},
	"not_cancellable":             {"400", "a response that was not made in the background can't be cancelled", "nothing is left to do"},
	"not_found":                   {"404", "there is nothing at that path", "the message names a similar path; see [HTTP](http.md)"},
	"not_offered":                 {"400", "a known field asks for something that this server does not do, and leaving it out would change the answer", "leave the field out; the message says what it is"},
	"option_without_constraint":   {"400", "an option of constraints, and no constraint", "add `schema`, `grammar`, `regex` or `choice`, or leave the option out"},
	"origin_not_allowed":          {"403", "the request comes from a web page of another site", "`--allowed-origin` ([access](../operate/access.md))"},
	"out_of_memory":               {"503", "the machine has no memory left for a longer context", "lower `--context` or `--parallel`"},
	"previous_response_not_found": {"400", "`previous_response_id` is not stored for this key, or no longer", "send the conversation; [stored responses](../clients/responses.md)"},
	"queue_full":                  {"429", "the queue is full", "retry after `Retry-After`, or raise `--queue`"},
	"refused_by_model":            {"422", "a model without masks refused to answer", "`text` has what it wrote"},
	"refused_by_template":         {"400", "the model's chat template refuses this conversation, also with messages of one role in a row joined", "the message has its words, such as that roles must alternate"},
	"response_in_progress":        {"400", "`previous_response_id` names a response that has not ended", "wait until it has"},
	"response_not_found":          {"404", "no response of that id is stored for this key", "it may have been given up for others: `--responses-max`, `--responses-time`"},
	"run_not_found":               {"404", "no run of that id waits for an answer", "runs wait for an hour: `--agent-paused-time`"},
	"schema_limit":                {"400", "a schema exceeds a limit", "`details` has the limit's name and flag; [limits](../limits.md)"},
	"server_restarted":            {"200", "in `error` of a response: it was being made in the background when the server stopped", "ask again"},
	"shutting_down":               {"503", "the server is shutting down", "retry after `Retry-After`, elsewhere"},
	"storage_unwritable":          {"503", "the disk is full or can't be written: feedback, saved slots, conversations and responses in the background are not stored", "make room; answers go on meanwhile"},
	"text_too_long":               {"413", "`/tokenize` was sent more text than it takes", "send it in parts; [limits](../operate/limits.md)"},
	"thread_unsupported_request":  {"400", "Anthropic's message threads are not kept", "send the whole conversation; Anthropic's clients do so by themselves"},
	"timeout":                     {"504", "the request exceeded its time limit", "raise `timeout` or `--request-timeout`, or ask for less"},
	"too_many_background":         {"429", "as many responses in the background as may be have not ended", "retry when some have, cancel some, or raise `--background-max` and `--background-max-per-key`"},
	"too_many_inputs":             {"400", "a request for embeddings or ranks has too many texts", "send them in several requests; the message has the limit"},
	"too_many_tokens":             {"400", "the texts of a request for embeddings have too many tokens in all", "send them in several requests; the message has the limit"},
	"two_constraints":             {"400", "fields that exclude one another", "keep one; the message names them"},
	"two_dialects":                {"400", "`/generate` has fields of several servers' dialects", "write the body in one of them"},
	"unknown_field":               {"400", "a field that is not known, and could change the text", "the message has the nearest name"},
	"unreadable_body":             {"400", "the body ended early", "a broken connection, or a wrong `Content-Length`"},
	"unsatisfiable_schema":        {"400", "no value fits the schema", "`details` has the place of the contradiction"},
	"slot_of_another_key":         {"403", "the slot holds a text of another API key", "save or erase the slot of one's own last answer, `id_slot`"},
	"slot_folder_full":            {"507", "saved slots take all of `--slot-save-bytes`", "remove files, or raise the limit"},
	"state_too_large":             {"413", "the state of a slot takes more memory than one client may have", "a shorter text, or `--memory-limit`"},
	"unsupported_encoding":        {"415", "the body's `Content-Encoding` is none that the server decodes", "gzip, deflate, zstd or br, one at a time; the answer's `Accept-Encoding` names them"},
	"invalid_encoding":            {"400", "the body isn't what its `Content-Encoding` says, or is cut off", "the message has the decoder's reason"},
	"unsupported_media_type":      {"415", "a web page sends another type than JSON", "`Content-Type: application/json`"},
	"unsupported_schema_keyword":  {"400", "keywords that masks can't enforce", "`details` lists them all; `\"on_unsupported\": \"validate\"` has them checked afterwards"},
	"upstream_denied":             {"502", "the upstream refuses the server's key", "`STENCIL_UPSTREAM_KEY`"},
	"upstream_malformed":          {"502", "the upstream's answer can't be read", "is `--upstream` an OpenAI-compatible base URL?"},
	"upstream_rate_limited":       {"429", "the upstream has too many requests", "retry after `Retry-After`"},
	"upstream_refused":            {"400", "the upstream refuses the request", "`failure` has its words"},
	"upstream_unavailable":        {"503", "the upstream can't be reached or fails", "retry after `Retry-After`"},
	"validation_failed":           {"422", "a text generated without masks does not fit, after all retries", "`text` is the document, `details` says what is wrong; `\"strict\": false` returns it with a warning, `retry_max` asks more often"},
}

// codes collects the error codes from the server's sources: the values of fields named Code, and of arguments for
// parameters named code.
func codes(t *testing.T) map[string]bool {
	out := map[string]bool{}
	all := files(t, "server")
	place := map[string]int{} // function → index of its parameter code
	params := func(name string, list *ast.FieldList) {
		i := 0
		for _, field := range list.List {
			for _, p := range field.Names {
				if p.Name == "code" {
					place[name] = i
				}
				i++
			}
		}
	}
	for _, f := range all {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				params(n.Name.Name, n.Type.Params)
			case *ast.AssignStmt:
				fn, ok := n.Rhs[0].(*ast.FuncLit)
				if name, named := n.Lhs[0].(*ast.Ident); ok && named {
					params(name.Name, fn.Type.Params)
				}
			}
			return true
		})
	}
	add := func(e ast.Expr) {
		if sum, ok := e.(*ast.BinaryExpr); ok { // "too_many_" + what
			if s, ok := literal(sum.X); ok && s == "too_many_" {
				out["too_many_tokens"] = true
			}
		}
		if s, ok := literal(e); ok && s != "" {
			out[s] = true
		}
	}
	for _, f := range all {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
					add(n.Value)
				}
				if key, ok := n.Key.(*ast.SelectorExpr); ok { // the table of failure reasons
					if x, ok := key.X.(*ast.Ident); ok && x.Name == "asking" {
						if row, ok := n.Value.(*ast.CompositeLit); ok && len(row.Elts) == 4 {
							add(row.Elts[2])
						}
					}
				}
			case *ast.CallExpr:
				if i, ok := place[calledName(n)]; ok && i < len(n.Args) {
					add(n.Args[i])
				}
			}
			return true
		})
	}
	return out
}

func TestReferenceErrors(t *testing.T) {
	found := codes(t)
	for code := range found {
		if explanations[code].means == "" {
			t.Errorf("the code %s is not explained", code)
		}
	}
	for code := range explanations {
		if !found[code] {
			t.Errorf("the code %s is explained, and the server has none", code)
		}
	}
	// The recorded answers are a second source of codes, and of their status.
	recorded, err := os.ReadFile(filepath.Join(root, "server", "testdata", "recorded.txt"))
	if err != nil {
		t.Fatal(err)
	}
	answers := regexp.MustCompile(`(?m)^--- (\d+) .*\n\{"(?:type":"error","error":\{[^\n]*?|error":\{[^\n]*?)"code":"([a-z_]+)"`)
	n := 0
	for _, m := range answers.FindAllStringSubmatch(string(recorded), -1) {
		n++
		if e := explanations[m[2]]; !strings.Contains(e.status, m[1]) {
			t.Errorf("%s is recorded with status %s, documented with %q", m[2], m[1], e.status)
		}
	}
	if n < 100 {
		t.Errorf("only %d recorded errors were found", n)
	}
	var b strings.Builder
	b.WriteString(`# Errors

Generated by ` + "`make docs`" + `. Every error has OpenAI's shape; on the paths of Anthropic, Ollama and llama-server, that of
those servers:

` + "```json" + `
{"error":{"message":"max_tokens must be at least 1","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}
` + "```" + `

` + "`message`, `type`, `param` and `code`" + ` are always there; ` + "`param` and `code`" + ` may be null. ` + "`details`" + ` lists what is wrong in a
schema or grammar, each with ` + "`pointer`, `keyword`, `reason`, `hint`, `line` and `column`" + ` as far as they are known. The headers
` + "`X-Should-Retry` and `Retry-After`" + ` tell clients whether trying again helps. After the first byte of a stream, an error is the
stream's last event.

| code | status | means | what to do |
| --- | --- | --- | --- |
`)
	for _, code := range slices.Sorted(maps.Keys(explanations)) {
		e := explanations[code]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", code, e.status, e.means, e.whatNow)
	}
	generated(t, "errors.md", b.String())
}

// kinds maps constructors to kinds of metrics; other constructors take the kind as second argument.
var kinds = map[string]string{"NewCounter": "counter", "NewGauge": "gauge", "NewHistogram": "histogram", "NewCounts": "counter", "NewGauges": "gauge"}

func TestReferenceMetrics(t *testing.T) {
	type metric struct{ kind, help, labels string }
	found := map[string]metric{}
	for _, f := range files(t, "server") {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			name, ok := literal(call.Args[0])
			if !ok {
				return true
			}
			function := calledName(call)
			kind, rest := kinds[function], call.Args[1:]
			if kind == "" {
				if function != "NewReading" && function != "ofEngine" && function != "ofEmbedding" {
					return true
				}
				kind, _ = literal(call.Args[1])
				rest = call.Args[2:]
			}
			help, ok := literal(rest[0])
			if !ok {
				t.Errorf("the help of metric %s is no literal", name)
			}
			var labels []string
			for _, arg := range rest[1:] {
				if s, ok := literal(arg); ok {
					labels = append(labels, "`"+s+"`")
				}
			}
			if strings.HasPrefix(function, "of") {
				labels = []string{"`model`"}
			}
			found["stencil_"+name] = metric{kind, help, strings.Join(labels, ", ")}
			return true
		})
	}
	if len(found) < 30 {
		t.Fatalf("only %d metrics were found", len(found))
	}
	var b strings.Builder
	b.WriteString(`# Metrics

Generated by ` + "`make docs`" + `. ` + "`GET /metrics`" + ` answers in Prometheus' text format. Beside these there are those of the process
(` + "`process_…`" + `) and of Go's runtime (` + "`go_…`" + `). A metric with labels appears with its first event.

| metric | kind | labels | what |
| --- | --- | --- | --- |
`)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		m := found[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, m.kind, m.labels, m.help)
	}
	generated(t, "metrics.md", b.String())
}

// groups are the keywords by topic.
var groups = []struct{ title, keywords string }{
	{"Any value", "type enum const allOf anyOf oneOf not if then else $ref $dynamicRef $recursiveRef $defs definitions"},
	{"Objects", "properties required additionalProperties patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas dependencies unevaluatedProperties"},
	{"Arrays", "items prefixItems additionalItems contains minContains maxContains minItems maxItems uniqueItems unevaluatedItems"},
	{"Strings", "minLength maxLength pattern format"},
	{"Numbers", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"},
}

func TestReferenceKeywords(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(root, "schema", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(src), "// # Keywords\n")
	table, rest, _ := strings.Cut(rest, "// # Departures from the specification\n")
	treated := map[string]string{}
	for line := range strings.Lines(table) {
		if row, ok := strings.CutPrefix(line, "//\t"); ok {
			name, how, _ := strings.Cut(row, " ")
			treated[name] = strings.TrimSpace(how)
		}
	}
	var departures strings.Builder
	for line := range strings.Lines(rest) {
		text, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		if text = strings.TrimRight(strings.TrimPrefix(text, " "), "\n"); strings.TrimSpace(text) != "" {
			departures.WriteString(strings.TrimPrefix(text, "  ") + "\n")
		}
	}
	// The validator shares no code with package schema, so it may lack a keyword: then whatever a document says there is valid.
	judged := map[string]bool{}
	for _, f := range files(t, "validator") {
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if word, ok := literal(e); ok {
					judged[word] = true
				}
			}
			return true
		})
	}
	var b strings.Builder
	b.WriteString(`# JSON Schema keywords

Generated by ` + "`make docs`" + `. Drafts 4, 6, 7, 2019-09 and 2020-12 are read, as ` + "`$schema`" + ` says; without it 2020-12. A keyword is
enforced exactly, or the schema is refused with its name and place (` + "`unsupported_schema_keyword`" + `), unless ` + "`on_unsupported`" + `
says otherwise. ` + "`stencil schema check FILE` and `POST /schema/check`" + ` tell it of a schema, with what makes it costly
([limits](../limits.md)). Annotations such as ` + "`title`, `description` and `default`" + ` are read by the model, if the schema is shown
to it, and have no effect on masks. A word that looks like a misspelt keyword is an error where requests are strict.
`)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| keyword | |\n| --- | --- |\n", g.title)
		for name := range strings.FieldsSeq(g.keywords) {
			how, ok := treated[name]
			if !ok {
				t.Errorf("schema/doc.go does not have %s", name)
			}
			if !judged[name] && how != "schemas to refer to" {
				t.Errorf("package validator does not read %s", name)
			}
			delete(treated, name)
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, how)
		}
	}
	for name := range treated {
		t.Errorf("no group has %s", name)
	}
	b.WriteString("\n## Formats\n\nEnforced in every draft: ")
	b.WriteString(strings.Join(formats(t), ", ") + ". Others are annotations.\n")
	b.WriteString("\n## Departures from the specification\n\n" + departures.String())
	generated(t, "keywords.md", b.String())
}

// formats lists the enforced formats: the string literals in package regular that it accepts as formats.
func formats(t *testing.T) (out []string) {
	store := regular.NewStore(regular.Limits{})
	for _, f := range files(t, "regular") {
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if name, ok := literal(e); ok {
					if _, known := store.Format(name); known && !slices.Contains(out, "`"+name+"`") {
						out = append(out, "`"+name+"`")
					}
				}
			}
			return true
		})
	}
	slices.Sort(out)
	if len(out) < 15 {
		t.Errorf("only %d formats were found", len(out))
	}
	return out
}
