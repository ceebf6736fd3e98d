package schema

import (
	"slices"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/tokens"
	"github.com/stencil-json/stencil/vocab"
)

// preparer computes in advance which tokens may follow a frame.
type preparer struct {
	*base
	sets    *keySets
	texts   *texts
	keys    *keyAutomaton
	objects *objects
	next    *nextKeys
	frames  *frameTable

	tables       *tokens.Tables // of the vocabulary that Prepare was called with
	closerGroups logic.Memo[groupKey, []closerGroup]
}

func newPreparer(b *base, sets *keySets, ts *texts, keys *keyAutomaton, obj *objects, next *nextKeys, frames *frameTable) *preparer {
	return &preparer{base: b, sets: sets, texts: ts, keys: keys, objects: obj, next: next, frames: frames}
}

// Prepare implements [decoder.Source].
func (s *source) Prepare(f decoder.Frame, v *vocab.Vocab) *decoder.Prepared {
	k := s.frames.Keys[f]
	t := s.prep.tablesOf(v)
	switch k.kind {
	case frameString:
		if k.c != 0 {
			return nil
		}
		return s.prep.prepareString(k, t)
	case frameNumber:
		if s.endsOpen() {
			return nil
		}
		d := t.InNumber(s.numbers.list[k.a], k.b)
		s.numbers.check(s.numbers.list[k.a])
		p := &decoder.Prepared{Parent: s.numbers.list[k.a].Accepting(k.b)}
		if p.Base = d.Base; p.Base == nil {
			p.Extra = d.List
		}
		if t.Mixed.Len() > 0 {
			p.Exits = []decoder.Exit{{Frames: []decoder.Frame{f}, Trie: t.Mixed}}
		}
		return p
	case frameObjKey:
		if k.c != 0 {
			return nil
		}
		return s.prep.prepareKey(f, k, t)
	}
	if k.kind != frameValue && k.blank == 0 || s.followed && k.kind == frameEnd {
		return nil
	}
	p := &decoder.Prepared{WalkRest: true, Skip: &tokens.BlankSet}
	if k.blank > 0 {
		b := t.InBlanks(k.blank)
		p.Extra = b.Tokens
		p.Exits = append(p.Exits, decoder.Exit{Frames: []decoder.Frame{f}, Trie: t.Blanks.After, Tokens: t.Blanks.Token, Only: b.Only})
	}
	if k.kind == frameValue {
		if list := s.numbers.automataOf(logic.Form(s.views.of(logic.Goal(k.a), jNumber))); len(list) > 0 && !s.endsOpen() {
			p.Skip = &tokens.BlankNumberSet
			p.Overlap = len(list) > 1
			p.Extra = slices.Clone(p.Extra)
			for _, a := range list {
				p.Extra = append(p.Extra, t.InNumber(a, a.Start()).List...)
			}
			if t.Mixed.Len() > 0 {
				p.Exits = append(p.Exits, decoder.Exit{Frames: []decoder.Frame{f}, Trie: t.Mixed})
			}
		}
	}
	return p
}

// endsOpen reports whether other text may follow a number that is the whole
// document: then tokens that are not prepared can come after its last digit.
func (s *source) endsOpen() bool {
	return s.followed && len(s.numbers.automataOf(logic.Form(s.views.of(s.views.root(), jNumber)))) > 0
}

func (pr *preparer) tablesOf(v *vocab.Vocab) *tokens.Tables {
	if pr.tables == nil || pr.tables.Vocab != v {
		pr.tables = tokens.For(v)
	}
	return pr.tables
}

// PrepareAt implements [decoder.Source].
func (s *source) PrepareAt(f decoder.Frame, v *vocab.Vocab, trie *vocab.Trie, node int32) *decoder.Prepared {
	k := s.frames.Keys[f]
	if k.c != 0 || k.kind != frameString && k.kind != frameObjKey {
		return nil
	}
	t := s.prep.tablesOf(v)
	if k.kind == frameString {
		m := s.texts.machines[k.a]
		if !t.AnyText(m, k.b) {
			return nil
		}
		b := t.Below(trie, node)
		if s.strictEscapes() {
			return &decoder.Prepared{Extra: b.StrictStay, Exits: []decoder.Exit{b.StrictClosers.Exit(t.ClosersBelow(b, m, k.b, true))}}
		}
		return &decoder.Prepared{Extra: b.Stay, Exits: []decoder.Exit{b.Closers.Exit(t.ClosersBelow(b, m, k.b, false))}}
	}
	ks := s.keys.states.Keys[k.b]
	p := &decoder.Prepared{}
	switch {
	case ks.free == 0 && s.next.free(k.a, k.b):
		b := t.Below(trie, node)
		p.Extra = b.StrictStay
		s.prep.keyExits(k, b.StrictClosers, p)
	case ks.free == 0:
		list, ok := s.prep.namesAlong(k, trie, node, nil)
		if !ok {
			return nil
		}
		p.Extra = list
		s.prep.keyExits(k, t.Below(trie, node).StrictClosers, p)
	default:
		return nil
	}
	return p
}

func (pr *preparer) prepareString(k frameKey, t *tokens.Tables) *decoder.Prepared {
	l := t.InString(pr.texts.machines[k.a], k.b, pr.strictEscapes())
	p := &decoder.Prepared{Base: l.Base, Extra: l.All}
	closers := t.Closers
	if pr.strictEscapes() {
		closers = t.StrictClosers
	}
	if !l.NoCloser {
		x := closers.Exit(l.Closers)
		if l.Closers == nil && l.Base != nil {
			p.Base, x.Bare = t.WithBare(l.Base, closers), nil
		}
		p.Exits = append(p.Exits, x)
	}
	return p
}
