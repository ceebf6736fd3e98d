package signals

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func number(f float64) *float64 { return &f }

// shown returns signals as JSON.
func shown(s Signals) string {
	out, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

const fence = "```"

func block(body string) string { return fence + Info + "\n" + body + "\n" + fence }

func TestReadBlock(t *testing.T) {
	const all = `{"confidence":0.8,"difficulty":"easy","escalation":"none","reason":"known","tools":{"find":0.9}}`
	for _, c := range []struct {
		name, text, want, rest string
	}{
		{"at the end", "Paris.\n\n" + block(all) + "\n", all, "Paris."},
		{"without a line break", "Paris.\n" + block(all), all, "Paris."},
		{"alone", block(all), all, ""},
		{"in the middle", "One.\n" + block(all) + "\nTwo.\n", all, "One.\nTwo.\n"},
		{"at the beginning", block(all) + "\n\nTwo.", all, "\nTwo."},
		{"indented", "Paris.\n  ```cortex-signals\n" + all + "\n  ```", all, "Paris."},
		{"tildes", "Paris.\n~~~ Cortex-Signals\r\n" + all + "\r\n~~~\r\n", all, "Paris."},
		{"more backticks", "Paris.\n````cortex-signals\n" + all + "\n````", all, "Paris."},
		{"not closed", "Paris.\n```cortex-signals\n" + all, all, "Paris."},
		{"not closed, text after", "Paris.\n```cortex-signals\n" + all + "\nAnd more.", all, "Paris.\n\nAnd more."},
		{"two", "A\n" + block(`{"confidence":0.1}`) + "\nB\n" + block(`{"confidence":0.9}`), `{"confidence":0.9}`, "A\nB"},
		{"the last one says nothing", "A\n" + block(`{"confidence":0.1}`) + "\n" + block(`?`), `{"confidence":0.1}`, "A"},
		{"clamped", "A\n" + block(`{"confidence":7,"tools":{"a":-1}}`), `{"confidence":1,"tools":{"a":0}}`, "A"},
		{"words not known", "A\n" + block(`{"confidence":0.5,"difficulty":"fiendish","escalation":"police"}`), `{"confidence":0.5}`, "A"},
		{"words spelt otherwise", "A\n" + block(`{"difficulty":"Hard ","escalation":"Stronger model"}`), `{"difficulty":"hard","escalation":"stronger_model"}`, "A"},
		{"per cent", "A\n" + block(`{"confidence":"85 %"}`), `{"confidence":0.85}`, "A"},
		{"a level", "A\n" + block(`{"confidence":"very high"}`), `{"confidence":0.95}`, "A"},
		{"a number as text", "A\n" + block(`{"confidence":"0.25"}`), `{"confidence":0.25}`, "A"},
		{"damaged: quotes", "A\n" + block(`{'confidence': 0.4, 'difficulty': 'hard'}`), `{"confidence":0.4,"difficulty":"hard"}`, "A"},
		{"damaged: comma", "A\n" + block(`{"confidence": 0.4, "difficulty": "hard",}`), `{"confidence":0.4,"difficulty":"hard"}`, "A"},
		{"damaged: no quotes", "A\n" + block(`{confidence: 0.4, difficulty: hard, reason: so,}`), `{"confidence":0.4,"difficulty":"hard","reason":"so"}`, "A"},
		{"lines", "A\n" + block("confidence: 0.4\n- difficulty: hard\nfoo: bar"), `{"confidence":0.4,"difficulty":"hard"}`, "A"},
		{"white space that is the answer's", "  A \n\n\tB  \n" + block(all), all, "  A \n\n\tB"},
	} {
		s, rest, from := Read(c.text)
		if from != FromBlock || shown(s) != c.want || rest != c.rest {
			t.Errorf("%s: %s %q %s, want %s %q", c.name, shown(s), rest, from, c.want, c.rest)
		}
		if s, rest, from := ReadDocument(c.text); from != FromBlock || shown(s) != c.want || rest != c.rest {
			t.Errorf("%s, as a document: %s %q %s", c.name, shown(s), rest, from)
		}
	}
}

// TestReadBrokenBlock checks that unreadable blocks are removed and give no signals.
func TestReadBrokenBlock(t *testing.T) {
	for _, body := range []string{"", "?", "{", "[]", "12", `{"confidence":`, `{"confidence": true}`, `{"x": 1}`, `{"confidence":"nan"}`} {
		s, rest, from := Read("Paris.\n" + fence + Info + "\n" + body)
		if rest != "Paris." || from != FromDefaults || shown(s) != shown(Default()) {
			t.Errorf("%q: %s %q %s", body, shown(s), rest, from)
		}
	}
	const text = "Paris.\n```cortex-signals\n{\"confidence\": 0.\n\nMore."
	if _, rest, _ := Read(text); rest != "Paris.\nMore." {
		t.Errorf("text after a block that was not closed: %q", rest)
	}
}

// TestReadNoBlock checks that text that only resembles a block is left unchanged.
func TestReadNoBlock(t *testing.T) {
	for _, text := range []string{
		"", " ", "Paris.\n", "\n\nParis.  \n\n", "see cortex-signals", "``cortex-signals\n{}\n``", "a ```cortex-signals\n{}\n```",
		"```cortex-signal\n{}\n```", "```cortex-signals-2\n{}\n```", "```json\n{\"a\": 1}\n```\n", "```\ncortex-signals\n```",
	} {
		if s, rest, from := Read(text); rest != text || from != FromDefaults {
			t.Errorf("%q: %s %q %s", text, shown(s), rest, from)
		}
		if _, rest, from := ReadDocument(text); rest != text || from != FromDefaults {
			t.Errorf("%q as a document: %q %s", text, rest, from)
		}
	}
}

func TestReadObject(t *testing.T) {
	const own = `{"confidence": 0.7, "difficulty": "easy"}`
	for _, c := range []struct {
		name, text string
		confidence float64
		rest       string
	}{
		{"last line", "Paris.\n" + own, 0.7, "Paris."},
		{"over several lines", "Paris.\n\n{\n  \"confidence\": 0.7,\n  \"tools\": {\n    \"a\": 1\n  }\n}\n", 0.7, "Paris."},
		{"in a fence", "Paris.\n```json\n" + own + "\n```\n", 0.7, "Paris."},
		{"in a bare fence", "Paris.\n```\n" + own + "\n```", 0.7, "Paris."},
		// The following objects are part of the answer and are kept.
		{"all there is", own, 0.7, own},
		{"with the answer in it", "Here:\n{\"answer\": \"Paris\", \"confidence\": 0.7}", 0.7, "Here:\n{\"answer\": \"Paris\", \"confidence\": 0.7}"},
		{"in the middle", "Paris.\n" + own + "\nThat is it.", 0.7, "Paris.\n" + own + "\nThat is it."},
		{"within a line", "It is " + own, 0.7, "It is " + own},
		{"in a fence of code", "Paris.\n```go\n" + own + "\n```", 0.7, "Paris.\n```go\n" + own + "\n```"},
		{"the last of several", `{"confidence": 0.1, "x": 1} and {"confidence": 0.7, "x": 2} and {"x": 3}`, 0.7, `{"confidence": 0.1, "x": 1} and {"confidence": 0.7, "x": 2} and {"x": 3}`},
		{"after brackets in prose", "a { b { c {\"confidence\": 0.7, \"x\": 1}", 0.7, "a { b { c {\"confidence\": 0.7, \"x\": 1}"},
	} {
		s, rest, from := Read(c.text)
		if from != FromObject || s.Confidence == nil || *s.Confidence != c.confidence || rest != c.rest {
			t.Errorf("%s: %s %q %s", c.name, shown(s), rest, from)
		}
	}
	for _, text := range []string{`{"confidence": "high"}`, `{"x": {"confidence": 0.7}}`, `[0.7]`, `{"Confidenc": 1}`, strings.Repeat("{", 1000) + `{"confidence": 1}`} {
		if s, rest, from := Read(text); from != FromDefaults || rest != text {
			t.Errorf("%.40q: %s %q %s", text, shown(s), rest, from)
		}
	}
}

// TestReadDocument checks that a requested document is neither read as signals nor
// changed, regardless of the names of its properties.
func TestReadDocument(t *testing.T) {
	for _, text := range []string{
		`{"confidence": 0.2}`, `{"confidence": 0.2, "difficulty": "hard"}`, "{\n \"confidence\": 0.2\n}\n", "```json\n{\"confidence\": 0.2}\n```",
		"Here it is:\n{\"confidence\": 0.2}", `[{"confidence": 0.2}]`, "[\n{\"confidence\": 0.2}\n]", "I am not sure", `"I am not sure"`, "1\n2",
		"[1,\n{\"confidence\": 0.2}",
	} {
		if s, rest, from := ReadDocument(text); from != FromDefaults || rest != text {
			t.Errorf("%q: %s %q %s", text, shown(s), rest, from)
		}
	}
	const document = `{"confidence": 0.2, "difficulty": "hard"}`
	for _, text := range []string{
		document + "\n" + `{"confidence":0.9,"difficulty":"easy"}`, document + "\n\n" + block(`{"confidence":0.9,"difficulty":"easy"}`),
		document + "\n```json\n" + `{"confidence":0.9,"difficulty":"easy"}` + "\n```",
	} {
		s, rest, from := ReadDocument(text)
		if rest != document || s.Confidence == nil || *s.Confidence != 0.9 || from == FromDefaults {
			t.Errorf("%q: %s %q %s", text, shown(s), rest, from)
		}
	}
}

func TestReadPhrases(t *testing.T) {
	for text, want := range map[string]Signals{
		"I think it is Paris.":                          {Confidence: number(0.6)},
		"I\u2019m  not\nsure, it may be Paris.":         {Confidence: number(0.3), Escalation: Verify},
		"I am certain. But I don't know why.":           {Confidence: number(0.1), Escalation: StrongerModel},
		"It is definitely Paris.":                       {Confidence: number(0.9)},
		"It is so. You should consult a doctor.":        {Confidence: number(0.4), Escalation: Human},
		"Please verify this; I am confident otherwise.": {Confidence: number(0.5), Escalation: Verify},
	} {
		s, rest, from := Read(text)
		if from != FromKeywords || rest != text || !reflect.DeepEqual(s, want) {
			t.Errorf("%q: %s %q %s, want %s", text, shown(s), rest, from, shown(want))
		}
	}
	for _, text := range []string{
		"Certainly! Here it is.", "It is not definitely Paris.", "```\nI am not sure\n```", "uncertainly", "improbably", "I thinker",
		"~~~\nI don't know",
	} {
		if s, _, from := Read(text); from != FromDefaults {
			t.Errorf("%q: %s %s", text, shown(s), from)
		}
	}
	for _, p := range Phrases {
		s, _, from := Read("The thing is this: " + p.Text + ".")
		if from != FromKeywords || *s.Confidence > p.Confidence {
			t.Errorf("%q: %s %s", p.Text, shown(s), from)
		}
	}
}

// TestReadStatements checks what is said in more ways than can be listed: calls for a human, confidences in numbers, difficulties.
func TestReadStatements(t *testing.T) {
	human := Signals{Confidence: number(0.3), Escalation: Human}
	sure := func(c float64) Signals { return Signals{Confidence: number(c)} }
	hard := func(d Difficulty) Signals { return Signals{Difficulty: d} }
	for text, want := range map[string]Signals{
		"Please escalate this to a human.":                                     human,
		"I would escalate it to a human agent.":                                human,
		"This should be escalated to your supervisor.":                         human,
		"Escalating this case to the support team.":                            human,
		"The claim needs human review.":                                        human,
		"This requires a manual check.":                                        human,
		"I recommend expert review before it is sent.":                         human,
		"Human review is strongly recommended.":                                human,
		"A human should decide this.":                                          human,
		"A medical professional must confirm it.":                              human,
		"Please talk to a lawyer first.":                                       human,
		"Hand this over to a colleague.":                                       human,
		"It is Paris. Confidence: 0.4":                                         sure(0.4),
		"It is Paris.\n**Confidence:** 40%":                                    sure(0.4),
		"It is Paris.\n- Confidence level: low":                                sure(0.3),
		"It is Paris (confidence = .75).":                                      sure(0.75),
		"Confidence: 4/10":                                                     sure(0.4),
		"Overall confidence: 85":                                               sure(0.85),
		"My confidence in this answer is about 60 percent.":                    sure(0.6),
		"My confidence is very high.":                                          sure(0.95),
		"With a confidence of 0.9, it is Paris.":                               sure(0.9),
		"I am 90% sure that it is Paris.":                                      sure(0.9),
		"I'm about 70 percent certain.":                                        sure(0.7),
		"It is Paris (80% confident).":                                         sure(0.8),
		"I think it is Paris. I am 95% confident.":                             sure(0.95),
		"With 60% certainty, it is Paris.":                                     sure(0.6),
		"I am 90% sure. Please verify it. Confidence: 0.7":                     {Confidence: number(0.7), Escalation: Verify},
		"This is a hard question.":                                             hard(Hard),
		"That's an easy one.":                                                  hard(Easy),
		"This problem is extremely difficult.":                                 hard(Expert),
		"It is a moderately complex task.":                                     hard(Moderate),
		"This is not an easy question.":                                        hard(Hard),
		"Difficulty: trivial":                                                  hard(Trivial),
		"Paris.\nConfidence: 0.9\nDifficulty: easy\nEscalation: none":          {Confidence: number(0.9), Difficulty: Easy, Escalation: NoEscalation},
		"Paris.\nConfidence: 0.2\nEscalation: stronger model":                  {Confidence: number(0.2), Escalation: StrongerModel},
		"This is a tricky question, and I am 40% sure. It needs human review.": {Confidence: number(0.4), Difficulty: Hard, Escalation: Human},
	} {
		s, rest, from := Read(text)
		if from != FromKeywords || rest != text || !reflect.DeepEqual(s, want) {
			t.Errorf("%q: %s %q %s, want %s", text, shown(s), rest, from, shown(want))
		}
	}
	for _, text := range []string{
		"It does not need human review.", "There is no need to escalate this to a human.", "No human review is needed.", "You don't have to consult a colleague.",
		"Consumer confidence: 85", "Consumer confidence is high.", "The 95% confidence interval is wide.", "With 95% confidence limits it is so.", "The mean, at the 95% confidence level.",
		"Confidence: 4", "Confidence: 250%", "Confidence: ?", "He is 90% sure.", "You are 90% sure.", "90% of the samples", "`Confidence` is a word.", "```\nConfidence: 0.4\n```",
		"A hard disk", "The exam has an easy part.", "The human body", "humans need oversight of nothing",
	} {
		if s, _, from := Read(text); from != FromDefaults {
			t.Errorf("%q: %s %s", text, shown(s), from)
		}
		if _, _, from := ReadDocument(text); from != FromDefaults {
			t.Errorf("%q as a document: %s", text, from)
		}
	}
}

// TestReadAnything checks that reading never fails and never adds text.
func TestReadAnything(t *testing.T) {
	words := []string{"```", "cortex-signals", "\n", "{", "}", `"confidence"`, ":", "0.5", ",", " ", "x", "~~~", "\r\n", `"tools"`, "\\", `"`, "not sure", "[", "]", "```cortex-signals\n", "\xff"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(24) {
			b.WriteString(words[r.IntN(len(words))])
		}
		text := b.String()
		for name, read := range map[string]func(string) (Signals, string, Source){"text": Read, "document": ReadDocument} {
			s, rest, from := read(text)
			if from == "" || s.Confidence != nil && !(*s.Confidence >= 0 && *s.Confidence <= 1) || len(rest) > len(text) || !subsequence(rest, text) {
				t.Fatalf("%s %q: %s %q %s", name, text, shown(s), rest, from)
			}
			if !strings.Contains(text, Info) && !strings.Contains(text, `"confidence"`) && rest != text {
				t.Fatalf("%s %q lost something: %q", name, text, rest)
			}
		}
	}
}

func subsequence(part, of string) bool {
	for i := 0; i < len(part); i++ {
		at := strings.IndexByte(of, part[i])
		if at < 0 {
			return false
		}
		of = of[at+1:]
	}
	return true
}

func TestInstruction(t *testing.T) {
	for _, mode := range []Mode{Full, Compact} {
		for _, tools := range [][]string{nil, {"find", "look_up"}} {
			text := Instruction(mode, Fenced, tools)
			s, _, from := Read("The answer.\n" + text[strings.Index(text, "\n"):])
			if from != FromBlock || s.Confidence == nil || len(s.Tools) != len(tools) || s.Difficulty != Moderate || s.Reason == "" {
				t.Errorf("%s: the example can't be read: %s %s in\n%s", mode, shown(s), from, text)
			}
			for _, word := range append([]string{Info, string(Human), string(Expert)}, tools...) {
				if !strings.Contains(text, word) {
					t.Errorf("%s: %s is not in\n%s", mode, word, text)
				}
			}
			if text := Instruction(mode, Beside, tools); strings.Contains(text, "reason") || strings.HasSuffix(text, "\n") {
				t.Errorf("%s: a reason where its schema has none: %s", mode, text)
			}
			if text := Instruction(mode, LastLine, tools); strings.Contains(text, Info) || strings.Contains(text, fence) {
				t.Errorf("%s: a fence where there is none: %s", mode, text)
			}
		}
	}
	if full, compact := len(Instruction(Full, Fenced, nil)), len(Instruction(Compact, Fenced, nil)); compact*3 > full*2 {
		t.Errorf("the compact instruction has %d bytes, the full one %d", compact, full)
	}
}

func TestDocument(t *testing.T) {
	s, ok := Document(`{"confidence":0.25,"difficulty":"hard","escalation":"verify","tools":{"a":0.5},"reason":"x"}`)
	if !ok || shown(s) != `{"confidence":0.25,"difficulty":"hard","escalation":"verify","reason":"x","tools":{"a":0.5}}` {
		t.Errorf("%s %v", shown(s), ok)
	}
	if s, ok := Document(`{"reason":"` + strings.Repeat("ä", 1000) + `"}`); !ok || s.Reason != strings.Repeat("ä", longestReason)+"…" {
		t.Errorf("a long reason: %q %v", s.Reason, ok)
	}
	if _, ok := Document(`{"confidence":`); ok {
		t.Error("half a document was read")
	}
}

func TestSchema(t *testing.T) {
	for _, tools := range [][]string{nil, {"b", "a/c"}} {
		var s struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		text := string(Schema(tools))
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		for _, name := range memberNames {
			if _, ok := s.Properties[name]; ok == (name == "tools" && tools == nil) {
				t.Errorf("%v: property %s: %v", tools, name, ok)
			}
		}
		last := -1
		for _, name := range []string{"confidence", "difficulty", "escalation", "reason"} {
			at := strings.Index(text, fmt.Sprintf("%q:", name))
			if at < last {
				t.Errorf("%s comes too early in %s", name, text)
			}
			last = at
		}
	}
}

// FuzzRead checks that reading never fails and never adds text.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "a", block(`{"confidence":1}`), "a\n{\"confidence\": 0.2}", "```cortex-signals\n{", "I am not sure", "{{{{", "~~~~ cortex-signals\n}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) (Signals, string, Source){Read, ReadDocument} {
			s, rest, from := read(text)
			if from == "" || s.Confidence != nil && !(*s.Confidence >= 0 && *s.Confidence <= 1) || !subsequence(rest, text) {
				t.Errorf("%s %q %s", shown(s), rest, from)
			}
			if again, _, _ := read(rest); from == FromDefaults && shown(again) != shown(s) && rest == text {
				t.Errorf("read again: %s", shown(again))
			}
		}
	})
}
