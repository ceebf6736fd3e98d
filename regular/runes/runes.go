// Package runes implements sets of Unicode characters as ascending ranges: their union,
// intersection and complement, the sets of Unicode properties, and closure under case
// folding. Sets are slices that must not be modified.
package runes

import "slices"

// Range is a range of code points, both ends included.
type Range struct{ Lo, Hi rune }

// The last code point, and the first and the last surrogate.
const (
	Max           = 0x10FFFF
	SurrogateLow  = 0xD800
	SurrogateHigh = 0xDFFF
)

// Of returns the ranges with the given ends, in pairs.
func Of(ends ...rune) []Range {
	out := make([]Range, 0, len(ends)/2)
	for i := 0; i+1 < len(ends); i += 2 {
		out = append(out, Range{ends[i], ends[i+1]})
	}
	return out
}

// Within this package a range may include the surrogates, so that "every character" is
// one range, but it never starts or ends among them. They are removed from results.

// Clip moves the ends of a range out of the surrogates; the result is empty (lo > hi)
// if the range contained only surrogates.
func Clip(lo, hi rune) (rune, rune) {
	if lo >= SurrogateLow && lo <= SurrogateHigh {
		lo = SurrogateHigh + 1
	}
	if hi >= SurrogateLow && hi <= SurrogateHigh {
		hi = SurrogateLow - 1
	}
	return lo, hi
}

// Follows reports whether no scalar value is between hi and lo.
func Follows(hi, lo rune) bool {
	return lo == hi+1 || hi == SurrogateLow-1 && lo == SurrogateHigh+1
}

// Normalise sorts and joins ranges in place and drops everything but scalar values.
func Normalise(rs []Range) []Range {
	out := rs[:0]
	for _, r := range rs {
		lo, hi := Clip(max(r.Lo, 0), min(r.Hi, Max))
		if lo <= hi {
			out = append(out, Range{lo, hi})
		}
	}
	slices.SortFunc(out, func(a, b Range) int { return int(a.Lo - b.Lo) })
	return Join(out)
}

// Join merges sorted ranges that overlap or touch, in place.
func Join(rs []Range) []Range {
	if len(rs) == 0 {
		return rs
	}
	n := 1
	for _, r := range rs[1:] {
		last := &rs[n-1]
		if r.Lo <= last.Hi || Follows(last.Hi, r.Lo) {
			last.Hi = max(last.Hi, r.Hi)
		} else {
			rs[n] = r
			n++
		}
	}
	return rs[:n]
}

// appendUnion appends the union of two normalised sets.
func appendUnion(dst, a, b []Range) []Range {
	base := len(dst)
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].Lo <= b[0].Lo {
			dst = append(dst, a[0])
			a = a[1:]
		} else {
			dst = append(dst, b[0])
			b = b[1:]
		}
	}
	return dst[:base+len(Join(dst[base:]))]
}

// AppendIntersection appends the intersection of two normalised sets.
func AppendIntersection(dst, a, b []Range) []Range {
	for len(a) > 0 && len(b) > 0 {
		lo, hi := Clip(max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi))
		if lo <= hi {
			dst = append(dst, Range{lo, hi})
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return dst
}

// AppendComplement appends the complement of a normalised set.
func AppendComplement(dst, a []Range) []Range {
	next := rune(0)
	for _, r := range a {
		if lo, hi := Clip(next, r.Lo-1); lo <= hi {
			dst = append(dst, Range{lo, hi})
		}
		next = r.Hi + 1
	}
	if lo, hi := Clip(next, Max); lo <= hi {
		dst = append(dst, Range{lo, hi})
	}
	return dst
}

// Contains reports whether a normalised set contains r.
func Contains(rs []Range, r rune) bool {
	lo, hi := 0, len(rs)
	for lo < hi {
		mid := (lo + hi) / 2
		if rs[mid].Hi < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(rs) && rs[lo].Lo <= r
}

// AppendScalars appends a normalised set without the surrogates.
func AppendScalars(dst, rs []Range) []Range {
	for _, r := range rs {
		if r.Lo < SurrogateLow && r.Hi > SurrogateHigh {
			dst = append(dst, Range{r.Lo, SurrogateLow - 1}, Range{SurrogateHigh + 1, r.Hi})
		} else {
			dst = append(dst, r)
		}
	}
	return dst
}

// Size returns the number of scalar values in a normalised set.
func Size(rs []Range) int {
	n := 0
	for _, r := range rs {
		n += int(r.Hi-r.Lo) + 1
		if r.Lo < SurrogateLow && r.Hi > SurrogateHigh {
			n -= SurrogateHigh - SurrogateLow + 1
		}
	}
	return n
}

// All is the set of all characters.
var All = []Range{{0, Max}}
