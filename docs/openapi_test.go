package docs

import (
	"bufio"
	"encoding/json"
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

type contents map[string]struct{ Schema json.RawMessage }

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

// TestOpenAPIRecorded checks that the recorded requests that succeeded, their answers, and the recorded errors fit the
// schemas of openapi.json.
func TestOpenAPIRecorded(t *testing.T) {
	a, components := readOpenAPI(t)
	compiled := map[string]*validator.Schema{}
	fits := func(schema json.RawMessage, document []byte) error {
		key := string(schema)
		if compiled[key] == nil {
			// References point to #/components/schemas, so the document needs that part.
			whole := `{"allOf": [` + key + `], "components": ` + string(components) + `}`
			s, err := validator.Compile(t.Context(), []byte(whole), "2020-12")
			if err != nil {
				t.Fatal(err)
			}
			compiled[key] = s
		}
		return compiled[key].Validate(t.Context(), document)
	}
	f, err := os.Open(filepath.Join(root, "server", "testdata", "recorded.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	title := regexp.MustCompile(`^=== .* (GET|POST|DELETE) (/\S*)$`)
	answered := regexp.MustCompile(`^--- (\d+) Content-Type: application/json`)
	var name, body string
	var op *operation
	status, requests, answers, failures := "", 0, 0, 0
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		line := in.Text()
		if m := title.FindStringSubmatch(line); m != nil {
			name, op, body, status = line, nil, "", ""
			if o, ok := a.Paths[m[2]][strings.ToLower(m[1])]; ok {
				op = &o
			}
			continue
		}
		if op == nil {
			continue
		}
		if m := answered.FindStringSubmatch(line); m != nil {
			status = m[1]
			continue
		}
		if !strings.HasPrefix(line, "{") || !json.Valid([]byte(line)) {
			continue
		}
		if status == "" {
			body = line
			continue
		}
		if status != "200" {
			failures++
			if err := fits(op.Responses["default"].Content["application/json"].Schema, []byte(line)); err != nil {
				t.Errorf("%s: the error %v", name, err)
			}
		} else {
			if s := op.Responses["200"].Content["application/json"].Schema; s != nil {
				answers++
				if err := fits(s, []byte(line)); err != nil {
					t.Errorf("%s: the answer %v: %.300s", name, err, line)
				}
			}
			if s := op.RequestBody.Content["application/json"].Schema; s != nil && body != "" {
				requests++
				if err := fits(s, []byte(body)); err != nil {
					t.Errorf("%s: the request %v: %.300s", name, err, body)
				}
			}
		}
		op = nil
	}
	if err := in.Err(); err != nil || requests < 100 || answers < 200 || failures < 100 {
		t.Errorf("%d requests, %d answers, %d errors, %v", requests, answers, failures, err)
	}
}
