package vectors

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/server/wire"
)

// An EmbedInput is a text, or parts if they are not nil.
type EmbedInput struct {
	Text  string
	parts []inputPart // texts and tokens
}

// bytes returns the length of the input's texts.
func (in *EmbedInput) bytes() int {
	n := len(in.Text)
	for _, part := range in.parts {
		if part.text != nil {
			n += len(*part.text)
		}
	}
	return n
}

// An inputPart is a token or a text.
type inputPart struct {
	token int32
	text  *string
}

// tokens returns the input's tokens. Only a text gets the special tokens that the model expects around it.
func (in *EmbedInput) tokens(p *embedding.Prompts) []int32 {
	if in.parts == nil {
		return p.Text(in.Text)
	}
	out := []int32{}
	for _, part := range in.parts {
		if part.text != nil {
			out = p.Append(out, *part.text)
		} else {
			out = append(out, part.token)
		}
	}
	return out
}

// ReadInput reads the inputs: a text or a list of texts. With forms, an input may also be a list of tokens and texts,
// or one of llama-server's objects with a text; a list that contains a number is one input.
func (q *EmbedQuery) ReadInput(o *wire.Object, forms bool) error {
	want := "a string or an array of strings"
	if forms {
		want += ", or of tokens, or of arrays of tokens"
	}
	if !o.Given(q.Field) {
		return wire.Invalid(q.Field, "%s is required: %s", q.Field, want)
	}
	raw := o.Members[q.Field]
	var list []json.RawMessage
	whole := json.Unmarshal(raw, &list) != nil
	if whole && raw[0] != '"' && (!forms || raw[0] != '{') {
		return o.WrongType(q.Field, want)
	}
	if whole || forms && slices.ContainsFunc(list, isNumber) {
		q.Single = true
		one, err := readInput(raw, q.Field, forms)
		q.Inputs = []EmbedInput{one}
		return err
	}
	if len(list) > embedding.MaxInputs {
		return &wire.Error{Param: q.Field, Code: "too_many_inputs", Message: fmt.Sprintf(
			"%s has %d inputs, at most %d are possible in one request", q.Field, len(list), embedding.MaxInputs)}
	}
	for i, item := range list {
		one, err := readInput(item, q.place(i), forms)
		if err != nil {
			return err
		}
		q.Inputs = append(q.Inputs, one)
	}
	return nil
}

// readInput reads one input.
func readInput(raw json.RawMessage, place string, forms bool) (in EmbedInput, err error) {
	switch {
	case raw[0] == '"' && json.Unmarshal(raw, &in.Text) == nil:
		return in, nil
	case forms && raw[0] == '[':
		in.parts, err = readParts(raw, place)
		return in, err
	case forms && raw[0] == '{':
		in.Text, err = readObject(raw, place)
		return in, err
	}
	return in, wire.Invalid(place, "%s must be a string, not %s", place, wire.Sketch(raw))
}

func isNumber(raw json.RawMessage) bool {
	return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// readParts reads a list of tokens and texts. The result is never nil, not even for an empty list.
func readParts(raw json.RawMessage, place string) ([]inputPart, error) {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // it is a valid JSON list
	out := make([]inputPart, 0, len(list))
	for _, one := range list {
		var part inputPart
		switch {
		case isNumber(one) && json.Unmarshal(one, &part.token) == nil:
		case one[0] == '"' && json.Unmarshal(one, &part.text) == nil:
		default:
			return nil, wire.Invalid(place, "%s must be an array of tokens, which are whole numbers, and strings", place)
		}
		out = append(out, part)
	}
	return out, nil
}

// readObject reads {"prompt_string": text}, or {"content": [{"type": "text", "text": text}, …]}, whose texts are
// joined.
func readObject(raw json.RawMessage, place string) (text string, err error) {
	in, err := wire.ParseObject(raw, place+".")
	if err != nil {
		return "", err
	}
	if err := in.Only("prompt_string", "content"); err != nil {
		return "", err
	}
	if in.Given("prompt_string") == in.Given("content") {
		return "", wire.Invalid(place, "%s must have prompt_string or content", place)
	}
	if in.Given("prompt_string") {
		return text, in.Str("prompt_string", &text)
	}
	parts, err := in.List("content")
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, one := range parts {
		kind, piece := "", ""
		if err := one.Str("type", &kind); err != nil {
			return "", err
		}
		if kind != "text" {
			return "", wire.NotOffered(one.Path+"type", fmt.Sprintf("a part of the type %q", kind))
		}
		for _, err := range []error{one.Only("type", "text"), one.Str("text", &piece)} {
			if err != nil {
				return "", err
			}
		}
		all.WriteString(piece)
	}
	return all.String(), nil
}
