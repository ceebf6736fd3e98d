package number

import "math/big"

// A key identifies a class of nodes with the same continuations. It holds the
// parts of a node that are still relevant, in a common form.
type key struct {
	kind      kind
	side      uint8
	low, high cut
	digits    int32
	fraction  int32
	zeros     int32
	place     int32
	scale     scale // which exponents may follow, in a canonical spelling
	from, to  int32
	rest      uint64
	large     string
}

// A scale tells which exponents may follow.
type scale uint8

const (
	scaleNone scale = iota
	scaleSome       // up to scaledExponent
	scaleAny        // those of the side
)

// A cut is the effect of a bound on a node. The decimal point may be shifted to
// the right, by digits or by an exponent, by at least (for a lower bound) or at
// most (for an upper one) shift places. If tight, the digits so far are the
// bound's, so that at that shift further digits decide.
type cut struct {
	shift int32
	kind  uint8 // cutNone, cutFree or cutTight
}

const (
	cutNone = iota
	cutFree
	cutTight
)

// lowCut returns the effect of the lower bound of s on n.
func (s *side) lowCut(n *node) cut {
	switch {
	case s.low == nil:
		return cut{}
	case n.low == 0:
		return cut{int32(s.low.place - n.place()), cutTight}
	case n.low < 0:
		return cut{int32(s.low.place - n.place() + 1), cutFree}
	}
	return cut{int32(s.low.place - n.place()), cutFree}
}

// highCut returns the effect of the upper bound of s on n.
func (s *side) highCut(n *node) cut {
	switch {
	case s.high == nil:
		return cut{}
	case n.high == 0:
		return cut{int32(s.high.place - n.place()), cutTight}
	case n.high > 0:
		return cut{int32(s.high.place - n.place() - 1), cutFree}
	}
	return cut{int32(s.high.place - n.place()), cutFree}
}

// keyOf returns the key of n.
func (a *Automaton) keyOf(n *node) key {
	k := key{kind: n.kind, side: n.side}
	switch n.kind {
	case kindStart, kindMinus:
		return k
	case kindExponent, kindSign:
		k.side, k.from = 0, n.set // the side is no longer relevant
		return k
	case kindPower:
		k.side = 0
		k.large = string(a.appendPower(make([]byte, 0, 32), n))
		return k
	}
	if n.digits == 0 {
		if !a.any || a.positional {
			k.fraction = n.fraction
		}
		if a.mirrored && a.sides[0].zero == a.sides[1].zero {
			k.side = 0
		}
		return k
	}
	if a.mirrored {
		k.side = 0
	}
	if a.any && a.scientific {
		a.keyAny(n, &k)
	} else {
		a.keyCanonical(n, &k)
	}
	return k
}

// keyAny completes k if every spelling is accepted. Any shift can follow, so
// both bounds are relevant however far away they are.
func (a *problem) keyAny(n *node, k *key) {
	s := &a.sides[n.side]
	k.low, k.high = s.lowCut(n), s.highCut(n)
	longest := 0 // beyond it, bounds and values have only zeros
	if k.low.kind == cutTight {
		longest = len(s.low.digits)
	}
	if k.high.kind == cutTight {
		longest = max(longest, len(s.high.digits))
	}
	if n.from < n.to {
		k.from, k.to = n.from, n.to
		k.place = int32(n.place())
		longest = max(longest, s.longest)
	}
	k.digits = 1 + min(n.digits, int32(longest)) // 0 means that N = 0
	if a.grid != nil {
		k.fraction, k.zeros = n.fraction, n.zeros
		k.setRest(n.rest, n.large)
	}
}

// keyCanonical completes k for canonical spellings, and for those without a
// fraction and an exponent. If no exponent may follow, only shifts by digits of
// the integer part are possible.
func (a *problem) keyCanonical(n *node, k *key) {
	s := &a.sides[n.side]
	least, most := 0, 0
	if n.kind == kindWhole {
		if most = unbounded; !a.any {
			most = s.whole - int(n.digits)
		}
	}
	if a.mayScale(n) {
		from, to := a.scales(n)
		least, most = from, max(most, to)
		if k.scale = scaleSome; n.place() == 1 {
			k.scale = scaleAny
		}
	}
	if c := s.lowCut(n); c.kind == cutTight && int(c.shift) >= least ||
		c.kind == cutFree && int(c.shift) > least {
		k.low = c
	}
	k.high = cut{int32(most), cutFree}
	if c := s.highCut(n); c.kind != cutNone && int(c.shift) <= most {
		k.high = c
	}
	// The digits of whole numbers within the significant digits need not be
	// counted.
	if a.fractions || !a.any && int(k.high.shift) > a.digits-int(n.digits) {
		k.digits = n.digits
	}
	place := n.place()
	for _, v := range s.values[n.from:n.to] {
		if shift := v.pos - place; shift >= least && shift <= most {
			k.from, k.to = n.from, n.to
			k.place, k.digits = int32(place), n.digits
			break
		}
	}
	if a.grid != nil {
		a.grid.keyPlain(n, k)
	}
}

func (k *key) setRest(rest uint64, large *big.Int) {
	k.rest = rest
	if large != nil {
		k.large = string(large.Bytes())
	}
}
