package number

import "math/big"

// A node keeps N0 mod cycle, where N = N0·10^zeros and N0 does not end in 0.
// This residue and the number of zeros determine, for every divisor m of the
// cycle and every t, including t < 0, whether m divides N·10^t: 10 does not
// divide N0, so t ≥ -zeros, and 10^(zeros+t) is a whole number.

// push adds a digit other than 0 to the residue of n.
func (g *grid) push(n *node, digit uint8) {
	if g.large != nil {
		x := big.NewInt(int64(digit))
		if n.large != nil {
			p := new(big.Int).Exp(bigTen, big.NewInt(int64(n.zeros)+1), g.large.cycle)
			x.Add(x, p.Mul(p, n.large))
		}
		n.large = x.Rem(x, g.large.cycle)
		return
	}
	if g.cycle > 1 {
		n.rest = (g.scaled(n, 1, g.cycle) + uint64(digit)) % g.cycle
	}
}

// scaled returns N·10^t mod m for t ≥ -zeros.
func (g *grid) scaled(n *node, t int, m uint64) uint64 {
	if m == 1 {
		return 0
	}
	return mulMod(n.rest%m, powMod(uint64(int(n.zeros)+t), m), m)
}

// bigScaled is scaled for large numbers.
func (g *grid) bigScaled(n *node, t int, m *big.Int) *big.Int {
	x := new(big.Int).Exp(bigTen, big.NewInt(int64(n.zeros)+int64(t)), m)
	x.Mul(x, n.residue())
	return x.Rem(x, m)
}

// residue returns N0 mod cycle.
func (n *node) residue() *big.Int {
	if n.large != nil {
		return n.large
	}
	return new(big.Int).SetUint64(n.rest)
}

// allows reports whether N·10^(shift-fraction) is in g.
func (g *grid) allows(n *node, shift int) bool {
	t := shift - int(n.fraction) + g.places
	if t < -int(n.zeros) {
		return !g.stepping // finer than all divisors
	}
	if g.large != nil {
		if g.bigScaled(n, t, g.large.step).Sign() != 0 {
			return false
		}
		for _, m := range g.large.nots {
			if g.bigScaled(n, t, m).Sign() == 0 {
				return false
			}
		}
		return true
	}
	if g.stepping && g.scaled(n, t, g.step) != 0 {
		return false
	}
	for _, m := range g.nots {
		if g.scaled(n, t, m) == 0 {
			return false
		}
	}
	return true
}

// exponents returns the least and the greatest exponent with which N is in g.
// The range is empty, from > to, if there is none.
func (g *grid) exponents(n *node) (from, to int64) {
	from, to = -forever, forever
	offset := int64(n.fraction) - int64(g.places) - int64(n.zeros)
	if g.large != nil {
		if k, ok := bigTensNeeded(n.residue(), g.large.step); !ok {
			return 1, 0
		} else if g.stepping {
			from = offset + int64(k)
		}
		for _, m := range g.large.nots {
			if k, ok := bigTensNeeded(n.residue(), m); ok {
				to = min(to, offset+int64(k)-1)
			}
		}
		return from, to
	}
	if g.stepping {
		k, ok := tensNeeded(n.rest, g.step)
		if !ok {
			return 1, 0
		}
		from = offset + int64(k)
	}
	for _, m := range g.nots {
		if k, ok := tensNeeded(n.rest, m); ok {
			to = min(to, offset+int64(k)-1)
		}
	}
	return from, to
}

// tensNeeded returns the least k ≥ 0 for which m divides x·10^k.
func tensNeeded(x, m uint64) (k int, ok bool) {
	// The exponents of 2 and 5 in m are at most 64.
	for x %= m; k <= 64; k++ {
		if x == 0 {
			return k, true
		}
		x = mulMod(x, 10%m, m)
	}
	return 0, false
}

// bigTensNeeded is tensNeeded for large numbers.
func bigTensNeeded(x, m *big.Int) (k int, ok bool) {
	x = new(big.Int).Rem(x, m)
	for ; k <= m.BitLen(); k++ {
		if x.Sign() == 0 {
			return k, true
		}
		x.Mul(x, bigTen)
		x.Rem(x, m)
	}
	return 0, false
}

// keyPlain adds to k what is relevant of the residue if no exponent may follow.
// Before the last place of the grid, that is N at that place, modulo the cycle.
// From there on it is whether N is in the grid, and whether it is finer; in the
// integer part, where the next digit shifts N, also 10·N.
func (g *grid) keyPlain(n *node, k *key) {
	k.fraction = n.fraction
	t := g.places - int(n.fraction)
	if t <= 0 {
		k.fraction = int32(g.places)
		if g.allows(n, 0) {
			k.fraction++
		}
		if t < -int(n.zeros) {
			k.fraction = int32(g.places) + 2
		}
		if n.kind != kindWhole {
			return
		}
		t = 1
	}
	if g.large != nil {
		k.setRest(0, g.bigScaled(n, t, g.large.cycle))
		return
	}
	k.setRest(g.scaled(n, t, g.cycle), nil)
}

