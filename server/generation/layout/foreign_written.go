package layout

import (
	"slices"
	"strconv"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder"
)

// This file finds calls in the forms of other models that don't write them as an object with a name and arguments: calls as in
// Python, arguments in tags, and names in front of JSON. After such a call, text is free until it is clear what it is: another
// call, or something else, which ends the answer.

// Names of these forms, as in receipts; arguments in tags are FormTag.
const (
	FormPython   = "python"   // name(key=value), alone or in a list
	FormDeepSeek = "deepseek" // <｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}
	FormMistral  = "mistral"  // [TOOL_CALLS]name[ARGS]{…}
)

// The forms of the arguments in [Tool].Python and [Tool].Tagged.
var (
	PythonArguments = argumentsIn("=", "", true)
	TaggedArguments = argumentsIn(">", tagClose, false)
)

const tagClose = "</parameter>"

// argumentsIn returns the form of arguments that are all written between the same texts, strings in quotes if python is set.
func argumentsIn(open, closing string, python bool) chat.ArgumentForm {
	f := chat.ArgumentForm{Tagged: true}
	for i := range f.Values {
		f.Values[i] = chat.ValueForm{Open: open, Close: closing, Python: python, Raw: !python && chat.ValueType(i) == chat.StringValue}
	}
	return f
}

// Texts before and between calls. A call as in Python counts at the start of the text or after a mark at the start of a line:
// elsewhere it is code.
var (
	pythonOpenings   = []string{"<|tool_call_start|>", "<|python_start|>", "<|python_tag|>", "```tool_code\n", "```tool_call\n", "```tool_calls\n", "<tool_call>", "<tool_calls>", "[TOOL_CALLS]"}
	tagOpenings      = []string{"", "<function_calls>", "<tool_calls>", "<tool_call>", "<minimax:tool_call>", "<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"}
	tagClosings      = []string{"", "</tool_call>", "</function_calls>", "</tool_calls>", "</minimax:tool_call>"}
	deepSeekOpenings = []string{"", "<｜tool▁calls▁begin｜>"}
)

func text(list ...string) decoder.Step { return decoder.Step{Texts: list} }

var blank = decoder.Step{Blanks: true}

// A writtenCall is what leads to the arguments of a call: the steps from its tool's name on, and the first part.
type writtenCall struct {
	steps []decoder.Step // from the tool's name on
	next  int
	bare  bool // may begin a text on its own
}

// An opening is what stands before a call at the start of a text or, with atLine, of a line.
type opening struct {
	steps  []decoder.Step
	atLine bool
}

func line(steps ...decoder.Step) opening { return opening{steps, true} }

// writtenForms appends calls in these forms to the parts of a text.
type writtenForms struct {
	*Plan
	o *builder
}

// written appends calls in these forms, and returns the marks that begin them in free text.
func (f *writtenForms) written() (stops []stopMark) {
	family := func(calls func(rest int) []writtenCall, between []decoder.Step, before ...opening) {
		rest := f.o.add(Node{Role: roleRest, Free: true, MayEnd: true})
		for _, c := range calls(rest) {
			for _, b := range before {
				if b.steps != nil || c.bare {
					stops = append(stops, stopMark{Steps: slices.Concat(b.steps, c.steps), AtLine: b.atLine, Next: c.next, Foreign: true})
				}
			}
			if f.Parallel && f.Calls.Next != "" {
				f.o.nodes[rest].Stops = append(f.o.nodes[rest].Stops, stopMark{Steps: slices.Concat(between, c.steps), Next: c.next})
			}
		}
	}
	family(f.pythonCalls,
		[]decoder.Step{blank, text("", ",", ";"), blank},
		opening{}, opening{steps: []decoder.Step{text("["), blank}}, line(text(pythonOpenings...), blank, text("", "["), blank))
	family(f.tagCalls,
		[]decoder.Step{blank, text(tagClosings...), blank, text(tagOpenings...), blank},
		line(text(tagOpenings...), blank))
	family(func(rest int) []writtenCall {
		return f.named(FormDeepSeek, rest, text("<｜tool▁call▁begin｜>function<｜tool▁sep｜>"), text("```json"))
	}, []decoder.Step{blank, text("", "```"), blank, text("", "<｜tool▁call▁end｜>"), blank}, line(text(deepSeekOpenings...), blank))
	family(func(rest int) []writtenCall {
		return f.named(FormDeepSeek, rest, text("<｜tool▁call▁begin｜>"), text("<｜tool▁sep｜>"))
	}, []decoder.Step{blank, text("", "<｜tool▁call▁end｜>"), blank}, line(text(deepSeekOpenings...), blank))
	family(func(rest int) []writtenCall { return f.named(FormMistral, rest, text(""), text("[ARGS]")) },
		[]decoder.Step{blank, text("", ",", "[TOOL_CALLS]"), blank}, line(text("[TOOL_CALLS]"), blank))
	return stops
}

