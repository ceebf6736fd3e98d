package gbnf

import (
	"math/bits"
	"unicode/utf8"
)

// A charSet is a set of characters, as precise as needed to distinguish tokens:
// individual ASCII characters, and whether it contains any others.
type charSet struct {
	ascii [2]uint64
	high  bool
}

// everyChar contains all characters.
var everyChar = charSet{[2]uint64{^uint64(0), ^uint64(0)}, true}

func (c *charSet) addRange(lo, hi rune) {
	for r := lo; r <= min(hi, utf8.RuneSelf-1); r++ {
		c.ascii[r>>6] |= 1 << (r & 63)
	}
	c.high = c.high || hi >= utf8.RuneSelf && !isToken(lo)
}

// add adds the characters of o and reports whether any were new.
func (c *charSet) add(o *charSet) bool {
	before := *c
	c.ascii[0] |= o.ascii[0]
	c.ascii[1] |= o.ascii[1]
	c.high = c.high || o.high
	return *c != before
}

// has reports whether the set contains an ASCII character.
func (c *charSet) has(b byte) bool { return c.ascii[b>>6]>>(b&63)&1 != 0 }

// size returns the number of ASCII characters.
func (c *charSet) size() int { return bits.OnesCount64(c.ascii[0]) + bits.OnesCount64(c.ascii[1]) }

// within reports whether the set is a subset of o.
func (c *charSet) within(o *charSet) bool {
	return c.ascii[0]&^o.ascii[0] == 0 && c.ascii[1]&^o.ascii[1] == 0 && (o.high || !c.high)
}
