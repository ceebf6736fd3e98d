package request

import (
	"encoding/json"
	"fmt"

	"github.com/stencil-json/stencil/server/wire"
)

// Custom tools are called with text instead of arguments. The model calls them as functions of one argument.

// customInput is the argument that holds the text of a custom tool's call.
const customInput = "input"

// CustomSchema returns the schema of a custom tool's call: an object with its text. It returns nil if the tool's
// grammar can't be enforced; NoGrammar is the error for that.
func CustomSchema(t *wire.Object) (json.RawMessage, error) {
	text := map[string]any{"type": "string"}
	format, err := t.Child("format")
	if err != nil {
		return nil, err
	}
	if format != nil {
		kind := ""
		if !format.Given("type") {
			return nil, wire.Invalid(format.Path+"type", "%stype is missing", format.Path)
		}
		if err := format.OneOf("type", &kind, "text", "grammar"); err != nil {
			return nil, err
		}
		if kind == "text" {
			if err := format.Only("type"); err != nil {
				return nil, err
			}
		} else if text["pattern"], err = readCustomGrammar(format); text["pattern"] == "" || err != nil {
			return nil, err
		}
	}
	return wire.Marshal(map[string]any{
		"type": "object", "properties": map[string]any{customInput: text}, "required": []string{customInput}, "additionalProperties": false,
	})
}

// readCustomGrammar returns the pattern of a custom tool's text; "" for a grammar in another syntax. Chat completions
// have the grammar in an object of its own, responses beside the type.
func readCustomGrammar(format *wire.Object) (string, error) {
	in, err := format.Child("grammar")
	if err != nil {
		return "", err
	}
	known := []string{"syntax", "definition"}
	if in != nil {
		err = format.Only("type", "grammar")
	} else {
		in, known = format, append(known, "type")
	}
	syntax, definition := "", ""
	for _, err := range []error{err, in.Only(known...), in.OneOf("syntax", &syntax, "lark", "regex"), in.Str("definition", &definition)} {
		if err != nil {
			return "", err
		}
	}
	for _, name := range []string{"syntax", "definition"} {
		if !in.Given(name) {
			return "", wire.Invalid(in.Path+name, "%s%s is missing", in.Path, name)
		}
	}
	if syntax != "regex" {
		return "", nil
	}
	return "^(?:" + definition + ")$", nil
}

// NoGrammar returns the error for a custom tool whose grammar can't be enforced.
func NoGrammar(t *wire.Object, name string) *wire.Error {
	return wire.NotOffered(t.Path+"format", fmt.Sprintf("the grammar of the tool %s, which is in Lark's syntax,", name))
}

// readCustom reads a custom tool of chat completions.
func readCustom(set *ToolSet, t *wire.Object) error {
	c, err := t.Child("custom")
	if err != nil {
		return err
	}
	if c == nil {
		return wire.Invalid(t.Path+"custom", "%scustom is missing", t.Path)
	}
	if err := c.Only("name", "description", "format"); err != nil {
		return err
	}
	one := Tool{Custom: true, Param: c.Path + "format"}
	for _, err := range []error{c.Str("name", &one.Name), c.Str("description", &one.Description)} {
		if err != nil {
			return err
		}
	}
	if err := checkName(c.Path+"name", one.Name); err != nil {
		return err
	}
	if one.Parameters, err = CustomSchema(c); err != nil {
		return err
	}
	if one.Parameters == nil {
		return NoGrammar(c, one.Name)
	}
	return set.add(one, c.Path)
}

// CustomArguments returns a custom tool's text as the arguments of the function that stands for it.
func CustomArguments(text string) (string, error) {
	arguments, err := wire.Marshal(map[string]string{customInput: text})
	return string(arguments), err
}

// CustomText returns the text of a custom tool's call.
func CustomText(arguments string) string {
	var in map[string]string
	if json.Unmarshal([]byte(arguments), &in) != nil {
		return ""
	}
	return in[customInput]
}

// IsCustom reports whether the named tool is a custom tool.
func (s *ToolSet) IsCustom(name string) bool {
	if s == nil {
		return false
	}
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return s.Tools[i].Custom
		}
	}
	return false
}