// named appends calls with the tool's name in front of the arguments as JSON.
func (f *writtenForms) named(form string, rest int, before, after decoder.Step) (out []writtenCall) {
	for i, at := range f.foreignArguments(f.o, form, rest) {
		out = append(out, writtenCall{steps: []decoder.Step{before, text(f.Tools[i].Name), blank, after}, next: at})
	}
	return out
}

// pythonCalls appends calls as in Python. One is recognised by its first argument, so that the text of a function's definition is
// none, and may have any argument first if there are few.
func (f *writtenForms) pythonCalls(rest int) (out []writtenCall) {
	pairs := 0
	for _, t := range f.Tools {
		pairs += len(t.Python) * len(t.Python)
	}
	for i, t := range f.Tools {
		if t.Python == nil {
			continue
		}
		name := []decoder.Step{text(t.Name+"(", t.Name+".call("), blank}
		_, values := f.pythonList(i, t.Python, rest)
		needed := false
		for k, a := range t.Python {
			at := values[k]
			if pairs <= mostPairs { // then the others, in their order
				others := slices.Concat([]Argument{a}, slices.Delete(slices.Clone(t.Python), k, k+1))
				_, first := f.pythonList(i, others, rest)
				at = first[0]
			} else if needed {
				break
			}
			needed = needed || a.Required
			out = append(out, writtenCall{steps: append(slices.Clone(name), text(a.Name+"=")), next: at, bare: true})
		}
		if !slices.ContainsFunc(t.Python, func(a Argument) bool { return a.Required }) {
			none := f.o.add(Node{Role: roleBetween, Tool: i, Form: FormPython, MayEnd: true})
			for _, mark := range []string{"]", ",", ";", "\n", "`", "<"} {
				f.o.nodes[none].Stops = append(f.o.nodes[none].Stops, stopMark{Mark: mark, Next: rest})
			}
			out = append(out, writtenCall{steps: append(slices.Clone(name), text(")")), next: none})
		}
	}
	return out
}

// mostPairs limits the pairs of arguments with which any may be first.
const mostPairs = 64

// pythonList appends the arguments of a tool as in Python, and returns where they begin and where the value of each does.
func (f *writtenForms) pythonList(tool int, list []Argument, rest int) (begin int, values []int) {
	from := len(f.o.nodes)
	next, needed := f.o.choices(list)
	for i, a := range list {
		after := f.o.add(Node{Role: roleBetween, Stops: []stopMark{{Mark: ",", Next: f.o.spaced(next[i+1])}}})
		if !needed[i+1] {
			for _, b := range breaks[:6] {
				f.o.nodes[after].Stops = append(f.o.nodes[after].Stops, stopMark{Mark: b + ")", Next: rest})
			}
		}
		var ways []int
		for _, w := range a.Ways {
			names := slices.Clone(w.Names)
			for _, name := range w.Names {
				names = append(names, map[string]string{"True": "true", "False": "false", "None": "null"}[name])
			}
			w.Names = names
			ways = append(ways, f.value(f.o, tool, a.Name, w, after))
		}
		values = append(values, f.o.either(ways...))
	}
	for i := range next {
		var stops []stopMark
		for k := i; k < len(list) && (k == i || !list[k-1].Required); k++ {
			stops = append(stops, stopMark{Mark: list[k].Name + "=", Next: values[k]})
		}
		if !needed[i] {
			stops = append(stops, stopMark{Mark: ")", Next: rest})
		}
		f.o.nodes[next[i]].Stops = stops
	}
	begin = f.o.spaced(next[0])
	f.o.mark(from, tool, FormPython)
	return begin, values
}

// tagCalls appends calls with their arguments in tags; after <function=name>, they may be JSON.
func (f *writtenForms) tagCalls(rest int) (out []writtenCall) {
	for i, t := range f.Tools {
		document := f.o.document(roleArguments, t.Natural, f.o.closing("</function>", rest))
		f.o.nodes[document].Tool, f.o.nodes[document].Form = i, FormTag
		ways := []int{document}
		if t.Tagged != nil {
			tags := f.tagList(i, t.Tagged, rest)
			ways = append(ways, tags)
			out = append(out, writtenCall{steps: []decoder.Step{text(`<invoke name="`+t.Name+`">`, `<｜DSML｜invoke name="`+t.Name+`">`)}, next: f.o.spaced(tags)})
		}
		out = append(out, writtenCall{steps: []decoder.Step{text("<function=" + t.Name + ">")}, next: f.o.spaced(ways...)})
	}
	return out
}

