package docs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/validator"
)

// An openAPI is the part of reference/openapi.json that the tests use.
type openAPI struct {
	Paths map[string]map[string]operation `json:"paths"`
}

// An operation is one method of a path.
type operation struct {
	RequestBody struct{ Content contents }            `json:"requestBody"`
	Responses   map[string]struct{ Content contents } `json:"responses"`
}

type contents map[string]struct {
	Schema json.RawMessage
	Item   json.RawMessage `json:"x-itemSchema"` // of an event or a line of a stream
}

// line returns the schema of the JSON in each event of a stream, or in each line.
func (c contents) line(t *testing.T, kind string) json.RawMessage {
	t.Helper()
	if kind != "text/event-stream" || c[kind].Item == nil {
		return c[kind].Item
	}
	type text struct{ ContentSchema json.RawMessage }
	var item struct {
		Properties struct {
			Data struct {
				text
				AnyOf []text // or the mark of the end
			}
		}
	}
	if err := json.Unmarshal(c[kind].Item, &item); err != nil {
		t.Fatal(err)
	}
	for _, one := range item.Properties.Data.AnyOf {
		if one.ContentSchema != nil {
			return one.ContentSchema
		}
	}
	return item.Properties.Data.ContentSchema
}

func readOpenAPI(t *testing.T) (a openAPI, components json.RawMessage) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("reference", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct{ Components json.RawMessage }
	if err := json.Unmarshal(src, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &whole); err != nil {
		t.Fatal(err)
	}
	return a, whole.Components
}

