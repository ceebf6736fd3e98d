package chat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/vocab"
)

// Prompts turns texts and conversations into the tokens of a prompt, as one
// model wants them. It is immutable and safe for concurrent use.
type Prompts struct {
	vocab    *vocab.Vocab
	template *Template
	broken   error // why there is no template
	bos      string
	controls vocab.Controls
	own      []string // control tokens that thoughts and calls are written between
	context  int      // tokens that a prompt may have; 0: any number
}

// NewPrompts returns the prompts of a model. A chat template that can't be read
// is an error only once a conversation is to be written with it. The tokenizer of
// a large vocabulary takes a tenth of a second to be made, which is done here, so
// that no request waits for it.
func NewPrompts(v *vocab.Vocab) *Prompts { return NewPromptsAs(v, "", "") }

// NewPromptsAs returns the prompts of a model with another template in place of its own, if that is not "", and whose
// calls of tools are in one of the formats of [CallForms], whatever its template says; "" is NewPrompts.
func NewPromptsAs(v *vocab.Vocab, template, callForm string) *Prompts {
	p := &Prompts{vocab: v, controls: vocab.ControlsOf(v)}
	v.Encode("a")
	opt := Options{CallForm: callForm}
	if id, ok := v.BOS(); ok {
		p.bos = v.Text(id)
		opt.BOS = p.bos
	}
	if id, ok := v.EOS(); ok {
		opt.EOS = v.Text(id)
	}
	p.template, p.broken = New(cmp.Or(template, v.ChatTemplate()), opt)
	p.own = p.ownMarks()
	return p
}

// Within has texts of more than 1 MiB refused unread that surely have more tokens than a
// context holds: even if all of them were the vocabulary's longest. It is called before the first
// prompt is written.
func (p *Prompts) Within(context int) { p.context = context }

// A LengthError says that a prompt has more tokens than the context holds, though not
// how many.
type LengthError struct {
	Least   int // tokens that it has, at least
	Context int // tokens that the context holds
}

// Error implements error.
func (e *LengthError) Error() string {
	return fmt.Sprintf("chat: the prompt has more than %d tokens, the context holds %d", e.Least, e.Context)
}

// soonTokenized is the length of texts, in bytes, that are tokenized whatever the context
// is, in less than a second: who is told by how much a prompt is too long can shorten it.
const soonTokenized = 1 << 20

// fits returns a *LengthError if a text is far too long.
func (p *Prompts) fits(text string) error {
	if longest := p.vocab.Trie().Depth; p.context > 0 && longest > 0 && len(text) > soonTokenized && len(text)/longest > p.context {
		return &LengthError{len(text) / longest, p.context}
	}
	return nil
}

// A PromptError says why a conversation can't be written down.
type PromptError struct {
	Refused bool // by the template, with a reason of its own: Message
	Message string
}

// Error implements error.
func (e *PromptError) Error() string { return "chat: " + e.Message }

// Text returns the tokens of a text that the model is to go on with. The error is a
// *LengthError.
func (p *Prompts) Text(text string) ([]int32, error) {
	if err := p.fits(text); err != nil {
		return nil, err
	}
	return p.vocab.Encode(text), nil
}

// Chat returns the tokens of a conversation up to the beginning of the
// assistant's answer. The error is a *PromptError or a *LengthError.
func (p *Prompts) Chat(in Input) ([]int32, error) {
	in.AddGenerationPrompt = true
	return p.write(in)
}

// Written returns a conversation as the template writes it. In its tokens, spellings of control tokens within messages
// are text; here they can't be told apart. The error is a *PromptError.
func (p *Prompts) Written(in Input) (string, error) {
	text, guard, err := p.written(in)
	return strings.ReplaceAll(text, string(guard), ""), err
}

