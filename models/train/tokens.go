package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/models/lessons"
	"github.com/stencil-json/stencil/vocab"
)

// Marks of tokens in the stream.
const (
	learnt = 1 << 15 // it must be predicted
	first  = 1 << 14 // the first token of a value
	key    = 1 << 13 // part of a property name, which the schema determines
	// The tokens between a name and its value, which also determine whether null
	// follows.
	opening = first | key
	token   = key - 1 // mask of the token itself
	// The start of another answer to the same prompt.
	another = token
)

// encode returns the tokens of a lesson as the server would send them, with
// those to be learnt marked. The first asked tokens are the prompt.
func encode(v *vocab.Vocab, p *chat.Prompts, l lessons.Lesson) (out []uint16, asked int, err error) {
	prompt, err := promptOf(p, l)
	if err != nil {
		return nil, 0, err
	}
	for _, t := range prompt {
		out = append(out, uint16(t))
	}
	if len(l.Others) > 0 {
		return together(v, p, l, out)
	}
	out, err = answer(v, out, l.Answer, l.Keys, l.Chat != nil)
	for _, m := range l.More {
		if err == nil {
			out, err = answer(v, append(out, another), m.Answer, m.Keys, false)
		}
	}
	return out, len(prompt), err
}

// together appends lessons with the same schema, each as if it were the only
// one.
func together(v *vocab.Vocab, p *chat.Prompts, l lessons.Lesson, prompt []uint16) (out []uint16, asked int, err error) {
	user := v.Tokenize(nil, "<|user|>", true)[0]
	asked = slices.Index(prompt, uint16(user))
	if asked < 0 {
		return nil, 0, fmt.Errorf("a prompt without %s", v.Text(user))
	}
	out = prompt[:asked:asked]
	for _, o := range append([]lessons.Lesson{l}, l.Others...) {
		ids, err := promptOf(p, o)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, another)
		for _, t := range ids[slices.Index(ids, user):] {
			out = append(out, uint16(t))
		}
		if out, err = answer(v, out, o.Answer, o.Keys, true); err != nil {
			return nil, 0, err
		}
	}
	return out, asked, nil
}

// loosen splits some of the tokens that open a string in two. Under a mask, a
// model that was about to write null or a number may end up after the first of
// them, and must be able to continue.
func loosen(v *vocab.Vocab, rng *rand.Rand, ids []uint16) []uint16 {
	opens := v.Tokenize(nil, `":"`, false)
	parts := append(v.Tokenize(nil, `":`, false), v.Tokenize(nil, `"`, false)...)
	if len(opens) != 1 || len(parts) != 2 {
		return ids
	}
	var out []uint16
	for _, id := range ids {
		if id&learnt != 0 && int32(id&token) == opens[0] && rng.IntN(5) == 0 {
			out = append(out, uint16(parts[0])|id&^token, uint16(parts[1])|learnt)
			continue
		}
		out = append(out, id)
	}
	return out
}

// answer appends the tokens of an answer. Without a schema the property names
// are unpredictable.
func answer(v *vocab.Vocab, out []uint16, text string, keys [][2]int, schema bool) ([]uint16, error) {
	at := 0
	begins := false
	for _, t := range v.Tokenize(nil, text, false) {
		mark, next := learnt, false
		size := len(v.Bytes(t))
		for _, k := range keys {
			if at < k[0] || at >= k[1] {
				continue
			}
			switch next = at+size >= k[1]; {
			case next:
				mark |= opening
			case schema:
				mark |= key
			default:
				mark = 0
			}
		}
		if begins && mark == learnt {
			mark |= first
		}
		begins = next
		out = append(out, uint16(t)|uint16(mark))
		at += size
	}
	if at != len(text) {
		return nil, fmt.Errorf("the tokens of %q are not its text", text)
	}
	end, _ := v.EOS()
	return append(out, uint16(end)|learnt), nil
}

// promptOf returns the tokens of a lesson's prompt as the server builds them.
func promptOf(p *chat.Prompts, l lessons.Lesson) ([]int32, error) {
	if l.Chat == nil {
		return p.Text(context.Background(), l.Prompt)
	}
	schema := constraint.CompiledSchema{Source: []byte(l.Schema)}
	in := chat.Input{Messages: []chat.Message{{Role: "system", Content: schema.Instruction()}}}
	for _, m := range l.Chat {
		in.Messages = append(in.Messages, chat.Message{Role: m.Role, Content: m.Content})
	}
	return p.Chat(context.Background(), in)
}

// tokenOptions selects the lessons that tokens writes.
type tokenOptions struct {
	seed   uint64
	unseen lessons.Unseen
	only   string // tasks, separated by commas; "": all
	n      int
	swap   float64 // fraction of the lessons in which parts of words are replaced
	more   bool    // with the additional answers about the same text
}

// tokens writes lessons, of some tasks or of all, as 16-bit numbers: the
// length of each, then its tokens.
func tokens(w io.Writer, path string, opt tokenOptions) error {
	v, err := vocab.Load(path)
	if err != nil {
		return err
	}
	p := chat.NewPrompts(v)
	b := bufio.NewWriter(w)
	g := lessons.New(opt.seed, opt.unseen)
	if opt.only != "" && !g.Only(strings.Split(opt.only, ",")...) {
		return fmt.Errorf("unknown task in %s, expected some of %s", opt.only, strings.Join(lessons.Tasks(), ","))
	}
	s := newSwapper(v, opt.seed)
	for range opt.n {
		l := g.Next()
		if !opt.more {
			l.More, l.Others = nil, nil
		}
		ids, asked, err := encode(v, p, l)
		if err != nil {
			return err
		}
		if opt.more {
			ids = loosen(v, s.rng, ids)
		}
		if s.rng.Float64() < opt.swap && l.Others == nil {
			s.swap(ids, asked)
		}
		b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(ids)))) // b keeps errors
		for _, id := range ids {
			b.Write(binary.LittleEndian.AppendUint16(nil, id))
		}
	}
	return b.Flush()
}
