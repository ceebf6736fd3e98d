package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// named returns the text of tokens, with tokens without text by name.
func named(v *vocab.Vocab, tokens []int32) string {
	var b strings.Builder
	for _, t := range tokens {
		if text := v.Bytes(t); len(text) > 0 {
			b.Write(text)
		} else {
			b.WriteString(v.Text(t))
		}
	}
	return b.String()
}

// sayAnyhow returns a model that writes reply, in which tokens without text stand by name, in random tokenization,
// and then ends.
func sayAnyhow(v *vocab.Vocab, reply string, seed uint64) scripted.Func {
	random := scripted.Random(seed)
	var controls []int // where tokens without text begin in the reply
	for id := range int32(v.Len()) {
		if name := v.Text(id); v.Kind(id) == vocab.Control && name != "" {
			for from := 0; strings.Contains(reply[from:], name); {
				from += strings.Index(reply[from:], name)
				controls = append(controls, from)
				from += len(name)
			}
		}
	}
	// into reports whether a token overlaps one of them, which then can't be written any more.
	into := func(n int, name string) bool {
		return slices.ContainsFunc(controls, func(at int) bool { return n < at && at < n+len(name) })
	}
	return func(history []int32, logits []float32) {
		text := named(v, history)
		n := len(reply)
		for n > 0 && !strings.HasSuffix(text, reply[:n]) {
			n--
		}
		if n == len(reply) {
			logits[v.EOG()[0]] = scripted.Strong
			return
		}
		random(history, logits)
		for id := range int32(len(logits)) {
			name := named(v, []int32{id})
			switch {
			case name == "" || !strings.HasPrefix(reply[n:], name) || v.IsEOG(id) || into(n, name):
			case len(v.Bytes(id)) == 0:
				logits[id] += 20 * scripted.Strong
			default:
				logits[id] += 10 * scripted.Strong
			}
		}
	}
}

// familyVocab returns a vocabulary of bytes, some words and the given control tokens, with a chat template.
func familyVocab(t testing.TB, template string, control ...string) *vocab.Vocab {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "chat", "testdata", template+".jinja"))
	if err != nil {
		t.Fatal(err)
	}
	return templated(t, strings.ReplaceAll(dated.ReplaceAllString(string(source), `"1 January"`), "date_string", "the_day"), control...)
}

// dated matches where templates ask for the current date, which would make tests depend on the day; date_string,
// which templates set unless it is defined, holds the date too.
var dated = regexp.MustCompile(`strftime_now\([^)]*\)`)

