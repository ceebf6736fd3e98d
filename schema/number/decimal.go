package number

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// MaxExponent is the greatest magnitude of an exponent that [Parse] reads. The
// time of arithmetic is proportional to the exponent, so it must be bounded; this
// bound is far beyond every binary float format.
const MaxExponent = 100_000

// MaxDigits is the greatest number of digits, leading and trailing zeros
// included, that [Parse] reads before the exponent.
const MaxDigits = 100_000

// A Decimal is an exact decimal number: zero, or ±0.d₁d₂…dₙ·10^p with d₁ and dₙ
// not zero. The zero value is the number 0. Decimals are immutable. Compare them
// with [Decimal.Cmp]: two spellings of one value differ under ==.
type Decimal struct {
	digits string // without leading and trailing zeros; "" is zero
	pos    int    // p: the position of the decimal point relative to digits
	neg    bool   // never set for zero
	src    string // the text it was parsed from
}

// Parse reads the text of a JSON number exactly. The error is a *LimitError for a
// number that is longer than [MaxDigits] or scaled by more than [MaxExponent].
func Parse(text string) (Decimal, error) {
	i := 0
	neg := i < len(text) && text[i] == '-'
	if neg {
		i++
	}
	start := i
	if i < len(text) && text[i] == '0' {
		i++
	} else {
		i = skipDigits(text, i)
	}
	whole, frac := text[start:i], ""
	if whole == "" {
		return Decimal{}, syntaxError(text)
	}
	if i < len(text) && text[i] == '.' {
		start = i + 1
		i = skipDigits(text, start)
		if frac = text[start:i]; frac == "" {
			return Decimal{}, syntaxError(text)
		}
	}
	exp, big := 0, false
	if i < len(text) && text[i]|0x20 == 'e' {
		var ok bool
		if exp, big, ok = parseExponent(text[i+1:]); !ok {
			return Decimal{}, syntaxError(text)
		}
		i = len(text)
	}
	if i != len(text) {
		return Decimal{}, syntaxError(text)
	}
	if len(whole)+len(frac) > MaxDigits {
		return Decimal{}, &LimitError{Limit: "digits of a number", Max: MaxDigits}
	}

	pos := len(whole)
	frac = strings.TrimRight(frac, "0")
	if whole == "0" {
		n := len(frac)
		whole, frac = "", strings.TrimLeft(frac, "0")
		pos = len(frac) - n
	}
	if frac == "" {
		whole = strings.TrimRight(whole, "0")
	}
	d := Decimal{digits: whole + frac, neg: neg, src: text}
	if d.digits == "" {
		d.neg = false // the exponent of a zero has no effect, however large it is
		return d, nil
	}
	if big {
		return Decimal{}, &LimitError{Limit: "exponent of a number", Max: MaxExponent}
	}
	d.pos = pos + exp
	return d, nil
}

// skipDigits returns the index of the first byte from i on that is not a digit.
func skipDigits(s string, i int) int {
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return i
}

// parseExponent reads the text after the e of a number. big reports whether the
// exponent is beyond MaxExponent, ok whether the text is well formed.
func parseExponent(s string) (exp int, big, ok bool) {
	neg := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if s == "" || skipDigits(s, 0) != len(s) {
		return 0, false, false
	}
	for i := 0; i < len(s); i++ {
		exp = exp*10 + int(s[i]-'0')
		if exp > MaxExponent {
			return 0, true, true
		}
	}
	if neg {
		exp = -exp
	}
	return exp, false, true
}

func syntaxError(text string) error {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Errorf("number: %q: not a JSON number", text)
}

// FromInt returns the Decimal of an integer.
func FromInt(n int64) Decimal {
	d, _ := Parse(strconv.FormatInt(n, 10)) // always well formed
	return d
}

// fromBig returns n·10^exp.
func fromBig(n *big.Int, exp int) Decimal {
	s := n.Text(10)
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	return fromDigits(s, exp, neg)
}

// fromDigits returns ±s·10^exp, where s is the text of an integer.
func fromDigits(s string, exp int, neg bool) Decimal {
	t := strings.TrimLeft(s, "0")
	pos := len(t) + exp
	t = strings.TrimRight(t, "0")
	if t == "" {
		return Decimal{}
	}
	return Decimal{digits: t, pos: pos, neg: neg}
}

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool { return d.digits == "" }

