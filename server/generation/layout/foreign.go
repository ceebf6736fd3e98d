package layout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/decoder"
)

// This file finds calls in forms other than the model's own. Small models often write a call as JSON, bare or in a
// Markdown block, regardless of their template. From the point where only a call can follow (the name of a callable
// tool and the key of its arguments) the call is constrained and read like any other; all other text stays text.

// Names of the other forms, as in receipts.
const (
	FormJSON     = "json"       // a JSON object, or a list of them
	FormBlock    = "json_block" // in a Markdown block, or in the tags of another family of models
	FormFunction = "function"   // functions.name({…})
	FormTag      = "tag"        // <function=name>{…}</function>
)

// Texts that are recognised as the start of a call, in the order in which they appear.
var (
	blockOpenings = []string{
		"```json\n", "```\n", "```json\r\n", "```\r\n", "``` json\n", "```JSON\n", "```jsonc\n", "```tool_call\n", "```tool_calls\n", "```tool_code\n", "```tool\n", "```function_call\n", "```xml\n<tool_call>", "```xml\n<tools>",
		"<tool_call>", "<tool_calls>", "<tools>", "<tool>", "<function_call>", "<function_calls>", "<functioncall>", "<function>", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>", "<|tool_call_start|>", "<TOOLCALL>",
	}
	nameKeys = []string{
		`"name"`, `"function"`, `"tool"`, `"tool_name"`, `"function_name"`,
		`"type": "function", "function": {"name"`, `"type":"function","function":{"name"`, `"function": {"name"`, `"function":{"name"`, `"tool_call": {"name"`,
		"\"type\": \"function\",\n  \"function\": {\n    \"name\"", "\"type\": \"function\",\n  \"name\"", `"type": "function", "name"`, "\"function\": {\n    \"name\"",
	}
	argumentKeys = []string{`"arguments"`, `"parameters"`, `"args"`, `"input"`, `"params"`, `"tool_input"`}
	breaks       = []string{"", "\n", " ", "\n  ", "\n    ", "\n      ", "\n\t", "\n        ", "\n\n", "\r\n", "\r\n  "}
)

// object leads to the members of the object that is a call. Some templates show calls with doubled braces.
var object = []decoder.Step{blank, text("", "["), blank, text("{", "{{")}

// shunned appends what follows the beginning of a call to a tool, and returns the marks of the beginning.
func shunned(o *builder, tool string) (stops []stopMark) {
	rest := o.add(Node{Role: roleShunned, Free: true, MayEnd: true})
	for _, before := range [][]decoder.Step{nil, {text(blockOpenings...)}} {
		stops = append(stops, stopMark{Steps: slices.Concat(before, object, namedIn(tool)), Next: rest})
	}
	return stops
}

// foreign appends calls in other forms, and returns the marks that begin them in free text.
func (p *Plan) foreign(o *builder) (stops []stopMark) {
	last := p.after(o, p.CallSignals)
	after, closing := p.foreignClosing(o, last)
	called := o.add(Node{})
	for _, blank := range breaks {
		o.nodes[called].Stops = append(o.nodes[called].Stops, stopMark{Mark: blank + ")", Next: p.foreignEnd(o, last)})
	}
	tagged := o.add(Node{})
	for _, blank := range breaks {
		o.nodes[tagged].Stops = append(o.nodes[tagged].Stops, stopMark{Mark: blank + "</function>", Next: p.foreignEnd(o, last)})
	}
	for _, form := range []struct {
		name   string
		before []decoder.Step
		atLine bool
		next   int
	}{
		{FormTag, []decoder.Step{text("<function=", "<tool_call>\n<function=", "<tool_call><function=")}, true, tagged},
		{FormJSON, object, false, closing},
		{FormBlock, append([]decoder.Step{text(blockOpenings...)}, object...), true, closing},
		{FormFunction, []decoder.Step{text("functions.", "```python\nfunctions.", "```tool_code\nfunctions.", "```json\nfunctions.", "```\nfunctions.")}, true, called},
	} {
		if form.name == FormTag && p.Written {
			continue
		}
		for i, at := range p.foreignArguments(o, form.name, form.next) {
			steps := append([]decoder.Step{}, form.before...)
			switch form.name {
			case FormFunction:
				steps = append(steps, text(p.Tools[i].Name), blank, text("("))
			case FormTag:
				steps = append(steps, text(p.Tools[i].Name+">"))
			default:
				steps = append(steps, namedIn(p.Tools[i].Name)...)
			}
			stops = append(stops, stopMark{Steps: steps, AtLine: form.atLine, Next: at, Foreign: true})
		}
	}
	if p.Written {
		stops = append(stops, (&writtenForms{p, o}).written()...)
	}
	if p.Parallel && p.Calls.Next != "" { // else the template can't write several
		p.recasts = true
		p.foreignMore(o, after, closing)
	}
	return stops
}

