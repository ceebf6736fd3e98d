package number

import (
	"math"
	"math/big"
	"slices"
)

// A window is the set of values whose digits begin with N, with one position of
// the decimal point: for a shift s and a number r of further digits
//
//	(N·10^r + x)·10^(s-fraction-r),  0 ≤ x < 10^r
//
// A node is live if one of a range of windows holds a suitable value. Most
// windows lie between the bounds. At most two are cut by a bound: those where
// the digits so far are the bound's digits, so that the bound's further digits
// are bounds for x.

// unlimited, as the number of further digits, stands for any number.
const unlimited = -1

// reach reports whether a window with a shift from least to most holds a
// suitable value, where left is the number of digits that may follow. In a
// spelling without fractions, these are used up by the shift.
func (a *problem) reach(n *node, least, most, left int) bool {
	s := &a.sides[n.side]
	if c := s.lowCut(n); c.kind != cutNone {
		least = max(least, int(c.shift))
	}
	if c := s.highCut(n); c.kind != cutNone {
		most = min(most, int(c.shift))
	}
	if least > most {
		return false
	}
	plain := a.grid == nil && n.from == n.to
	if plain && most-least >= 2 {
		return true // a window in between is whole
	}
	if left == unlimited {
		if most == math.MaxInt32 {
			return true // far from 0, windows are as wide as needed
		}
		if a.grid != nil && a.grid.stepping {
			least = max(least, a.grid.place-n.place())
		} else if least == math.MinInt32 {
			return true // close to 0, windows lie between the multiples
		}
	}
	for shift := most; shift >= least; shift-- {
		a.work.spend(1)
		if a.windowMeets(n, shift, a.further(shift, left)) {
			return true
		}
	}
	return false
}

// further returns the number of digits that may follow N in the window at
// shift, if left may follow in all.
func (a *problem) further(shift, left int) int {
	switch {
	case !a.fractions && left == unlimited:
		left = shift
	case left == unlimited:
		return unlimited
	case !a.fractions:
		left = min(left, shift)
	}
	return max(left, 0)
}

// windowMeets reports whether the window of n at shift, with r further digits,
// holds a suitable value. The bounds must allow the shift.
func (a *problem) windowMeets(n *node, shift, r int) bool {
	s := &a.sides[n.side]
	var lowCut, highCut, atHigh bool
	if c := s.lowCut(n); c.kind == cutTight {
		lowCut = int(c.shift) == shift
	}
	if c := s.highCut(n); c.kind == cutTight {
		highCut = int(c.shift) == shift
		atHigh = highCut && int(n.digits) >= len(s.high.digits)
	}
	if atHigh && s.high.open {
		return false // the window starts at the bound
	}
	if r == unlimited && (a.grid == nil || !a.grid.stepping) {
		return !atHigh || s.highAllowed
	}
	if a.grid == nil && n.from == n.to {
		switch {
		case !lowCut:
			return true // x = 0 is suitable
		case !highCut:
			return !onlyNines(s.low, int(n.digits), r)
		}
	}
	_, ok := a.find(n, shift, r, lowCut, highCut)
	return ok
}

// onlyNines reports whether every x of r digits leaves the value below b, or at
// it if b is open, if the digits so far are the first i digits of b.
func onlyNines(b *bound, i, r int) bool {
	for ; r > 0; i, r = i+1, r-1 {
		if digitAt(b.digits, i) != '9' {
			return false
		}
	}
	return i < len(b.digits) || b.open
}

// find returns the least x in the window of n at shift, with r further digits,
// that makes a suitable value.
func (a *problem) find(n *node, shift, r int, lowCut, highCut bool) (x natural, ok bool) {
	s := &a.sides[n.side]
	w := window{r: r}
	if lowCut {
		w.low, w.lowOpen = s.low.digits[min(int(n.digits), len(s.low.digits)):], s.low.open
		w.lowCut = true
	}
	if highCut {
		w.high, w.highOpen = s.high.digits[min(int(n.digits), len(s.high.digits)):], s.high.open
		w.highCut = true
	}
	place := n.place() + shift
	a.work.spend(1 + int(n.to-n.from))
	for _, v := range s.values[n.from:n.to] {
		if v.pos == place {
			w.banned = append(w.banned, v.digits[min(int(n.digits), len(v.digits)):])
		}
	}
	if a.grid == nil {
		return w.find(freeGrid, n, 0, &a.work)
	}
	t := shift - int(n.fraction) + a.grid.places
	if r == unlimited {
		w.r = max(0, t)
	}
	return w.find(a.grid, n, t-w.r, &a.work)
}

// A window in terms of x: the range of x, and the excluded values of x. Bounds
// and values are given as the digits that follow N.
type window struct {
	r                 int
	low, high         string
	lowCut, highCut   bool
	lowOpen, highOpen bool
	banned            []string
}

