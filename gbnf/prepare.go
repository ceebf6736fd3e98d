package gbnf

import (
	"math/bits"
	"unicode/utf8"

	"stencil/decoder"
	"stencil/vocab"
)

// A plan is how the tokens after a state are found. Inside of identifiers,
// comments and texts most tokens keep the automaton in one state: they are
// found by splitting the vocabulary (tables.go), and only those that leave
// are walked.
type plan struct {
	loose int32 // the state to walk from: one like this, but for distant counts
	loops bool
	key   splitKey
	skip  [4]uint64 // first bytes that the split deals with
	ready *decoder.Prepared
}

// fewChars is the number of ASCII characters up to which walking is cheap.
const fewChars = 16

// maxReach is the longest token, in bytes, for which counters are loosened.
const maxReach = 1 << 16

// Prepare implements [decoder.Source].
func (s *source) Prepare(f decoder.Frame, v *vocab.Vocab) *decoder.Prepared {
	x := s.frames[f]
	if x.kind != frameState {
		return nil
	}
	p := s.plans[x.at]
	if p == nil {
		p = s.plan(x.at, min(int32(v.Trie().Depth), maxReach))
		s.plans[x.at] = p
	}
	if p.ready != nil || !p.loops && p.loose == x.at {
		return p.ready
	}
	frames := []decoder.Frame{s.state(p.loose)}
	if !p.loops {
		p.ready = &decoder.Prepared{Exits: []decoder.Exit{{Frames: frames, Trie: v.Trie()}}}
		return p.ready
	}
	split := tablesOf(v).split(p.key)
	p.ready = &decoder.Prepared{
		Base:     split.inside,
		Exits:    []decoder.Exit{{Frames: frames, Trie: split.leavers}},
		WalkRest: true,
		Skip:     &p.skip,
	}
	return p.ready
}

// PrepareAt implements [decoder.Source]: sub-trees are walked.
func (s *source) PrepareAt(decoder.Frame, *vocab.Vocab, *vocab.Trie, int32) *decoder.Prepared {
	return nil
}

// plan makes the plan of a state for tokens of at most reach characters.
func (s *source) plan(q, reach int32) *plan {
	p := &plan{loose: s.auto.loosen(q, reach)}
	// Which state do most characters lead to that then stays?
	var best int32 = -1
	size := 0
	tried := map[int32]bool{}
	for _, e := range s.auto.edges(p.loose) {
		for _, a := range s.out.list[e.out] {
			if a.n == 0 || tried[a.states[a.n-1]] {
				continue
			}
			to := a.states[a.n-1]
			tried[to] = true
			if key, n := s.loopKey(p.loose, to); n > size {
				best, size, p.key = to, n, key
			}
		}
	}
	if p.loops = best >= 0 && size > fewChars; !p.loops {
		return p
	}
	p.skip[0], p.skip[1] = p.key.first.ascii[0], p.key.first.ascii[1]
	if p.key.first.high {
		p.skip[2], p.skip[3] = ^uint64(0), ^uint64(0)
	}
	return p
}

// loopKey says how the vocabulary splits where state from leads to state to,
// which then stays. The size is that of the smaller set, as far as it counts.
func (s *source) loopKey(from, to int32) (key splitKey, size int) {
	var plain1, plain2 bool
	key.first, plain1 = s.leadsTo(from, to, false)
	key.loop, plain2 = s.leadsTo(to, to, true)
	// All texts over loop stay on to; but where they can be read in other
	// ways too, tokens may leave from there.
	key.only = plain1 && plain2 && !s.auto.mayEnd(from) && !s.auto.mayEnd(to)
	if key.only {
		for _, e := range s.auto.edges(to) {
			key.exit.addRange(e.lo, e.hi)
			key.exit.high = key.exit.high || e.hi >= utf8.RuneSelf
		}
		key.exit.ascii[0] &^= key.loop.ascii[0]
		key.exit.ascii[1] &^= key.loop.ascii[1]
		key.exit.high = key.exit.high && !key.loop.high
	}
	return key, min(key.first.size(), key.loop.size())
}

func (c *charSet) size() int {
	n := bits.OnesCount64(c.ascii[0]) + bits.OnesCount64(c.ascii[1])
	if c.high {
		n += utf8.RuneSelf
	}
	return n
}

// leadsTo returns the characters under which state from leads to state to, in
// its place if alone is set, else perhaps with another state below. plain
// means that they lead nowhere else.
func (s *source) leadsTo(from, to int32, alone bool) (set charSet, plain bool) {
	plain = true
	high := rune(utf8.RuneSelf) // all characters from RuneSelf up to here
	for _, e := range s.auto.edges(from) {
		alts := s.out.list[e.out]
		leads := false
		for _, a := range alts {
			leads = leads || a.n > 0 && a.states[a.n-1] == to && (a.n == 1 || !alone)
		}
		if !leads {
			continue
		}
		plain = plain && len(alts) == 1
		set.addRange(e.lo, e.hi)
		if e.lo <= high && e.hi >= high {
			if high = e.hi + 1; high == lowestSurrogate {
				high = highestSurrogate + 1
			}
		}
	}
	set.high = high > utf8.MaxRune
	return set, plain
}
