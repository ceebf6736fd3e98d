// Package infill writes prompts for filling in text between a prefix and a suffix, for models that have tokens for it.
package infill

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/vocab"
)

// ErrNotSupported is the error for a model without tokens for filling in text.
var ErrNotSupported = errors.New("infill: the model has no tokens for filling in text")

// A Gap is a text to fill in, with its surroundings.
type Gap struct {
	Tokens         []int32 // before the prefix, if that is given as tokens
	Prefix, Suffix string
	Begun          string // start of the text
	Files          []File // other files of the project
}

// A File is a file of the same project.
type File struct{ Name, Text string }

// Prompt returns the prompt in the order that models are trained on: other files, the prefix, the suffix, and the mark
// where the answer begins. If all of it exceeds the context, the text nearest to the cursor stays: the prefix gets
// three quarters of the room, and files get what remains. Text that is too far from it in any case is not tokenized. The
// error is ErrNotSupported if the model has no tokens for it, or as in [chat.Prompts.Append].
func (in *Gap) Prompt(ctx context.Context, m *registry.Model, budget int) ([]int32, error) {
	v := m.Text.Vocab()
	marks, ok := vocab.InfillOf(v)
	if !ok {
		return nil, ErrNotSupported
	}
	room := m.Text.ContextLimit()
	room -= min(max(budget, room/8), room/2) // for the answer
	t := &texts{ctx: ctx, prompts: m.Prompts}
	before := t.append(t.append(slices.Clone(in.Tokens), t.end(in.Prefix)), in.Begun)
	after := t.append(nil, t.start(in.Suffix))
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
func (in *Gap) fileTokens(t *texts, marks vocab.Infill) (out []int32) {
	if len(in.Files) == 0 {
		return nil
	}
	first, size := len(in.Files), 0
	for first > 0 && size < t.prompts.MostBytes() {
		first--
		size += len(in.Files[first].Text) + len(in.Files[first].Name)
	}
	if marks.Repo >= 0 {
		out = t.append(append(out, marks.Repo), "project\n")
	}
	for _, f := range in.Files[first:] {
		if marks.File >= 0 {
			out = t.append(append(out, marks.File), t.end(f.Name+"\n"))
		} else {
			out = t.append(out, t.end("\n\n--- "+f.Name+"\n"))
		}
		out = t.append(out, t.end(f.Text))
	}
	if marks.File >= 0 {
		out = t.append(append(out, marks.File), "file\n")
	}
	return out
}
