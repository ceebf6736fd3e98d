package gbnf

import (
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

// manyNodes is the size of the part of a vocabulary's trie from which it is
// looked up instead of walked.
const manyNodes = 2000

// maxReach is the length in bytes of the longest token for which counters are
// loosened.
const maxReach = 1 << 16

// Prepare implements [decoder.Source]. Tokens that a sketch decides are looked
// up; the decoder walks the rests of the tokens that leave the sketch, and the
// tokens that don't start in it. States with distant counts are replaced by
// one.
func (s *source) Prepare(f decoder.Frame, v *vocab.Vocab) *decoder.Prepared {
	x := s.frames[f]
	if x.kind != frameState {
		return nil
	}
	p, ok := s.prepared[x.at]
	if !ok {
		p = s.prepare(x.at, v)
		s.prepared[x.at] = p
	}
	return p
}

func (s *source) prepare(q int32, v *vocab.Vocab) *decoder.Prepared {
	k := s.sketchOf(q, v)
	skip := k.firstBytes()
	nodes := 0
	for b, first := range v.Trie().Child {
		if first >= 0 && skip[b>>6]>>(b&63)&1 != 0 {
			nodes += int(v.Trie().Nodes[first].End - first)
		}
	}
	if nodes < manyNodes {
		loose := k.states[0].paths[0].top()
		if loose == q {
			return nil
		}
		return &decoder.Prepared{Exits: []decoder.Exit{{Frames: []decoder.Frame{s.state(loose)}, Trie: v.Trie()}}}
	}
	split := tablesOf(v).split(k)
	return &decoder.Prepared{Base: split.inside, Exits: s.exits(k, split), WalkRest: true, Skip: &skip, Overlap: true}
}

// sketchOf returns the sketch of a state, or of an equivalent one with loosened
// counts.
func (s *source) sketchOf(q int32, v *vocab.Vocab) *sketch {
	k, ok := s.sketches[q]
	if !ok {
		k = s.sketch(s.auto.loosen(q, min(int32(v.Trie().Depth), maxReach)))
		s.sketches[q] = k
	}
	return k
}

// exits returns the exits for the tokens that leave a sketch.
func (s *source) exits(k *sketch, split *split) (list []decoder.Exit) {
	for i, l := range split.leave {
		if l.trie == nil {
			continue
		}
		for _, p := range k.states[i].paths {
			var frames []decoder.Frame
			for _, q := range p {
				frames = append(frames, s.state(q))
			}
			list = append(list, decoder.Exit{Frames: frames, Trie: l.trie, Tokens: l.tokens})
		}
	}
	return list
}

// firstBytes returns the first bytes of the tokens that a sketch decides.
func (k *sketch) firstBytes() (set [4]uint64) {
	for c, to := range k.states[0].move {
		switch {
		case to < 0:
		case c < utf8.RuneSelf:
			set[c>>6] |= 1 << (c & 63)
		default:
			set[2], set[3] = ^uint64(0), ^uint64(0)
		}
	}
	return set
}

// largeTree is the number of nodes from which a subtree is looked up.
const largeTree = 200

// PrepareAt implements [decoder.Source]. It does the same as Prepare where the
// walk of the vocabulary reaches a word after a space.
func (s *source) PrepareAt(f decoder.Frame, v *vocab.Vocab, trie *vocab.Trie, node int32) *decoder.Prepared {
	x := s.frames[f]
	if trie != v.Trie() || trie.Nodes[node].End-node < largeTree || x.kind != frameState || !s.isBusy(x.at) {
		return nil
	}
	at := place{x.at, node}
	p, ok := s.preparedAt[at]
	if !ok {
		k := s.sketchOf(x.at, v)
		split := tablesOf(v).splitAt(k, node)
		p = &decoder.Prepared{Extra: split.list, Exits: s.exits(k, split), Overlap: true}
		s.preparedAt[at] = p
	}
	return p
}

// A place is a node of the vocabulary's trie, reached in a state.
type place struct{ state, node int32 }
