package regular

import "math"

// lengths bounds the lengths of an expression's strings, in code points. All of
// them are in lo..hi. Every length in inLo..inHi occurs (none is guaranteed if
// inLo > inHi). Both follow from the structure alone, so that an intersection
// with a length can mostly be decided without a search.
type lengths struct{ lo, hi, inLo, inHi int32 }

const infinite = math.MaxInt32

func (l lengths) exact() bool { return l.inLo <= l.inHi }

// noInner removes the guarantee that any length occurs.
func (l lengths) noInner() lengths {
	l.inLo, l.inHi = 1, 0
	return l
}

func satAdd(a, b int32) int32 {
	if a == infinite || b == infinite || int64(a)+int64(b) > maxCount {
		return infinite
	}
	return a + b
}

func satMul(a, b int32) int32 {
	if a == 0 || b == 0 {
		return 0
	}
	if a == infinite || b == infinite || int64(a)*int64(b) > maxCount {
		return infinite
	}
	return a * b
}

// satSub subtracts a finite number, down to zero.
func satSub(a, b int32) int32 {
	if a == infinite {
		return a
	}
	return max(0, a-b)
}

// capped makes lower ends that overflowed harmless: a lower bound may be too
// small, and no length beyond maxCount is guaranteed.
func (l lengths) capped() lengths {
	l.lo = min(l.lo, maxCount)
	if l.inLo == infinite {
		l = l.noInner()
	}
	return l
}

func concatLengths(a, b lengths) lengths {
	l := lengths{lo: satAdd(a.lo, b.lo), hi: satAdd(a.hi, b.hi)}.noInner()
	if a.exact() && b.exact() {
		l.inLo, l.inHi = satAdd(a.inLo, b.inLo), satAdd(a.inHi, b.inHi)
	}
	return l.capped()
}

func orLengths(a, b lengths) lengths {
	l := lengths{min(a.lo, b.lo), max(a.hi, b.hi), a.inLo, a.inHi}
	switch {
	case !b.exact():
	case !a.exact():
		l.inLo, l.inHi = b.inLo, b.inHi
	case int64(b.inLo) <= int64(a.inHi)+1 && int64(a.inLo) <= int64(b.inHi)+1:
		l.inLo, l.inHi = min(a.inLo, b.inLo), max(a.inHi, b.inHi)
	case b.inHi-b.inLo > a.inHi-a.inLo:
		l.inLo, l.inHi = b.inLo, b.inHi
	}
	return l
}

func repeatLengths(e lengths, least, most int32) lengths {
	l := lengths{lo: satMul(e.lo, least), hi: satMul(e.hi, most)}.noInner()
	if e.exact() {
		// k repetitions cover k*inLo..k*inHi; from run on, these intervals touch.
		a, b := int64(e.inLo), int64(e.inHi)
		run := int64(least)
		switch {
		case a <= 1:
		case a == b:
			run = infinite
		default:
			run = max(run, (a-1+b-a-1)/(b-a))
		}
		if run <= int64(most) && run < infinite {
			l.inLo, l.inHi = satMul(int32(run), e.inLo), satMul(most, e.inHi)
		} else {
			l.inLo, l.inHi = satMul(least, e.inLo), satMul(least, e.inHi)
		}
	}
	return l.capped()
}
