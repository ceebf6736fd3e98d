package number

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A problem is a Spec in the form that automata work with: one side for each
// sign, which deals with magnitudes only.
type problem struct {
	spec     Spec
	spelling Spelling
	sides    [2]side // not negative, negative
	grid     *grid   // nil: no demands

	any        bool // AnySpelling
	listed     bool // the values of the sides are the only ones; else they are banned
	mirrored   bool // the sides differ at most in zero
	positional bool // the position of the decimal point is relevant

	fractions  bool // a decimal point may be written
	scientific bool // an exponent may be written; in a canonical spelling, as mayScale says

	// For canonical spellings.
	digits int // significant digits

	work work
}

// A side is the part of a problem for values of one sign.
type side struct {
	zero        bool   // 0 may be written with this sign
	some        bool   // there are values other than 0
	low, high   *bound // of values other than 0
	highAllowed bool   // high is itself a suitable value
	values      []Decimal
	longest     int // digits of the longest value

	// For canonical spellings.
	whole          int // digits of the integer part
	zeros          int // zeros between the point and the first digit
	expMin, expMax int
}

// A bound is a magnitude, 0.digits·10^place; open if it is itself excluded.
type bound struct {
	digits string
	place  int
	open   bool
}

func (b *bound) decimal() Decimal { return Decimal{digits: b.digits, pos: b.place} }

func newBound(d Decimal, open bool) *bound { return &bound{d.digits, d.pos, open} }

// canonicalDigits is enough to distinguish any two float64 numbers.
const canonicalDigits = 17

const unbounded = math.MaxInt32

// setValues computes the sides of a Spec that lists its values.
func (p *problem) setValues(list []Decimal, limits Limits) error {
	notIn := distinct(p.spec.NotIn)
	for _, d := range distinct(list) {
		p.work.spend(p.spec.weight(d))
		if _, found := slices.BinarySearchFunc(notIn, d, Decimal.Cmp); found || !p.spec.containsButIn(d) {
			continue
		}
		if p.spec.Plain && d.pos > limits.Digits {
			return &LimitError{Limit: "digits of an integer", Max: limits.Digits}
		}
		switch d.Sign() {
		case 0:
			p.sides[0].zero, p.sides[1].zero = true, true
		case 1:
			p.sides[0].addValue(d)
		case -1:
			p.sides[1].addValue(d)
		}
	}
	p.listed = true
	for i := range p.sides {
		s := &p.sides[i]
		s.sortValues()
		s.some = len(s.values) > 0
		s.whole, s.zeros = unbounded, unbounded
	}
	if !p.sides[0].zero && !p.sides[0].some && !p.sides[1].some {
		return &EmptyError{Reason: "none of the listed values satisfies the rest"}
	}
	return nil
}

// distinct returns the list in ascending order without duplicates.
func distinct(list []Decimal) []Decimal {
	if len(list) < 2 {
		return list
	}
	list = slices.Clone(list)
	slices.SortFunc(list, Decimal.Cmp)
	return slices.CompactFunc(list, func(a, b Decimal) bool { return a.Cmp(b) == 0 })
}

func (s *side) addValue(d Decimal) {
	s.values = append(s.values, d.abs())
	s.longest = max(s.longest, len(d.digits))
}

// sortValues orders the values by their digits, regardless of the decimal
// point.
func (s *side) sortValues() { slices.SortFunc(s.values, compareDigits) }

func compareDigits(a, b Decimal) int {
	if c := strings.Compare(a.digits, b.digits); c != 0 {
		return c
	}
	return cmp.Compare(a.pos, b.pos)
}

// contains reports whether a value is in the Spec.
func (p *problem) contains(d Decimal) bool {
	if d.IsZero() {
		return p.sides[0].zero
	}
	s := &p.sides[0]
	if d.neg {
		s = &p.sides[1]
	}
	_, found := slices.BinarySearchFunc(s.values, d, compareDigits)
	if p.listed {
		return found
	}
	return !found && p.spec.containsButIn(d)
}

// setRanges computes the sides of a Spec that does not list its values.
func (p *problem) setRanges(limits Limits) error {
	for _, d := range distinct(p.spec.NotIn) {
		p.work.spend(p.spec.weight(d))
		if d.Sign() == 0 || !p.spec.containsButIn(d) {
			continue
		}
		i := 0
		if d.neg {
			i = 1
		}
		p.sides[i].addValue(d)
	}
	zero := p.spec.containsButIn(Decimal{}) && !slices.ContainsFunc(p.spec.NotIn, Decimal.IsZero)
	p.sides[0].zero = zero
	p.sides[1].zero = zero && p.any // "-0" is not generated
	for i := range p.sides {
		p.sides[i].sortValues()
		if err := p.setRange(i == 1, limits); err != nil {
			return err
		}
	}
	if !zero && !p.sides[0].some && !p.sides[1].some {
		return &EmptyError{Reason: p.emptyReason()}
	}
	return nil
}

