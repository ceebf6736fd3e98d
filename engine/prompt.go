package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"stencil/chat"
	"stencil/vocab"
)

// Prompts turns texts and conversations into the tokens of a prompt, as one
// model wants them. It is immutable and safe for concurrent use.
type Prompts struct {
	vocab    *vocab.Vocab
	template *chat.Template
	broken   error // why there is no template
	bos      string
}

// NewPrompts returns the prompts of a model. A chat template that can't be read
// is an error only once a conversation is to be written with it. The tokenizer of
// a large vocabulary takes a tenth of a second to be made, which is done here, so
// that no request waits for it.
func NewPrompts(v *vocab.Vocab) *Prompts {
	p := &Prompts{vocab: v}
	v.Encode("a")
	opt := chat.Options{}
	if id, ok := v.BOS(); ok {
		p.bos = v.Text(id)
		opt.BOS = p.bos
	}
	if id, ok := v.EOS(); ok {
		opt.EOS = v.Text(id)
	}
	p.template, p.broken = chat.New(v.ChatTemplate(), opt)
	return p
}

// A PromptError says why a conversation can't be written down.
type PromptError struct {
	Refused bool // by the template, with a reason of its own: Message
	Message string
}

// Error implements error.
func (e *PromptError) Error() string { return "engine: " + e.Message }

// Text returns the tokens of a text that the model is to go on with.
func (p *Prompts) Text(text string) []int32 { return p.vocab.Encode(text) }

// Chat returns the tokens of a conversation up to the beginning of the
// assistant's answer. The error is a *PromptError.
func (p *Prompts) Chat(in chat.Input) ([]int32, error) {
	in.AddGenerationPrompt = true
	return p.write(in)
}

// write returns the tokens of a conversation. The error is a *PromptError.
func (p *Prompts) write(in chat.Input) ([]int32, error) {
	if p.broken != nil {
		return nil, &PromptError{Message: p.broken.Error()}
	}
	text, err := p.template.Render(in)
	if err != nil {
		if reason, ok := chat.Refusal(err); ok {
			return nil, &PromptError{Refused: true, Message: reason}
		}
		return nil, &PromptError{Message: err.Error()}
	}
	var out []int32
	if id, ok := p.vocab.BOS(); ok && p.vocab.AddBOS() && !strings.HasPrefix(text, p.bos) {
		out = append(out, id)
	}
	return p.vocab.Tokenize(out, text, true), nil
}

// HasTemplate reports whether the model brought a chat template that can be
// read. Without one, conversations are written as ChatML.
func (p *Prompts) HasTemplate() bool { return p.broken == nil && !p.template.Fallback() }

// CallForm returns how the model writes calls of tools; known is false if neither
// its template nor its vocabulary says so.
func (p *Prompts) CallForm() (form chat.CallForm, known bool) {
	if form, known = p.form().CallForm(); known {
		return form, true
	}
	return chat.CallFormOf(func(token string) bool {
		_, ok := p.vocab.Find(token)
		return ok
	})
}

// ThoughtForm returns how the model writes its thoughts; known is false if its
// template doesn't say.
func (p *Prompts) ThoughtForm() (form chat.ThoughtForm, known bool) { return p.form().ThoughtForm() }

// Mentions reports whether a variable occurs in the model's template.
func (p *Prompts) Mentions(variable string) bool { return p.form().Mentions(variable) }

// form returns the template, the usual one in place of one that can't be read.
func (p *Prompts) form() *chat.Template {
	if p.broken != nil {
		return usual
	}
	return p.template
}

// usual is the template for models without one.
var usual = func() *chat.Template {
	t, err := chat.New("", chat.Options{})
	if err != nil {
		panic(err) // a mistake in the text of chat.ChatML
	}
	return t
}()

// Caps returns what the chat template can write down; nothing, if it can't be
// read.
func (p *Prompts) Caps() chat.Caps {
	if p.broken != nil {
		return chat.Caps{}
	}
	return p.template.Caps()
}

// Instruction tells a model in words which JSON is wanted: masks see to the
// form, but only what the model reads can guide what it writes. The schema is
// its source without whitespace, names and descriptions included.
func (s *CompiledSchema) Instruction() string {
	var b bytes.Buffer
	if err := json.Compact(&b, s.Source); err != nil {
		b.Reset()
		b.Write(s.Source)
	}
	if schema := b.String(); schema != "{}" && schema != "true" {
		return fmt.Sprintf("Answer with JSON that fits this JSON Schema, and nothing else:\n%s", schema)
	}
	return "Answer with JSON and nothing else."
}
