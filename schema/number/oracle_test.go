package number

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The oracle decides by rational arithmetic on whole texts; it shares only the
// Spec with the automata.

func mustParse(text string) Decimal {
	d, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return d
}

func pointerTo(text string) *Decimal {
	d := mustParse(text)
	return &d
}

func decimals(texts ...string) []Decimal {
	var list []Decimal
	for _, t := range texts {
		list = append(list, mustParse(t))
	}
	return list
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("not a number: " + text)
	}
	return r
}

// oracle is a Spec in rational numbers.
type oracle struct {
	spec                       Spec
	sp                         Spelling
	min, max                   *big.Rat
	above, below               *big.Rat // at least and at most, if not nil
	multiples, nots, in, notIn []*big.Rat
	whole                      bool   // all multiples are whole numbers
	digits                     int    // significant, in canonical spellings
	places                     [2]int // of the integer part, by sign
}

func newOracle(s Spec, sp Spelling) *oracle {
	o := &oracle{spec: s, sp: sp, digits: canonicalDigits}
	if s.Min != nil {
		o.min = rational(s.Min.String())
	}
	if s.Max != nil {
		o.max = rational(s.Max.String())
	}
	if sp == Canonical && !s.HasIn {
		// Values that may be read as an excluded bound are refused: a value has
		// to be at least as far away as the spelling of the next float64.
		beside := func(b *big.Rat, toward float64) *big.Rat {
			f, _ := b.Float64()
			if f == 0 || math.IsInf(f, 0) || (s.Integer || s.Plain) && math.Abs(f) < 1e15 {
				return nil
			}
			next := math.Nextafter(f, toward)
			return rational(strconv.FormatFloat(next, 'g', -1, 64))
		}
		if s.Min != nil && s.MinExclusive {
			o.above = beside(o.min, math.Inf(1))
		}
		if s.Max != nil && s.MaxExclusive {
			o.below = beside(o.max, math.Inf(-1))
		}
	}
	list := func(ds []Decimal) (rs []*big.Rat) {
		for _, d := range ds {
			rs = append(rs, rational(d.String()))
		}
		return rs
	}
	o.multiples, o.nots, o.in, o.notIn = list(s.MultipleOf), list(s.NotMultipleOf), list(s.In), list(s.NotIn)
	o.whole = s.Integer || s.Plain
	if len(o.multiples) > 0 {
		// The least common multiple of fractions.
		num, denom := big.NewInt(1), new(big.Int).Set(o.multiples[0].Denom())
		for _, m := range o.multiples {
			g := new(big.Int).GCD(nil, nil, num, m.Num())
			num.Mul(num, g.Quo(m.Num(), g))
			denom.GCD(nil, nil, denom, m.Denom())
		}
		o.whole = o.whole || new(big.Rat).SetFrac(num, denom).IsInt()
	}
	return o
}

func (o *oracle) allows(v *big.Rat) bool {
	s := &o.spec
	if s.Integer && !v.IsInt() || (s.NotInteger || s.NotPlain && o.sp == Canonical) && v.IsInt() {
		return false
	}
	if o.min != nil {
		if c := v.Cmp(o.min); c < 0 || c == 0 && s.MinExclusive {
			return false
		}
	}
	if o.max != nil {
		if c := v.Cmp(o.max); c > 0 || c == 0 && s.MaxExclusive {
			return false
		}
	}
	for _, m := range o.multiples {
		if !new(big.Rat).Quo(v, m).IsInt() {
			return false
		}
	}
	for _, m := range o.nots {
		if new(big.Rat).Quo(v, m).IsInt() {
			return false
		}
	}
	has := func(list []*big.Rat) bool {
		for _, r := range list {
			if r.Cmp(v) == 0 {
				return true
			}
		}
		return false
	}
	return !(s.HasIn && !has(o.in)) && !has(o.notIn)
}

// accepts decides about the text of a JSON number.
func (o *oracle) accepts(text string) bool {
	if o.sp == Canonical && !o.spelling(text) {
		return false
	}
	if pointed := strings.ContainsAny(text, ".eE"); o.spec.Plain && pointed || o.spec.NotPlain && !pointed {
		return false
	}
	v := rational(text)
	return o.allows(v) && (o.above == nil || v.Cmp(o.above) >= 0) && (o.below == nil || v.Cmp(o.below) <= 0)
}