func (p *Prompts) written(in Input) (text string, guard rune, err error) {
	if p.broken != nil {
		return "", 0, &PromptError{Message: p.broken.Error()}
	}
	text, guard, err = p.render(in)
	if err != nil {
		if reason, ok := Refusal(err); ok {
			return "", 0, &PromptError{Refused: true, Message: reason}
		}
		return "", 0, &PromptError{Message: err.Error()}
	}
	return text, guard, nil
}

// Template returns the source of the model's chat template, "" if it has none that can be read.
func (p *Prompts) Template() string {
	if !p.HasTemplate() {
		return ""
	}
	return p.template.Source()
}

// write returns the tokens of a conversation. The error is a *PromptError.
func (p *Prompts) write(in Input) ([]int32, error) {
	text, guard, err := p.written(in)
	if err == nil {
		err = p.fits(text)
	}
	if err != nil {
		return nil, err
	}
	var out []int32
	if id, ok := p.vocab.BOS(); ok && p.vocab.AddBOS() && !strings.HasPrefix(text, p.bos) {
		out = append(out, id)
	}
	return p.controls.Tokenize(out, text, guard), nil
}

// HasTemplate reports whether the model brought a chat template that can be
// read. Without one, conversations are written as ChatML.
func (p *Prompts) HasTemplate() bool { return p.broken == nil && !p.template.Fallback() }

// CallForm returns how the model writes tool calls; known is false if its template
// doesn't say. What ends a generation is not in it.
func (p *Prompts) CallForm() (form CallForm, known bool) {
	form, known = p.form().CallForm()
	if p.beginsAtEnd(form) {
		return hermes, false
	}
	end := func(text string) (string, bool) {
		if at := p.endIn(text); at >= 0 {
			return text[:at], true
		}
		return text, false
	}
	var ends bool
	if form.After, ends = end(form.After); ends {
		form.Next, form.Close = "", ""
	}
	if _, ends = end(form.Next); ends {
		form.Next = ""
	}
	form.Close, _ = end(form.Close)
	return form, known
}

// beginsAtEnd reports whether calls begin with a token that ends answers.
func (p *Prompts) beginsAtEnd(f CallForm) bool {
	return slices.ContainsFunc(f.Triggers, func(t Trigger) bool { return p.endIn(t.Mark+t.Then) >= 0 }) || p.endIn(f.Middle) >= 0
}

// CallFormMissing says why the format of the model's calls is not known; nil if it is.
func (p *Prompts) CallFormMissing() error {
	if p.broken != nil {
		return p.broken
	}
	if err := p.template.CallFormMissing(); err != nil {
		return err
	}
	if form, _ := p.template.CallForm(); p.beginsAtEnd(form) {
		return errors.New("calls begin with a token that ends answers")
	}
	return nil
}

// endIn returns where a token that ends generations is spelt in a text, -1 if none is.
func (p *Prompts) endIn(text string) int {
	at := -1
	for _, id := range p.vocab.EOG() {
		if name := p.vocab.Text(id); len(name) > 2 {
			if i := strings.Index(text, name); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
	}
	return at
}

// ThoughtForm returns how the model writes its thoughts; known is false if its
// template doesn't say.
func (p *Prompts) ThoughtForm() (form ThoughtForm, known bool) { return p.form().ThoughtForm() }

// Mentions reports whether a variable occurs in the model's template.
func (p *Prompts) Mentions(variable string) bool { return p.form().Mentions(variable) }

// form returns the template, the usual one in place of one that can't be read.
func (p *Prompts) form() *Template {
	if p.broken != nil {
		return usual
	}
	return p.template
}

// usual is the template for models without one.
var usual = func() *Template {
	t, err := New("", Options{})
	if err != nil {
		panic(err) // a mistake in the text of ChatML
	}
	return t
}()

// Caps returns what the chat template can write down; nothing, if it can't be
// read.
func (p *Prompts) Caps() Caps {
	if p.broken != nil {
		return Caps{}
	}
	return p.template.Caps()
}