// setRange sets the bounds of one side, and whether it has values.
func (p *problem) setRange(negative bool, limits Limits) error {
	low, high := p.spec.Min, p.spec.Max
	lowOpen, highOpen := p.spec.MinExclusive, p.spec.MaxExclusive
	s := &p.sides[0]
	if negative {
		s = &p.sides[1]
		low, high, lowOpen, highOpen = opposite(high), opposite(low), highOpen, lowOpen
	}
	if high != nil && high.Sign() <= 0 {
		return nil
	}
	if low != nil && low.Sign() <= 0 {
		low = nil
	}
	if !p.any {
		ok := false
		if low, lowOpen, high, highOpen, ok = p.distinguishable(low, lowOpen, high, highOpen); !ok {
			return nil
		}
	}
	if g := p.grid; g != nil && g.stepping {
		for _, b := range []*Decimal{low, high} {
			if b != nil && max(b.pos, 0)+max(b.places(), g.places) > limits.Digits {
				return &LimitError{Limit: "digits between a bound and a divisor", Max: limits.Digits}
			}
		}
		if low != nil {
			d := g.round(*low, true, lowOpen)
			low, lowOpen = &d, false
			if d.Cmp(g.unit) == 0 {
				low = nil // no multiple is below it anyway
			}
		}
		if high != nil {
			d := g.round(*high, false, highOpen)
			high, highOpen = &d, false
			if d.IsZero() {
				return nil
			}
		}
	}
	if low != nil && high != nil {
		if c := low.Cmp(*high); c > 0 || c == 0 && (lowOpen || highOpen) {
			return nil
		}
	}
	if low != nil {
		s.low = newBound(*low, lowOpen)
	}
	if high != nil {
		s.high = newBound(*high, highOpen)
		s.highAllowed = !highOpen && p.contains(signed(high.abs(), negative))
	}
	s.some = p.hasValues(s, negative)
	return nil
}

func opposite(d *Decimal) *Decimal {
	if d == nil {
		return nil
	}
	e := *d
	e.neg = !e.neg && !e.IsZero()
	return &e
}

// signed returns the value with a magnitude and a sign.
func signed(magnitude Decimal, negative bool) Decimal {
	magnitude.neg = negative && !magnitude.IsZero()
	return magnitude
}

// hasValues reports whether there is a value between the bounds of s.
func (p *problem) hasValues(s *side, negative bool) bool {
	g := p.grid
	switch {
	case s.high == nil:
		return true
	case g != nil && g.stepping:
		v := g.unit
		if s.low != nil {
			v = s.low.decimal()
		}
		k := g.multiple(v)
		for tries := g.gap(len(s.values)); tries > 0 && v.Cmp(s.high.decimal()) <= 0; tries-- {
			if p.work.spend(p.spec.weight(v)); p.contains(signed(v, negative)) {
				return true
			}
			v = g.times(k.Add(k, bigOne))
		}
		return false
	case s.low != nil && s.low.decimal().Cmp(s.high.decimal()) == 0:
		return s.highAllowed
	}
	return true
}

// brief returns the spelling of d for messages.
func (d Decimal) brief() string {
	const most = 40
	if s := d.String(); len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d digits)", d.String()[:most], len(d.digits))
}

func (p *problem) emptyReason() string {
	s := &p.spec
	var parts []string
	if s.Integer {
		parts = append(parts, "whole")
	}
	if s.NotInteger {
		parts = append(parts, "not whole")
	}
	for _, m := range s.MultipleOf {
		parts = append(parts, "a multiple of "+m.brief())
	}
	for _, m := range s.NotMultipleOf {
		parts = append(parts, "not a multiple of "+m.brief())
	}
	relation := func(b *Decimal, open bool, closed, strict string) {
		if b == nil {
			return
		}
		if open {
			closed = strict
		}
		parts = append(parts, closed+" "+b.brief())
	}
	relation(s.Min, s.MinExclusive, "at least", "above")
	relation(s.Max, s.MaxExclusive, "at most", "below")
	if n := len(s.NotIn); n > 0 {
		parts = append(parts, "none of "+strconv.Itoa(n)+" excluded values")
	}
	if len(parts) > 10 {
		parts = append(parts[:9], "…")
	}
	return "there is none that is " + strings.Join(parts, ", ")
}

