package schema

import "slices"

// A listing is what a goal says that lists the values it allows, or those it
// forbids, all of them strings, booleans or null: it is decided without
// languages whether such goals can be fulfilled together.
type listing struct {
	state  int8 // 0: not looked at, 1: lists values, -1: says something else
	not    bool
	values []int32 // by number, in s.constants
}

// listing returns what goal g lists.
func (s *source) listing(g goal) *listing {
	if int(g) >= len(s.listings) {
		s.listings = append(s.listings, make([]listing, len(s.goals.info)-len(s.listings))...)
	}
	l := &s.listings[g]
	if l.state != 0 {
		return l
	}
	l.state = -1
	var values []*value
	info := &s.goals.info[g]
	switch info.kind {
	case goalConst, goalNotConst:
		values = []*value{info.val}
	case goalNode, goalNotNode:
		n := info.node
		if n.apply != nil || n.hasEnum == (n.constant != nil) {
			return l
		}
		if values = n.enum; n.constant != nil {
			values = []*value{n.constant}
		}
		values = slices.DeleteFunc(slices.Clone(values), func(v *value) bool {
			return n.types != 0 && n.types&mayBe[v.kind] == 0
		})
		// What is said about strings alone is said about the listed ones.
		if n.str != nil && slices.ContainsFunc(values, func(v *value) bool { return v.kind == kindString }) {
			return l
		}
	default:
		return l
	}
	ids := make([]int32, len(values))
	for i, v := range values {
		switch v.kind {
		case kindNull, kindFalse, kindTrue, kindString:
			ids[i] = s.constantID(v)
		default:
			return l
		}
	}
	*l = listing{state: 1, not: info.kind == goalNotNode || info.kind == goalNotConst, values: ids}
	return l
}

// mayBe is the types that values of a kind may have.
var mayBe = [...]typeSet{
	kindNull: typeNull, kindFalse: typeBoolean, kindTrue: typeBoolean, kindString: typeString,
	kindNumber: typeNumber | typeInteger, kindArray: typeArray, kindObject: typeObject,
}

// constantID numbers strings, booleans and null.
func (s *source) constantID(v *value) int32 {
	key := string(rune('0'+v.kind)) + v.str
	id, ok := s.constants[key]
	if !ok {
		id = int32(len(s.constants))
		s.constants[key] = id
	}
	return id
}

// listedTogether reports whether goals that all list values can be fulfilled
// together. known is false if one of them doesn't list any.
func (s *source) listedTogether(goals []goal) (possible, known bool) {
	var shortest []int32
	some := false
	for _, g := range goals {
		l := s.listing(g)
		if l.state < 0 {
			return false, false
		}
		if !l.not && (!some || len(l.values) < len(shortest)) {
			some, shortest = true, l.values
		}
	}
	if !some {
		return true, true // there are always more strings
	}
	for _, v := range shortest {
		ok := true
		for _, g := range goals {
			l := &s.listings[g]
			if ok = slices.Contains(l.values, v) != l.not; !ok {
				break
			}
		}
		if ok {
			return true, true
		}
	}
	return false, true
}
