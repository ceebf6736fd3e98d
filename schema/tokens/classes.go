package tokens

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/spelling"
	"github.com/stencil-json/stencil/vocab"
)

// classStarts are the first characters of classes, ascending: sets of characters that few
// patterns tell apart. Below 0x80 only the letters of hexadecimal digits and the other letters
// are classes of several characters; above, only what JavaScript's \s and the dot tell apart is separate.
var classStarts = func() (out []rune) {
	for c := rune(0); c < utf8.RuneSelf; c++ {
		switch {
		case 'a' < c && c <= 'f', 'g' < c && c <= 'z', 'A' < c && c <= 'F', 'G' < c && c <= 'Z':
		default:
			out = append(out, c)
		}
	}
	return append(out, 0x80, 0xA0, 0xA1, 0x1680, 0x1681, 0x2000, 0x200B, 0x2028, 0x202A, 0x202F, 0x2030, 0x205F, 0x2060,
		0x3000, 0x3001, spelling.FirstSurrogate, spelling.AfterSurrogates, 0xFEFF, 0xFF00, 0x10000, utf8.MaxRune+1)
}()

// classStart holds the members of classStarts below 0x80, one bit each.
var classStart = func() (out [2]uint64) {
	for _, c := range classStarts {
		if c < utf8.RuneSelf {
			out[c>>6] |= 1 << (c & 63)
		}
	}
	return out
}()

// startsClass reports whether a class begins with c.
func startsClass(c rune) bool {
	if c < utf8.RuneSelf {
		return classStart[c>>6]>>(c&63)&1 != 0
	}
	_, ok := slices.BinarySearch(classStarts, c)
	return ok
}

// representative returns the first character of c's class.
func representative(c rune) rune {
	return classStarts[sort.Search(len(classStarts), func(i int) bool { return classStarts[i] > c })-1]
}

// A classTrie holds the plain tokens by the classes of their characters, each represented by its
// first character. It has a sixth of the nodes of the trie of their texts, and gives the same answers
// about states that don't tell the characters of a class apart.
type classTrie struct {
	trie  *vocab.Trie
	below []vocab.Subtree
}

func newClassTrie(plain *vocab.Trie, v *vocab.Vocab) classTrie {
	entries := make([]vocab.TrieEntry, 0, len(plain.Tokens))
	size := 0
	for _, tok := range plain.Tokens {
		size += len(v.Bytes(tok))
	}
	texts := make([]byte, 0, size) // no representative is longer than what it stands for
	for _, tok := range plain.Tokens {
		from := len(texts)
		for _, c := range string(v.Bytes(tok)) {
			texts = utf8.AppendRune(texts, representative(c))
		}
		entries = append(entries, vocab.TrieEntry{Text: texts[from:len(texts):len(texts)], Value: tok})
	}
	trie := vocab.NewTrie(entries)
	return classTrie{trie, trie.Subtrees()}
}

// classesAlike reports whether the characters of each class lead to the same state.
func classesAlike(edges []regular.Edge) bool {
	for i, e := range edges {
		joined := i > 0 && edges[i-1].To == e.To && edges[i-1].Hi+1 == e.Lo
		if !joined && !startsClass(e.Lo) {
			return false
		}
		if i+1 < len(edges) && edges[i+1].Lo == e.Hi+1 {
			continue // the next edge decides
		}
		if !startsClass(e.Hi + 1) {
			return false
		}
	}
	return true
}

// wholeClasses reports whether a set of characters, in ascending ranges, consists of classes.
func wholeClasses(set []regular.Range) bool {
	for i, r := range set {
		if joined := i > 0 && set[i-1].Hi+1 == r.Lo; !joined && !startsClass(r.Lo) {
			return false
		}
		if joined := i+1 < len(set) && set[i+1].Lo == r.Hi+1; !joined && !startsClass(r.Hi+1) {
			return false
		}
	}
	return true
}