// TestOpenAPIRoutes checks that openapi.json has exactly the routes of the server.
func TestOpenAPIRoutes(t *testing.T) {
	parameter := regexp.MustCompile(`[:*](\w+)`)
	routes := map[string]bool{}
	for _, f := range files(t, "server") {
		ast.Inspect(f, func(n ast.Node) bool {
			if loop, ok := n.(*ast.RangeStmt); ok { // for _, path := range []string{…} { r.POST(path, …) }
				if list, ok := loop.X.(*ast.CompositeLit); ok && len(loop.Body.List) == 1 {
					if statement, ok := loop.Body.List[0].(*ast.ExprStmt); ok {
						for _, one := range list.Elts {
							if path, ok := literal(one); ok && strings.HasPrefix(path, "/") {
								routes[strings.ToLower(calledName(statement.X.(*ast.CallExpr)))+" "+path] = true
							}
						}
					}
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			path, ok := literal(call.Args[0])
			if method := calledName(call); ok && strings.HasPrefix(path, "/") && slices.Contains([]string{"GET", "POST", "DELETE", "HEAD"}, method) {
				routes[strings.ToLower(method)+" "+parameter.ReplaceAllString(path, "{$1}")] = true
			}
			return true
		})
	}
	if len(routes) < 30 {
		t.Fatalf("only %d routes were found", len(routes))
	}
	a, _ := readOpenAPI(t)
	documented := map[string]bool{}
	for path, methods := range a.Paths {
		for method := range methods {
			documented[method+" "+path] = true
		}
	}
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		if !documented[route] {
			t.Errorf("openapi.json lacks %s", route)
		}
		delete(documented, route)
	}
	for route := range documented {
		t.Errorf("openapi.json has %s, which is no route", route)
	}
}

// TestOpenAPIRecorded checks that the recorded requests that succeeded, their answers and the events of streams, and the
// recorded errors fit the schemas of openapi.json, and that these describe every member that they have.
func TestOpenAPIRecorded(t *testing.T) {
	a, components := readOpenAPI(t)
	whole := readDocument(t)
	compiled := map[string]*validator.Schema{}
	// The recorder leaves out what differs each time.
	whenever := strings.NewReplacer(`"mask_us":{}`, `"mask_us":{"total":0,"max":0}`, `,"timings":{}`, "", `"TIME"`, `"2026-11-01T12:00:00Z"`)
	fits := func(schema json.RawMessage, line string, left ...string) error {
		document := []byte(whenever.Replace(line))
		key := string(schema)
		if compiled[key] == nil {
			// References point to #/components/schemas, so the document needs that part.
			source := `{"allOf": [` + key + `], "components": ` + string(components) + `}`
			s, err := validator.Compile(t.Context(), []byte(source), "2020-12")
			if err != nil {
				t.Fatal(err)
			}
			compiled[key] = s
		}
		if err := compiled[key].Validate(t.Context(), document); err != nil {
			return err
		}
		var value any
		if err := json.Unmarshal(document, &value); err != nil {
			return err
		}
		var form any
		if err := json.Unmarshal(schema, &form); err != nil {
			return err
		}
		bare := slices.DeleteFunc(whole.undescribed(form, value, ""), func(place string) bool {
			return slices.Contains(left, place[strings.LastIndex(place, "/")+1:])
		})
		if len(bare) > 0 {
			return fmt.Errorf("has %s, which the schema says nothing of", strings.Join(bare, ", "))
		}
		return nil
	}
	recorded, err := os.ReadFile(filepath.Join(root, "server", "testdata", "recorded.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// What requests may have beside what their schemas describe: fields without effect, which fields.md lists, and those that
	// the server says it does not know.
	ignored := slices.Collect(maps.Keys(named(t, "fields.md")))
	for _, m := range regexp.MustCompile(`the field (?:\w+\.)*(\w+) is not known`).FindAllSubmatch(recorded, -1) {
		ignored = append(ignored, string(m[1]))
	}
	title := regexp.MustCompile(`^=== .* (GET|POST|DELETE) (/\S*)$`)
	answered := regexp.MustCompile(`^--- (\d+) Content-Type: (application/json|application/x-ndjson|text/event-stream)`)
	var name, body, status, kind string
	var op *operation
	requests, answers, events, failures := 0, 0, 0, 0
	in := bufio.NewScanner(bytes.NewReader(recorded))
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		line := in.Text()
		if m := title.FindStringSubmatch(line); m != nil {
			name, op, body, status, kind = line, nil, "", "", ""
			if o, ok := a.Paths[m[2]][strings.ToLower(m[1])]; ok {
				op = &o
			}
			continue
		}
		if op == nil {
			continue
		}
		if m := answered.FindStringSubmatch(line); m != nil {
			status, kind = m[1], m[2]
			continue
		}
		if i := strings.Index(line, "data: "); i >= 0 && kind == "text/event-stream" {
			line = line[i+len("data: "):]
		}
		if !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "[{") || !json.Valid([]byte(line)) {
			continue
		}
		switch {
		case status == "":
			body = line
			continue
		case status != "200":
			failures++
			if err := fits(op.Responses["default"].Content["application/json"].Schema, line); err != nil {
				t.Errorf("%s: the error %v", name, err)
			}
		default:
			content := op.Responses["200"].Content
			schema, count := content[kind].Schema, &answers
			if kind != "application/json" {
				schema, count = content.line(t, kind), &events
			}
			if *count++; schema == nil {
				t.Errorf("%s: there is no schema of a %s", name, kind)
				break
			}
			if err := fits(schema, line); err != nil {
				t.Errorf("%s: the answer %v: %.300s", name, err, line)
			}
			if s := op.RequestBody.Content["application/json"].Schema; s != nil && body != "" {
				requests++
				if err := fits(s, body, ignored...); err != nil {
					t.Errorf("%s: the request %v: %.300s", name, err, body)
				}
				body = ""
			}
		}
		if kind == "application/json" {
			op = nil
		}
	}
	if err := in.Err(); err != nil || requests < 100 || answers < 200 || events < 1000 || failures < 100 {
		t.Errorf("%d requests, %d answers, %d events, %d errors, %v", requests, answers, events, failures, err)
	}
}
