package gbnf

import (
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
)

// Surrogates are code points, but not characters.
const (
	lowestSurrogate  = 0xD800
	highestSurrogate = 0xDFFF
)

// anyChar is every character.
var anyChar = []regular.Range{{Lo: 0, Hi: lowestSurrogate - 1}, {Lo: highestSurrogate + 1, Hi: utf8.MaxRune}}

// normal returns the characters of a class: sorted, disjoint ranges that don't
// touch, without surrogates.
func normal(ranges []regular.Range, negated bool) []regular.Range {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b regular.Range) int { return int(a.Lo - b.Lo) })
	var out []regular.Range
	add := func(lo, hi rune) {
		if lo > hi {
			return
		}
		if n := len(out); n > 0 && out[n-1].Hi+1 >= lo {
			out[n-1].Hi = max(out[n-1].Hi, hi)
			return
		}
		out = append(out, regular.Range{Lo: lo, Hi: hi})
	}
	// The two sides of the surrogates are processed separately, and stay
	// separate.
	side := func(first, last rune) {
		at := first
		for _, r := range sorted {
			lo, hi := max(r.Lo, first), min(r.Hi, last)
			if lo > hi {
				continue
			}
			if negated {
				add(at, lo-1)
			} else {
				add(lo, hi)
			}
			at = max(at, hi+1)
		}
		if negated {
			add(at, last)
		}
	}
	for _, r := range anyChar {
		side(r.Lo, r.Hi)
	}
	return out
}

// pick returns a character of a class to write where any is allowed: a short one,
// preferably a letter or digit.
func pick(ranges []regular.Range) rune {
	for _, nice := range []regular.Range{{Lo: 'a', Hi: 'z'}, {Lo: '0', Hi: '9'}, {Lo: 'A', Hi: 'Z'}, {Lo: ' ', Hi: '~'}} {
		for _, r := range ranges {
			if lo := max(r.Lo, nice.Lo); lo <= min(r.Hi, nice.Hi) {
				return lo
			}
		}
	}
	return ranges[0].Lo
}
