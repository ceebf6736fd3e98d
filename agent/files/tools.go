package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A tool is one of the tools of a Box. Its params determine both its schema and how
// its arguments are read.
type tool struct {
	name, description string
	params            []param
	run               func(*work, *args) (string, error)
}

// A param is a parameter of a tool.
type param struct {
	name, kind  string // kind is string, integer or boolean
	description string
	required    bool
	least       int // of an integer
}

// maxInteger is the largest integer in arguments: more lines or bytes than any call
// reads.
const maxInteger = 1_000_000_000

// args are the arguments of a call; missing ones have the zero value.
type args struct {
	text   map[string]string
	number map[string]int
	truth  map[string]bool
}

func (b *Box) makeTools() []tool {
	files := "file"
	if !b.opt.Hidden {
		files = "file that is not hidden"
	}
	return []tool{
		{"read_file", fmt.Sprintf("Read a text file, or some of its lines. At most %d bytes come back at once; what is left out is said at the end.", b.opt.ResultBytes), []param{
			{name: "path", kind: "string", description: `Path of the file within the folder, such as "src/main.go".`, required: true},
			{name: "first_line", kind: "integer", description: "The line to begin with. Default 1.", least: 1},
			{name: "lines", kind: "integer", description: "How many lines to read. Default: as many as fit.", least: 1},
			{name: "skip_bytes", kind: "integer", description: "Bytes to leave out at the beginning of the first line, to read on in a line that was cut.", least: 0},
		}, (*work).readFile},
		{"glob_files", "Find files and folders by a pattern for their paths. The result is sorted; folders end in a slash.", []param{
			{name: "pattern", kind: "string", description: `Pattern for the whole path: * and ? stand for characters within a name, ** for any number of folders, [a-z] for one of several characters, {a,b} for alternatives. "*.go" finds only what lies at the top, "**/*.go" every ` + files + `.`, required: true},
		}, (*work).globFiles},
		{"grep_files", "Search text files for lines that match a regular expression. Each line of the result is path:line number: text.", []param{
			{name: "pattern", kind: "string", description: `Regular expression in RE2 syntax, applied to each line.`, required: true},
			{name: "glob", kind: "string", description: `Search only files that this pattern of glob_files finds. Without a slash it is for names in every folder, such as "*.go".`},
			{name: "ignore_case", kind: "boolean", description: "Let upper and lower case be the same. Default false."},
		}, (*work).grepFiles},
		{"list_dir", "List what lies in a folder, with kinds and sizes.", []param{
			{name: "path", kind: "string", description: `Path of the folder. Default ".", the folder at the top.`},
		}, (*work).listDir},
	}
}

// schema returns the JSON Schema of the arguments. It is written as text because a
// map would lose the order of the properties.
func (t *tool) schema() json.RawMessage {
	var required []string
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range t.params {
		if i > 0 {
			b.WriteByte(',')
		}
		description, _ := json.Marshal(p.description) // strings can always be marshalled
		fmt.Fprintf(&b, `%q:{"type":%q,"description":%s`, p.name, p.kind, description)
		switch p.kind {
		case "string":
			b.WriteString(`,"minLength":1`)
		case "integer":
			fmt.Fprintf(&b, `,"minimum":%d,"maximum":%d`, p.least, maxInteger)
		}
		b.WriteByte('}')
		if p.required {
			required = append(required, p.name)
		}
	}
	b.WriteByte('}')
	if required != nil {
		fmt.Fprintf(&b, `,"required":["%s"]`, strings.Join(required, `","`))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return json.RawMessage(b.String())
}

// read parses arguments that fit the schema. No arguments at all are accepted if
// none are required. If a member is repeated, the last one counts.
func (t *tool) read(src json.RawMessage) (*args, error) {
	var members map[string]json.RawMessage
	if len(src) > 0 {
		if err := json.Unmarshal(src, &members); err != nil {
			return nil, fmt.Errorf("the arguments of %s are not a JSON object: %v; %s", t.name, err, t.usage())
		}
	}
	for name := range members {
		if !slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
			return nil, fmt.Errorf("%s has no argument %s; %s", t.name, quote(name), t.usage())
		}
	}
	a := &args{map[string]string{}, map[string]int{}, map[string]bool{}}
	for _, p := range t.params {
		raw, given := members[p.name]
		if !given {
			if p.required {
				return nil, fmt.Errorf("%s needs the argument %s; %s", t.name, p.name, t.usage())
			}
			continue
		}
		if err := a.set(&p, raw); err != nil {
			return nil, fmt.Errorf("the argument %s of %s %w", p.name, t.name, err)
		}
	}
	return a, nil
}

func (a *args) set(p *param, raw json.RawMessage) error {
	if string(raw) == "null" {
		return fmt.Errorf("is null; leave it out or give a value of type %s", p.kind)
	}
	switch p.kind {
	case "string":
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return errors.New("must be a string")
		}
		if s == "" {
			return errors.New("must not be empty")
		}
		a.text[p.name] = s
	case "integer":
		var n float64 // 2.0 is an integer in JSON Schema
		if json.Unmarshal(raw, &n) != nil || n != math.Trunc(n) || n < float64(p.least) || n > maxInteger {
			return fmt.Errorf("must be an integer from %d to %d", p.least, maxInteger)
		}
		a.number[p.name] = int(n)
	case "boolean":
		var v bool
		if json.Unmarshal(raw, &v) != nil {
			return errors.New("must be true or false")
		}
		a.truth[p.name] = v
	}
	return nil
}

// usage lists the arguments of a tool, for error messages.
func (t *tool) usage() string {
	var names []string
	for _, p := range t.params {
		name := p.name
		if !p.required {
			name += " (optional)"
		}
		names = append(names, name)
	}
	return "its arguments are " + strings.Join(names, ", ")
}