// spelling reports whether a text is canonical as defined in the package
// comment.
func (o *oracle) spelling(text string) bool {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(text), "e")
	whole, frac, point := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+frac, "0")
	s := &o.spec
	switch {
	case digits == "" && text[0] == '-':
		return false
	case o.whole && (point || scaled):
		return false
	case len(digits) > o.digits && point || len(strings.TrimRight(digits, "0")) > o.digits,
		len(whole) > o.places[strings.Count(mantissa, "-")]:
		return false
	case scaled:
		exponent = strings.TrimLeft(exponent, "+-")
		most := "307"
		if len(whole) != 1 || whole == "0" {
			most = "289"
			if !o.unbounded(text[0] == '-') || digits == "" || len(whole) > 17 || whole == "0" && frac[0] == '0' {
				return false
			}
		}
		if s.NotInteger || s.NotPlain || len(s.MultipleOf)+len(s.NotMultipleOf) > 0 {
			return false
		}
		return len(exponent) < 3 || len(exponent) == 3 && exponent <= most
	}
	return true
}

// unbounded reports whether numbers of one sign have no bound but 0.
func (o *oracle) unbounded(negative bool) bool {
	s := &o.spec
	none := func(own, other *Decimal, sign int) bool {
		return own == nil && (other == nil || sign*other.Sign() <= 0)
	}
	if negative {
		return none(s.Min, s.Max, -1)
	}
	return none(s.Max, s.Min, 1)
}

// isNumber reports whether text is a JSON number, and mayBe whether it is a
// prefix of one.
func isNumber(text string) (is, mayBe bool) {
	s := strings.TrimPrefix(text, "-")
	digits := func() (n int) {
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		return n
	}
	n := digits()
	if n == 0 {
		return false, s == ""
	}
	if s[0] == '0' {
		n = 1
	}
	if s = s[n:]; s == "" {
		return true, true
	}
	if s[0] == '.' {
		s = s[1:]
		if n = digits(); n == 0 {
			return false, s == ""
		}
		if s = s[n:]; s == "" {
			return true, true
		}
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false, false
	}
	if s = s[1:]; s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	if s == "" {
		return false, true
	}
	return digits() == len(s), digits() == len(s)
}

// checker compares an automaton with the oracle on all texts over an alphabet.
type checker struct {
	t        *testing.T
	a        *Automaton
	o        *oracle
	alphabet string
	length   int
	seen     map[State]bool
	texts    int
}

const far = 1 << 30

// walk returns the length of the shortest continuation found, or far.
func (c *checker) walk(text string, q State) (shortest int) {
	is, mayBe := isNumber(text)
	if !mayBe {
		if q != Dead {
			c.t.Fatalf("%s: %q: state %d for what is no number", c.describe(), text, q)
		}
		return far
	}
	c.texts++
	shortest = far
	if is {
		want := c.o.accepts(text)
		if got := c.a.Accepting(q); got != want {
			c.t.Fatalf("%s: %q: accepting = %v, want %v", c.describe(), text, got, want)
		}
		if want {
			shortest = 0
		}
	}
	if len(text) < c.length {
		for i := range c.alphabet {
			b := c.alphabet[i]
			next := c.a.Step(q, b)
			if q == Dead && next != Dead {
				c.t.Fatalf("%s: %q: step out of Dead", c.describe(), text)
			}
			shortest = min(shortest, c.walk(text+c.alphabet[i:i+1], next)+1)
		}
	}
	if q == Dead {
		return shortest // far, or Accepting would have failed
	}
	rest := c.a.Shortest(q)
	if !c.seen[q] {
		c.seen[q] = true
		full := text + string(rest)
		if is, _ := isNumber(full); !is || !c.o.accepts(full) {
			c.t.Fatalf("%s: %q: Shortest is %q, which does not make a suitable number", c.describe(), text, rest)
		}
		end := q
		for _, b := range rest {
			end = c.a.Step(end, b)
		}
		if !c.a.Accepting(end) {
			c.t.Fatalf("%s: %q: Shortest is %q, which is not accepted", c.describe(), text, rest)
		}
	}
	// Only texts over the alphabet were tried, so the result of Shortest may be
	// shorter.
	if len(rest) > shortest {
		c.t.Fatalf("%s: %q: Shortest is %q, yet %d bytes will do", c.describe(), text, rest, shortest)
	}
	if overAlphabet(rest, c.alphabet) && len(text)+len(rest) <= c.length && len(rest) != shortest {
		c.t.Fatalf("%s: %q: Shortest is %q, found %d", c.describe(), text, rest, shortest)
	}
	return shortest
}

