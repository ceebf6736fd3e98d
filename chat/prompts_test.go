package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/vocab"
)

// chatVocab returns a byte-level vocabulary with control tokens.
func chatVocab(t *testing.T, template string, addBOS bool) *vocab.Vocab {
	t.Helper()
	tokens := []vocab.Token{{Text: "<s>", Kind: vocab.Control}, {Text: "</s>", Kind: vocab.Control}, {Text: "<turn>", Kind: vocab.Control}}
	for c := 'a'; c <= 'z'; c++ {
		tokens = append(tokens, vocab.Token{Text: string(c)})
	}
	for _, c := range "ĊĠ:01<>[]" {
		tokens = append(tokens, vocab.Token{Text: string(c)})
	}
	bos, eos := int32(0), int32(1)
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "gpt-2", BOS: &bos, EOS: &eos, AddBOS: &addBOS, ChatTemplate: template})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const turns = `{% for m in messages %}<turn>{{ m.role }}: {{ m.content }}
{% endfor %}{% if add_generation_prompt %}<turn>assistant:{% endif %}`

func TestChatPrompt(t *testing.T) {
	in := chat.Input{Messages: []chat.Message{{Role: "user", Content: "hi"}}}
	spell := func(v *vocab.Vocab, tokens []int32) string {
		var b strings.Builder
		for _, id := range tokens {
			b.WriteString(v.Text(id))
		}
		return b.String()
	}
	for _, test := range []struct {
		template string
		addBOS   bool
		want     string
	}{
		{turns, false, "<turn>user:ĠhiĊ<turn>assistant:"},
		{turns, true, "<s><turn>user:ĠhiĊ<turn>assistant:"},
		{"{{ bos_token }}" + turns, true, "<s><turn>user:ĠhiĊ<turn>assistant:"}, // once, not twice
	} {
		v := chatVocab(t, test.template, test.addBOS)
		p := chat.NewPrompts(v)
		got, err := p.Chat(in)
		if err != nil || spell(v, got) != test.want {
			t.Errorf("add BOS %t: %q, %v; want %q", test.addBOS, spell(v, got), err, test.want)
		}
		if !p.HasTemplate() {
			t.Error("no template")
		}
		if text, err := p.Text("hi"); err != nil || !slices.Equal(text, v.Encode("hi")) {
			t.Errorf("text: %v", text)
		}
	}
	if chat.NewPrompts(chatVocab(t, "", false)).HasTemplate() {
		t.Error("ChatML passes for the model's own template")
	}
}

func TestChatPromptErrors(t *testing.T) {
	in := chat.Input{Messages: []chat.Message{{Role: "user", Content: "hi"}}}
	for template, want := range map[string]chat.PromptError{
		`{{ raise_exception('only poems') }}`: {Refused: true, Message: "only poems"},
		`{% for %}`:                           {},
	} {
		_, err := chat.NewPrompts(chatVocab(t, template, false)).Chat(in)
		var bad *chat.PromptError
		if !errors.As(err, &bad) || bad.Refused != want.Refused || want.Message != "" && bad.Message != want.Message {
			t.Errorf("%s: %v", template, err)
		}
	}
}
