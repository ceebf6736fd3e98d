package arms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/eval/sets"
)

// A Mode is a way to request a document or calls from a server.
type Mode string

// The modes.
const (
	Constrained Mode = "constrained" // response_format json_schema; json_object without a schema; tool_choice required
	Free        Mode = "free"        // only the prompt asks for it; it is extracted from the text
	JSON        Mode = "json"        // response_format json_object; the prompt has the schema
	Tools       Mode = "tools"       // tool_choice required; a document is the arguments of a tool
	ToolsAuto   Mode = "tools-auto"  // as Tools, with tool_choice auto
	ToolsText   Mode = "tools-text"  // as ToolsAuto; without calls, they are searched for in the text
)

// Modes are all modes.
var Modes = []Mode{Constrained, Free, JSON, Tools, ToolsAuto, ToolsText}

// byTools reports whether the mode requests the answer as tool calls.
func (m Mode) byTools() bool { return m == Tools || m == ToolsAuto || m == ToolsText }

// An Ask is the way in which the prompt describes the wanted document.
type Ask string

// The ways of describing it.
const (
	AskNothing  Ask = "nothing"    // not at all; the case's own text must suffice
	AskSchema   Ask = "schema"     // the JSON Schema, with the text of stencil's prompt_schema
	AskTemplate Ask = "template"   // an object with placeholders
	AskType     Ask = "typescript" // a TypeScript type
	AskKeys     Ask = "keys"       // the names of the properties
)

var asks = []Ask{AskNothing, AskSchema, AskTemplate, AskType, AskKeys}

// A Place is the position of this description in the conversation.
type Place string

// The places.
const (
	PlaceAfter      Place = "system"      // after the system text
	PlaceBefore     Place = "before"      // before the system text
	PlaceUser       Place = "user"        // after the last message
	PlaceBeforeUser Place = "before-user" // before the last message
)

var places = []Place{PlaceAfter, PlaceBefore, PlaceUser, PlaceBeforeUser}

// An Arm is a server with a way of asking it.
type Arm struct {
	Name  string
	URL   string // without /v1
	Mode  Mode
	Ask   Ask   // "": AskNothing if the request contains the schema, else AskSchema
	Place Place // "": after the system text
	// Body are additional fields of the request, which override its other fields.
	// The model can be set here.
	Body map[string]json.RawMessage
}

// Parse parses NAME=URL or NAME=URL,{…}. The members "mode", "ask" and "place" of
// the object configure the arm; the others are fields of the request.
func Parse(text string) (Arm, error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok || name == "" || strings.ContainsAny(name, "\t\n") {
		return Arm{}, fmt.Errorf("arms: %q is not NAME=URL or NAME=URL,{…}", text)
	}
	address, fields, more := strings.Cut(rest, ",")
	a := Arm{Name: name, URL: strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1"), Mode: Constrained}
	if u, err := url.Parse(a.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Arm{}, fmt.Errorf("arms: %s: %q is not the address of a server, such as http://127.0.0.1:8080", name, address)
	}
	if !more {
		return a, nil
	}
	d := json.NewDecoder(strings.NewReader(fields))
	if err := d.Decode(&a.Body); err != nil {
		return Arm{}, fmt.Errorf("arms: %s: fields of the request: %w", name, err)
	}
	if _, err := d.Token(); err != io.EOF || a.Body == nil {
		return Arm{}, fmt.Errorf("arms: %s: the fields of the request must be one object", name)
	}
	err := errors.Join(take(a.Body, "mode", &a.Mode, Modes), take(a.Body, "ask", &a.Ask, asks), take(a.Body, "place", &a.Place, places))
	for _, own := range []string{"messages", "stream", "n"} {
		if a.Body[own] != nil {
			err = errors.Join(err, fmt.Errorf("%q can't be set", own))
		}
	}
	if err != nil {
		return Arm{}, fmt.Errorf("arms: %s: %w", name, err)
	}
	return a, nil
}

// take removes a member from fields and stores its value, which must be one of
// among.
func take[T ~string](fields map[string]json.RawMessage, name string, to *T, among []T) error {
	raw, ok := fields[name]
	if !ok {
		return nil
	}
	delete(fields, name)
	var v T
	if json.Unmarshal(raw, &v) != nil || !slices.Contains(among, v) {
		return fmt.Errorf("%s: %s is not one of %q", name, raw, among)
	}
	*to = v
	return nil
}

// Check returns an error if a case can't be asked in the mode of the arm.
func (a *Arm) Check(c *sets.Case) error {
	switch {
	case len(c.Tools) > 0 && a.Mode == JSON:
		return fmt.Errorf("arms: %s: mode json can't ask for the calls of %s; constrained, free, tools, tools-auto and tools-text can", a.Name, c.Set)
	case len(c.Tools) > 0 && slices.Contains([]Ask{AskTemplate, AskType, AskKeys}, a.Ask):
		return fmt.Errorf("arms: %s: calls of %s can't be asked for by %s", a.Name, c.Set, a.Ask)
	case len(c.Tools) == 0 && c.Schema == nil && a.Mode.byTools():
		return fmt.Errorf("arms: %s: mode %s needs a schema, which %s has not; constrained, free and json don't", a.Name, a.Mode, c.Set)
	}
	return nil
}

// answerTool is the tool whose arguments are the document in the modes Tools and
// ToolsAuto.
const answerTool = "answer"

// body returns the request body for a case, without the model unless Body sets it.
func (a *Arm) body(c *sets.Case) (map[string]any, error) {
	m := map[string]any{"temperature": 0}
	if c.MaxTokens > 0 {
		m["max_tokens"] = c.MaxTokens
	}
	tools := func(list []sets.Tool, choice string) {
		var out []any
		for _, t := range list {
			out = append(out, map[string]any{"type": "function", "function": t})
		}
		m["tools"], m["tool_choice"] = out, choice
	}
	calls, ask := len(c.Tools) > 0, a.Ask
	list := c.Tools
	if !calls && a.Mode.byTools() {
		m["parallel_tool_calls"] = false // a single document, as client libraries request it
		list = []sets.Tool{{Name: answerTool, Description: "Gives the answer.", Parameters: c.Schema}}
	}
	switch {
	case a.Mode == Constrained && calls, a.Mode == Tools:
		tools(list, "required")
	case a.Mode == ToolsAuto, a.Mode == ToolsText:
		tools(list, "auto")
	case a.Mode == Free:
		ask = or(ask, AskSchema)
	case a.Mode == JSON || c.Schema == nil:
		m["response_format"] = map[string]any{"type": "json_object"}
		ask = or(ask, AskSchema)
	default:
		m["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": true, "schema": c.Schema}}
	}
	instruction, err := instruct(c, ask)
	if err != nil {
		return nil, err
	}
	m["messages"] = a.Place.put(c.Messages, instruction)
	for name, v := range a.Body {
		m[name] = v
	}
	return m, nil
}

