package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/models/lessons"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// learnOnce returns the vocabulary file that all tests share.
var learnOnce = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "stencil-train-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "vocab.gguf")
	if err := learn(path, 6220); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// learned writes the vocabulary to a file and loads it.
func learned(t *testing.T) (string, *vocab.Vocab) {
	t.Helper()
	raw, err := learnOnce()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "vocab.gguf")
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, v
}

func TestVocabulary(t *testing.T) {
	_, v := learned(t)
	if v.Len() < 4000 || v.Len() > 8000 {
		t.Errorf("%d tokens", v.Len())
	}
	var twice [2][]byte
	for i := range twice {
		small := filepath.Join(t.TempDir(), "small.gguf")
		if err := learn(small, 2600); err != nil {
			t.Fatal(err)
		}
		twice[i], _ = os.ReadFile(small)
	}
	if len(twice[0]) == 0 || !bytes.Equal(twice[0], twice[1]) {
		t.Error("learning twice gives two vocabularies")
	}
	end, ok := v.EOS()
	if !ok || v.Text(end) != "<|end|>" || !v.IsEOG(end) {
		t.Errorf("EOS is %d %q", end, v.Text(end))
	}
	for _, c := range controls {
		if ids := v.Tokenize(nil, c, true); len(ids) != 1 || v.Kind(ids[0]) != vocab.Control {
			t.Errorf("%s became %v", c, ids)
		}
	}
	// JSON's punctuation consists of single tokens, and so do digits and groups
	// of two and three digits.
	for text, want := range map[string]string{
		`{"name":"Ann","age":42}`: `{"|name|":"|Ann|","|age|":|42|}`,
		`[{"a":1},{"b":true}]`:    `[{"|a|":|1|},{"|b|":|true|}]`,
		"+47 555 7":               `+|47|Ġ|555|Ġ|7`,
		"04:05 on 2025-01-09":     `04|:|05|Ġon|Ġ|20|25|-|01|-|09`,
	} {
		var got []string
		for _, id := range v.Tokenize(nil, text, false) {
			got = append(got, v.Text(id))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
	for n := range 1100 {
		text := fmt.Sprintf("%02d", n)
		if n >= 100 {
			text = fmt.Sprintf("%03d", n-100)
		}
		if ids := v.Tokenize(nil, text, false); len(ids) != 1 {
			t.Errorf("%s is %d tokens", text, len(ids))
		}
	}
	// A value has the same tokens within a sentence and after a quote.
	for _, word := range []string{"Katarzyna", "violin maker", "desk lamp", "maria.lopez@example.com", "Cape Town", "A-1042"} {
		inText := v.Tokenize(nil, "It is "+word, false)
		quoted := v.Tokenize(nil, `{"x":"`+word, false)
		n := len(v.Tokenize(nil, word, false))
		if string(v.Decode(inText[len(inText)-n:])) != string(v.Decode(quoted[len(quoted)-n:])) {
			t.Errorf("%s: other tokens in a text than in JSON", word)
		}
	}
}

// TestAnswersFit checks every answer against its schema with an independent
// validator, and that the engine enforces the schema.
func TestAnswersFit(t *testing.T) {
	for _, unseen := range []lessons.Unseen{{}, {Words: true, Phrases: true, Keys: true}} {
		g := lessons.New(11, unseen)
		for _, task := range lessons.Tasks() {
			for range 25 {
				l, _ := g.Of(task)
				s, err := schema.Compile([]byte(l.Schema), schema.Options{})
				if err != nil {
					t.Fatalf("%s: %s: %v", task, l.Schema, err)
				}
				validator, unchecked := constraint.NewValidator(t.Context(), []byte(l.Schema), s.Report().Draft)
				if unchecked != nil {
					t.Fatal(unchecked)
				}
				if err := validator.Validate(t.Context(), []byte(l.Answer)); err != nil {
					t.Errorf("%s: %s does not fit %s: %v", task, l.Answer, l.Schema, err)
				}
			}
		}
	}
}

func TestTokens(t *testing.T) {
	path, v := learned(t)
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := tokens(w, path, tokenOptions{seed: 5, n: 300}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same seed gives different tokens")
	}
	g := lessons.New(5, lessons.Unseen{})
	raw := a.Bytes()
	for i := range 300 {
		l := g.Next()
		n := int(binary.LittleEndian.Uint16(raw))
		var asked, answer []int32
		unlearnt := 0
		for j := range n {
			x := binary.LittleEndian.Uint16(raw[2+2*j:])
			if x&learnt != 0 {
				answer = append(answer, int32(x&token))
			} else if len(answer) > 0 {
				unlearnt++
				answer = append(answer, int32(x))
			} else {
				asked = append(asked, int32(x))
			}
		}
		raw = raw[2+2*n:]
		if end, _ := v.EOS(); len(answer) == 0 || answer[len(answer)-1] != end {
			t.Fatalf("lesson %d does not end", i)
		}
		if got := string(v.Decode(answer)); got != l.Answer {
			t.Errorf("lesson %d: answer %s, want %s", i, got, l.Answer)
		}
		if (unlearnt > 0) != (l.Chat == nil) {
			t.Errorf("lesson %d: %d tokens of the answer are not learnt, prompt alone: %v", i, unlearnt, l.Chat == nil)
		}
		if l.Chat == nil && string(v.Decode(asked)) != l.Prompt {
			t.Errorf("lesson %d: prompt %q, want %q", i, v.Decode(asked), l.Prompt)
		}
	}
	if len(raw) != 0 {
		t.Errorf("%d bytes too many", len(raw))
	}
}

// TestMore checks that additional answers follow the first one.
func TestMore(t *testing.T) {
	path, v := learned(t)
	var b bytes.Buffer
	if err := tokens(&b, path, tokenOptions{seed: 5, only: "people", n: 100, more: true}); err != nil {
		t.Fatal(err)
	}
	end, _ := v.EOS()
	g := lessons.New(5, lessons.Unseen{})
	g.Only("people")
	raw, found := b.Bytes(), 0
	for range 100 {
		l := g.Next()
		n := int(binary.LittleEndian.Uint16(raw))
		answers := [][]int32{nil}
		for j := range n {
			switch id := binary.LittleEndian.Uint16(raw[2+2*j:]); {
			case id == another:
				answers = append(answers, nil)
			default:
				answers[len(answers)-1] = append(answers[len(answers)-1], int32(id&token))
			}
		}
		raw = raw[2+2*n:]
		if len(answers) != 1+len(l.More) {
			t.Fatalf("%d answers, want %d", len(answers), 1+len(l.More))
		}
		for i, m := range l.More {
			ids := answers[i+1]
			if got := string(v.Decode(ids[:len(ids)-1])); got != m.Answer || ids[len(ids)-1] != end {
				t.Errorf("answer %s, want %s", got, m.Answer)
			}
			found++
		}
	}
	if found < 100 {
		t.Errorf("%d further answers to 100 texts", found)
	}
}

// TestTogether checks that lessons with the same schema are appended as if
// each were the only one.
func TestTogether(t *testing.T) {
	_, v := learned(t)
	p := chat.NewPrompts(v)
	g := lessons.New(4, lessons.Unseen{})
	for range 50 {
		l, _ := g.Of("classes")
		ids, asked, err := encode(v, p, l)
		if err != nil {
			t.Fatal(err)
		}
		var parts [][]uint16
		for _, id := range ids[asked:] {
			if id == another {
				parts = append(parts, slices.Clone(ids[:asked]))
				continue
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], id)
		}
		if len(parts) != 1+len(l.Others) {
			t.Fatalf("%d parts, want %d", len(parts), 1+len(l.Others))
		}
		for i, o := range append([]lessons.Lesson{{Chat: l.Chat, Schema: l.Schema, Answer: l.Answer, Keys: l.Keys}}, l.Others...) {
			want, _, err := encode(v, p, o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(parts[i], want) {
				t.Errorf("part %d of %s is not %s", i, l.Schema, o.Answer)
			}
		}
	}
}

// TestLoosen checks that the start of a string is also written as two tokens,
// and that nothing else changes.
func TestLoosen(t *testing.T) {
	_, v := learned(t)
	p := chat.NewPrompts(v)
	g := lessons.New(4, lessons.Unseen{})
	rng := rand.New(rand.NewPCG(1, 2))
	longer := 0
	for range 100 {
		l, _ := g.Of("contacts")
		ids, asked, err := encode(v, p, l)
		if err != nil {
			t.Fatal(err)
		}
		text := func(ids []uint16) string {
			var b []byte
			for _, id := range ids {
				if id != another {
					b = append(b, v.Bytes(int32(id&token))...)
				}
			}
			return string(b)
		}
		loose := loosen(v, rng, ids)
		if text(loose) != text(ids) || !slices.Equal(loose[:asked], ids[:asked]) {
			t.Fatalf("%s became %s", text(ids), text(loose))
		}
		longer += len(loose) - len(ids)
	}
	if longer < 50 {
		t.Errorf("%d tokens were split in 100 lessons", longer)
	}
}

// TestMarks checks the marks of an answer's tokens.
func TestMarks(t *testing.T) {
	_, v := learned(t)
	p := chat.NewPrompts(v)
	answer := `{"full_name":"Ann","age":null,"kids":2}`
	var keys [][2]int
	for _, k := range []string{`"full_name":`, `"age":`, `"kids":`} {
		at := strings.Index(answer, k)
		keys = append(keys, [2]int{at, at + len(k)})
	}
	for name, c := range map[string]struct {
		lesson lessons.Lesson
		want   string
	}{
		"with a schema":    {lessons.Lesson{Chat: []lessons.Message{{Role: "user", Content: "Ann"}}}, `{"=learnt full=key _=key name=key ":"=opening Ann=first ","=learnt age=key ":=opening null=first ,"=learnt kids=key ":=opening 2=first }=learnt <|end|>=learnt`},
		"without a schema": {lessons.Lesson{Prompt: "Ann"}, `{"=learnt full _ name ":"=opening Ann=first ","=learnt age ":=opening null=first ,"=learnt kids ":=opening 2=first }=learnt <|end|>=learnt`},
	} {
		c.lesson.Schema, c.lesson.Answer, c.lesson.Keys = `{}`, answer, keys
		ids, _, err := encode(v, p, c.lesson)
		if err != nil {
			t.Fatal(err)
		}
		prompt, err := promptOf(p, c.lesson)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, id := range ids[len(prompt):] {
			text := v.Text(int32(id & token))
			switch {
			case id&opening == opening:
				text += "=opening"
			case id&first != 0:
				text += "=first"
			case id&key != 0:
				text += "=key"
			case id&learnt != 0:
				text += "=learnt"
			}
			got = append(got, text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, s, c.want)
		}
	}
}

// TestTemplate checks the chat template's output for the server's
// instructions.
func TestTemplate(t *testing.T) {
	_, v := learned(t)
	p := chat.NewPrompts(v)
	if !p.HasTemplate() {
		t.Fatal("the template can't be read")
	}
	s := constraint.CompiledSchema{Source: []byte(`{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": ["integer", "null"]},
		"tags": {"type": "array", "items": {"type": "string"}}}, "required": ["name", "age"], "additionalProperties": false}`)}
	ids, err := p.Chat(t.Context(), chat.Input{Messages: []chat.Message{
		{Role: "system", Content: s.Instruction()}, {Role: "user", Content: "Ann is 3."}, {Role: "assistant", Content: "{}"}, {Role: "user", Content: `{"type":"string"}`}}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(v.Text(id))
	}
	want := `<|system|><|schema|><|object|>{"name":<|string|>,"age":<|integer|><|null|>,"tags":{"type":"array","items":<|string|>}}}` +
		`<|user|>AnnĠisĠ3.<|assistant|>{}<|end|><|user|>{"type":"string"}<|assistant|>`
	if b.String() != want {
		t.Errorf("prompt\n%s, want\n%s", b.String(), want)
	}
}

func TestExams(t *testing.T) {
	var b bytes.Buffer
	if err := exams(&b, "seen", 1, lessons.Unseen{Words: true}, 3); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if want := 3 * len(lessons.Tasks()); len(lines) != want {
		t.Errorf("%d cases, want %d", len(lines), want)
	}
	for _, line := range lines {
		var c examCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if ids[c.ID] || !strings.HasSuffix(c.Task, "/seen") || len(c.Schema) == 0 || len(c.Expected) == 0 || (c.Prompt == "") == (c.Messages == nil) {
			t.Errorf("case %s", line)
		}
		ids[c.ID] = true
	}
}
