package number

import (
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
)

// Shortest returns a shortest text that leads from q to an accepting state. The caller
// owns it. For Dead it is nil. If divisors have dozens of digits, the search may end
// early, with a text that is not the shortest.
func (a *Automaton) Shortest(q State) []byte {
	if q < 0 {
		return nil
	}
	if a.trie {
		return a.shortestBranch(q)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	text, ok := a.shortest[q]
	if !ok {
		c := completion{a: a, length: math.MaxInt32}
		c.search(q)
		text = c.text
		if a.shortest == nil {
			a.shortest = make(map[State]string)
		}
		a.shortest[q] = text
	}
	return []byte(text)
}

// A completion is the shortest text found so far.
type completion struct {
	a      *Automaton
	length int // of text
	text   string
	tries  int // windows visited
}

// maxTries is far more than a search for divisors of a few digits takes.
const maxTries = 5000

// enough reports whether the search may end.
func (c *completion) enough() bool { return c.tries > maxTries && c.length < math.MaxInt32 }

func (c *completion) offer(text string) {
	if len(text) < c.length {
		c.length, c.text = len(text), text
	}
}

// search finds the shortest completion of a state, or the shortest found before it
// exceeded the limit of work.
func (c *completion) search(q State) {
	c.a.begin()
	defer c.a.tooMuch(func(err *LimitError) {
		if c.length == math.MaxInt32 {
			c.a.err.Store(err)
		}
	})
	c.from(&c.a.nodes[q], "")
}

// from offers the shortest completion of n after a prefix.
func (c *completion) from(n *node, prefix string) {
	a := c.a
	switch {
	case len(prefix) >= c.length:
	case a.accepts(n):
		c.offer(prefix)
	case n.kind >= kindExponent:
		c.offer(prefix + a.shortestExponent(n))
	case n.digits > 0:
		c.mantissa(n, prefix)
	case n.kind == kindStart || n.kind == kindMinus:
		c.side(n.side, prefix)
		if n.kind == kindStart {
			c.side(1, prefix+"-")
		}
	case n.kind == kindZero:
		if a.spec.NotPlain && a.sides[n.side].zero {
			c.offer(prefix + "e0")
		}
		if a.fractions {
			c.leadingZeros(&node{kind: kindPoint, side: n.side}, prefix+".")
		}
	default:
		if n.kind == kindPoint && a.sides[n.side].zero {
			c.offer(prefix + "0")
		}
		c.leadingZeros(n, prefix)
	}
}

// side offers the completions of a sign.
func (c *completion) side(side uint8, prefix string) {
	if c.a.sides[side].zero && !c.a.spec.NotPlain {
		c.offer(prefix + "0")
	}
	for d := uint8(1); d <= 9; d++ {
		c.digit(c.a.first(side, d), prefix, d)
	}
	c.from(&node{kind: kindZero, side: side}, prefix+"0")
}

// digit offers the completions of n, whose last digit is the given one.
func (c *completion) digit(n node, prefix string, digit uint8) {
	if len(prefix)+1 < c.length && !c.enough() && c.a.live(&n) {
		c.from(&n, prefix+byteOf[digit:digit+1])
	}
}

// leadingZeros offers the completions of a fraction whose digits so far are all 0.
func (c *completion) leadingZeros(n *node, prefix string) {
	s := &c.a.sides[n.side]
	if !s.some {
		return
	}
	most := s.zeros
	if c.a.any {
		// An exponent shifts the digits as far with fewer bytes, at most these.
		most = int(n.fraction) + len("e-1000000000")
	}
	for f := int(n.fraction); f <= most && len(prefix)+1 < c.length; f++ {
		for d := uint8(1); d <= 9; d++ {
			m := c.a.first(n.side, d)
			m.kind, m.fraction = kindFraction, int32(f+1)
			c.digit(m, prefix, d)
		}
		prefix += "0"
	}
}

// mantissa offers the completions of n, which has a digit other than 0. They
// consist of r digits, a shift of the decimal point, and the spelling of both.
func (c *completion) mantissa(n *node, prefix string) {
	a := c.a
	s := &a.sides[n.side]
	if a.listed {
		for _, v := range s.values[n.from:n.to] {
			digits := v.digits[min(int(n.digits), len(v.digits)):]
			if text, ok := a.spell(n, digits, v.pos-n.place()); ok {
				c.offer(prefix + text)
			}
		}
		return
	}
	least, most := -unbounded, unbounded
	var low, high cut
	if low = s.lowCut(n); low.kind != cutNone {
		least = int(low.shift)
	}
	if high = s.highCut(n); high.kind != cutNone {
		most = int(high.shift)
	}
	// Beyond far, windows are alike, except for those of listed values, which exclude a
	// few.
	near := max(0, least, -most)
	far := near + int(n.zeros+n.fraction) + len(s.values) + s.boundDigits() + 3
	if a.grid != nil {
		far += a.grid.places + a.grid.tens() + a.grid.span()
	}
	for k := near; k <= far && !c.enough(); k++ {
		for _, shift := range []int{k, -k} {
			a.work.spend(1)
			if shift < least || shift > most || !c.cheaper(n, prefix, 0, shift) {
				continue
			}
			lowCut := low.kind == cutTight && int(low.shift) == shift
			highCut := high.kind == cutTight && int(high.shift) == shift
			c.window(n, prefix, shift, lowCut, highCut)
		}
	}
}

// boundDigits returns the number of digits of the longest bound.
func (s *side) boundDigits() (n int) {
	if s.low != nil {
		n = len(s.low.digits)
	}
	if s.high != nil {
		n = max(n, len(s.high.digits))
	}
	return n
}

// cheaper reports whether r further digits at a shift would be shorter than the
// shortest text so far.
func (c *completion) cheaper(n *node, prefix string, r, shift int) bool {
	text, ok := c.a.spell(n, zeros(r), shift)
	return ok && len(prefix)+len(text) < c.length
}

// window offers the shortest completion in the window at a shift. Values that can be
// written with some number of digits can be written with more, but the text is never
// shorter.
func (c *completion) window(n *node, prefix string, shift int, lowCut, highCut bool) {
	a := c.a
	s := &a.sides[n.side]
	// More digits than a bound has, than the grid's places, or than needed to avoid
	// listed values are of no use.
	enough := s.boundDigits() + len(strconv.Itoa(len(s.values))) + 1
	if a.grid != nil {
		enough += max(0, shift-int(n.fraction)+a.grid.places)
	}
	enough = min(enough, max(0, a.digits-int(n.digits)))
	if !a.fractions {
		enough = min(enough, shift)
	}
	enough = sort.Search(enough, func(r int) bool { return !c.cheaper(n, prefix, r+1, shift) })
	c.tries++
	x, ok := a.find(n, shift, enough, lowCut, highCut)
	if !ok {
		return
	}
	r := sort.Search(enough, func(r int) bool {
		_, ok := a.find(n, shift, r, lowCut, highCut)
		return ok
	})
	if r < enough {
		x, _ = a.find(n, shift, r, lowCut, highCut)
	}
	text, _ := a.spell(n, string(x.appendDigits(nil, r)), shift)
	c.offer(prefix + text)
}

func zeros(n int) string { return strings.Repeat("0", n) }

// spell returns the shortest text that appends digits to N and shifts the decimal point
// of the value to the right by shift from its position after n. ok is false if there is
// none.
func (a *problem) spell(n *node, digits string, shift int) (text string, ok bool) {
	s := &a.sides[n.side]
	r := len(digits)
	offer := func(t string) {
		if !ok || len(t) < len(text) {
			text, ok = t, true
		}
	}
	// Without an exponent, the shift consists of digits of the integer part.
	switch {
	case n.kind == kindWhole && shift >= r && a.spec.NotPlain: // needs a fraction or an exponent
	case n.kind == kindWhole && shift >= r && int(n.digits)+shift <= s.whole:
		offer(digits + zeros(shift-r))
	case n.kind == kindWhole && shift >= 0 && shift < r && a.fractions:
		offer(digits[:shift] + "." + digits[shift:])
	case n.kind == kindPoint && shift == 0 && r == 0:
		offer("0")
	case n.kind != kindWhole && shift == 0:
		offer(digits)
	}
	if !a.mayScale(n) {
		return text, ok
	}
	exponent := func(e, whole int) string {
		if e == 0 && (n.kind != kindWhole || !a.spec.NotPlain) {
			return ""
		}
		if !a.any {
			after := *n
			after.digits += int32(whole)
			if least, most := a.exponentRange(&after); !a.mayScale(&after) || e < least || e > most {
				return ""
			}
		}
		return "e" + strconv.Itoa(e)
	}
	if n.kind != kindWhole {
		if n.kind == kindPoint && r == 0 {
			digits = "0"
		}
		if e := exponent(shift, 0); e != "" {
			offer(digits + e)
		}
		return text, ok
	}
	// Of the ways to put i digits before a point, the one with the exponent
	// nearest to 0 is the shortest.
	for _, i := range [...]int{0, shift - 1, r - 1, r, shift - scaledExponent} {
		if i < 0 || i > r && i != shift-scaledExponent {
			continue
		}
		e := exponent(shift-i, i)
		switch {
		case e == "":
		case i >= r:
			offer(digits + zeros(i-r) + e)
		default:
			offer(digits[:i] + "." + digits[i:] + e)
		}
	}
	return text, ok
}

// shortestExponent is Shortest within an exponent.
func (a *Automaton) shortestExponent(n *node) string {
	s := a.sets[n.set]
	if n.kind != kindPower {
		// The least magnitude has the fewest digits.
		if n.kind == kindSign {
			return strconv.FormatInt(s[0].from, 10)
		}
		text := ""
		if t := s.side(false); len(t) > 0 {
			text = strconv.FormatInt(t[0].from, 10)
		}
		if t := s.side(true); len(t) > 0 {
			if minus := "-" + strconv.FormatInt(t[0].from, 10); text == "" || len(minus) < len(text) {
				text = minus
			}
		}
		return text
	}
	lo, hi := n.power, n.power
	for i := 0; ; i++ {
		if t := s.within(lo, hi); len(t) > 0 {
			digits := strconv.FormatInt(t[0].from, 10)
			digits = zeros(max(0, i-len(digits))) + digits
			return digits[len(digits)-i:]
		}
		lo, hi = lo*10, hi*10+9 // the state is live: there is a member
	}
}

// span returns a number of digits such that some number with that many digits is
// suitable, if any is at all.
func (g *grid) span() int {
	m := natural{small: g.cycle}.big()
	if g.large != nil {
		m.Set(g.large.cycle)
	}
	return len(m.Text(10)) + maxNots
}

// tens returns a number of places beyond which a further power of ten makes no value a
// multiple of a divisor.
func (g *grid) tens() int {
	m := natural{small: g.cycle}.big()
	if g.large != nil {
		m.Set(g.large.cycle)
	}
	twos := int(m.TrailingZeroBits())
	fives := 0
	five, rest := big.NewInt(5), new(big.Int)
	for {
		q, r := new(big.Int).QuoRem(m, five, rest)
		if r.Sign() != 0 {
			return max(twos, fives)
		}
		m = q
		fives++
	}
}
