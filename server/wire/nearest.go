package wire

import "github.com/stencil-json/stencil/schema/nearest"

// Nearest returns the known name that a mistyped one was probably meant to be,
// "" when none is near: at most one edit for every three characters, two
// neighbours in the wrong order being one edit.
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

// LongestName bounds the names that are compared; no known one is near it.
const LongestName = nearest.Longest
