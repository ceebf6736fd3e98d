package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stencil-json/stencil/chat/jinja"
)

// vars returns the variables of a template.
func (t *Template) vars(in Input, v variant) (map[string]any, error) {
	vars := map[string]any{
		"bos_token":             t.opt.BOS,
		"eos_token":             t.opt.EOS,
		"add_generation_prompt": in.AddGenerationPrompt,
	}
	if strings.Contains(t.source, "date_string") {
		vars["date_string"] = t.now().Format("02 Jan 2006") // otherwise Llama's templates use a constant date
	}
	for name, x := range in.Extra {
		value, err := jinja.FromGo(x)
		if err != nil {
			return nil, fmt.Errorf("chat: variable %q: %w", name, err)
		}
		vars[name] = value
	}
	messages := jinja.NewList()
	for i, m := range in.Messages {
		d, err := m.dict(v)
		if err != nil {
			return nil, fmt.Errorf("chat: message %d: %w", i, err)
		}
		messages.Items = append(messages.Items, d)
	}
	vars["messages"] = messages
	vars["tools"] = nil // none rather than undefined
	if len(in.Tools) > 0 {
		tools := jinja.NewList()
		for i, tool := range in.Tools {
			if in.kept != nil && in.kept[i] != nil {
				tools.Items = append(tools.Items, in.kept[i].value)
				continue
			}
			value, err := jinja.FromJSON(tool)
			if err != nil {
				return nil, fmt.Errorf("chat: tool %d: %w", i, err)
			}
			tools.Items = append(tools.Items, value)
		}
		vars["tools"] = tools
	}
	return vars, nil
}

// dict returns a message as a template value. Keys without a value are omitted, because
// templates test whether they are defined.
func (m *Message) dict(v variant) (*jinja.Dict, error) {
	d := jinja.NewDict()
	d.Set("role", m.Role)
	d.Set("content", m.content(v))
	if m.Name != "" {
		d.Set("name", m.Name)
	}
	if m.Reasoning != "" {
		d.Set("reasoning_content", m.Reasoning) // Qwen, DeepSeek
		d.Set("thinking", m.Reasoning)          // gpt-oss
	}
	if len(m.ToolCalls) > 0 {
		calls := jinja.NewList()
		for _, c := range m.ToolCalls {
			call, err := c.dict(v)
			if err != nil {
				return nil, err
			}
			calls.Items = append(calls.Items, call)
		}
		d.Set("tool_calls", calls)
	}
	if m.ToolCallID != "" {
		d.Set("tool_call_id", m.ToolCallID)
	}
	for _, key := range slices.Sorted(maps.Keys(m.Extra)) {
		value, err := jinja.FromGo(m.Extra[key])
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		d.Set(key, value)
	}
	return d, nil
}

// content returns the content as a template value: a text, a list of parts if one of
// them is not text, or none.
func (m *Message) content(v variant) any {
	list := jinja.NewList()
	textOnly := true
	for _, p := range m.Parts {
		part := jinja.NewDict()
		part.Set("type", p.Type)
		if p.Type == "text" {
			part.Set("text", p.Text)
		} else {
			textOnly = false
		}
		list.Items = append(list.Items, part)
	}
	if !textOnly {
		return list
	}
	text := m.Text()
	if text == "" && len(m.ToolCalls) > 0 && !v.emptyContent {
		return nil
	}
	return text
}

func (c *ToolCall) dict(v variant) (*jinja.Dict, error) {
	arguments := c.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	parsed, err := jinja.FromJSONAsWritten(arguments)
	if err != nil {
		return nil, fmt.Errorf("arguments of %q: %w", c.Name, err)
	}
	function := jinja.NewDict()
	function.Set("name", c.Name)
	if v.textArguments {
		text := string(arguments)
		if v.arguments.Layout != AnyLayout {
			text = layOut(parsed, v.arguments.Layout) // regardless of the client's layout
		}
		function.Set("arguments", text)
	} else {
		function.Set("arguments", v.arguments.forTemplate(parsed))
	}
	d := jinja.NewDict()
	if c.ID != "" {
		d.Set("id", c.ID)
	}
	d.Set("type", "function")
	d.Set("function", function)
	return d, nil
}

func (t *Template) now() time.Time {
	if t.opt.Now != nil {
		return t.opt.Now()
	}
	return time.Now()
}

// supply adds variables that a few templates read without checking that they are defined:
// the date, the tools as text, and descriptions of all their parameters. It reports
// whether it added any.
func (t *Template) supply(vars map[string]any, in Input) (added bool) {
	now, functions := t.now(), "[]"
	if vars["tools"] == nil {
		vars["tools"], added = jinja.NewList(), true
	}
	if tools, ok := vars["tools"].(*jinja.List); ok {
		added = describe(tools) || added
		functions = jinja.JSON(tools, ", ", ": ")
	}
	for name, value := range map[string]any{
		"datetime": now.Format("Jan 02 2006"), "functions": functions,
	} {
		if _, ok := vars[name]; !ok && strings.Contains(t.source, name) {
			vars[name], added = value, true
		}
	}
	return added
}

// describe adds empty descriptions to tools and parameters without one, and schemas that
// allow anything to objects and arrays without a schema for their contents.
func describe(tools *jinja.List) (changed bool) {
	give := func(d *jinja.Dict) {
		if _, ok := d.Get("description"); !ok {
			d.Set("description", "")
			changed = true
		}
	}
	var within func(schema *jinja.Dict)
	within = func(schema *jinja.Dict) {
		for kind, key := range map[string]string{"object": "additionalProperties", "array": "items"} {
			if _, ok := schema.Get(key); !ok && member(schema, "type") == kind {
				schema.Set(key, jinja.NewDict())
				changed = true
			}
		}
		if items, ok := member(schema, "items").(*jinja.Dict); ok {
			within(items)
		}
		if properties, ok := member(schema, "properties").(*jinja.Dict); ok {
			for _, key := range properties.Keys() {
				if p, ok := member(properties, key).(*jinja.Dict); ok {
					within(p)
				}
			}
		}
	}
	for _, tool := range tools.Items {
		d, _ := tool.(*jinja.Dict)
		if d == nil {
			continue
		}
		f, _ := member(d, "function").(*jinja.Dict)
		if f == nil {
			continue
		}
		give(f)
		parameters, _ := member(f, "parameters").(*jinja.Dict)
		if parameters == nil {
			continue
		}
		properties, _ := member(parameters, "properties").(*jinja.Dict)
		if properties == nil {
			continue
		}
		for _, key := range properties.Keys() {
			if p, ok := member(properties, key).(*jinja.Dict); ok {
				give(p)
				within(p)
			}
		}
	}
	return changed
}

func member(d *jinja.Dict, key string) any {
	v, _ := d.Get(key)
	return v
}
