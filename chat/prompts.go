package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/internal/recent"
	"github.com/stencil-json/stencil/vocab"
)

// Prompts converts texts and conversations to the prompt tokens of a model. It is immutable and
// safe for concurrent use.
type Prompts struct {
	vocab    *vocab.Vocab
	template *Template
	broken   error // why there is no template
	bos      string
	controls vocab.Controls
	own      []string // control tokens around reasoning and calls
	context  int      // most tokens of a prompt; 0: unlimited
	tools    *recent.Map[string, *keptTool]
}

// NewPrompts returns the prompts of a model. An invalid chat template is an error only when a
// conversation is rendered. Building the tokenizer of a large vocabulary takes a tenth of a
// second; NewPrompts does it, so that no request waits for it.
func NewPrompts(v *vocab.Vocab) *Prompts { return NewPromptsAs(v, "", "") }

// NewPromptsAs is NewPrompts with another template, unless that is empty, and with one of the
// formats of [CallForms] for tool calls regardless of the template, unless that is empty.
func NewPromptsAs(v *vocab.Vocab, template, callForm string) *Prompts {
	p := &Prompts{vocab: v, controls: vocab.ControlsOf(v), tools: recent.New[string, *keptTool](mostTools)}
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

// Within limits prompts to the given context: a text of more than 1 MiB is rejected without
// tokenizing it if it exceeds the context even with the vocabulary's longest tokens. It must be
// called before the first prompt is written.
func (p *Prompts) Within(context int) { p.context = context }

// A LengthError reports that a prompt has more tokens than the context holds, but not how many.
type LengthError struct {
	Least   int // lower bound on its tokens
	Context int // tokens that the context holds
}

// Error implements error.
func (e *LengthError) Error() string {
	return fmt.Sprintf("chat: the prompt has more than %d tokens, the context holds %d", e.Least, e.Context)
}

// soonTokenized is the length of texts, in bytes, that are tokenized regardless of the context,
// in less than a second: the exact excess helps a client to shorten the prompt.
const soonTokenized = 1 << 20

// fits returns a *LengthError if a text after so many tokens is certainly too long.
func (p *Prompts) fits(before int, text string) error {
	least := before
	if longest := p.vocab.Trie().Depth; longest > 0 && len(text) > soonTokenized {
		least += len(text) / longest
	}
	if p.context > 0 && least > p.context && (before > p.context || len(text) > soonTokenized) {
		return &LengthError{least, p.context}
	}
	return nil
}

// MostBytes returns how many bytes of a text are of use where it is cut to fit: so many that the context holds no more.
func (p *Prompts) MostBytes() int { return max(p.context, 1) * max(p.vocab.Trie().Depth, 1) }

// Append appends the tokens of a text of a request, as [vocab.Vocab.Tokenize] does. All texts of requests are tokenized by methods
// of Prompts: a text that certainly exceeds the context is a *LengthError, and the work ends with ctx, with its cause.
func (p *Prompts) Append(ctx context.Context, dst []int32, text string, special bool) ([]int32, error) {
	if err := p.fits(len(dst), text); err != nil {
		return nil, err
	}
	return vocab.TokenizeContext(ctx, p.vocab, dst, text, special)
}

// AppendText is Append for a text that continues another one, as [vocab.Vocab.TokenizeText] has it.
func (p *Prompts) AppendText(ctx context.Context, dst []int32, text string) ([]int32, error) {
	if err := p.fits(len(dst), text); err != nil {
		return nil, err
	}
	return vocab.TokenizeTextContext(ctx, p.vocab, dst, []byte(text))
}

// A PromptError reports why a conversation can't be rendered.
type PromptError struct {
	Refused bool // by the template; Message is its reason
	Message string
}

// Error implements error.
func (e *PromptError) Error() string { return "chat: " + e.Message }

// Text returns the tokens of a text for the model to continue. The error is as in Append.
func (p *Prompts) Text(ctx context.Context, text string) ([]int32, error) {
	if err := p.fits(0, text); err != nil {
		return nil, err
	}
	return vocab.EncodeContext(ctx, p.vocab, text)
}

// Chat returns the tokens of a conversation up to the start of the assistant's answer. The
// error is a *PromptError, or as in Append.
func (p *Prompts) Chat(ctx context.Context, in Input) ([]int32, error) {
	in.AddGenerationPrompt = true
	return p.write(ctx, in)
}

// Following is Chat for the last message of a conversation alone, as it follows an answer: with what a template writes
// after the text of the answer, and without what begins a conversation.
func (p *Prompts) Following(ctx context.Context, in Input) ([]int32, error) {
	last := in.Messages[len(in.Messages)-1]
	var as [2][]int32
	for i, answer := range []string{"0", "1"} { // the tokens after it are what both have at the end
		in.Messages = []Message{{Role: "user", Content: "0"}, {Role: "assistant", Content: answer}, last}
		var err error
		if as[i], err = p.Chat(ctx, in); err != nil {
			return nil, err
		}
	}
	n := 0
	for n < min(len(as[0]), len(as[1])) && as[0][len(as[0])-1-n] == as[1][len(as[1])-1-n] {
		n++
	}
	return as[0][len(as[0])-n:], nil
}

// Written returns a conversation as rendered by the template. In its tokens, the texts of
// control tokens within messages are plain text; here they are indistinguishable. The error is
// a *PromptError.
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

// Template returns the source of the model's chat template, "" if it has no valid one.
func (p *Prompts) Template() string {
	if !p.HasTemplate() {
		return ""
	}
	return p.template.Source()
}

// write returns the tokens of a conversation. The error is as in Chat.
func (p *Prompts) write(ctx context.Context, in Input) ([]int32, error) {
	text, guard, err := p.written(in)
	if err == nil {
		err = p.fits(0, text)
	}
	if err != nil {
		return nil, err
	}
	var out []int32
	if id, ok := p.vocab.BOS(); ok && p.vocab.AddBOS() && !strings.HasPrefix(text, p.bos) {
		out = append(out, id)
	}
	return p.controls.Tokenize(ctx, out, text, guard)
}

// HasTemplate reports whether the model has a valid chat template. Without one, conversations
// are rendered as ChatML.
func (p *Prompts) HasTemplate() bool { return p.broken == nil && !p.template.Fallback() }

// CallForm returns the model's tool call format; known is false if it could not be determined
// from the template. Tokens that end generation are removed from it.
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

// beginsAtEnd reports whether calls begin with a token that ends generation.
func (p *Prompts) beginsAtEnd(f CallForm) bool {
	return slices.ContainsFunc(f.Triggers, func(t Trigger) bool { return p.endIn(t.Mark+t.Then) >= 0 }) || p.endIn(f.Middle) >= 0
}

// CallFormMissing returns why the format of the model's calls is unknown, or nil.
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

// endIn returns the position of a token's text that ends generation, -1 if there is none.
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

// ThoughtForm returns the model's reasoning format; known is false if it could not be
// determined from the template.
func (p *Prompts) ThoughtForm() (form ThoughtForm, known bool) { return p.form().ThoughtForm() }

// Mentions reports whether a variable occurs in the model's template.
func (p *Prompts) Mentions(variable string) bool { return p.form().Mentions(variable) }

// form returns the template, or the default one if it is invalid.
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
		panic(err) // a bug in ChatML
	}
	return t
}()

// Caps returns the capabilities of the chat template; none, if it is invalid.
func (p *Prompts) Caps() Caps {
	if p.broken != nil {
		return Caps{}
	}
	return p.template.Caps()
}
