package number

import (
	"math/big"
	"math/bits"
	"strings"
)

var (
	bigOne = big.NewInt(1)
	bigTen = big.NewInt(10)
)

// A natural number of any size: small, unless large is set.
type natural struct {
	small uint64
	large *big.Int
}

// big returns x as a big.Int that the caller may modify.
func (x natural) big() *big.Int {
	if x.large != nil {
		return new(big.Int).Set(x.large)
	}
	return new(big.Int).SetUint64(x.small)
}

// timesPowerOfTen returns x·10^n.
func (x natural) timesPowerOfTen(n int) natural {
	b := x.big()
	return natural{large: b.Mul(b, bigPower(n))}
}

// appendDigits appends x with leading zeros, n digits in all.
func (x natural) appendDigits(b []byte, n int) []byte {
	s := x.big().Text(10)
	if n == 0 {
		return b
	}
	b = append(b, strings.Repeat("0", n-len(s))...)
	return append(b, s...)
}

// bigPower returns 10^n as a big.Int that the caller may modify.
func bigPower(n int) *big.Int {
	return new(big.Int).Exp(bigTen, big.NewInt(int64(n)), nil)
}

// smallPowers holds the powers of ten that fit into a machine word.
var smallPowers = func() (t [20]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = 10 * t[i-1]
	}
	return t
}()

// smallPower returns 10^n for n < 20.
func smallPower(n int) uint64 { return smallPowers[n] }

// mulMod returns a·b mod m for a, b < m.
func mulMod(a, b, m uint64) uint64 {
	if a|b < 1<<32 {
		return a * b % m
	}
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m)
}

// powMod returns 10^n mod m.
func powMod(n, m uint64) uint64 {
	if n < uint64(len(smallPowers)) {
		return smallPowers[n] % m
	}
	r, p := 1%m, 10%m
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = mulMod(r, p, m)
		}
		p = mulMod(p, p, m)
	}
	return r
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// lessTens returns m / gcd(m, 10^n).
func lessTens(m uint64, n int) uint64 {
	for ; n > 0; n-- {
		g := gcd(m, 10)
		if g == 1 {
			break
		}
		m /= g
	}
	return m
}

// bigLessTens is lessTens for numbers of any size.
func bigLessTens(m *big.Int, n int) *big.Int {
	// The exponents of 2 and 5 in m are at most the length of m in bits.
	g := bigPower(min(n, m.BitLen()))
	g.GCD(nil, nil, g, m)
	return g.Quo(m, g)
}
