package layout

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/server/generation/nested"
)

// maxNumbered limits the calls of an answer in forms that number them, since there each
// call needs parts of its own.
const maxNumbered = 16

// An Argument is an argument of a tool, for call forms that write arguments one by one.
type Argument struct {
	Name     string
	Required bool
	Ways     []Way // ways of writing its value
}

// A Way is one way of writing a value.
type Way struct {
	Open, Close string               // text before and after the value
	Text        bool                 // a string, verbatim
	Types       []string             // with Text: the other types of JSON of which the value may be
	Words       []string             // with Text: the only texts allowed
	Python      bool                 // with Text: values of other types have Python's names
	JSON        *constraint.Document // JSON or, with Text, the verbatim string
	Names       []string             // or a value with a name, such as True
	Notation    *chat.Notation       // of the value or, with Text, of objects and arrays in the text
	Shape       *nested.Shape        // of the value in the notation, which JSON constrains then
}

// calls appends calls that begin with the text before.
func (p *Plan) calls(o *builder, before string) int {
	if p.names == 0 {
		p.names = 1 + p.callNames(o)
	}
	return p.slotted(o, chat.FillSlots(before, 0, chat.ToolCall{ID: chat.SlotID}), p.names-1)
}

// triggered appends calls after a trigger, and returns the marks that begin them in free text. JSON that begins like a call is
// one only once it names a tool: it may as well be the answer.
func (p *Plan) triggered(o *builder, t chat.Trigger) []stopMark {
	at := p.calls(o, t.Then)
	is := func(text string) []decoder.Step { return []decoder.Step{{Texts: []string{text}}} }
	switch {
	case t.AtLine:
		return []stopMark{{Steps: is(t.Mark), AtLine: true, Next: at}}
	case !strings.HasPrefix(t.Mark, "{") || p.longNames() || strings.ContainsAny(t.Then, chat.SlotID+chat.SlotIndex+chat.SlotCount):
		return []stopMark{{Mark: t.Mark, AtStart: t.AtStart, Next: at}}
	}
	var stops []stopMark
	for _, s := range o.nodes[p.names-1].Stops {
		stops = append(stops, stopMark{Steps: is(t.Mark + t.Then + s.Mark), Next: s.Next})
	}
	return stops
}

// callNames appends calls, starting at the name of the first one.
func (p *Plan) callNames(o *builder) int {
	last := p.after(o, p.CallSignals)
	if !p.Calls.HasSlot(chat.SlotIndex, chat.SlotCount) {
		names := o.add(Node{Role: roleNames})
		p.callsAt(o, names, 0, names, last)
		return names
	}
	// From the last to the first, each with its index.
	n := maxNumbered
	if !p.Parallel || p.Calls.Next == "" {
		n = 1
	}
	next := -1
	for i := n - 1; i >= 0; i-- {
		names := o.add(Node{Role: roleNames})
		p.callsAt(o, names, i, next, last)
		next = names
	}
	return next
}

// callsAt fills in the node names, which chooses the tool of the call at index: the
// call, followed by the next call or by last.
func (p *Plan) callsAt(o *builder, names, index, next, last int) {
	f := p.Calls
	fill := func(text string, index int, name string) string {
		return chat.FillSlots(text, index, chat.ToolCall{Name: name, ID: chat.SlotID})
	}
	shared := !f.HasSlot(chat.SlotName)
	after := end
	for i := range p.Tools {
		name := p.Tools[i].Name
		ended := func(text string, next int) int { return p.slotted(o, fill(text, index, name), next) }
		more := func() int { return p.slotted(o, fill(f.Next, index+1, ""), next) }
		switch {
		case shared && i > 0: // all tools share what follows
		case f.Next == "" || !p.Parallel || next < 0:
			after = ended(f.After+f.Close, last)
		case f.Close == "" && last == end:
			again := more()
			o.nodes[again].MayEnd = o.nodes[again].Stops != nil
			after = ended(f.After, again)
		case f.Close == "":
			after = ended(f.After, o.add(Node{Fork: []int{more(), last}}))
		case strings.Contains(f.After+f.Next, chat.SlotID):
			after = ended(f.After, o.add(Node{Fork: []int{more(), o.fixed(f.Close, false, last)}}))
		default:
			after = o.add(Node{Stops: []stopMark{
				{Mark: fill(f.After, index, name) + fill(f.Next, index+1, ""), Next: next}, {Mark: fill(f.After+f.Close, index, name), Next: last},
			}})
		}
		mark, at := p.begin(o, i, index, after)
		o.nodes[names].Stops = append(o.nodes[names].Stops, stopMark{Mark: mark, Next: at})
	}
}

