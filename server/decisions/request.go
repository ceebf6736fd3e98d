package decisions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/wire"
)

// ownFields are fields of this server that every dialect accepts.
var ownFields = []string{"orders", "timeout", "keep_alive"}

var openAINames = wire.Names{
	Known:    append([]string{"model", "input", "questions"}, ownFields...),
	Harmless: append([]string{"prompt_cache_key", "prompt_cache_options", "safety_identifier"}, wire.HarmlessFields...),
	Refused:  []string{"stream", "state", "images", "tools"},
}

// readOwn reads model and ownFields.
func (q *query) readOwn(o *wire.Object) error {
	q.orders = 1
	for _, err := range []error{
		o.Str("model", &q.model),
		o.Integer("orders", &q.orders, 1, 2),
		o.Seconds("timeout", &q.timeout),
		o.KeepAlive("keep_alive", &q.keepAlive),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// A named is a question in OpenAI's dialect, with what its answer repeats.
type named struct {
	name   *string
	values []any // of the choices: strings and booleans
	labels []string
}

// readOpenAI reads the body of POST /v1/decisions.
func readOpenAI(o *wire.Object) (*query, []named, error) {
	q := new(query)
	var err error
	if q.warnings, err = openAINames.Check(o); err != nil {
		return nil, nil, err
	}
	if err := q.readOwn(o); err != nil {
		return nil, nil, err
	}
	if err := q.readInput(o); err != nil {
		return nil, nil, err
	}
	list, err := o.List("questions")
	if err != nil {
		return nil, nil, err
	}
	if len(list) == 0 || len(list) > maxQuestions {
		return nil, nil, wire.Invalid("questions", "questions must be an array of 1 to %d, not of %d", maxQuestions, len(list))
	}
	names := make([]named, len(list))
	for i, in := range list {
		one, err := names[i].read(in)
		if err != nil {
			return nil, nil, err
		}
		q.questions = append(q.questions, *one)
	}
	return q, names, nil
}

// readInput reads the subject of the questions: a text, or messages, calls and their
// results.
func (q *query) readInput(o *wire.Object) error {
	const want = "a string or an array of messages"
	if !o.Given("input") {
		return wire.Invalid("input", "input is missing")
	}
	var text string
	if json.Unmarshal(o.Members["input"], &text) == nil {
		q.text = []chat.Message{{Role: "user", Content: text}}
		return nil
	}
	list, err := o.List("input")
	if err != nil {
		return o.WrongType("input", want)
	}
	if len(list) == 0 {
		return wire.Invalid("input", "input must not be empty")
	}
	for _, in := range list {
		kind, m := "message", chat.Message{}
		if err := in.OneOf("type", &kind, "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"); err != nil {
			return err
		}
		field := map[string]string{"message": "content", "function_call": "arguments", "custom_tool_call": "input", "function_call_output": "output", "custom_tool_call_output": "output"}[kind]
		switch kind {
		case "message":
			if err := in.OneOf("role", &m.Role, "user", "assistant", "system", "developer"); err != nil {
				return err
			}
			if m.Role == "" {
				return wire.Invalid(in.Path+"role", "%srole is missing", in.Path)
			}
			if m.Role == "developer" {
				m.Role = "system"
			}
		case "function_call", "custom_tool_call":
			name := ""
			if err := in.Str("name", &name); err != nil {
				return err
			}
			m.Role = "call of " + name
		default:
			m.Role = "result"
		}
		if m.Content, err = readText(in, field); err != nil {
			return err
		}
		q.text = append(q.text, m)
	}
	return nil
}

// readText reads a text, or a list of text parts.
func readText(o *wire.Object, name string) (string, error) {
	if !o.Given(name) {
		return "", wire.Invalid(o.Path+name, "%s%s is missing", o.Path, name)
	}
	var text string
	if json.Unmarshal(o.Members[name], &text) == nil {
		return text, nil
	}
	list, err := o.List(name)
	if err != nil {
		return "", o.WrongType(name, "a string or an array of parts")
	}
	var b bytes.Buffer
	for i, p := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		kind := ""
		if err := p.Str("type", &kind); err != nil {
			return "", err
		}
		field := "text"
		switch kind {
		case "input_text", "output_text", "text":
		case "refusal":
			field = kind
		case "input_json":
			if !p.Given("data") {
				return "", wire.Invalid(p.Path+"data", "%sdata is missing", p.Path)
			}
			if err := json.Compact(&b, p.Members["data"]); err != nil {
				return "", err
			}
			continue
		case "":
			return "", wire.Invalid(p.Path+"type", "%stype is missing", p.Path)
		default:
			return "", wire.NotOffered(p.Path+"type", fmt.Sprintf("content of type %q", kind))
		}
		if !p.Given(field) {
			return "", wire.Invalid(p.Path+field, "%s%s is missing", p.Path, field)
		}
		if err := p.Str(field, &text); err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// read reads a question.
func (n *named) read(o *wire.Object) (*question, error) {
	q := new(question)
	what := ""
	if err := o.OneOf("type", &what, string(predicateKind), string(choiceKind), string(scoreKind)); err != nil {
		return nil, err
	}
	if what == "" {
		return nil, wire.Invalid(o.Path+"type", "%stype is missing", o.Path)
	}
	q.kind = kind(what)
	fields := map[kind][]string{predicateKind: nil, choiceKind: {"choices"}, scoreKind: {"levels"}}[q.kind]
	if err := o.Only(append([]string{"type", "name", "instructions"}, fields...)...); err != nil {
		return nil, err
	}
	if o.Given("name") {
		n.name = new(string)
		if err := o.Str("name", n.name); err != nil {
			return nil, err
		}
	}
	var err error
	if q.ask, err = readText(o, "instructions"); err != nil {
		return nil, err
	}
	switch q.kind {
	case predicateKind:
		q.predicate("", "")
	case choiceKind:
		return q, n.readChoices(q, o)
	default:
		return q, n.readLevels(q, o)
	}
	return q, nil
}

// predicate makes the question a yes-or-no question.
func (q *question) predicate(yes, no string) {
	q.kind, q.options = predicateKind, []option{{"Yes", yes}, {"No", no}}
}

func (n *named) readChoices(q *question, o *wire.Object) error {
	list, err := o.List("choices")
	if err != nil {
		return err
	}
	if len(list) < 2 || len(list) > maxChoices {
		return wire.Invalid(o.Path+"choices", "%schoices must be an array of 2 to %d, not of %d", o.Path, maxChoices, len(list))
	}
	seen := map[any]bool{}
	for _, in := range list {
		if err := in.Only("value", "description"); err != nil {
			return err
		}
		if !in.Given("value") {
			return wire.Invalid(in.Path+"value", "%svalue is missing", in.Path)
		}
		var value any
		if err := json.Unmarshal(in.Members["value"], &value); err != nil {
			return err
		}
		one := option{}
		switch v := value.(type) {
		case string:
			one.text = v
		case bool:
			one.text = strconv.FormatBool(v)
		default:
			return in.WrongType("value", "a string or a boolean")
		}
		if seen[value] {
			return wire.Invalid(in.Path+"value", "%svalue occurs twice", in.Path)
		}
		seen[value] = true
		if err := in.Str("description", &one.description); err != nil {
			return err
		}
		n.values = append(n.values, value)
		q.options = append(q.options, one)
	}
	return nil
}

func (n *named) readLevels(q *question, o *wire.Object) error {
	list, err := o.List("levels")
	if err != nil {
		return err
	}
	if len(list) < 2 || len(list) > maxChoices {
		return wire.Invalid(o.Path+"levels", "%slevels must be an array of 2 to %d, not of %d", o.Path, maxChoices, len(list))
	}
	for _, in := range list {
		one := option{}
		for _, err := range []error{in.Only("label", "description"), in.Str("label", &one.text), in.Str("description", &one.description)} {
			if err != nil {
				return err
			}
		}
		if !in.Given("label") {
			return wire.Invalid(in.Path+"label", "%slabel is missing", in.Path)
		}
		n.labels = append(n.labels, one.text)
		q.options = append(q.options, one)
	}
	return nil
}