// find returns the least x for which (N·10^r + x)·10^t is in g.
//
// For a grid of multiples with t < 0, the digits of x that are finer than the
// grid are zeros, and so is the end of N if x has fewer digits.
func (w *window) find(g *grid, n *node, t int, work *work) (natural, bool) {
	tail := 0 // zeros at the end of x
	if g.stepping && t < 0 {
		tail = min(-t, w.r)
		w.r -= tail
		t += tail
		if t < 0 && int(n.zeros) < -t {
			return natural{}, false
		}
	}
	x, known, ok := w.findSmall(g, n, t, work)
	if !known {
		x, ok = w.findLarge(g, n, t, work)
	}
	if ok && tail > 0 {
		x = x.timesPowerOfTen(tail)
	}
	return x, ok
}

// smallDigits is the number of digits of x up to which findSmall is exact.
const smallDigits = 18

// findSmall is find for numbers of one machine word. known is false if they are
// larger.
func (w *window) findSmall(g *grid, n *node, t int, work *work) (_ natural, known, ok bool) {
	if g.large != nil {
		return natural{}, false, false
	}
	digits, exact := w.r, true
	if w.r > smallDigits {
		if w.lowCut || w.highCut || len(w.banned) > 0 {
			return natural{}, false, false
		}
		digits, exact = smallDigits, false // try an x with leading zeros
	}
	lo, hi := uint64(0), smallPower(digits)-1
	if w.lowCut {
		v, more := smallPrefix(w.low, digits)
		if lo = v; more || w.lowOpen {
			lo++
		}
	}
	if w.highCut {
		v, more := smallPrefix(w.high, digits)
		hi = v
		if !more && w.highOpen {
			if hi == 0 {
				return natural{}, true, false
			}
			hi--
		}
	}
	banned := make([]uint64, 0, 4)
	for _, b := range w.banned {
		if v, more := smallPrefix(b, digits); !more {
			banned = append(banned, v)
		}
	}
	slices.Sort(banned)
	c := smallCandidates{g: g, n: n, r: w.r, t: t}
	if c.hopeless() {
		return natural{}, true, false
	}
	x, step := c.start(lo)
	weight := g.weight()
	for tries := g.gap(len(banned)); tries > 0 && x <= hi; tries-- {
		work.spend(weight)
		if c.allows(x) {
			if _, found := slices.BinarySearch(banned, x); !found {
				return natural{small: x}, true, true
			}
		}
		x += step
	}
	// Of that many consecutive candidates, at least one is allowed if any is.
	return natural{}, exact, false
}

// smallPrefix returns the first n digits of s as a number, and whether digits
// other than 0 follow; s has no trailing zeros.
func smallPrefix(s string, n int) (v uint64, more bool) {
	for i := range n {
		v = v*10 + uint64(digitAt(s, i)-'0')
	}
	return v, len(s) > n
}

// findLarge is find for numbers of any size.
func (w *window) findLarge(g *grid, n *node, t int, work *work) (natural, bool) {
	lo := new(big.Int)
	hi := bigPower(w.r)
	hi.Sub(hi, bigOne)
	if w.lowCut {
		more := false
		if lo, more = bigPrefix(w.low, w.r); more || w.lowOpen {
			lo.Add(lo, bigOne)
		}
	}
	if w.highCut {
		more := false
		if hi, more = bigPrefix(w.high, w.r); !more && w.highOpen {
			hi.Sub(hi, bigOne)
		}
	}
	work.spend(8 * len(w.banned))
	var banned []*big.Int
	for _, b := range w.banned {
		if v, more := bigPrefix(b, w.r); !more {
			banned = append(banned, v)
		}
	}
	slices.SortFunc(banned, (*big.Int).Cmp)
	c := newLargeCandidates(g, n, w.r, t)
	if c.hopeless() {
		return natural{}, false
	}
	x, step := c.start(lo)
	weight := max(long, g.weight())
	for tries := g.gap(len(banned)); tries > 0 && x.Cmp(hi) <= 0; tries-- {
		work.spend(weight)
		if c.allows(x) {
			if _, found := slices.BinarySearchFunc(banned, x, (*big.Int).Cmp); !found {
				return natural{large: x}, true
			}
		}
		x = new(big.Int).Add(x, step)
	}
	return natural{}, false
}

// bigPrefix is smallPrefix for numbers of any size.
func bigPrefix(s string, n int) (v *big.Int, more bool) {
	v = new(big.Int)
	if k := min(n, len(s)); k > 0 {
		v.SetString(s[:k], 10)
		v.Mul(v, bigPower(n-k))
	}
	return v, len(s) > n
}
