package validator

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// A number is 0.digits × 10^exponent with a sign. Digits have no zeros at either end;
// zero has no digits. This way 1e999999999 takes a few bytes.
type number struct {
	negative bool
	digits   string
	exponent int64
	pointed  bool // written with a fraction or an exponent
}

// farthest limits the magnitude of exponents as read. No input that fits into memory
// can shift one by as much.
const farthest = math.MaxInt64 / 4

func parseNumber(s string) (number, error) {
	var n number
	rest, negative := strings.CutPrefix(s, "-")
	n.negative, n.pointed = negative, strings.ContainsAny(s, ".eE")
	mantissa, power := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, power = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.exponent = int64(len(whole))
	if power != "" {
		p, err := strconv.ParseInt(power, 10, 64)
		if err != nil && !strings.HasSuffix(err.Error(), strconv.ErrRange.Error()) {
			return n, fmt.Errorf("%q is no number", s)
		}
		n.exponent += min(max(p, -farthest), farthest)
	}
	digits := whole + fraction
	kept := strings.TrimLeft(digits, "0")
	n.exponent -= int64(len(digits) - len(kept))
	n.digits = strings.TrimRight(kept, "0")
	if n.digits == "" {
		return number{pointed: n.pointed}, nil
	}
	return n, nil
}

// compare returns -1, 0 or 1.
func (n number) compare(m number) int {
	switch {
	case n.sign() != m.sign():
		return n.sign() - m.sign()
	case n.negative:
		n, m = m, n
	}
	if n.exponent != m.exponent && n.digits != "" && m.digits != "" {
		if n.exponent < m.exponent {
			return -1
		}
		return 1
	}
	return strings.Compare(n.digits, m.digits)
}

func (n number) sign() int {
	switch {
	case n.digits == "":
		return 0
	case n.negative:
		return -1
	}
	return 1
}

func (n number) isInteger() bool { return int64(len(n.digits)) <= n.exponent || n.digits == "" }

// maxDivided is the greatest number of digits of numbers that are divided by one with more than maxDivisor digits.
const maxDivided = 10_000

// maxDivisor is the greatest number of digits of divisors for which the division takes time linear in the dividend.
const maxDivisor = 18

// isMultipleOf reports whether n is an integer multiple of m, which is not zero. It gives up if both are too long.
func (n number) isMultipleOf(r *run, m number) bool {
	if n.digits != "" && len(m.digits) <= maxDivisor {
		return n.isMultipleOfShort(r, m)
	}
	digits := len(n.digits) + len(m.digits)
	if digits > maxDivided {
		r.giveUp(&undecided{fmt.Sprintf("multipleOf has a divisor of %d digits for a number of %d digits", len(m.digits), len(n.digits))})
	}
	r.step(digits/8 + digits*digits>>14)
	if n.digits == "" {
		return true
	}
	// n = a × 10^x, m = b × 10^y, and neither a nor b ends in zero.
	a, b := new(big.Int), new(big.Int)
	a.SetString(n.digits, 10)
	b.SetString(m.digits, 10)
	shift := (n.exponent - int64(len(n.digits))) - (m.exponent - int64(len(m.digits)))
	if shift < 0 {
		return false // a would have to end in zeros
	}
	// b has fewer factors of 2 and 5 than bits, so a higher power of 10 makes no
	// difference.
	shift = min(shift, int64(b.BitLen()))
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), b)
	a.Mul(a, power)
	return a.Mod(a, b).Sign() == 0
}

// isMultipleOfShort is isMultipleOf for a divisor of up to maxDivisor digits and a number that is not zero.
func (n number) isMultipleOfShort(r *run, m number) bool {
	b, _ := strconv.ParseUint(m.digits, 10, 64)
	shift := (n.exponent - int64(len(n.digits))) - (m.exponent - int64(len(m.digits)))
	if shift < 0 {
		return false // as in isMultipleOf
	}
	rest := uint64(0) // of the digits so far
	more := func(times, plus uint64) {
		high, low := bits.Mul64(rest, times)
		low, carry := bits.Add64(low, plus, 0)
		rest = bits.Rem64(high+carry, low, b)
	}
	const some = 1 << 10 // digits for each look at the bounds
	for digits := n.digits; digits != ""; {
		part := digits[:min(some, len(digits))]
		digits = digits[len(part):]
		r.step(1 + len(part)/64)
		for _, c := range []byte(part) {
			more(10, uint64(c-'0'))
		}
	}
	for range min(shift, int64(bits.Len64(b))) {
		more(10, 0)
	}
	return rest == 0
}

// size returns the number as a count, rounded down and limited to an int.
func (n number) size() int {
	switch {
	case n.digits == "" || n.negative:
		return 0
	case n.exponent > 15:
		return math.MaxInt64
	case n.exponent <= 0:
		return 0
	}
	digits := n.digits
	for int64(len(digits)) < n.exponent {
		digits += "0"
	}
	i, _ := strconv.Atoi(digits[:n.exponent])
	return i
}

func (n number) canonical(dst []byte) []byte {
	dst = append(dst, '#')
	if n.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, n.digits...)
	return append(strconv.AppendInt(append(dst, 'e'), n.exponent, 10), ';')
}

// String implements fmt.Stringer.
func (n number) String() string {
	if n.digits == "" {
		return "0"
	}
	sign, digits := "", n.digits
	if n.negative {
		sign = "-"
	}
	if len(digits) > 40 {
		return fmt.Sprintf("%s0.%s…e%d", sign, digits[:40], n.exponent)
	}
	switch point := n.exponent; {
	case point >= int64(len(digits)) && point <= 21:
		return sign + digits + strings.Repeat("0", int(point)-len(digits))
	case point > 0 && point < int64(len(digits)):
		return sign + digits[:point] + "." + digits[point:]
	case point <= 0 && point > -6:
		return sign + "0." + strings.Repeat("0", int(-point)) + digits
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	return fmt.Sprintf("%s%se%d", sign, digits, n.exponent-1)
}