// Sign returns -1, 0 or +1.
func (d Decimal) Sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// abs returns the magnitude of d.
func (d Decimal) abs() Decimal {
	d.neg = false
	return d
}

// Cmp compares two values and returns -1, 0 or +1.
func (d Decimal) Cmp(e Decimal) int {
	s, t := d.Sign(), e.Sign()
	switch {
	case s != t:
		if s < t {
			return -1
		}
		return 1
	case s == 0:
		return 0
	case d.pos != e.pos:
		if d.pos < e.pos {
			return -s
		}
		return s
	}
	// Without trailing zeros, digits at the same place have the order of their
	// texts.
	return s * strings.Compare(d.digits, e.digits)
}

// IsInteger reports whether d is a whole number, regardless of its spelling.
func (d Decimal) IsInteger() bool { return d.pos >= len(d.digits) }

// exp returns the exponent e that makes d = ±coefficient·10^e.
func (d Decimal) exp() int { return d.pos - len(d.digits) }

// places returns the number of digits that d has after the decimal point.
func (d Decimal) places() int { return max(0, -d.exp()) }

// coefficient returns the digits of d as a number; ok is false if they do not fit.
func (d Decimal) coefficient() (c uint64, ok bool) {
	if len(d.digits) > 18 {
		return 0, false
	}
	for i := 0; i < len(d.digits); i++ {
		c = c*10 + uint64(d.digits[i]-'0')
	}
	return c, true
}

// bigCoefficient returns the digits of d as a number.
func (d Decimal) bigCoefficient() *big.Int {
	n := new(big.Int)
	if d.digits != "" {
		n.SetString(d.digits, 10) // digits alone never fail
	}
	return n
}

// IsMultipleOf reports whether d = k·m for an integer k; the sign of m does
// not matter. Only 0 is a multiple of 0.
func (d Decimal) IsMultipleOf(m Decimal) bool {
	if d.IsZero() || m.IsZero() {
		return d.IsZero()
	}
	shift := d.exp() - m.exp()
	if shift < 0 {
		// 10 does not divide the coefficient of d, yet it would have to
		// divide that of every multiple of m.
		return false
	}
	if a, ok := d.coefficient(); ok {
		if b, ok := m.coefficient(); ok {
			return mulMod(a%b, powMod(uint64(shift), b), b) == 0
		}
	}
	b := m.bigCoefficient()
	p := new(big.Int).Exp(bigTen, big.NewInt(int64(shift)), b)
	p.Mul(p, d.bigCoefficient())
	return p.Mod(p, b).Sign() == 0
}

// Key returns a text that is equal for equal values and differs for others.
func (d Decimal) Key() string {
	if d.IsZero() {
		return "0"
	}
	return string(d.appendKey(nil))
}

func (d Decimal) appendKey(b []byte) []byte {
	if d.neg {
		b = append(b, '-')
	}
	b = append(b, d.digits...)
	b = append(b, 'e')
	return strconv.AppendInt(b, int64(d.pos), 10)
}

// String returns the canonical JSON spelling of d: without an exponent for
// magnitudes from 1e-6 to below 1e21, else as a digit, a fraction and an exponent.
func (d Decimal) String() string {
	if d.IsZero() || d.pos > -6 && d.pos <= 21 {
		return d.plain()
	}
	b := make([]byte, 0, len(d.digits)+10)
	if d.neg {
		b = append(b, '-')
	}
	b = append(b, d.digits[0])
	if len(d.digits) > 1 {
		b = append(b, '.')
		b = append(b, d.digits[1:]...)
	}
	b = append(b, 'e')
	return string(strconv.AppendInt(b, int64(d.pos-1), 10))
}

// plain returns the spelling of d without an exponent.
func (d Decimal) plain() string {
	if d.IsZero() {
		return "0"
	}
	var b strings.Builder
	if d.neg {
		b.WriteByte('-')
	}
	switch n := len(d.digits); {
	case d.pos <= 0:
		b.WriteString("0.")
		b.WriteString(strings.Repeat("0", -d.pos))
		b.WriteString(d.digits)
	case d.pos >= n:
		b.WriteString(d.digits)
		b.WriteString(strings.Repeat("0", d.pos-n))
	default:
		b.WriteString(d.digits[:d.pos])
		b.WriteByte('.')
		b.WriteString(d.digits[d.pos:])
	}
	return b.String()
}