func overAlphabet(text []byte, alphabet string) bool {
	for _, b := range text {
		if strings.IndexByte(alphabet, b) < 0 {
			return false
		}
	}
	return true
}

func (c *checker) describe() string { return describe(c.o.spec, c.o.sp) }

func describe(s Spec, sp Spelling) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v{", sp)
	if s.Integer {
		b.WriteString(" integer")
	}
	if s.NotInteger {
		b.WriteString(" not-integer")
	}
	if s.Plain {
		b.WriteString(" plain")
	}
	if s.NotPlain {
		b.WriteString(" not-plain")
	}
	if s.Min != nil {
		fmt.Fprintf(&b, " min %v (exclusive %v)", *s.Min, s.MinExclusive)
	}
	if s.Max != nil {
		fmt.Fprintf(&b, " max %v (exclusive %v)", *s.Max, s.MaxExclusive)
	}
	for _, l := range []struct {
		name string
		list []Decimal
	}{{"multiple of", s.MultipleOf}, {"not multiple of", s.NotMultipleOf}, {"in", s.In}, {"not in", s.NotIn}} {
		if len(l.list) > 0 {
			fmt.Fprintf(&b, " %s %v", l.name, l.list)
		}
	}
	b.WriteString(" }")
	return b.String()
}

// check compares the automaton of s with the oracle on all texts over the
// alphabet up to a length.
func check(t *testing.T, s Spec, sp Spelling, alphabet string, length int) {
	t.Helper()
	checkAfter(t, s, sp, "", alphabet, length)
}

// checkAfter is check for texts that start with a prefix.
func checkAfter(t *testing.T, s Spec, sp Spelling, prefix, alphabet string, length int) {
	t.Helper()
	o := newOracle(s, sp)
	a, err := Compile(s, sp, Limits{})
	c := &checker{t: t, a: a, o: o, alphabet: alphabet, length: len(prefix) + length, seen: map[State]bool{}}
	switch err.(type) {
	case nil:
		// The limits of spellings are larger if the values need it.
		o.digits = max(o.digits, a.digits)
		o.places = [2]int{a.sides[0].whole, a.sides[1].whole}
	case *EmptyError:
		// No text may be suitable: everything has to be dead.
		c.a = &Automaton{}
		c.walk(prefix, Dead)
		return
	default:
		t.Fatalf("%s: %v", c.describe(), err)
	}
	q := a.Start()
	for i := range len(prefix) {
		q = a.Step(q, prefix[i])
	}
	c.walk(prefix, q)
	if err := a.Err(); err != nil {
		t.Fatalf("%s: %v", c.describe(), err)
	}
}

// alphabets have few digits, so that texts can be long.
var alphabets = []string{"-+.eE015", "-.e0129", "-+.e0257", "-.e01234", "-.e0369", "-.eE5789"}

// TestScaled checks the ends of what an exponent may follow and of the exponents.
func TestScaled(t *testing.T) {
	for _, s := range []Spec{{}, {Min: pointerTo("0"), MinExclusive: true}, {NotIn: decimals("12e30", "1e-20")}, {Max: pointerTo("3")}} {
		for _, prefix := range []string{"12e", "-12.5e", "0.5e-", "-0.05", "12e28", "0.1e-28", "123456789012345", "-12345678901234567e", "12345678901234567e28", "123456789012345.0e-2", "0.000", "1e30", "12e3"} {
			checkAfter(t, s, Canonical, prefix, "-.e0189", 4)
		}
	}
}