// begin appends a call from its tool's name on. The mark is the text that comes first.
func (p *Plan) begin(o *builder, tool, index, after int) (mark string, next int) {
	name := p.Tools[tool].Name
	var at int
	if p.Calls.Arguments.Tagged {
		at = p.each(o, tool, after)
	} else {
		at = o.document(roleArguments, p.Tools[tool].Arguments, after)
		o.nodes[at].Tool = tool
	}
	middle := chat.FillSlots(p.Calls.Middle, index, chat.ToolCall{Name: name, ID: chat.SlotID})
	first, rest, _ := strings.Cut(middle, chat.SlotID)
	if len(first) < len(middle) {
		at = p.id(o, p.slotted(o, rest, at))
	}
	return name + first, at
}

// slotted appends a text that may contain slots for call ids.
func (p *Plan) slotted(o *builder, text string, next int) int {
	before, after, ok := strings.Cut(text, chat.SlotID)
	if !ok {
		return o.fixed(text, false, next)
	}
	return o.fixed(before, false, p.id(o, p.slotted(o, after, next)))
}

// id appends the id of a call.
func (p *Plan) id(o *builder, next int) int {
	return o.document(roleID, *p.ID, next)
}

// each appends the arguments of a tool one by one: those that the schema names, in the
// schema's order or, if the form says so, sorted by name.
func (p *Plan) each(o *builder, tool, after int) int {
	list := p.Tools[tool].Each
	form := &p.Calls.Arguments
	// The choice after each argument, from the last to the first; the choice before the
	// first argument comes last.
	choices := make([]int, len(list)+1)
	for i := range choices {
		choices[i] = o.add(Node{Role: roleBetween, Tool: tool})
	}
	for i := len(list); i >= 0; i-- {
		var stops []stopMark
		var forks []int
		required := false
		for k := i; k < len(list) && !required; k++ {
			required = list[k].Required
			between := ""
			if i > 0 {
				between = form.Between
			}
			for _, w := range list[k].Ways {
				stops = append(stops, stopMark{Mark: between + form.Key + list[k].Name + w.Open, Next: p.value(o, tool, list[k].Name, w, choices[k+1])})
			}
		}
		if !required {
			empty := ""
			if i == 0 {
				empty = form.Empty
			}
			forks = o.ways(o.fixed(empty, false, after))
		}
		switch {
		case len(forks) == 0:
			o.nodes[choices[i]].Stops = stops
		case len(stops) == 0:
			o.nodes[choices[i]].Fork = forks
		default:
			tags := o.add(Node{Role: roleBetween, Tool: tool, Stops: stops})
			o.nodes[choices[i]].Fork = append([]int{tags}, forks...)
		}
	}
	return choices[0]
}

// ways returns the nodes that a fork to at stands for: a fork can't lead to another
// fork.
func (o *builder) ways(at int) []int {
	if fork := o.nodes[at].Fork; fork != nil {
		return fork
	}
	return []int{at}
}

// value appends a value of an argument and the text after it.
func (p *Plan) value(o *builder, tool int, key string, w Way, next int) int {
	closing := strings.ReplaceAll(w.Close, chat.SlotKey, key)
	stops := []stopMark{{Mark: closing, Next: next}}
	if w.Text && chat.IsQuote(closing) {
		if list := o.through(closing, next); list != nil {
			stops = list // a quote may be an apostrophe
		}
	}
	n := Node{Tool: tool, Key: key, Types: w.Types, notation: w.Notation, shape: w.Shape, python: w.Python}
	// close appends the text after the value.
	close := func() int {
		if closing == "" {
			return next
		}
		of := n
		return o.add(Node{Role: roleBetween, Tool: tool, Stops: stops, ends: &of})
	}
	switch {
	case w.JSON != nil:
		n.Role = roleValue
		switch {
		case w.Text:
			n.Role = roleText
		case w.Notation != nil:
			n.Role = roleNested
		}
		n.Next = close()
		n.Doc, n.document = w.JSON.Key, w.JSON
	case w.Names != nil:
		n.Role = roleName
		to := close()
		for _, name := range w.Names {
			n.Stops = append(n.Stops, stopMark{Mark: name, Next: to})
		}
	case w.Words != nil:
		n.Role = roleText
		to := close()
		for _, word := range w.Words {
			n.Stops = append(n.Stops, stopMark{Mark: word, Next: to})
		}
	default:
		n.Role, n.Free, n.Stops = roleText, true, stops
	}
	return o.add(n)
}