func templated(t testing.TB, template string, control ...string) *vocab.Vocab {
	t.Helper()
	tiny := loadVocab(t)
	var tokens []vocab.Token
	for id := range int32(tiny.Len()) {
		if tiny.Kind(id) == vocab.Normal {
			tokens = append(tokens, vocab.Token{Text: tiny.Text(id), Kind: vocab.Normal})
		}
	}
	// Published vocabularies have a token that ends both an object and its line.
	tokens = append(tokens, vocab.Token{Text: "}\u010a", Kind: vocab.Normal})
	for _, name := range append([]string{"<end>"}, control...) {
		tokens = append(tokens, vocab.Token{Text: name, Kind: vocab.Control})
	}
	eos := int32(slices.IndexFunc(tokens, func(t vocab.Token) bool { return t.Text == "<end>" }))
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "gpt-2", EOS: &eos, ChatTemplate: template})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// realVocab returns the vocabulary of a published model.
func realVocab(t testing.TB, file string) *vocab.Vocab {
	t.Helper()
	v, err := vocab.Load(shared.File(t, "vocab", file))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// serve runs a server with a scripted model of any vocabulary.
func serve(t testing.TB, v *vocab.Vocab, next scripted.Func) string {
	t.Helper()
	_, url := start(t, setup{vocab: v, next: next})
	return url
}

// forms lists families of models, what they write, and how it is to be read.
var forms = []struct {
	name     string
	vocab    func(t testing.TB) *vocab.Vocab
	reply    string // with {} for the arguments of a call
	content  string
	thought  string
	calls    int
	call     string // what a call looks like where one has to come
	parallel bool
}{
	{"hermes", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "qwen25") }, "Well. <tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>", "Well. ", "", 2,
		"<tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>", true},
	{"hermes", func(t testing.TB) *vocab.Vocab {
		return familyVocab(t, "qwen3", "<tool_call>", "</tool_call>", "<think>", "</think>")
	},
		"<think>\nhm, so?</think>\n\nWell.<tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>", "Well.", "hm, so?", 1,
		"<tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>", true},
	{"llama3", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "llama3", "<|python_tag|>") }, `{"name": "weather", "parameters": {}}`, "", "", 1, `{"name": "weather", "parameters": {}}`, false},
	{"llama3", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "llama3", "<|python_tag|>") }, `say <|python_tag|>{"name": "weather", "parameters": {}}`, "say ", "", 1, `{"name": "weather", "parameters": {}}`, false},
	{"llama3", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "llama3", "<|python_tag|>") }, `so {"name": "weather"} it is`, `so {"name": "weather"} it is`, "", 0, `{"name": "weather", "parameters": {}}`, false},
	{"mistral", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "mistral", "[TOOL_CALLS]") }, `[TOOL_CALLS] [{"name": "weather", "arguments": {}, "id": "abcdefghi"}, {"name": "weather", "arguments": {}, "id": "jklmnopqr"}]`, "", "", 2,
		`[TOOL_CALLS] [{"name": "weather", "arguments": {}, "id": "abcdefghi"}]`, true},
	{"mistral", func(t testing.TB) *vocab.Vocab { return realVocab(t, "mistral3.gguf") }, `Yes [TOOL_CALLS] [{"name": "weather", "arguments": {}, "id": "abcdefghi"}]`, "Yes ", "", 1, `[TOOL_CALLS] [{"name": "weather", "arguments": {}, "id": "abcdefghi"}]`, true},
	{"mistral-args", func(t testing.TB) *vocab.Vocab {
		return templated(t, newMistral, "[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]")
	}, `[THINK]first[/THINK]Then.[TOOL_CALLS]weather[ARGS]{}[TOOL_CALLS]weather[ARGS]{}`, "Then.", "first", 2, `[TOOL_CALLS]weather[ARGS]{}`, true},
	{"phi4", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "phi4", "<|tool_call|>", "<|/tool_call|>") }, `<|tool_call|>[{"name": "weather", "arguments": {}}]<|/tool_call|>`, "", "", 1,
		`<|tool_call|>[{"name": "weather", "arguments": {}}]<|/tool_call|>`, true},
	{"deepseek-v3", func(t testing.TB) *vocab.Vocab {
		return templated(t, deepseek("function<｜tool▁sep｜>", "\\n```json\\n", "\\n```", "\\n"), "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>")
	}, "<think>\nok\n</think>\n\nNow <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"Now ", "ok\n", 2, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", true},
	{"deepseek-v3.1", func(t testing.TB) *vocab.Vocab {
		return templated(t, deepseek("", "<｜tool▁sep｜>", "", ""), "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>")
	}, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "", "", 1,
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", true},
	{"harmony", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "gptoss", harmonyTokens...) },
		"<|channel|>analysis<|message|>think hard<|end|><|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{}", "", "think hard", 1,
		"<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{}", true},
	{"harmony", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "gptoss", harmonyTokens...) },
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|><|start|>assistant to=functions.weather<|channel|>commentary json<|message|>{}", "I look.", "a", 1,
		" to=functions.weather<|channel|>commentary json<|message|>{}", true},
	{"harmony", func(t testing.TB) *vocab.Vocab { return familyVocab(t, "gptoss", harmonyTokens...) },
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Hello, <end of it>", "Hello, <end of it>", "a", 0,
		"<|channel|>commentary to=functions.weather<|message|>{}", true},
}

var harmonyTokens = []string{"<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"}

// deepseek returns a template that writes calls in the form of DeepSeek's models.
func deepseek(before, middle, after, between string) string {
	return strings.NewReplacer("BEFORE", before, "MIDDLE", middle, "AFTER", after, "BETWEEN", between).Replace(
		`{% for m in messages %}{% if m.reasoning_content %}{{ '<think>\n' + m.reasoning_content + '</think>\n\n' }}{% endif %}{{ m.content or '' }}` +
			`{% if m.tool_calls %}<｜tool▁calls▁begin｜>{% for c in m.tool_calls %}{% if not loop.first %}{{ 'BETWEEN' }}{% endif %}<｜tool▁call▁begin｜>BEFORE{{ c.function.name + 'MIDDLE' }}{{ c.function.arguments | tojson }}{{ 'AFTER' }}<｜tool▁call▁end｜>{% endfor %}<｜tool▁calls▁end｜>{% endif %}{% endfor %}`)
}

const newMistral = `{%- for m in messages -%}
{%- if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.tool_calls %}{% for c in m.tool_calls %}[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}{% endfor %}{% else %}[THINK]{{ m.content }}{% endif -%}
{%- endfor -%}`