// distinguishable moves open bounds of magnitudes inwards, to the shortest
// spelling of the next float64: values in between may be read as the bound
// itself. ok is false if no values are left.
func (p *problem) distinguishable(low *Decimal, lowOpen bool, high *Decimal, highOpen bool) (
	*Decimal, bool, *Decimal, bool, bool) {
	if low != nil && lowOpen && !p.exactBelow(*low) {
		f := low.float()
		if f = math.Nextafter(f, math.Inf(1)); math.IsInf(f, 1) {
			return nil, false, nil, false, false
		}
		low, lowOpen = fromFloat(f), false
	}
	if high != nil && highOpen && !p.exactBelow(*high) {
		if f := high.float(); !math.IsInf(f, 1) {
			if f = math.Nextafter(f, 0); f == 0 {
				return nil, false, nil, false, false
			}
			high, highOpen = fromFloat(f), false
		}
	}
	return low, lowOpen, high, highOpen, true
}

// exactBelow reports whether all values up to d are exact as float64: whole
// numbers up to 2^53.
func (p *problem) exactBelow(d Decimal) bool { return p.spec.Integer && d.pos <= 15 }

// float returns the float64 nearest to d, which is infinite if d is too large.
func (d Decimal) float() float64 {
	b := append(make([]byte, 0, 32), "0."...)
	f, _ := strconv.ParseFloat(string(d.appendKey(b)), 64) // d > 0
	return f
}

func fromFloat(f float64) *Decimal {
	d, _ := Parse(strconv.FormatFloat(f, 'g', -1, 64)) // always well formed
	return &d
}

// setCanonical sets the limits of canonical spellings.
func (p *problem) setCanonical() {
	p.fractions = p.grid == nil || !p.grid.stepping || !p.grid.unit.IsInteger()
	p.scientific = p.grid == nil
	p.digits = canonicalDigits
	for i := range p.sides {
		s := &p.sides[i]
		s.whole, s.zeros = canonicalDigits, canonicalDigits
		s.expMin, s.expMax = -307, 307
		if !p.scientific {
			p.setPlain(s)
		}
		if s.low != nil && s.low.place > 308 {
			// Only the last decade of float64 is left.
			if !p.scientific {
				s.whole = 309
			}
			s.expMax = 308
			limit := fromFloat(math.MaxFloat64)
			if g := p.grid; g != nil && g.stepping {
				*limit = g.round(*limit, false, false)
			}
			if s.high == nil || s.high.decimal().Cmp(*limit) > 0 {
				s.high, s.highAllowed = newBound(*limit, false), false
			}
		}
	}
	if p.grid != nil && p.grid.whole() {
		p.grid = nil // only whole numbers can be written
	}
}

// setPlain increases the limits for values that can only be written without an
// exponent.
func (p *problem) setPlain(s *side) {
	if s.low != nil {
		s.whole = max(s.whole, s.low.place+1)
	}
	if s.high != nil {
		s.whole = max(s.whole, s.high.place)
		s.zeros = max(s.zeros, canonicalDigits-s.high.place)
	}
	if g := p.grid; g != nil {
		s.whole = max(s.whole, g.place+1)
		s.zeros = max(s.zeros, g.places)
	}
	s.whole, s.zeros = min(s.whole, 308), min(s.zeros, 306)
}

// setSymmetry determines which differences states can ignore.
func (p *problem) setSymmetry() {
	s, t := &p.sides[0], &p.sides[1]
	p.mirrored = s.some == t.some && equalBounds(s.low, t.low) && equalBounds(s.high, t.high) &&
		s.whole == t.whole && s.zeros == t.zeros && s.expMax == t.expMax &&
		slices.EqualFunc(s.values, t.values, func(a, b Decimal) bool { return a.Cmp(b) == 0 })
	p.positional = p.grid != nil || p.listed
	for i := range p.sides {
		s := &p.sides[i]
		if s.low != nil || s.high != nil || len(s.values) > 0 {
			p.positional = true
		}
	}
}

func equalBounds(a, b *bound) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// key returns a text that is the same for equal problems only.
func (p *problem) key() string {
	b := []byte(p.spelling.String())
	if g := p.grid; g != nil {
		b = append(b, "; grid"...)
		for _, m := range g.divisorList() {
			b = append(b, ' ')
			b = m.Append(b, 10)
		}
		b = append(b, 'e', '-')
		b = strconv.AppendInt(b, int64(g.places), 10)
	}
	if !p.fractions {
		b = append(b, "; whole"...)
	}
	if p.spec.NotPlain {
		b = append(b, "; with a fraction or an exponent"...)
	}
	if p.listed {
		b = append(b, "; listed"...)
	}
	for i := range p.sides {
		s := &p.sides[i]
		b = append(b, ";"...)
		if s.zero {
			b = append(b, " 0"...)
		}
		if !s.some {
			continue
		}
		b = s.low.appendKey(append(b, " from "...), '(')
		b = s.high.appendKey(append(b, " to "...), ')')
		for _, v := range s.values {
			b = v.appendKey(append(b, ' '))
		}
	}
	return string(b)
}

func (b *bound) appendKey(text []byte, open byte) []byte {
	if b == nil {
		return append(text, '-')
	}
	if b.open {
		text = append(text, open)
	}
	return b.decimal().appendKey(text)
}
