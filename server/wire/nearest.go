package wire

import "github.com/stencil-json/stencil/schema/nearest"

// Nearest returns the known name that a mistyped name was probably meant to
// be, "" if none is near. It allows at most one edit per three characters;
// swapping two neighbouring characters counts as one edit.
func Nearest(name string, known []string) string {
	if len(name) > LongestName {
		return ""
	}
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := nearest.Distance(name, k); d > 0 && d < least {
			best, least = k, d
		}
	}
	return best
}

// LongestName is the length in bytes above which names are not compared; no
// known name is near a longer one.
const LongestName = nearest.Longest
