package typescript

// Limits on a conversion. Short declarations can stand for huge types, so the source,
// the work and the result each have their own. A source at its limit, written without
// generic types, usually stays within the others.
const (
	maxSource = 1 << 20   // bytes of source
	maxSteps  = 1_000_000 // of work, see budget; well under a second
	maxOutput = 8 << 20   // bytes of schema

	// maxDepth is the maximum nesting of types in the source. Deeper source was not
	// written by hand.
	maxDepth = 200
	// maxNested is the maximum nesting of schemas, and of types built from others.
	maxNested = 5 * maxDepth
	// maxExpansion is the maximum number of definitions that are followed to find the
	// shape of one type. Only types that refer to themselves without an object or array
	// in between need that many.
	maxExpansion = 100
	// maxAlternatives is the maximum number of alternatives after distributing an
	// intersection over unions.
	maxAlternatives = 1000

	maxDefinitions = 2000 // under $defs
	maxName        = 4096 // bytes of a property's name, which is a step
	maxTypeName    = 4096 // bytes of a generic type with its arguments
)

// budget counts the steps of a conversion: a step is a type, a member or an alternative
// that is visited, 64 bytes that are copied or 4 bytes that are searched.
type budget struct {
	steps int
	err   error // the limit that was exceeded
}

// spend counts n steps at a type. Once a limit is exceeded, it always fails.
func (b *budget) spend(at place, n int) error {
	if b.steps += n; b.steps > maxSteps {
		b.fail(at, "the conversion takes more than %d steps", maxSteps)
	}
	return b.err
}

// fail makes the conversion fail, if it hasn't failed before.
func (b *budget) fail(at place, format string, args ...any) {
	if b.err == nil {
		b.err = at.errorf(format, args...)
	}
}

// copied and searched return the steps for bytes of text.
func copied(bytes int) int   { return 1 + bytes/64 }
func searched(bytes int) int { return 1 + bytes/4 }
