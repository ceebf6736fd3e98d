package decisions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/wire"
)

var systemOneNames = wire.Names{
	Known:    append([]string{"model", "state", "questions", "images", "videos"}, ownFields...),
	Harmless: wire.HarmlessFields,
	Refused:  []string{"stream", "input"},
}

// An object is a JSON object with ordered members.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, x := range []any{m.key, m.value} {
			if j > 0 {
				b.WriteByte(':')
			}
			raw, err := wire.Marshal(x)
			if err != nil {
				return nil, err
			}
			b.Write(raw)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// SystemOne handles POST /v1/systemone, TypeSafe's API as implemented by llama-server, Ollama and LiteLLM.
func (s *Handlers) SystemOne(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, names, err := readSystemOne(o)
	if err != nil {
		return nil, err
	}
	d, err := s.decide(r, q)
	if err != nil {
		return nil, err
	}
	answers := make(object, len(names))
	for i, name := range names {
		answers[i] = member{name, systemOneAnswer(&q.questions[i], d.probabilities[i])}
	}
	out := object{{"model", d.model}, {"answers", answers}, {"usage", object{{"input_tokens", d.tokens}, {"output_tokens", 0}}}}
	if len(q.warnings) > 0 {
		out = append(out, member{"warnings", q.warnings})
	}
	return wire.JSON{Value: out}, nil
}

func systemOneAnswer(q *question, p []float64) object {
	probabilities, legend := object{}, object{}
	for i, o := range q.options {
		key := o.text
		if q.kind == scoreKind {
			key = strconv.Itoa(i)
			legend = append(legend, member{key, o.description})
		}
		probabilities = append(probabilities, member{key, p[i]})
	}
	switch q.kind {
	case predicateKind:
		return object{{"type", "noul"}, {"noul", p[0]}}
	case choiceKind:
		return object{{"type", "choice"}, {"choice", q.options[slices.Index(p, slices.Max(p))].text}, {"probabilities", probabilities}, {"confidence", confidence(p)}}
	}
	return object{{"type", "score"}, {"score", expected(p)}, {"legend", legend}, {"probabilities", probabilities}, {"confidence", orderedConfidence(p)}}
}

// readSystemOne reads the body of POST /v1/systemone. It also returns the names of the questions.
func readSystemOne(o *wire.Object) (*query, []string, error) {
	q := new(query)
	var err error
	if q.warnings, err = systemOneNames.Check(o); err != nil {
		return nil, nil, err
	}
	if err := q.readOwn(o); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"images", "videos"} {
		if list, err := o.Raws(name); err != nil || len(list) > 0 {
			return nil, nil, wire.NotOffered(name, name)
		}
	}
	if !o.Given("state") {
		return nil, nil, wire.Invalid("state", "state is missing")
	}
	if err := q.readState(o.Members["state"]); err != nil {
		return nil, nil, err
	}
	list, err := o.Child("questions")
	if err != nil {
		return nil, nil, err
	}
	if list == nil || len(list.Names) == 0 || len(list.Names) > maxQuestions {
		return nil, nil, wire.Invalid("questions", "questions must be an object of 1 to %d questions", maxQuestions)
	}
	for _, name := range list.Names {
		in, err := list.Child(name)
		if err != nil {
			return nil, nil, err
		}
		if in == nil {
			return nil, nil, wire.Invalid(list.Path+name, "%s%s must be an object", list.Path, name)
		}
		one, err := readSystemOneQuestion(in)
		if err != nil {
			return nil, nil, err
		}
		q.questions = append(q.questions, *one)
	}
	return q, list.Names, nil
}

// readState reads the subject of the questions: a text, messages, or any JSON.
func (q *query) readState(raw json.RawMessage) error {
	text, err := textOf(raw)
	if err != nil {
		return err
	}
	var wrapped struct {
		Messages []json.RawMessage `json:"messages"`
	}
	list := wrapped.Messages
	if json.Unmarshal(raw, &wrapped) == nil {
		list = wrapped.Messages
	} else if json.Unmarshal(raw, &list) != nil {
		list = nil
	}
	var messages []chat.Message
	for _, one := range list {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(one, &m) != nil || m.Role == "" {
			messages = nil
			break
		}
		var parts []struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				if p.Type == "image_url" || p.Type == "input_image" {
					return wire.NotOffered("state", fmt.Sprintf("content of type %q", p.Type))
				}
			}
		}
		content, err := textOf(m.Content)
		if err != nil {
			return err
		}
		messages = append(messages, chat.Message{Role: m.Role, Content: content})
	}
	if q.text = messages; len(messages) == 0 {
		q.text = []chat.Message{{Role: "user", Content: text}}
	}
	return nil
}

// textOf returns a value as text: strings verbatim, everything else as JSON.
func textOf(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return "", err
	}
	return spaced(b.Bytes()), nil
}

// spaced adds a space after each comma and colon of compact JSON, which is the form that models know best and chat
// templates write.
func spaced(compact []byte) string {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	within := false // a string
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		out = append(out, c)
		switch {
		case c == '\\' && within:
			i++
			out = append(out, compact[i])
		case c == '"':
			within = !within
		case (c == ',' || c == ':') && !within:
			out = append(out, ' ')
		}
	}
	return string(out)
}

func readSystemOneQuestion(o *wire.Object) (*question, error) {
	what := ""
	if err := o.OneOf("type", &what, "choice", "score", "noul"); err != nil {
		return nil, err
	}
	if what == "" {
		return nil, wire.Invalid(o.Path+"type", "%stype is missing", o.Path)
	}
	if err := o.Only("type", "instructions", "criteria"); err != nil {
		return nil, err
	}
	if !o.Given("instructions") {
		return nil, wire.Invalid(o.Path+"instructions", "%sinstructions is missing", o.Path)
	}
	q := &question{kind: kind(what)}
	var err error
	if q.ask, err = textOf(o.Members["instructions"]); err != nil {
		return nil, err
	}
	if what == "score" {
		list, err := o.Raws("criteria")
		if err != nil {
			return nil, err
		}
		if len(list) < 2 || len(list) > 10 {
			return nil, wire.Invalid(o.Path+"criteria", "%scriteria must be an array of 2 to 10 levels, not of %d", o.Path, len(list))
		}
		for _, raw := range list {
			text, err := textOf(raw)
			if err != nil {
				return nil, err
			}
			q.options = append(q.options, option{description: text})
		}
		return q, nil
	}
	in, err := o.Child("criteria")
	if err != nil {
		return nil, err
	}
	if in == nil {
		in = &wire.Object{Path: o.Path + "criteria."}
	}
	describe := func(name string) (text string, err error) {
		if in.Given(name) {
			text, err = textOf(in.Members[name])
		}
		return text, err
	}
	if what == "noul" {
		if err := in.Only("true", "false"); err != nil {
			return nil, err
		}
		yes, err := describe("true")
		if err != nil {
			return nil, err
		}
		no, err := describe("false")
		q.predicate(yes, no)
		return q, err
	}
	if len(in.Names) == 0 || len(in.Names) > maxChoices {
		return nil, wire.Invalid(o.Path+"criteria", "%scriteria must be an object of 1 to %d options", o.Path, maxChoices)
	}
	for _, name := range in.Names {
		text, err := describe(name)
		if err != nil {
			return nil, err
		}
		q.options = append(q.options, option{name, text})
	}
	return q, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