// foreignFirst appends calls in other forms that begin with JSON, as the whole text: for an answer that must be calls, of a model
// that would rather not use its own form, or may be one beside a document. Beside a document, only an object is a call, since models
// also write documents in lists and blocks, and only with the keys of BesideOpenings.
func (p *Plan) foreignFirst(o *builder) int {
	after, closing := p.foreignClosing(o, p.after(o, p.CallSignals))
	first := o.add(Node{Foreign: !p.Must})
	forms := []struct {
		name     string
		openings []string
	}{
		{FormJSON, []string{"", "[", "[\n", "[\n  ", "[\n    "}},
		{FormBlock, []string{"```json\n", "```\n", "```json\n[\n", "```json\n[\n  ", "```json\n[\n    ", "```json\n["}},
	}
	keys, arguments := nameKeys[:5], argumentKeys
	if !p.Must {
		forms[0].openings, forms = forms[0].openings[:1], forms[:1]
		keys, arguments = nameKeys[:1], argumentKeys[:2]
	}
	for _, form := range forms {
		names := p.foreignNames(o, form.name, closing, arguments)
		for _, opening := range form.openings {
			o.nodes[first].Stops = append(o.nodes[first].Stops, foreignKeys(opening, keys, names)...)
		}
	}
	if p.Must || p.Parallel && p.Calls.Next != "" {
		p.recasts = true
		p.foreignMore(o, after, closing)
	}
	return first
}

// Besides is the JSON Schema of objects that are calls of some tools beside a document.
func Besides(tools []string) json.RawMessage {
	names, _ := json.Marshal(tools) // strings
	var either []string
	for _, key := range argumentKeys[:2] {
		either = append(either, fmt.Sprintf(`{"required": [%s]}`, key))
	}
	return fmt.Appendf(nil, `{"type": "object", "properties": {%[1]s: {"enum": %[2]s}}, "required": [%[1]s], "anyOf": [%[3]s]}`, nameKeys[0], names, strings.Join(either, ", "))
}

// BesideOpenings returns how a call of a tool begins beside a document.
func BesideOpenings(tool string) (list [][]byte) {
	for _, key := range argumentKeys[:2] {
		list = append(list, fmt.Appendf(nil, `{%s: "%s", %s: `, nameKeys[0], tool, key))
	}
	return list
}

// foreignClosing appends what closes the JSON of a call, followed by the end or another call.
func (p *Plan) foreignClosing(o *builder, last int) (after, closing int) {
	after, closing = p.foreignEnd(o, last), o.add(Node{})
	for _, blank := range breaks {
		for _, end := range []string{"}", "}}", "}\n}", "}\n  }", "} }"} {
			o.nodes[closing].Stops = append(o.nodes[closing].Stops, stopMark{Mark: blank + end, Next: after})
		}
	}
	return after, closing
}

// foreignNames appends a call, starting at the name of its tool.
func (p *Plan) foreignNames(o *builder, form string, closing int, keys []string) int {
	names := o.add(Node{})
	for i, at := range p.foreignArguments(o, form, closing) {
		key := o.add(Node{})
		for _, b := range breaks[:7] {
			for _, name := range keys {
				o.nodes[key].Stops = append(o.nodes[key].Stops, stopMark{Mark: "," + b + name + ":", Next: at})
			}
		}
		o.nodes[names].Stops = append(o.nodes[names].Stops, stopMark{Mark: p.Tools[i].Name + `"`, Next: key})
	}
	return names
}

