package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An Envelope is the structured answer of a frame.
type Envelope struct {
	Reasoning     string    `json:"reasoning,omitempty"`
	Conclusion    string    `json:"conclusion"` // the answer or, with AskUser, the question
	Confidence    float64   `json:"confidence"` // from 0 to 1
	Files         []string  `json:"files,omitempty"`
	SubTasks      []SubTask `json:"sub_tasks,omitempty"`
	NeedsMoreInfo bool      `json:"needs_more_info,omitempty"`
	NextAction    Action    `json:"next_action"`
	Error         string    `json:"error,omitempty"`
	RawResponse   string    `json:"raw_response,omitempty"` // the text that it was read from, unless masks enforced the schema
}

// said returns the envelope as the model wrote it: without RawResponse.
func (e *Envelope) said() *Envelope {
	out := *e
	out.RawResponse = ""
	return &out
}

// A SubTask is a part of the work that can be done independently.
type SubTask struct {
	Query    string `json:"query"`
	Priority int    `json:"priority"` // 1 comes first
}

// An Action is the next action after an answer.
type Action string

// The actions.
const (
	Continue Action = "continue" // work on the sub-tasks
	Finalize Action = "finalize" // the conclusion is the answer
	AskUser  Action = "ask_user" // ask the user the question in the conclusion
)

// Values of Envelope.Error that Parse sets. A model may write others.
const (
	ErrorInvalidJSON  = "invalid_json"  // the text has no JSON object; Conclusion is the raw text
	ErrorNoConclusion = "no_conclusion" // the object has no conclusion; Conclusion is the raw text
)

// Confidences that Parse assigns to an envelope without one, and to text that is not an
// envelope.
const (
	DefaultConfidence = 0.8
	RawConfidence     = 0.5
)

// IsValid reports whether the envelope has a conclusion, a known next action, a confidence
// from 0 to 1, a query in every sub-task, and no error, whether the model or Parse has set
// it.
func (e *Envelope) IsValid() bool { return e.Invalid() == "" }

// Invalid returns why the envelope is not valid; "" if it is.
func (e *Envelope) Invalid() string {
	for _, t := range e.SubTasks {
		if strings.TrimSpace(t.Query) == "" {
			return "a sub-task has no query"
		}
	}
	switch {
	case e.Error != "":
		return e.Error
	case strings.TrimSpace(e.Conclusion) == "":
		return ErrorNoConclusion
	case !known(e.NextAction):
		return fmt.Sprintf("the next action %q is not known", e.NextAction)
	case !(e.Confidence >= 0 && e.Confidence <= 1):
		return "the confidence is not between 0 and 1"
	}
	return ""
}

func known(a Action) bool { return a == Continue || a == Finalize || a == AskUser }

// ShouldContinue reports whether the next action is to continue and there are
// sub-tasks.
func (e *Envelope) ShouldContinue() bool { return e.NextAction == Continue && len(e.SubTasks) > 0 }

// ShouldAskUser reports whether the conclusion is a question to the user: the model asks
// one, or reports that it needs more information and has no sub-tasks that may find it.
func (e *Envelope) ShouldAskUser() bool {
	return e.NextAction == AskUser || e.NeedsMoreInfo && !e.ShouldContinue()
}

// Prose returns the content as text with headings. The length of the envelope in tokens is
// compared with that of this text.
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

// SchemaOptions restrict an envelope. The zero value allows everything.
type SchemaOptions struct {
	NoContinue  bool // no sub-tasks
	NoAskUser   bool
	NoReasoning bool
	MaxSubTasks int // 0: DefaultSubTasks
}

// Example is an envelope of a final answer, for models that have to be shown one.
var Example = json.RawMessage(`{"conclusion": "The bridge was built in 1894.", "confidence": 0.9, "next_action": "finalize"}`)

// DefaultSubTasks is the default maximum number of sub-tasks in an envelope.
const DefaultSubTasks = 8

// Schema returns the JSON Schema of an envelope. Its properties are in the order in
// which a model should write them: reasoning before the conclusion, what depends on
// the conclusion after it. An envelope that continues must have sub-tasks.
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
	// The schema is written as text because a map would not keep the order of its
	// properties. said requires a character that is not white space. U+0085 is listed
	// because Unicode counts it as white space and ECMA-262's \s does not.
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

// comma returns the separator before the next member of the object at the end of a
// text.
func comma(b *strings.Builder) string {
	if strings.HasSuffix(b.String(), "{") {
		return ""
	}
	return ","
}

// mustJSON marshals values that can always be marshalled.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