// through returns stops of a mark together with the marks that may follow it at a node; nil if other text may follow.
func (o *builder) through(mark string, at int) (stops []stopMark) {
	if at == end {
		return nil
	}
	for _, k := range o.ways(at) {
		if k == end {
			return nil
		}
		n := o.nodes[k]
		if n.Free || n.MayEnd || n.document != nil || n.Fork != nil || len(n.Stops) == 0 {
			return nil
		}
		for _, s := range n.Stops {
			stops = append(stops, stopMark{Mark: mark + s.Mark, Next: s.Next})
		}
	}
	return stops
}

// A reading converts arguments written one by one to JSON.
type reading struct {
	open bool // a call is being read
	any  bool // an argument has been read
	text strings.Builder
	node *Node // the value being read

	nested *nested.Reader // of a value in a notation
}

// enter begins a part of a call and returns its JSON so far.
func (r *reading) enter(n *Node) string {
	before := r.node
	out := r.leave()
	if n.ends != nil && (before == nil || before.Key != n.ends.Key) {
		out += r.enter(n.ends) + r.leave() // a value without text, which is no part
	}
	switch n.Role {
	case roleValue, roleName, roleText, roleNested:
		before := ", "
		if !r.any {
			before = "{"
		}
		r.any, r.node = true, n
		key, _ := json.Marshal(n.Key)
		out += before + string(key) + ": "
		if n.Role == roleText && n.Types == nil {
			out += `"`
		}
		if n.Role == roleNested {
			r.nested = nested.NewReader(n.notation, n.shape)
		}
	}
	return out
}

// add adds text of the value and returns the new JSON.
func (r *reading) add(text string) string {
	switch {
	case r.node == nil:
		return ""
	case r.node.Role == roleValue:
		return text
	case r.node.Role == roleNested:
		return r.nested.Add(text)
	case r.node.Role == roleText && r.node.Types == nil:
		return escaped(text)
	}
	r.text.WriteString(text)
	return ""
}

// leave ends the value and returns the rest of its JSON.
func (r *reading) leave() string {
	n, text := r.node, r.text.String()
	r.node = nil
	r.text.Reset()
	switch {
	case n == nil:
	case n.Role == roleNested:
		return r.nested.End()
	case n.Role == roleName:
		return cmp.Or(fromPython(text), text) // as in JSON
	case n.Role == roleText && n.Types == nil:
		return `"`
	case n.Role == roleText:
		if value := fromPython(text); value != "" && slices.Contains(n.Types, jsonType(value)) && (n.python || text == "None") {
			return value
		}
		if n.notation != nil {
			if value, ok := nested.Parse(n.notation, text); ok && slices.Contains(n.Types, jsonType(value)) {
				return value
			}
		}
		if slices.Contains(n.Types, jsonType(text)) {
			return text
		}
		return `"` + escaped(text) + `"`
	}
	return ""
}

// fromPython returns the JSON of a name of Python's, "" for other texts.
func fromPython(name string) string {
	return map[string]string{"True": "true", "False": "false", "None": "null"}[name]
}

// jsonType returns the type of a JSON value, "" if the text is none. A whole number is an integer.
func jsonType(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || d.InputOffset() != int64(len(text)) {
		return ""
	}
	if n, ok := value.(json.Number); ok {
		if f, err := n.Float64(); err == nil && f == math.Trunc(f) {
			return "integer"
		}
	}
	return TypeName(value)
}

// TypeName returns the type of a decoded JSON value, "number" for any number.
func TypeName(x any) string {
	switch x.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "number"
}

// end ends the call and returns the rest of its JSON.
func (r *reading) end() string {
	out := r.leave()
	if !r.any {
		out += "{"
	}
	*r = reading{}
	return out + "}"
}

// escaped returns text as written in a JSON string, without the quotes.
func escaped(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return ""
	}
	out := strings.TrimSuffix(b.String(), "\n")
	return out[1 : len(out)-1]
}
