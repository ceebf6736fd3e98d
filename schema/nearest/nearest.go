// Package nearest measures the edit distance between a mistyped name and a known one,
// for hints about keywords of schemas and fields of requests.
package nearest

// Longest is the maximum length in bytes of the names that are compared; every known
// name is far shorter.
const Longest = 64

// Distance returns the number of insertions, deletions, substitutions and swaps of
// neighbours between two names (optimal string alignment). It exceeds Longest if one of
// them is longer than that.
func Distance(a, b string) int {
	if len(a) > Longest || len(b) > Longest {
		return Longest + 1
	}
	var rows [3][Longest + 1]int
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