// smallCandidates are the x for which the step of a grid divides (N·10^r +
// x)·10^t.
type smallCandidates struct {
	g    *grid
	n    *node
	r, t int
}

// hopeless reports whether some other divisor divides all candidates.
func (c *smallCandidates) hopeless() bool {
	if c.t < 0 {
		return false
	}
	step := uint64(1)
	if c.g.stepping {
		step = lessTens(c.g.step, c.t)
	}
	for _, m := range c.g.nots {
		if mulMod(step%m, powMod(uint64(c.t), m), m) == 0 {
			return true
		}
	}
	return false
}

// start returns the least candidate that is not below lo, and the distance
// between candidates. If t < 0 and there is a step, where r = 0, it returns all
// x; allows then checks the rest.
func (c *smallCandidates) start(lo uint64) (x, step uint64) {
	if !c.g.stepping || c.t < 0 {
		return lo, 1
	}
	step = lessTens(c.g.step, c.t)
	if step == 1 {
		return lo, 1
	}
	rest := (c.g.scaled(c.n, c.r, step) + lo%step) % step
	return lo + (step-rest)%step, step
}

// allows reports whether a candidate is in the grid.
func (c *smallCandidates) allows(x uint64) bool {
	if c.g.stepping && c.t < 0 && !c.divides(c.g.step, x) {
		return false
	}
	for _, m := range c.g.nots {
		if c.divides(m, x) {
			return false
		}
	}
	return true
}

// divides reports whether m divides (N·10^r + x)·10^t.
func (c *smallCandidates) divides(m, x uint64) bool {
	t, r := c.t, c.r
	if t < 0 {
		// The last -t digits of N·10^r + x must be zeros.
		fine := min(-t, r)
		if fine >= len(smallPowers) {
			if x != 0 {
				return false
			}
		} else {
			p := smallPower(fine)
			if x%p != 0 {
				return false
			}
			x /= p
		}
		r -= fine
		t += fine
		if t < -int(c.n.zeros) {
			return false
		}
		return (c.g.scaled(c.n, r+t, m)+x%m)%m == 0 // t < 0 only if r = 0
	}
	v := (c.g.scaled(c.n, r, m) + x%m) % m
	return mulMod(v, powMod(uint64(t), m), m) == 0
}

// largeCandidates is smallCandidates for numbers of any size.
type largeCandidates struct {
	g    *grid
	n    *node
	r, t int
	step *big.Int
	nots []*big.Int
}

func newLargeCandidates(g *grid, n *node, r, t int) *largeCandidates {
	c := &largeCandidates{g: g, n: n, r: r, t: t}
	if g.large != nil {
		c.step, c.nots = g.large.step, g.large.nots
		return c
	}
	c.step = new(big.Int).SetUint64(max(g.step, 1))
	for _, m := range g.nots {
		c.nots = append(c.nots, new(big.Int).SetUint64(m))
	}
	return c
}

func (c *largeCandidates) hopeless() bool {
	if c.t < 0 {
		return false
	}
	step := bigOne
	if c.g.stepping {
		step = bigLessTens(c.step, c.t)
	}
	for _, m := range c.nots {
		x := new(big.Int).Exp(bigTen, big.NewInt(int64(c.t)), m)
		x.Mul(x, step)
		if x.Rem(x, m).Sign() == 0 {
			return true
		}
	}
	return false
}

func (c *largeCandidates) start(lo *big.Int) (x, step *big.Int) {
	if !c.g.stepping || c.t < 0 {
		return lo, bigOne
	}
	step = bigLessTens(c.step, c.t)
	rest := c.g.bigScaled(c.n, c.r, step)
	rest.Add(rest, lo)
	rest.Neg(rest)
	rest.Mod(rest, step) // not negative
	return rest.Add(rest, lo), step
}

func (c *largeCandidates) allows(x *big.Int) bool {
	if c.g.stepping && c.t < 0 && !c.divides(c.step, x) {
		return false
	}
	for _, m := range c.nots {
		if c.divides(m, x) {
			return false
		}
	}
	return true
}

func (c *largeCandidates) divides(m, x *big.Int) bool {
	t, r := c.t, c.r
	x = new(big.Int).Set(x)
	if t < 0 {
		fine := min(-t, r)
		rest := new(big.Int)
		if x.QuoRem(x, bigPower(fine), rest); rest.Sign() != 0 {
			return false
		}
		r -= fine
		t += fine
		if t < -int(c.n.zeros) {
			return false
		}
		r, t = r+t, 0
	}
	x.Add(x, c.g.bigScaled(c.n, r, m))
	p := new(big.Int).Exp(bigTen, big.NewInt(int64(t)), m)
	x.Mul(x, p)
	return x.Rem(x, m).Sign() == 0
}
