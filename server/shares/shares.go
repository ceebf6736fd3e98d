// Package shares limits what several owners store together, so that whoever stores most makes room first.
package shares

import (
	"iter"
	"maps"
)

// A Share is a number of stored things and their size in bytes.
type Share struct {
	Number int
	Bytes  int64
}

// Shares counts what each owner stores. It is not safe for concurrent use.
type Shares struct {
	Limit Share // of all owners together
	Used  Share // by all owners together
	of    map[string]Share
}

// Add counts one thing more of an owner.
func (s *Shares) Add(owner string, bytes int64) { s.add(owner, Share{1, bytes}) }

// Remove counts one thing less of an owner.
func (s *Shares) Remove(owner string, bytes int64) { s.add(owner, Share{-1, -bytes}) }

func (s *Shares) add(owner string, more Share) {
	if s.of == nil {
		s.of = map[string]Share{}
	}
	own := s.of[owner].plus(more)
	if own.Number == 0 {
		delete(s.of, owner)
	} else {
		s.of[owner] = own
	}
	s.Used = s.Used.plus(more)
}

func (a Share) plus(b Share) Share { return Share{a.Number + b.Number, a.Bytes + b.Bytes} }

// Fits reports whether there is room for more.
func (s *Shares) Fits(more Share) bool {
	all := s.Used.plus(more)
	return all.Number <= s.Limit.Number && all.Bytes <= s.Limit.Bytes
}

// A Thing is something that is stored.
type Thing struct {
	Owner string
	Bytes int64
}

// Room returns which of the things stored, oldest first, are dropped to make room for more of an owner, which is not there
// yet: always the oldest of those whose owner has most of what is scarce. It returns false if the owner would have to have
// more than those who are to make room for it; nothing is dropped then.
func Room[T comparable](s *Shares, owner string, more Share, oldest iter.Seq2[T, Thing]) (drop []T, ok bool) {
	after := Shares{Limit: s.Limit, Used: s.Used.plus(more), of: maps.Clone(s.of)}
	if after.of == nil {
		after.of = map[string]Share{}
	}
	after.of[owner] = after.of[owner].plus(more)
	dropped := map[T]bool{}
	for !after.Fits(Share{}) {
		scarce := func(owner string) int64 {
			if after.Used.Bytes > s.Limit.Bytes {
				return after.of[owner].Bytes
			}
			return int64(after.of[owner].Number)
		}
		most := int64(-1)
		var first T
		var whose Thing
		for t, thing := range oldest {
			if has := scarce(thing.Owner); has > most && !dropped[t] {
				first, whose, most = t, thing, has
			}
		}
		if most < 0 || whose.Owner != owner && scarce(owner) > most {
			return nil, false
		}
		after.Remove(whose.Owner, whose.Bytes)
		dropped[first] = true
		drop = append(drop, first)
	}
	return drop, true
}