func TestExamples(t *testing.T) {
	for _, s := range []Spec{
		{},
		{Integer: true},
		{NotInteger: true},
		{Plain: true},
		{NotPlain: true},
		{Plain: true, Min: pointerTo("0.5"), Max: pointerTo("120")},
		{Plain: true, MultipleOf: decimals("2.5")},
		{NotPlain: true, Integer: true},
		{NotPlain: true, MultipleOf: decimals("5"), Max: pointerTo("10")},
		{Min: pointerTo("0")},
		{Min: pointerTo("0"), MinExclusive: true},
		{Max: pointerTo("0"), MaxExclusive: true},
		{Min: pointerTo("0"), Integer: true},
		{Min: pointerTo("0"), MinExclusive: true, Integer: true},
		{Min: pointerTo("0"), Max: pointerTo("100")},
		{Min: pointerTo("0"), Max: pointerTo("1"), MaxExclusive: true},
		{Min: pointerTo("-90"), Max: pointerTo("90")},
		{Min: pointerTo("1"), Max: pointerTo("65535"), Integer: true},
		{Min: pointerTo("0"), Max: pointerTo("1e9")},
		{Min: pointerTo("5"), Max: pointerTo("5")},
		{Min: pointerTo("0"), Max: pointerTo("0")},
		{Min: pointerTo("1e300")},
		{Max: pointerTo("-1e-300")},
		{MultipleOf: decimals("0.01")},
		{MultipleOf: decimals("0.01"), Min: pointerTo("0")},
		{MultipleOf: decimals("7"), Min: pointerTo("8"), Max: pointerTo("13")},
		{MultipleOf: decimals("7"), Min: pointerTo("8"), Max: pointerTo("14")},
		{MultipleOf: decimals("12.5")},
		{MultipleOf: decimals("1e-8"), Max: pointerTo("1")},
		{MultipleOf: decimals("4", "6")},
		{MultipleOf: decimals("0.0075")},
		{MultipleOf: decimals("300")},
		{NotMultipleOf: decimals("2")},
		{NotMultipleOf: decimals("2", "5"), Integer: true},
		{NotMultipleOf: decimals("2", "3", "5"), Integer: true, Min: pointerTo("2"), Max: pointerTo("10")},
		{NotMultipleOf: decimals("0.5"), Min: pointerTo("1"), Max: pointerTo("2")},
		{NotIn: decimals("1", "10", "0.5")},
		{NotIn: decimals("0")},
		{NotIn: decimals("1", "2", "3"), Integer: true, Min: pointerTo("1"), Max: pointerTo("5")},
		{Min: pointerTo("0"), Max: pointerTo("1"), Integer: true, MinExclusive: true, MaxExclusive: true},
	} {
		for _, sp := range []Spelling{AnySpelling, Canonical} {
			if sp == Canonical && s.Min != nil && s.Max != nil && s.Min.Cmp(*s.Max) == 0 {
				continue // a listed value; see TestCanonicalList
			}
			check(t, s, sp, "-+.e0159", 5)
			check(t, s, sp, "-.E0127", 5)
		}
	}
}

func TestListExamples(t *testing.T) {
	for _, texts := range [][]string{
		{"1"}, {"0"}, {"1", "10", "100"}, {"-1.5", "1.5", "15"}, {"105", "1"}, {"1e300", "2"}, {"0.001"},
	} {
		s := Spec{In: decimals(texts...), HasIn: true}
		check(t, s, AnySpelling, "-+.eE015", 6)
	}
}

