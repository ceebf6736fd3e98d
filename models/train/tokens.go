package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"stencil/chat"
	"stencil/engine"
	"stencil/models/lessons"
	"stencil/vocab"
)

// learnt marks, in the tokens' stream, one that is to be predicted.
const learnt = 1 << 15

// encode returns the tokens of a lesson as the server would send them, those
// that are to be learnt marked.
func encode(v *vocab.Vocab, p *engine.Prompts, l lessons.Lesson) ([]uint16, error) {
	prompt, err := promptOf(p, l)
	if err != nil {
		return nil, err
	}
	var out []uint16
	for _, t := range prompt {
		out = append(out, uint16(t))
	}
	at := 0
	for _, t := range v.Tokenize(nil, l.Answer, false) {
		mark := uint16(learnt)
		if l.Chat == nil { // without a schema nobody can know the keys
			for _, k := range l.Keys {
				if at >= k[0] && at < k[1] {
					mark = 0
				}
			}
		}
		out = append(out, uint16(t)|mark)
		at += len(v.Bytes(t))
	}
	if at != len(l.Answer) {
		return nil, fmt.Errorf("the tokens of %q are not its text", l.Answer)
	}
	end, _ := v.EOS()
	return append(out, uint16(end)|learnt), nil
}

// promptOf returns the tokens of a lesson's prompt as the server makes them.
func promptOf(p *engine.Prompts, l lessons.Lesson) ([]int32, error) {
	if l.Chat == nil {
		return p.Text(l.Prompt), nil
	}
	schema := engine.CompiledSchema{Source: []byte(l.Schema)}
	in := chat.Input{Messages: []chat.Message{{Role: "system", Content: schema.Instruction()}}}
	for _, m := range l.Chat {
		in.Messages = append(in.Messages, chat.Message{Role: m.Role, Content: m.Content})
	}
	return p.Chat(in)
}

// tokens writes lessons, of some tasks or of all, as numbers of 16 bits: the
// length of each, then its tokens.
func tokens(w io.Writer, path string, seed uint64, unseen lessons.Unseen, only string, n int) error {
	v, err := vocab.Load(path)
	if err != nil {
		return err
	}
	p := engine.NewPrompts(v)
	b := bufio.NewWriter(w)
	g := lessons.New(seed, unseen)
	if only != "" && !g.Only(strings.Split(only, ",")...) {
		return fmt.Errorf("unknown task in %s, expected some of %s", only, strings.Join(lessons.Tasks(), ","))
	}
	for range n {
		l := g.Next()
		ids, err := encode(v, p, l)
		if err != nil {
			return err
		}
		b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(ids)))) // errors stay with b
		for _, id := range ids {
			b.Write(binary.LittleEndian.AppendUint16(nil, id))
		}
	}
	return b.Flush()
}
