package decoder

// steps remembers some of the last steps of stacks whose top may end, which are
// longer than a look-up. A newer one takes the place of an older one.
type steps struct{ list []steppedTo }

type steppedTo struct {
	key  int64 // 0: none
	next int32
}

// stepsBits is chosen so that the table stays in a processor's first cache.
const stepsBits = 9

func stepKey(c int32, b byte) (key int64, at uint32) {
	return int64(c)<<8 | int64(b), (uint32(c)*0x9E3779B1 ^ uint32(b)*0x85EBCA77) >> (32 - stepsBits)
}

// find returns the configuration after byte b, if it is remembered.
func (s *steps) find(c int32, b byte) (next int32, ok bool) {
	if len(s.list) == 0 {
		return 0, false
	}
	key, at := stepKey(c, b)
	x := &s.list[at&(1<<stepsBits-1)]
	return x.next, x.key == key
}

// keep remembers it.
func (s *steps) keep(c int32, b byte, next int32) {
	if len(s.list) == 0 {
		s.list = make([]steppedTo, 1<<stepsBits)
	}
	key, at := stepKey(c, b)
	s.list[at] = steppedTo{key, next}
}
