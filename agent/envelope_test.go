package agent

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema"
)

func TestParse(t *testing.T) {
	def := Envelope{Confidence: DefaultConfidence, NextAction: Finalize}
	with := func(change func(*Envelope)) Envelope { e := def; change(&e); return e }
	said := func(text string) Envelope { return with(func(e *Envelope) { e.Conclusion = text }) }
	raw := func(text, code string) Envelope {
		return Envelope{Conclusion: text, Confidence: RawConfidence, NextAction: Finalize, Error: code}
	}
	for name, c := range map[string]struct {
		text string
		want Envelope
	}{
		"whole": {
			`{"reasoning":"r","conclusion":"c","confidence":0.25,"files":["a","b"],"sub_tasks":[{"query":"q","priority":2}],"needs_more_info":true,"next_action":"continue","error":"e"}`,
			Envelope{"r", "c", 0.25, []string{"a", "b"}, []SubTask{{"q", 2}}, true, Continue, "e", ""},
		},
		"conclusion alone":     {`{"conclusion":"c"}`, said("c")},
		"fence":                {"```json\n{\"conclusion\":\"c\"}\n```", said("c")},
		"fence and words":      {"Here it is:\n```\n{\"conclusion\":\"c\"}\n```\nBye.", said("c")},
		"words around":         {`Sure! {"conclusion":"c"} Anything else?`, said("c")},
		"thoughts before":      {"<think>hm</think>{\"conclusion\":\"c\"}", said("c")},
		"broken":               {`{conclusion: 'c', "confidence": 0.5,}`, with(func(e *Envelope) { e.Conclusion, e.Confidence = "c", 0.5 })},
		"unknown action":       {`{"conclusion":"c","next_action":"dance"}`, said("c")},
		"action of a type":     {`{"conclusion":"c","next_action":3}`, said("c")},
		"action in capitals":   {`{"conclusion":"c","next_action":" Ask_User"}`, with(func(e *Envelope) { e.Conclusion, e.NextAction = "c", AskUser })},
		"continue, no tasks":   {`{"conclusion":"c","next_action":"continue"}`, with(func(e *Envelope) { e.Conclusion, e.NextAction = "c", Continue })},
		"confidence high":      {`{"conclusion":"c","confidence":85}`, with(func(e *Envelope) { e.Conclusion, e.Confidence = "c", 1 })},
		"confidence low":       {`{"conclusion":"c","confidence":-1e400}`, said("c")},
		"confidence negative":  {`{"conclusion":"c","confidence":-3}`, with(func(e *Envelope) { e.Conclusion, e.Confidence = "c", 0 })},
		"confidence a word":    {`{"conclusion":"c","confidence":"high"}`, said("c")},
		"confidence null":      {`{"conclusion":"c","confidence":null}`, said("c")},
		"confidence a list":    {`{"conclusion":"c","confidence":[0.1]}`, said("c")},
		"confidence NaN":       {`{"conclusion":"c","confidence":"NaN"}`, said("c")},
		"confidence a string":  {`{"conclusion":"c","confidence":"0.5"}`, with(func(e *Envelope) { e.Conclusion, e.Confidence = "c", 0.5 })},
		"confidence a percent": {`{"conclusion":"c","confidence":"50 %"}`, with(func(e *Envelope) { e.Conclusion, e.Confidence = "c", 0.5 })},
		"one file":             {`{"conclusion":"c","files":"a"}`, with(func(e *Envelope) { e.Conclusion, e.Files = "c", []string{"a"} })},
		"files of all kinds":   {`{"conclusion":"c","files":["a",null,"",3]}`, with(func(e *Envelope) { e.Conclusion, e.Files = "c", []string{"a", "3"} })},
		"tasks as strings": {`{"conclusion":"c","sub_tasks":["a"," ",{"query":"b"},{"query":"d","priority":"9"},{"priority":1},7]}`,
			with(func(e *Envelope) {
				e.Conclusion, e.SubTasks = "c", []SubTask{{"a", 10}, {"b", 10}, {"d", 9}, {"7", 10}}
			})},
		"tasks, no list":       {`{"conclusion":"c","sub_tasks":"a"}`, said("c")},
		"conclusion an object": {`{"conclusion":{"a":1}}`, said(`{"a":1}`)},
		"info as a word":       {`{"conclusion":"c","needs_more_info":"yes"}`, with(func(e *Envelope) { e.Conclusion, e.NeedsMoreInfo = "c", true })},
		"error alone":          {`{"error":"e"}`, with(func(e *Envelope) { e.Error = "e" })},
		"continue alone":       {`{"sub_tasks":["a"],"next_action":"continue"}`, with(func(e *Envelope) { e.SubTasks, e.NextAction = []SubTask{{"a", 9}}, Continue })},
		"prose":                {" The answer is 42.\n", raw("The answer is 42.", ErrorInvalidJSON)},
		"empty":                {"", raw("", ErrorInvalidJSON)},
		"a list":               {`["c"]`, raw(`["c"]`, ErrorInvalidJSON)},
		"a string":             {`"c"`, raw(`"c"`, ErrorInvalidJSON)},
		"another object":       {`{"answer":"c"}`, raw(`{"answer":"c"}`, ErrorNoConclusion)},
		"blank conclusion":     {`{"conclusion":" "}`, raw(`{"conclusion":" "}`, ErrorNoConclusion)},
	} {
		t.Run(name, func(t *testing.T) {
			got := Parse(c.text)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s\n got %+v\nwant %+v", c.text, got, c.want)
			}
		})
	}
}

