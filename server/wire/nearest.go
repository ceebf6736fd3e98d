package wire

// Nearest returns the known name that a mistyped one was probably meant to be,
// "" when none is near: at most one edit for every three characters, two
// neighbours in the wrong order being one edit.
func Nearest(name string, known []string) string {
	if len(name) > LongestName {
		return ""
	}
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := editDistance(name, k); d > 0 && d < least {
			best, least = k, d
		}
	}
	return best
}

// LongestName bounds the names that are compared; no known one is near it.
const LongestName = 64

// editDistance counts the insertions, deletions, substitutions and swaps of
// neighbours between two names of at most longestName bytes (optimal string
// alignment).
func editDistance(a, b string) int {
	var rows [3][LongestName + 1]int
	before, last, row := rows[0][:], rows[1][:], rows[2][:]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