func or(a, b Ask) Ask {
	if a == "" {
		return b
	}
	return a
}

// instruct returns the description of what is wanted, for the prompt.
func instruct(c *sets.Case, ask Ask) (string, error) {
	switch {
	case ask == "" || ask == AskNothing || c.Schema == nil && len(c.Tools) == 0:
		return "", nil // cases without a schema ask for JSON themselves
	case len(c.Tools) > 0:
		text, err := json.Marshal(c.Tools)
		if err != nil {
			return "", err
		}
		return "These functions can be called:\n" + string(text) +
			"\nAnswer with a JSON array of the calls that the request needs, each {\"name\": …, \"arguments\": {…}}, and nothing else.", nil
	case ask != AskSchema:
		list, err := properties(c.Schema)
		if err != nil {
			return "", fmt.Errorf("arms: %s %s: %w", c.Set, c.ID, err)
		}
		switch ask {
		case AskType:
			return "Answer with JSON of this TypeScript type, and nothing else:\n" + written(list, "; ", property.typeScript), nil
		case AskKeys:
			return "Answer with a JSON object, and nothing else. Its keys: " + named(list) + ".", nil
		}
		return "Answer with JSON of this form, and nothing else:\n" + written(list, ", ", property.blank), nil
	}
	var schema bytes.Buffer
	if err := json.Compact(&schema, c.Schema); err != nil {
		return "", err
	}
	return "Answer with JSON that fits this JSON Schema, and nothing else:\n" + schema.String(), nil
}

// A property is a property of a schema, as far as the sets use them.
type property struct {
	Name string
	Type any   `json:"type"`
	Enum []any `json:"enum"`
}

func (p property) nullable() bool {
	list, ok := p.Type.([]any)
	return ok && slices.Contains(list, any("null"))
}

func (p property) blank() string {
	value := `"…"`
	switch {
	case p.nullable():
		value = `"… or null"`
	case p.Type == "number", p.Type == "integer":
		value = "0"
	case p.Type == "boolean":
		value = "false"
	case p.Type == "array":
		value = "[]"
	case p.Type == "object":
		value = "{}"
	}
	return fmt.Sprintf("%q: %s", p.Name, value)
}

func (p property) typeScript() string {
	value := "string"
	switch {
	case p.Enum != nil:
		var all []string
		for _, v := range p.Enum {
			text, _ := json.Marshal(v) // the value was decoded from JSON
			all = append(all, string(text))
		}
		value = strings.Join(all, " | ")
	case p.Type == "number", p.Type == "integer":
		value = "number"
	case p.Type == "boolean":
		value = "boolean"
	case p.Type == "array":
		value = "unknown[]"
	case p.Type == "object":
		value = "object"
	}
	if p.nullable() {
		value += " | null"
	}
	return p.Name + ": " + value
}

func written(list []property, between string, each func(property) string) string {
	var all []string
	for _, p := range list {
		all = append(all, each(p))
	}
	return "{" + strings.Join(all, between) + "}"
}

func named(list []property) string {
	var all []string
	for _, p := range list {
		name := fmt.Sprintf("%q", p.Name)
		if p.nullable() {
			name += " (or null)"
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// properties returns the properties of a schema, in its order.
func properties(schema json.RawMessage) (out []property, err error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
	}
	none := errors.New("a schema without properties can only be asked for as it is")
	if err := json.Unmarshal(schema, &s); err != nil || len(s.Properties) == 0 {
		return nil, none
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, none
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		p := property{Name: name.(string)}
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// put inserts an instruction into a conversation.
func (p Place) put(list []sets.Message, instruction string) []sets.Message {
	if instruction == "" || len(list) == 0 {
		return list
	}
	list = slices.Clone(list)
	at := &list[len(list)-1].Content
	if p == PlaceAfter || p == PlaceBefore || p == "" {
		if list[0].Role != "system" {
			return append([]sets.Message{{Role: "system", Content: instruction}}, list...)
		}
		at = &list[0].Content
	}
	if p == PlaceBefore || p == PlaceBeforeUser {
		*at = instruction + "\n\n" + *at
	} else {
		*at += "\n\n" + instruction
	}
	return list
}