func TestEnvelopeSays(t *testing.T) {
	task := []SubTask{{"q", 1}}
	for name, c := range map[string]struct {
		e                 Envelope
		valid, more, asks bool
	}{
		"answer":           {Envelope{Conclusion: "c", Confidence: 1, NextAction: Finalize}, true, false, false},
		"continue":         {Envelope{Conclusion: "c", NextAction: Continue, SubTasks: task}, true, true, false},
		"continue nothing": {Envelope{Conclusion: "c", NextAction: Continue}, true, false, false},
		"tasks, final":     {Envelope{Conclusion: "c", NextAction: Finalize, SubTasks: task}, true, false, false},
		"question":         {Envelope{Conclusion: "c?", NextAction: AskUser, SubTasks: task}, true, false, true},
		"own error":        {Envelope{Conclusion: "c", NextAction: Finalize, Error: "no access"}, false, false, false},
		"no conclusion":    {Envelope{Conclusion: "\n", NextAction: Finalize}, false, false, false},
		"no action":        {Envelope{Conclusion: "c"}, false, false, false},
		"above 1":          {Envelope{Conclusion: "c", Confidence: 1.01, NextAction: Finalize}, false, false, false},
		"below 0":          {Envelope{Conclusion: "c", Confidence: -0.01, NextAction: Finalize}, false, false, false},
		"not a number":     {Envelope{Conclusion: "c", Confidence: math.NaN(), NextAction: Finalize}, false, false, false},
		"blank task":       {Envelope{Conclusion: "c", NextAction: Continue, SubTasks: []SubTask{{" ", 1}}}, false, true, false},
		"raw":              {Parse("c"), false, false, false},
	} {
		if c.e.IsValid() != c.valid || c.e.ShouldContinue() != c.more || c.e.ShouldAskUser() != c.asks {
			t.Errorf("%s: valid %v, continue %v, ask %v", name, c.e.IsValid(), c.e.ShouldContinue(), c.e.ShouldAskUser())
		}
	}
}

// allOptions returns all combinations of options, apart from MaxSubTasks.
func allOptions() (out []SchemaOptions) {
	for i := range 8 {
		out = append(out, SchemaOptions{NoContinue: i&1 != 0, NoAskUser: i&2 != 0, NoReasoning: i&4 != 0})
	}
	return out
}