// tagList appends the arguments of a tool in tags, and returns where they begin.
func (f *writtenForms) tagList(tool int, list []Argument, rest int) int {
	from := len(f.o.nodes)
	next, needed := f.o.choices(list)
	var inline, lines []int // where values begin: after a tag, or on a line of their own
	for i, a := range list {
		after := f.o.spaced(next[i+1])
		inline = append(inline, f.tagValue(tool, a, "", after))
		lines = append(lines, f.tagValue(tool, a, "\n", after))
	}
	for i := range next {
		var stops []stopMark
		for k := i; k < len(list) && (k == i || !list[k-1].Required); k++ {
			name := list[k].Name
			stops = append(stops, stopMark{Mark: `<parameter name="` + name + `">`, Next: inline[k]}, stopMark{Mark: "<parameter=" + name + ">\n", Next: lines[k]})
			for _, w := range list[k].Ways {
				for _, is := range []bool{true, false} {
					if w.Text == is || w.Types != nil {
						stops = append(stops, stopMark{Mark: `<｜DSML｜parameter name="` + name + `" string="` + strconv.FormatBool(is) + `">`, Next: inline[k]})
					}
				}
			}
		}
		if !needed[i] {
			for _, end := range []string{"</invoke>", "</｜DSML｜invoke>", "</function>"} {
				stops = append(stops, stopMark{Mark: end, Next: rest})
			}
		}
		f.o.nodes[next[i]].Stops = stops
	}
	f.o.mark(from, tool, FormTag)
	return next[0]
}

// tagValue appends the value of an argument and its closing tag, after lead.
func (f *writtenForms) tagValue(tool int, a Argument, lead string, next int) int {
	closings := []stopMark{{Mark: lead + tagClose, Next: next}, {Mark: lead + "</｜DSML｜parameter>", Next: next}}
	var ways []int
	for _, w := range a.Ways {
		if w.Text && w.JSON == nil && w.Words == nil {
			ways = append(ways, f.o.add(Node{Role: roleText, Key: a.Name, Types: w.Types, Free: true, Stops: closings}))
			continue
		}
		w.Close = ""
		ways = append(ways, f.value(f.o, tool, a.Name, w, f.o.add(Node{Role: roleBetween, Stops: closings})))
	}
	return f.o.either(ways...)
}

// choices appends the node before each argument and after the last, and returns also whether one is needed from there on.
func (o *builder) choices(list []Argument) (next []int, needed []bool) {
	needed = make([]bool, len(list)+1)
	for i := len(list) - 1; i >= 0; i-- {
		needed[i] = needed[i+1] || list[i].Required
	}
	for range needed {
		next = append(next, o.add(Node{Role: roleBetween}))
	}
	return next, needed
}

// either appends a fork, if there is something to choose from.
func (o *builder) either(ways ...int) int {
	if len(ways) == 1 {
		return ways[0]
	}
	return o.add(Node{Fork: ways})
}

// spaced appends optional white space before one of several nodes.
func (o *builder) spaced(ways ...int) int {
	at := o.either(ways...)
	blanks := o.add(Node{Role: roleBetween})
	for _, b := range breaks[1:6] {
		o.nodes[blanks].Stops = append(o.nodes[blanks].Stops, stopMark{Mark: b, Next: at})
	}
	return o.add(Node{Fork: append(slices.Clone(ways), blanks)})
}

// closing appends a text after optional white space.
func (o *builder) closing(mark string, next int) int {
	at := o.add(Node{})
	for _, b := range breaks {
		o.nodes[at].Stops = append(o.nodes[at].Stops, stopMark{Mark: b + mark, Next: next})
	}
	return at
}

// mark makes the nodes from one on parts of a call in a form.
func (o *builder) mark(from, tool int, form string) {
	for i := from; i < len(o.nodes); i++ {
		o.nodes[i].Tool, o.nodes[i].Form = tool, form
	}
}

// hasWritten reports whether these forms are recognised: not if signals follow calls, since what follows is free text, nor if the
// names in all tools are too long for the size of the tables.
func (p *Plan) hasWritten() bool {
	size := 0
	for _, t := range p.Tools {
		size += len(t.Name)
		for _, a := range t.Python {
			size += len(a.Name)
		}
	}
	return p.Signals == nil && p.CallSignals == nil && size < maxForeignNames
}

// mostNodes limits the parts of a text with these forms.
const mostNodes = 1900