// foreignKeys returns the marks that lead from the text before a call to the name of its tool.
func foreignKeys(before string, keys []string, names int) (marks []stopMark) {
	for _, b := range breaks[:7] {
		for _, key := range keys {
			for _, colon := range []string{": ", ":"} {
				marks = append(marks, stopMark{Mark: before + "{" + b + key + colon + `"`, Next: names})
			}
		}
	}
	return marks
}

// foreignArguments appends the arguments of each tool, after optional whitespace.
func (p *Plan) foreignArguments(o *builder, form string, next int) (at []int) {
	for i, t := range p.Tools {
		n := o.document(roleArguments, t.Natural, next)
		o.nodes[n].Tool, o.nodes[n].Form = i, form
		blanks := o.add(Node{})
		for _, b := range breaks[1:] {
			o.nodes[blanks].Stops = append(o.nodes[blanks].Stops, stopMark{Mark: b, Next: n})
		}
		at = append(at, o.add(Node{Fork: []int{n, blanks}}))
	}
	return at
}

// foreignEnd appends what may end a list or a block of calls.
func (p *Plan) foreignEnd(o *builder, last int) int {
	at := o.add(Node{MayEnd: last == end})
	for _, b := range breaks {
		for _, mark := range []string{"]", "```", "]\n```", "</tool_call>", "</tool_call>\n```", "</tools>", "</tools>\n```", "</tool_calls>", "</function_call>", "</function_calls>", "]<|/tool_call|>", "]<|tool_call_end|>", "]</TOOLCALL>", "]\n"} {
			o.nodes[at].Stops = append(o.nodes[at].Stops, stopMark{Mark: b + mark, Next: last})
		}
		if b != "" && last == end { // a token may hold the line break after a brace, and nothing may follow
			o.nodes[at].Stops = append(o.nodes[at].Stops, stopMark{Mark: b, Next: last})
		}
	}
	if last == end {
		return at
	}
	return o.add(Node{Fork: append([]int{at}, o.ways(last)...)})
}

// foreignMore allows another call after one that has ended. From its brace on, text is free until it is clear that it is one: an
// object that is none ends the answer.
func (p *Plan) foreignMore(o *builder, after, closing int) {
	rest := o.add(Node{Role: roleRest, Free: true, MayEnd: true})
	for i, at := range p.foreignArguments(o, "", closing) {
		o.nodes[rest].Stops = append(o.nodes[rest].Stops, stopMark{Steps: append([]decoder.Step{text("", "{")}, namedIn(p.Tools[i].Name)...), Next: at})
	}
	at := after
	if fork := o.nodes[after].Fork; fork != nil {
		at = fork[0]
	}
	for _, between := range []string{"\n", ",", ", ", ",\n", ",\n  ", ",\n    ", "\n,", "\n, ", "\n,\n", "\n\n", "\n```\n```json\n", "\n```\n\n```json\n", "```\n```json\n", "\n</tool_call>\n<tool_call>\n", "</tool_call>\n<tool_call>", "</tool_call><tool_call>"} {
		o.nodes[at].Stops = append(o.nodes[at].Stops, stopMark{Mark: between + "{", Next: rest})
	}
}

// namedIn returns the steps from the brace of an object on to the arguments of a tool.
func namedIn(tool string) []decoder.Step {
	return []decoder.Step{blank, text(nameKeys...), blank, text(":"), blank, text(`"` + tool + `"`), blank, text(","), blank, text(argumentKeys...), blank, text(":")}
}

// hasForeign reports whether other forms are recognised: the tools' names must be short enough for the size of the
// tables.
func (p *Plan) hasForeign() bool {
	return !p.longNames() && !strings.Contains(p.Calls.Name, "harmony")
}

// longNames reports whether the names of the tools are too long in total for marks that hold them all.
func (p *Plan) longNames() bool {
	size := 0
	for _, t := range p.Tools {
		size += len(t.Name)
	}
	return size >= maxForeignNames
}

// maxForeignNames is the largest total length of the tools' names with which other forms are recognised, in bytes.
const maxForeignNames = 1500
