// Package number builds automata over the texts of JSON numbers.
//
// A [Spec] is a set of numbers: bounds, multiples, lists of values, and their
// opposites. [Compile] turns it into an [Automaton] over the bytes - + . e E
// and 0 to 9 that accepts the texts of these numbers, exactly: a state is
// [Dead] when no continuation is accepted, and only then. All arithmetic is on
// decimals of any size.
//
// # Spellings
//
// [AnySpelling] accepts every JSON spelling of every value of the Spec: 1.0,
// 10e-1 and 1E+00 for 1, -0.0 for 0.
//
// A Plain number has no fraction and no exponent, which is what draft 4 of JSON
// Schema calls an integer; from draft 6 on, 1.0 is one.
//
// [Canonical] is for generation. The numbers that it accepts are in the Spec, can
// be read as float64, and are still within the bounds then: the float64 of the text
// compares with the float64 of a bound as the bound requires. To ensure this, the
// values between an excluded bound and the next float64 are excluded too. The
// spelling is
//
//   - without an exponent, with at most 17 significant digits, trailing zeros
//     of a fraction included, and at most 17 zeros between the decimal point
//     and the first other digit; or
//   - with an exponent of at most 307 in magnitude and three digits, after one
//     digit that is not 0, and a fraction or none; where the numbers of a sign
//     have no bound but 0, also of at most 289 after up to 17 digits, or after 0 and
//     a fraction that begins with another digit (12.57e10, 0.5e-3: models write such
//     numbers, and the states are few as long as no bound tells them apart);
//   - without a fraction if all values of the Spec are whole; zeros may follow
//     the significant digits where the bounds allow such large values;
//   - without an exponent if the Spec demands multiples or their opposite,
//     whole numbers included: otherwise 5.123 could be the start of 5.123e1,
//     a multiple of 0.01, and a model could not know where to stop;
//   - where numbers must not be Plain, never that of a whole number: programs
//     read 1.0 as 1;
//   - never a 0 with a minus sign;
//   - for listed values, the text that [Decimal.String] returns, the one the
//     value was parsed from, and the one without an exponent.
//
// These limits are relaxed if a Spec has no value within them: 17 digits are
// doubled as often as needed, and bounds beyond 1e308 allow the exponent 308.
// If float64 has no such number either, Compile returns an *[EmptyError].
//
// # States
//
// A state is not the text that led to it, but what determines its possible
// continuations (key.go): how the digits compare with those of the bounds, how far
// the decimal point may still move, the residue of the digits modulo the
// multiples. Texts with the same continuations share a state, so that 0 to 100 takes
// about a hundred states, most of them to count 17 digits, and "at least 0" under
// AnySpelling fourteen.
//
// Questions about a state are answered by windows (window.go): ranges of
// values that share the digits so far and the position of the decimal point. A
// state is live if one of its windows holds a suitable value. Most windows lie
// between the bounds; in the others, the further digits of the bound are bounds
// for the digits to come.
//
// After an e the digits are complete, and the state is the set of exponents with
// which they are suitable (exponent.go): one interval without the exponents that
// lead to excluded values.
//
// Under AnySpelling with bounds or multiples, the language is not regular:
// 0.00…01e… needs an exponent as large as the zeros are many. Such automata
// grow with the texts they read, up to [Limits].
//
// # Reading the code
//
// decimal.go and spec.go are the interface; compile.go puts the parts
// together. side.go converts a Spec to the form that the rest works with, grid.go
// its multiples. mantissa.go is the syntax, residue.go and natural.go the
// arithmetic, list.go the tree for listed values. shortest.go and count.go
// answer the two questions that need more than a step.
package number
