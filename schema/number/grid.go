package number

import (
	"math/big"
	"slices"
)

// A grid is the demand of MultipleOf, NotMultipleOf, Integer and NotInteger on
// a value, scaled by a power of ten to whole numbers: the value is
// v·10^-places, where step divides v, and none of nots does.
//
// Numbers of one machine word are in divisors, others in large. cycle, a common
// multiple of all the others, decides which.
type grid struct {
	places   int
	stepping bool         // there is a step
	unit     Decimal      // the least positive multiple, step·10^-places
	place    int          // of its decimal point, relative to its digits
	divisors              // of small numbers
	large    *bigDivisors // if cycle is not small
}

type divisors struct {
	step  uint64
	nots  []uint64
	cycle uint64
}

type bigDivisors struct {
	step  *big.Int
	nots  []*big.Int
	cycle *big.Int
}

// freeGrid demands nothing.
var freeGrid = &grid{}

// maxNots bounds the work of finding a value that is not a multiple of any of
// the divisors: of 2^n consecutive numbers, at least one has no divisor among n
// divisors greater than 1 (Kanold's bound on Jacobsthal's function).
const maxNots = 12

// maxCycle keeps sums of residues and digits within a machine word.
const maxCycle = 1 << 62

var one = Decimal{digits: "1", pos: 1}

// wholeGrid is the grid of whole numbers.
var wholeGrid = &grid{stepping: true, place: 1, unit: one, divisors: divisors{step: 1, cycle: 1}}

// newGrid returns the grid of s, or nil if s has no such demand.
func newGrid(s *Spec, limits Limits, work *work) (*grid, error) {
	if n := len(s.MultipleOf) + len(s.NotMultipleOf); n == 0 && !s.NotInteger {
		if s.Integer {
			return wholeGrid, nil
		}
		return nil, nil
	}
	steps := slices.Clone(s.MultipleOf)
	if s.Integer {
		steps = append(steps, one)
	}
	nots := slices.Clone(s.NotMultipleOf)
	if s.NotInteger {
		nots = append(nots, one)
	}
	nots = leastDivisors(nots, work)
	if len(nots) > maxNots {
		return nil, &LimitError{Limit: "divisors in NotMultipleOf", Max: maxNots}
	}

	g := &grid{stepping: len(steps) > 0}
	high := 0
	for _, list := range [][]Decimal{steps, nots} {
		for _, d := range list {
			g.places = max(g.places, d.places())
			high = max(high, d.pos)
		}
	}
	if g.places+high > limits.Digits {
		return nil, &LimitError{Limit: "digits between divisors", Max: limits.Digits}
	}
	work.spend(len(steps))
	if !g.setSmall(steps, nots) {
		work.spend(8 * len(steps))
		if err := g.setLarge(steps, nots, limits); err != nil {
			return nil, err
		}
	}
	if g.stepping {
		g.unit = fromBig(g.bigStep(), -g.places)
		g.place = g.unit.pos
	}
	return g, nil
}

// leastDivisors drops repeated divisors and multiples of other divisors: a
// number that is not a multiple of a divisor is not a multiple of its multiples
// either.
func leastDivisors(list []Decimal, work *work) []Decimal {
	slices.SortFunc(list, Decimal.Cmp)
	var kept []Decimal
	for _, d := range list {
		work.spend(1 + len(kept))
		if !slices.ContainsFunc(kept, d.IsMultipleOf) {
			kept = append(kept, d)
		}
	}
	return kept
}

// setSmall sets g from divisors, if all numbers are small.
func (g *grid) setSmall(steps, nots []Decimal) bool {
	cycle := uint64(1)
	scale := func(d Decimal) (uint64, bool) {
		c, ok := d.coefficient()
		zeros := d.exp() + g.places
		if !ok || zeros > 18 || c > (maxCycle-1)/smallPower(zeros) {
			return 0, false
		}
		return c * smallPower(zeros), true
	}
	common := func(a, b uint64) (uint64, bool) {
		b /= gcd(a, b)
		return a * b, a <= (maxCycle-1)/b
	}
	for _, d := range steps {
		m, ok := scale(d)
		if ok {
			cycle, ok = common(cycle, m)
		}
		if !ok {
			return false
		}
	}
	g.divisors = divisors{step: cycle}
	for _, d := range nots {
		m, ok := scale(d)
		if ok {
			cycle, ok = common(cycle, m)
		}
		if !ok {
			return false
		}
		g.nots = append(g.nots, m)
	}
	g.cycle = cycle
	g.reduce()
	return true
}