// TestSchema checks that every keyword is enforced, and that the schema accepts
// exactly the intended envelopes.
func TestSchema(t *testing.T) {
	for _, o := range allOptions() {
		src := Schema(o)
		s, err := schema.Compile(src, schema.Options{})
		if err != nil {
			t.Fatalf("%+v: %v\n%s", o, err, src)
		}
		if r := s.Report(); len(r.Checked) > 0 || len(r.Ignored) > 0 || len(r.Warnings) > 0 {
			t.Errorf("%+v: not all is enforced: %+v", o, r)
		}
		for want, text := range map[bool][]string{
			true:  {`{"conclusion":"c","confidence":0.85,"next_action":"finalize"}`, `{"conclusion":"c","confidence":1,"files":["a"],"needs_more_info":false,"next_action":"finalize","error":"e"}`},
			false: {`{"conclusion":" ","confidence":0.85,"next_action":"finalize"}`, `{"conclusion":"c","confidence":0.855,"next_action":"finalize"}`, `{"conclusion":"c","confidence":1.01,"next_action":"finalize"}`, `{"conclusion":"c","confidence":1,"next_action":"continue"}`, `{"conclusion":"c","confidence":1}`, `{"conclusion":"c","confidence":1,"next_action":"finalize","more":1}`},
		} {
			for _, one := range text {
				if got := fits(t, src, one); got != want {
					t.Errorf("%+v: %s fits: %v", o, one, got)
				}
			}
		}
		for text, want := range map[string]bool{
			`{"conclusion":"c","confidence":1,"next_action":"ask_user"}`:                                                !o.NoAskUser,
			`{"reasoning":"r","conclusion":"c","confidence":1,"next_action":"finalize"}`:                                !o.NoReasoning,
			`{"conclusion":"c","confidence":1,"sub_tasks":[{"query":"q","priority":1}],"next_action":"continue"}`:       !o.NoContinue,
			`{"conclusion":"c","confidence":1,"sub_tasks":[` + tasks(DefaultSubTasks+1) + `],"next_action":"continue"}`: false,
			`{"conclusion":"c","confidence":1,"sub_tasks":[],"next_action":"continue"}`:                                 false,
			`{"conclusion":"c","confidence":1,"sub_tasks":[],"next_action":"finalize"}`:                                 !o.NoContinue,
			`{"conclusion":"c","confidence":1,"sub_tasks":[{"query":"","priority":1}],"next_action":"continue"}`:        false,
			`{"conclusion":"c","confidence":1,"sub_tasks":[{"query":"q","priority":1,"x":1}],"next_action":"continue"}`: false,
			`{"conclusion":"c","confidence":1,"sub_tasks":[` + tasks(DefaultSubTasks) + `],"next_action":"continue"}`:   !o.NoContinue,
		} {
			if got := fits(t, src, text); got != want {
				t.Errorf("%+v: %s fits: %v", o, text, got)
			}
		}
	}
}

func tasks(n int) string {
	return strings.TrimSuffix(strings.Repeat(`{"query":"q","priority":1},`, n), ",")
}

// TestProse checks that the prose contains all of an envelope.
func TestProse(t *testing.T) {
	e := Envelope{"thinking", "concluding", 0.75, []string{"a.go", "b.go"}, []SubTask{{"first", 1}, {"second", 2}}, true, Continue, "trouble", ""}
	want := `## Reasoning

thinking

## Conclusion

concluding

## Confidence

75%

## Files

- a.go
- b.go

## Sub-tasks

1. first (priority 1)
2. second (priority 2)

## Error

trouble

## Next step

Continue with the sub-tasks.`
	if got := e.Prose(); got != want {
		t.Errorf("got\n%s", got)
	}
	for action, last := range map[Action]string{AskUser: "Ask the user.", Finalize: "More information is needed."} {
		e.NextAction = action
		if got := e.Prose(); !strings.HasSuffix(got, last) {
			t.Errorf("%s: %s", action, got)
		}
	}
}

// FuzzParse checks that any text is accepted, and that a parsed envelope is
// unchanged when it is written and parsed again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"conclusion":"c","sub_tasks":["a"],"confidence":"5%"}`, "```json\n{}\n```", "{'conclusion': \"c\", files: [1]}", "no"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := Parse(text)
		if !(e.Confidence >= 0 && e.Confidence <= 1) || !slices.Contains([]Action{Continue, Finalize, AskUser}, e.NextAction) {
			t.Fatalf("%q: %+v", text, e)
		}
		if !e.IsValid() {
			return
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if back := Parse(string(again)); !reflect.DeepEqual(sane(back), sane(e)) {
			t.Fatalf("%q: %+v, read again %+v", text, e, back)
		}
	})
}

// sane returns an envelope after a round trip through JSON, which replaces invalid
// UTF-8.
func sane(e Envelope) Envelope {
	b, _ := json.Marshal(e)
	var out Envelope
	_ = json.Unmarshal(b, &out)
	return out
}
