package regular

import "slices"

// Range is a range of code points, both ends included.
type Range struct{ Lo, Hi rune }

const (
	maxRune       = 0x10FFFF
	surrogateLow  = 0xD800
	surrogateHigh = 0xDFFF
)

// Within this package a range may run across the surrogates, so that "every
// character" is one range, but it never starts or ends among them. They are cut
// out of what is handed out.

// clip moves the ends of a range out of the surrogates; the result is empty
// (lo > hi) when nothing else was in it.
func clip(lo, hi rune) (rune, rune) {
	if lo >= surrogateLow && lo <= surrogateHigh {
		lo = surrogateHigh + 1
	}
	if hi >= surrogateLow && hi <= surrogateHigh {
		hi = surrogateLow - 1
	}
	return lo, hi
}

// follows tells whether no scalar value lies between hi and lo.
func follows(hi, lo rune) bool {
	return lo == hi+1 || hi == surrogateLow-1 && lo == surrogateHigh+1
}

// normalise sorts and joins ranges in place and drops what is no scalar value.
func normalise(rs []Range) []Range {
	out := rs[:0]
	for _, r := range rs {
		lo, hi := clip(max(r.Lo, 0), min(r.Hi, maxRune))
		if lo <= hi {
			out = append(out, Range{lo, hi})
		}
	}
	slices.SortFunc(out, func(a, b Range) int { return int(a.Lo - b.Lo) })
	return join(out)
}

// join merges sorted ranges that overlap or touch, in place.
func join(rs []Range) []Range {
	if len(rs) == 0 {
		return rs
	}
	n := 1
	for _, r := range rs[1:] {
		last := &rs[n-1]
		if r.Lo <= last.Hi || follows(last.Hi, r.Lo) {
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
	return dst[:base+len(join(dst[base:]))]
}

// appendIntersection appends the intersection of two normalised sets.
func appendIntersection(dst, a, b []Range) []Range {
	for len(a) > 0 && len(b) > 0 {
		lo, hi := clip(max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi))
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

// appendComplement appends the complement of a normalised set.
func appendComplement(dst, a []Range) []Range {
	next := rune(0)
	for _, r := range a {
		if lo, hi := clip(next, r.Lo-1); lo <= hi {
			dst = append(dst, Range{lo, hi})
		}
		next = r.Hi + 1
	}
	if lo, hi := clip(next, maxRune); lo <= hi {
		dst = append(dst, Range{lo, hi})
	}
	return dst
}

// contains tells whether a normalised set has r.
func contains(rs []Range, r rune) bool {
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

// appendScalars appends a normalised set with the surrogates cut out.
func appendScalars(dst, rs []Range) []Range {
	for _, r := range rs {
		if r.Lo < surrogateLow && r.Hi > surrogateHigh {
			dst = append(dst, Range{r.Lo, surrogateLow - 1}, Range{surrogateHigh + 1, r.Hi})
		} else {
			dst = append(dst, r)
		}
	}
	return dst
}

// size is the number of scalar values in a normalised set.
func size(rs []Range) int {
	n := 0
	for _, r := range rs {
		n += int(r.Hi-r.Lo) + 1
		if r.Lo < surrogateLow && r.Hi > surrogateHigh {
			n -= surrogateHigh - surrogateLow + 1
		}
	}
	return n
}

var allRunes = []Range{{0, maxRune}}