// reduce drops places that no divisor needs, such as those of 0.5 and 0.2 in
// conjunction, whose multiples are those of 1.
func (g *grid) reduce() {
	for g.places > 0 && g.step%10 == 0 {
		for _, m := range g.nots {
			if m%10 != 0 {
				return
			}
		}
		for i := range g.nots {
			g.nots[i] /= 10
		}
		g.step /= 10
		g.cycle /= 10
		g.places--
	}
}

// setLarge sets g from divisors of any size.
func (g *grid) setLarge(steps, nots []Decimal, limits Limits) error {
	cycle := big.NewInt(1)
	most := limits.Digits / 3
	tooLarge := func() bool { return cycle.BitLen() > most*10/3 }
	scale := func(d Decimal) *big.Int {
		m := d.bigCoefficient()
		return m.Mul(m, bigPower(d.exp()+g.places))
	}
	common := func(m *big.Int) {
		x := new(big.Int).GCD(nil, nil, cycle, m)
		cycle.Mul(cycle, x.Quo(m, x))
	}
	for _, d := range steps {
		if common(scale(d)); tooLarge() {
			return &LimitError{Limit: "digits of a common multiple", Max: most}
		}
	}
	g.divisors = divisors{}
	g.large = &bigDivisors{step: new(big.Int).Set(cycle), cycle: cycle}
	for _, d := range nots {
		m := scale(d)
		g.large.nots = append(g.large.nots, m)
		if common(m); tooLarge() {
			return &LimitError{Limit: "digits of a common multiple", Max: most}
		}
	}
	return nil
}

func (g *grid) largeStep() *big.Int {
	if g.large == nil {
		return nil
	}
	return g.large.step
}

// whole reports whether g demands whole numbers and nothing else.
func (g *grid) whole() bool {
	return g.stepping && g.places == 0 && g.cycle == 1 && g.large == nil
}

// contradictory reports whether every multiple of the step is excluded.
func (g *grid) contradictory() bool {
	if !g.stepping {
		return false
	}
	if g.large != nil {
		return slices.ContainsFunc(g.large.nots, func(m *big.Int) bool {
			return new(big.Int).Rem(g.large.step, m).Sign() == 0
		})
	}
	return slices.ContainsFunc(g.nots, func(m uint64) bool { return g.step%m == 0 })
}

// round returns the multiple of the step nearest to d > 0: the greatest that is
// not above it or, with up, the least that is not below it; strictly so if
// open.
func (g *grid) round(d Decimal, up, open bool) Decimal {
	if g.whole() && d.IsInteger() && !open {
		return d
	}
	step := g.bigStep()
	n := d.bigCoefficient()
	if e := d.exp() + g.places; e >= 0 {
		n.Mul(n, bigPower(e))
	} else {
		step.Mul(step, bigPower(-e))
	}
	k, rest := new(big.Int), new(big.Int)
	k.QuoRem(n, step, rest)
	switch {
	case up && (rest.Sign() > 0 || open):
		k.Add(k, bigOne)
	case !up && rest.Sign() == 0 && open:
		k.Sub(k, bigOne)
	}
	return g.times(k)
}

// gap returns a number of consecutive candidates of which at least one is
// allowed, if any is, when the given number of values are banned.
func (g *grid) gap(banned int) int {
	n := len(g.nots)
	if g.large != nil {
		n = len(g.large.nots)
	}
	return (banned + 1) << n
}

// divisorList returns the step, or 0 without one, and the other divisors.
func (g *grid) divisorList() []*big.Int {
	if g.large != nil {
		if !g.stepping {
			return append([]*big.Int{{}}, g.large.nots...)
		}
		return append([]*big.Int{g.large.step}, g.large.nots...)
	}
	list := []*big.Int{{}}
	if g.stepping {
		list[0].SetUint64(g.step)
	}
	for _, m := range g.nots {
		list = append(list, new(big.Int).SetUint64(m))
	}
	return list
}

// bigStep returns the step as a big.Int that the caller may modify.
func (g *grid) bigStep() *big.Int {
	return natural{small: g.step, large: g.largeStep()}.big()
}

// times returns k times the unit.
func (g *grid) times(k *big.Int) Decimal {
	n := g.bigStep()
	return fromBig(n.Mul(n, k), -g.places)
}

// multiple returns the quotient of d, a multiple of the unit, and the unit.
func (g *grid) multiple(d Decimal) *big.Int {
	n := d.bigCoefficient()
	n.Mul(n, bigPower(d.exp()+g.places))
	return n.Quo(n, g.bigStep())
}