// randomSpec makes specs whose numbers collide with the texts of the checker.
func randomSpec(r *rand.Rand) Spec {
	pick := func(texts ...string) Decimal { return mustParse(texts[r.IntN(len(texts))]) }
	value := func() Decimal {
		if r.IntN(3) == 0 {
			return pick("0", "1", "5", "10", "0.1", "100", "-1", "-0.5", "-20", "1e5", "1e-5", "-1e300", "1e-300")
		}
		t := fmt.Sprint(r.IntN([]int{10, 100, 1000, 100000}[r.IntN(4)]))
		if r.IntN(2) == 0 {
			t += "." + fmt.Sprint(r.IntN(1000))
		}
		if r.IntN(6) == 0 {
			t += fmt.Sprintf("e%d", r.IntN(9)-4)
		}
		if r.IntN(3) == 0 {
			t = "-" + t
		}
		return mustParse(t)
	}
	divisor := func() Decimal {
		return pick("1", "2", "3", "5", "7", "10", "0.5", "0.25", "0.1", "0.01", "1.5", "12.5", "20", "300", "1e-3", "0.0075", "11", "99")
	}
	var s Spec
	if r.IntN(3) == 0 {
		s.Integer = true
	} else if r.IntN(8) == 0 {
		s.NotInteger = true
	}
	if k := r.IntN(12); k < 3 {
		s.Plain = k < 2
		s.NotPlain = k == 2
	}
	if r.IntN(2) == 0 {
		d := value()
		s.Min, s.MinExclusive = &d, r.IntN(2) == 0
	}
	if r.IntN(2) == 0 {
		d := value()
		s.Max, s.MaxExclusive = &d, r.IntN(2) == 0
	}
	if r.IntN(3) == 0 {
		s.MultipleOf = append(s.MultipleOf, divisor())
		if r.IntN(4) == 0 {
			s.MultipleOf = append(s.MultipleOf, divisor())
		}
	}
	if r.IntN(4) == 0 {
		for range 1 + r.IntN(3) {
			s.NotMultipleOf = append(s.NotMultipleOf, divisor())
		}
	}
	if r.IntN(4) == 0 {
		for range 1 + r.IntN(4) {
			s.NotIn = append(s.NotIn, value())
		}
	}
	if r.IntN(8) == 0 {
		s.HasIn = true
		for range 1 + r.IntN(5) {
			s.In = append(s.In, value())
		}
	}
	return s
}

func TestRandomSpecs(t *testing.T) {
	specs := 400
	if seeds := os.Getenv("NUMBER_SPECS"); seeds != "" {
		specs, _ = strconv.Atoi(seeds)
	}
	if testing.Short() {
		specs = 60
	}
	for seed := range uint64(specs) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomSpec(r)
		sp := Spelling(r.IntN(2))
		single := s.Min != nil && s.Max != nil && s.Min.Cmp(*s.Max) == 0
		if s.HasIn || single {
			sp = AnySpelling
		}
		check(t, s, sp, alphabets[r.IntN(len(alphabets))], 4)
	}
}

// TestRandomLarge uses bounds, divisors and texts beyond a machine word.
func TestRandomLarge(t *testing.T) {
	specs := 300
	if testing.Short() {
		specs = 50
	}
	for seed := range uint64(specs) {
		r := rand.New(rand.NewPCG(seed, 2))
		digits := func(n int) string {
			b := []byte{byte('1' + r.IntN(9))}
			for len(b) < n {
				b = append(b, byte('0'+r.IntN(10)))
			}
			return string(b)
		}
		base := digits(18 + r.IntN(20))
		point := 1 + r.IntN(len(base))
		value := func() *Decimal {
			// A number that shares its first digits with others.
			v := base[:r.IntN(len(base))]
			v += digits(len(base) - len(v))
			if point < len(v) {
				v = v[:point] + "." + v[point:]
			}
			return pointerTo(v)
		}
		var s Spec
		if r.IntN(2) == 0 {
			s.Min, s.MinExclusive = value(), r.IntN(2) == 0
		}
		if r.IntN(2) == 0 {
			s.Max, s.MaxExclusive = value(), r.IntN(2) == 0
		}
		if r.IntN(2) == 0 {
			s.MultipleOf = decimals(digits(1+r.IntN(22)) + "e-" + fmt.Sprint(r.IntN(25)))
		}
		if r.IntN(4) == 0 {
			s.NotMultipleOf = decimals(digits(1+r.IntN(3)) + "e-" + fmt.Sprint(r.IntN(20)))
		}
		if r.IntN(3) == 0 {
			s.NotIn = []Decimal{*value(), *value()}
		}
		s.Integer = r.IntN(5) == 0
		// Texts that start like the bounds.
		prefix := value().String()
		prefix = prefix[:1+r.IntN(len(prefix))]
		if r.IntN(4) == 0 && strings.HasPrefix(prefix, "0") {
			prefix = "0."
		}
		checkAfter(t, s, AnySpelling, prefix, alphabets[r.IntN(len(alphabets))], 3)
		if s.Min == nil || s.Max == nil || s.Min.Cmp(*s.Max) != 0 {
			checkAfter(t, s, Canonical, prefix, alphabets[r.IntN(len(alphabets))], 3)
		}
	}
}
