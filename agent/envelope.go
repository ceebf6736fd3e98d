package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An Envelope is a structured answer.
type Envelope struct {
	Reasoning     string    `json:"reasoning,omitempty"`
	Conclusion    string    `json:"conclusion"` // the answer; with AskUser the question
	Confidence    float64   `json:"confidence"` // from 0 to 1
	Files         []string  `json:"files,omitempty"`
	SubTasks      []SubTask `json:"sub_tasks,omitempty"`
	NeedsMoreInfo bool      `json:"needs_more_info,omitempty"`
	NextAction    Action    `json:"next_action"`
	Error         string    `json:"error,omitempty"`
}

// A SubTask is a part of the work that can be done on its own.
type SubTask struct {
	Query    string `json:"query"`
	Priority int    `json:"priority"` // 1 comes first
}

// An Action is what is to happen after an answer.
type Action string

// The actions.
const (
	Continue Action = "continue" // the sub-tasks are to be done
	Finalize Action = "finalize" // this is the answer
	AskUser  Action = "ask_user" // only the user knows
)

// Values of an envelope's Error that Parse gives. A model may write others.
const (
	ErrorInvalidJSON  = "invalid_json"  // there was no JSON object; Conclusion is the raw text
	ErrorNoConclusion = "no_conclusion" // the object had none; Conclusion is the raw text
)

// Confidence of an answer that names none, and of one that is no envelope.
const (
	DefaultConfidence = 0.8
	RawConfidence     = 0.5
)

// IsValid reports whether the envelope is whole: it has a conclusion and a known
// next action, its confidence is a probability, every sub-task says what is to
// be done, and it was not made of a text that is no envelope.
func (e *Envelope) IsValid() bool {
	for _, t := range e.SubTasks {
		if strings.TrimSpace(t.Query) == "" {
			return false
		}
	}
	return strings.TrimSpace(e.Conclusion) != "" && known(e.NextAction) && e.Confidence >= 0 && e.Confidence <= 1 &&
		e.Error != ErrorInvalidJSON && e.Error != ErrorNoConclusion
}

func known(a Action) bool { return a == Continue || a == Finalize || a == AskUser }

// ShouldContinue reports whether there is more to do: the next action says so
// and there are sub-tasks.
func (e *Envelope) ShouldContinue() bool { return e.NextAction == Continue && len(e.SubTasks) > 0 }

// ShouldAskUser reports whether the conclusion is a question to the user.
func (e *Envelope) ShouldAskUser() bool { return e.NextAction == AskUser }

// Prose returns the same content as text with headings, which is what the
// envelope's tokens are compared with.
func (e *Envelope) Prose() string {
	var b strings.Builder
	section := func(heading string) {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("## " + heading + "\n\n")
	}
	if e.Reasoning != "" {
		section("Reasoning")
		b.WriteString(e.Reasoning)
	}
	section("Conclusion")
	b.WriteString(e.Conclusion)
	section("Confidence")
	fmt.Fprintf(&b, "%.0f%%", 100*e.Confidence)
	if len(e.Files) > 0 {
		section("Files")
		for i, f := range e.Files {
			b.WriteString([]string{"", "\n"}[min(i, 1)] + "- " + f)
		}
	}
	if len(e.SubTasks) > 0 {
		section("Sub-tasks")
		for i, t := range e.SubTasks {
			fmt.Fprintf(&b, "%s%d. %s (priority %d)", []string{"", "\n"}[min(i, 1)], i+1, t.Query, t.Priority)
		}
	}
	if e.Error != "" {
		section("Error")
		b.WriteString(e.Error)
	}
	section("Next step")
	switch {
	case e.NextAction == Continue:
		b.WriteString("Continue with the sub-tasks.")
	case e.NextAction == AskUser:
		b.WriteString("Ask the user.")
	case e.NeedsMoreInfo:
		b.WriteString("More information is needed.")
	default:
		b.WriteString("This is the final answer.")
	}
	return b.String()
}

// SchemaOptions say what an envelope may hold. The zero value allows everything.
type SchemaOptions struct {
	NoContinue  bool // no sub-tasks
	NoAskUser   bool
	NoReasoning bool
	MaxSubTasks int // 0: DefaultSubTasks
}

// DefaultSubTasks is how many sub-tasks an envelope has at most.
const DefaultSubTasks = 8

// Schema returns the JSON Schema of an envelope. Its properties stand in the
// order in which a model does best to write them: thoughts before the
// conclusion, what follows from it afterwards. A continuing envelope has
// sub-tasks, always.
func Schema(o SchemaOptions) json.RawMessage {
	list := o.MaxSubTasks
	if list == 0 {
		list = DefaultSubTasks
	}
	actions := []Action{}
	if !o.NoContinue {
		actions = append(actions, Continue)
	}
	actions = append(actions, Finalize)
	if !o.NoAskUser {
		actions = append(actions, AskUser)
	}
	// The order of properties is part of the schema, and a map has none.
	// What is not blank: ECMA-262's \s lacks U+0085, which is white space to
	// Unicode.
	const said = `{"type":"string","minLength":1,"pattern":"[^\\s\u0085]"}`
	var b strings.Builder
	property := func(there bool, name, schema string) {
		if there {
			fmt.Fprintf(&b, "%s%q:%s", comma(&b), name, schema)
		}
	}
	b.WriteString(`{"type":"object","properties":{`)
	property(!o.NoReasoning, "reasoning", `{"type":"string"}`)
	property(true, "conclusion", said)
	property(true, "confidence", `{"type":"number","minimum":0,"maximum":1,"multipleOf":0.01}`)
	property(true, "files", `{"type":"array","items":{"type":"string","minLength":1}}`)
	property(!o.NoContinue, "sub_tasks", fmt.Sprintf(`{"type":"array","maxItems":%d,"items":{"type":"object","properties":{`+
		`"query":%s,"priority":{"type":"integer","minimum":1,"maximum":9}},"required":["query","priority"],"additionalProperties":false}}`, list, said))
	property(true, "needs_more_info", `{"type":"boolean"}`)
	property(true, "next_action", fmt.Sprintf(`{"enum":%s}`, mustJSON(actions)))
	property(true, "error", `{"type":"string"}`)
	b.WriteString(`},"required":["conclusion","confidence","next_action"],"additionalProperties":false`)
	if !o.NoContinue {
		b.WriteString(`,"if":{"properties":{"next_action":{"const":"continue"}},"required":["next_action"]},` +
			`"then":{"properties":{"sub_tasks":{"minItems":1}},"required":["sub_tasks"]}`)
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// comma returns what goes before the next member of the object that a text ends
// with.
func comma(b *strings.Builder) string {
	if strings.HasSuffix(b.String(), "{") {
		return ""
	}
	return ","
}

// mustJSON is for values that always have JSON.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