func getJSON(t *testing.T, url string) (out map[string]any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForms checks that each family of models is constrained and read in the form that it was trained on, regardless
// of tokenization.
func TestForms(t *testing.T) {
	const arguments = `{"days": 3, "unit": "C"}`
	for i, test := range forms {
		t.Run(fmt.Sprintf("%d %s", i, test.name), func(t *testing.T) {
			v := test.vocab(t)
			for seed := range uint64(3) {
				url := serve(t, v, sayAnyhow(v, strings.ReplaceAll(test.reply, "{}", arguments), seed))
				body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 400, "repeat_calls": true, ` + weatherTools
				_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
				message := at(got, "choices", 0, "message")
				content, _ := at(message, "content").(string)
				thought, _ := at(message, "reasoning_content").(string)
				calls, _ := at(message, "tool_calls").([]any)
				if content != test.content || thought != test.thought || len(calls) != test.calls || at(got, "x_constraint", "validated") != true {
					t.Fatalf("seed %d: %v", seed, got)
				}
				for _, c := range callsOf(calls) {
					if c != [2]string{"weather", arguments} {
						t.Errorf("call %v", c)
					}
				}
				text, reasoning, args, streamed := "", "", "", 0
				for _, c := range chatChunks(t, url, body+`, "stream": true}`) {
					delta := at(c, "choices", 0, "delta")
					piece, _ := at(delta, "content").(string)
					text += piece
					piece, _ = at(delta, "reasoning_content").(string)
					reasoning += piece
					piece, _ = at(delta, "tool_calls", 0, "function", "arguments").(string)
					args += piece
					if at(delta, "tool_calls", 0, "id") != nil {
						streamed++
					}
				}
				if text != test.content || reasoning != test.thought || args != strings.Repeat(arguments, test.calls) || streamed != test.calls {
					t.Errorf("seed %d: stream %q %q %q %d", seed, text, reasoning, args, streamed)
				}
			}
			// A model that has to call does so, in its own form only.
			url := serve(t, v, sayAnyhow(v, strings.ReplaceAll(test.call, "{}", arguments), 5))
			_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 200, "reasoning_effort": "none", "tool_choice": "required", `+weatherTools+`}`)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			if list := callsOf(calls); len(list) != 1 || list[0] != [2]string{"weather", arguments} || at(got, "choices", 0, "message", "content") != nil {
				t.Errorf("required: %v", got)
			}
			// So does one that would rather not, and one that samples at random.
			for seed := range 5 {
				url := serve(t, v, scripted.Random(uint64(seed)))
				_, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "max_tokens": 300, "tool_choice": "required", "parallel_tool_calls": %t, `, seed%2 == 0)+weatherTools+`}`)
				calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
				if len(calls) == 0 || len(calls) > 1 && (!test.parallel || seed%2 == 1) || at(got, "x_constraint", "validated") != true {
					t.Fatalf("random %d: %v", seed, got)
				}
				for _, c := range callsOf(calls) {
					if !checkWeather(c[0], c[1]) {
						t.Errorf("random %d: call %v", seed, c)
					}
				}
			}
			models := getJSON(t, url+"/v1/models")
			if at(models, "data", 0, "tool_calls") != test.name {
				t.Errorf("models: %v", models)
			}
		})
	}
}

const plain = `{% for m in messages %}{{ m.content }}{% endfor %}`

// TestToolFormIsSet checks that the server's setting of the call form overrides templates.
func TestToolFormIsSet(t *testing.T) {
	const arguments = `{"days": 3, "unit": "C"}`
	v := familyVocab(t, "qwen25", "[TOOL_CALLS]")
	var history string
	reply := sayAnyhow(v, `[TOOL_CALLS] [{"name": "weather", "arguments": `+arguments+`, "id": "abcdefghi"}]`, 1)
	_, url := start(t, setup{vocab: v, cfg: Config{ToolForm: "mistral"}, next: func(tokens []int32, logits []float32) {
		history = named(v, tokens)
		reply(tokens, logits)
	}})
	_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"},
		{"role": "assistant", "tool_calls": [{"id": "zyxwvutsr", "type": "function", "function": {"name": "weather", "arguments": "{\"days\": 1}"}}]},
		{"role": "tool", "tool_call_id": "zyxwvutsr", "content": "sun"}], "temperature": 0, "max_tokens": 400, `+weatherTools+`}`)
	calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
	if list := callsOf(calls); len(list) != 1 || list[0] != [2]string{"weather", arguments} {
		t.Errorf("%v", got)
	}
	if want := `[TOOL_CALLS] [{"name": "weather", "arguments": {"days": 1}, "id": "zyxwvutsr"}]`; !strings.Contains(history, want) {
		t.Errorf("no %s in %s", want, history)
	}
}
