package sampling

import "math"

// farAway is the distance in nats from the likeliest token at which a token's
// weight is not counted. All of a vocabulary of 262,144 tokens at this
// distance would hold less than 4e-6 of the likeliest one's weight.
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
func exp32(x float32) float32 {
	const (
		c1 = math.Ln2
		c2 = c1 * math.Ln2 / 2
		c3 = c2 * math.Ln2 / 3
		c4 = c3 * math.Ln2 / 4
		c5 = c4 * math.Ln2 / 5

		shift     = 3 << 22
		shiftBits = 0x4b400000 // of float32(shift)
	)
	y := x * (1 / math.Ln2)
	n := y + shift
	f := y - (n - shift)
	return (((((c5*f+c4)*f+c3)*f+c2)*f+c1)*f + 1) * math.Float32frombits((math.Float32bits(n)-shiftBits+127)<<23)
}

// weight returns e to the power -d for a distance d ≥ 0, 0 when it is
// farAway or not a number.
func weight(d float32) float32 {
	if !(d < farAway) {
		return 0
	}
	return exp32(-d)
}
