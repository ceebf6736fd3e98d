package files

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema"
)

// TestSchemas checks that every schema is fully enforced.
func TestSchemas(t *testing.T) {
	b := open(t, tree(t, nil), Options{})
	var names []string
	for _, tool := range b.Tools() {
		names = append(names, tool.Name)
		s, err := schema.Compile(tool.Parameters, schema.Options{Strict: true})
		if err != nil {
			t.Errorf("%s: %v", tool.Name, err)
			continue
		}
		if r := s.Report(); len(r.Checked)+len(r.Ignored)+len(r.Warnings) > 0 {
			t.Errorf("%s: %+v", tool.Name, r)
		}
		var top struct {
			AdditionalProperties *bool
			Properties           map[string]struct{ Type, Description string }
		}
		if err := json.Unmarshal(tool.Parameters, &top); err != nil {
			t.Fatal(err)
		}
		if top.AdditionalProperties == nil || *top.AdditionalProperties {
			t.Errorf("%s allows other arguments", tool.Name)
		}
		for name, p := range top.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s has no type or no description", tool.Name, name)
			}
		}
		if tool.Description == "" {
			t.Errorf("%s has no description", tool.Name)
		}
	}
	if got := strings.Join(names, " "); got != "read_file glob_files grep_files list_dir" {
		t.Error(got)
	}
}

func TestArguments(t *testing.T) {
	b := open(t, tree(t, map[string]string{"a.txt": "one\ntwo\n"}), Options{})
	for _, c := range []struct{ tool, arguments, want string }{
		{"read_file", `{"path":"a.txt"}`, "one\ntwo"},
		{"read_file", `{"path":"a.txt","first_line":2.0}`, "two\n[lines 2 to 2 of 2]"},
		{"list_dir", `{}`, "a.txt (8 bytes)"},
		{"list_dir", ``, "a.txt (8 bytes)"},
		{"read_file", ``, "error: read_file needs the argument path; its arguments are path, first_line (optional), lines (optional), skip_bytes (optional)"},
		{"read_file", `{}`, "error: read_file needs the argument path..."},
		{"read_file", `{"path":`, "error: the arguments of read_file are not a JSON object: unexpected end of JSON input..."},
		{"read_file", `["a.txt"]`, "error: the arguments of read_file are not a JSON object..."},
		{"read_file", `{"path":"a.txt"} {}`, "error: the arguments of read_file are not a JSON object..."},
		{"read_file", `{"Path":"a.txt"}`, `error: read_file has no argument "Path"...`},
		{"read_file", `{"path":"a.txt","limit":3}`, `error: read_file has no argument "limit"; its arguments are path...`},
		{"read_file", `{"path":7}`, "error: the argument path of read_file must be a string"},
		{"read_file", `{"path":null}`, "error: the argument path of read_file is null; leave it out or give a value of type string"},
		{"read_file", `{"path":""}`, "error: the argument path of read_file must not be empty"},
		{"read_file", `{"path":"a.txt","first_line":0}`, "error: the argument first_line of read_file must be an integer from 1 to 1000000000"},
		{"read_file", `{"path":"a.txt","first_line":1.5}`, "error: the argument first_line of read_file must be..."},
		{"read_file", `{"path":"a.txt","first_line":"1"}`, "error: the argument first_line of read_file must be..."},
		{"read_file", `{"path":"a.txt","lines":1e300}`, "error: the argument lines of read_file must be..."},
		{"grep_files", `{"pattern":"o","ignore_case":"yes"}`, "error: the argument ignore_case of grep_files must be true or false"},
		{"write_file", `{}`, `error: there is no tool "write_file"; the tools are read_file, glob_files, grep_files, list_dir`},
	} {
		check(t, c.tool+" "+c.arguments, b.Call(context.Background(), c.tool, json.RawMessage(c.arguments)), c.want)
	}
}
