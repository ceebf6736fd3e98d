package promptcache

import (
	"fmt"
	"strconv"
	"strings"
)

// Extend returns the hash of a run of tokens extended by one, given the hash of
// the run; the hash of the empty run may be any number. One step is SplitMix64's
// (Steele, Lea and Flood 2014).
func Extend(hash uint64, token int32) uint64 {
	x := (hash ^ uint64(uint32(token))) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A name identifies a state and is the name of its file.
type name struct {
	model  uint64
	hash   uint64
	tokens int
}

const suffix = ".prompt"

// String returns the file name.
func (n name) String() string {
	return fmt.Sprintf("%016x-%016x-%d%s", n.model, n.hash, n.tokens, suffix)
}

// parseName is the inverse of String; ok is false for any other string.
func parseName(s string) (n name, ok bool) {
	parts := strings.Split(strings.TrimSuffix(s, suffix), "-")
	if len(parts) != 3 {
		return name{}, false
	}
	var err [3]error
	n.model, err[0] = strconv.ParseUint(parts[0], 16, 64)
	n.hash, err[1] = strconv.ParseUint(parts[1], 16, 64)
	n.tokens, err[2] = strconv.Atoi(parts[2])
	return n, err == [3]error{} && n.String() == s
}

// temporary is the prefix of the names of files being written.
const temporary = "writing-"

// temporaryName returns a name for a file that no other process writes.
func temporaryName(random uint64) string { return fmt.Sprintf("%s%016x%s", temporary, random, suffix) }

// isTemporary reports whether a name is from temporaryName.
func isTemporary(s string) bool {
	digits, ok := strings.CutPrefix(strings.TrimSuffix(s, suffix), temporary)
	random, err := strconv.ParseUint(digits, 16, 64)
	return ok && err == nil && temporaryName(random) == s
}
