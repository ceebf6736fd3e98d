package llamacpp

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// Infill handles POST /infill: it generates code between a prefix and a suffix, for editors. It accepts the fields of
// /completion too.
func (s *Handlers) Infill(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	in, err := readInfill(o)
	if err != nil {
		return nil, err
	}
	q, err := readCompletion(o)
	if err != nil {
		return nil, err
	}
	m, err := s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return nil, err
	}
	tokens, err := in.tokens(r.Context(), m, q.MaxTokens)
	if err != nil {
		return nil, err
	}
	q.prompts, q.many = []prompt{{{tokens: tokens}}}, false
	return s.complete(r, q)
}

// An infill is the context of the text to fill in.
type infill struct {
	prefix, suffix string
	begun          string // start of the text
	files          []file // other files of the project
}

type file struct{ name, text string }

// readInfill removes its fields from a body, and leaves a prompt for /completion.
func readInfill(o *wire.Object) (*infill, error) {
	in := new(infill)
	for _, err := range []error{
		o.Str("input_prefix", &in.prefix), o.Str("input_suffix", &in.suffix), o.Str("prompt", &in.begun),
	} {
		if err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"input_prefix", "input_suffix"} {
		if !o.Given(name) {
			return nil, wire.Invalid(name, "%s is missing", name)
		}
	}
	extra, err := o.List("input_extra")
	if err != nil {
		return nil, err
	}
	for _, one := range extra {
		f := file{name: "tmp"}
		if !one.Given("text") {
			return nil, wire.Invalid(one.Path+"text", "%stext is missing", one.Path)
		}
		for _, err := range []error{one.Str("text", &f.text), one.Str("filename", &f.name)} {
			if err != nil {
				return nil, err
			}
		}
		in.files = append(in.files, f)
	}
	names := o.Names[:0:0]
	for _, name := range o.Names {
		switch name {
		case "input_prefix", "input_suffix", "input_extra", "prompt":
		default:
			names = append(names, name)
		}
	}
	o.Names, o.Members["prompt"] = append(names, "prompt"), []byte(`""`)
	return in, nil
}

// tokens returns the prompt in the order that models are trained on: other files, the prefix, the suffix, and the mark
// where the answer begins. If all of it exceeds the context, the text nearest to the cursor stays: the prefix gets
// three quarters of the room, and files get what remains. Text that is too far from it in any case is not tokenized.
func (in *infill) tokens(ctx context.Context, m *registry.Model, budget int) ([]int32, error) {
	v := m.Text.Vocab()
	marks, ok := vocab.InfillOf(v)
	if !ok {
		return nil, notSupported("infill_not_supported", "the model %q has no tokens for filling in text", m.Name)
	}
	room := contextOf(m)
	room -= min(max(budget, room/8), room/2) // for the answer
	t := &texts{ctx: ctx, prompts: m.Prompts}
	before := t.append(t.append(nil, t.end(in.prefix)), in.begun)
	after := t.append(nil, t.start(in.suffix))
	around := max(0, room-4)
	if len(before)+len(after) > around {
		most := max(around*3/4, around-len(after))
		before = before[max(0, len(before)-most):]
		after = after[:max(0, min(len(after), around-len(before)))]
	}
	var out []int32
	if id, ok := v.BOS(); ok && v.AddBOS() {
		out = append(out, id)
	}
	files := in.fileTokens(t, marks)
	if t.err != nil {
		return nil, t.err
	}
	out = append(out, files[max(0, len(files)-(around-len(before)-len(after))):]...)
	out = append(append(out, marks.Prefix), before...)
	out = append(append(out, marks.Suffix), after...)
	return append(out, marks.Middle), nil
}

// texts tokenizes texts of which only a part may be of use. It does nothing after an error.
type texts struct {
	ctx     context.Context
	prompts *chat.Prompts
	err     error
}

// start and end return as much of a text as may be of use, at a character.
func (t *texts) start(text string) string {
	n := min(len(text), t.prompts.MostBytes())
	for n < len(text) && n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func (t *texts) end(text string) string {
	n := max(0, len(text)-t.prompts.MostBytes())
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[n:]
}

func (t *texts) append(dst []int32, text string) []int32 {
	if t.err != nil {
		return nil
	}
	more, err := t.prompts.Append(t.ctx, nil, text, false)
	t.err = err
	return append(dst, more...)
}

// fileTokens returns the tokens of the other files, separated by repository tokens if the model has them. Of files before those that
// fill the context, it returns none.
func (in *infill) fileTokens(t *texts, marks vocab.Infill) (out []int32) {
	if len(in.files) == 0 {
		return nil
	}
	first, size := len(in.files), 0
	for first > 0 && size < t.prompts.MostBytes() {
		first--
		size += len(in.files[first].text) + len(in.files[first].name)
	}
	if marks.Repo >= 0 {
		out = t.append(append(out, marks.Repo), "project\n")
	}
	for _, f := range in.files[first:] {
		if marks.File >= 0 {
			out = t.append(append(out, marks.File), t.end(f.name+"\n"))
		} else {
			out = t.append(out, t.end("\n\n--- "+f.name+"\n"))
		}
		out = t.append(out, t.end(f.text))
	}
	if marks.File >= 0 {
		out = t.append(append(out, marks.File), "file\n")
	}
	return out
}
