package gbnf

import "github.com/stencil-json/stencil/regular"

// op is a kind of syntax tree node.
type op uint8

const (
	opLiteral  op = iota // text
	opClass              // ranges, negated
	opAny                // one character
	opRef                // text is the rule's name
	opToken              // text is the spelling, or the number in low if it is empty; negated
	opSequence           // sub
	opChoice             // sub, at least two
	opRepeat             // sub[0], min to max times; max may be unbounded
)

const unbounded = -1

// expr is a node of the syntax tree. Groups exist only in the shape of the
// tree: a sequence contains no sequence, a choice no choice.
type expr struct {
	op       op
	negated  bool
	pos      int32 // offset in the source
	min, max int32
	text     string
	ranges   []regular.Range // of a class, as written
	sub      []*expr
}

// rule is one definition.
type rule struct {
	name string
	pos  int32
	body *expr
}

// file is a parsed grammar.
type file struct {
	source string
	rules  []*rule
	index  map[string]int32 // rule by name
	empty  []Issue          // warnings about ranges that hold nothing
}

// equal reports whether two trees are equal apart from their positions.
func (e *expr) equal(o *expr) bool {
	if e.op != o.op || e.negated != o.negated || e.min != o.min || e.max != o.max || e.text != o.text ||
		len(e.sub) != len(o.sub) || len(e.ranges) != len(o.ranges) {
		return false
	}
	for i := range e.ranges {
		if e.ranges[i] != o.ranges[i] {
			return false
		}
	}
	for i := range e.sub {
		if !e.sub[i].equal(o.sub[i]) {
			return false
		}
	}
	return true
}
