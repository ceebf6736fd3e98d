package sampling

import "math"

// farAway is the distance in nats from the likeliest token from which a token's
// weight counts as 0. All tokens of a vocabulary of 262,144 at this distance
// together would hold less than 4e-6 of the likeliest one's weight.
const farAway = 25

// exp32 returns e to the power x for -87 < x ≤ 0 with a relative error below
// 5e-6 down to -farAway; elsewhere the result has no meaning. It is small
// enough to be inlined and takes a fifth of the time of math.Exp, which
// matters where it runs once for each token of the vocabulary.
//
// With y = x/ln2 = n + f and |f| ≤ 1/2 the result is 2ⁿ·2ᶠ: n goes into the
// exponent bits and 2ᶠ is the Taylor polynomial, whose first omitted term is
// below 2.5e-6 at that bound. Adding shift, whose last mantissa bit counts
// ones, rounds y and leaves n in the low bits; a conversion to an integer and
// back would take twice as long.
//
// Products are converted, which keeps a compiler from fusing them with sums:
// the result is the same on every CPU.
func exp32(x float32) float32 {
	y := float32(x * expPerLn2)
	n := y + expShift
	f := y - (n - expShift)
	p := float32(expC5*f) + expC4
	p = float32(p*f) + expC3
	p = float32(p*f) + expC2
	p = float32(p*f) + expC1
	p = float32(p*f) + 1
	return p * math.Float32frombits((math.Float32bits(n)-expShiftBits+127)<<23)
}

const (
	expPerLn2 = 1 / math.Ln2

	expC1 = math.Ln2
	expC2 = expC1 * math.Ln2 / 2
	expC3 = expC2 * math.Ln2 / 3
	expC4 = expC3 * math.Ln2 / 4
	expC5 = expC4 * math.Ln2 / 5

	expShift     = 3 << 22
	expShiftBits = 0x4b400000 // of float32(expShift)
)

// weight returns e to the power -d for a distance d ≥ 0, 0 when it is
// farAway or not a number.
func weight(d float32) float32 {
	if !(d < farAway) {
		return 0
	}
	return exp32(-d)
}
