package vocab

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// ugm finds the tokens with the greatest sum of scores that make up a normalised text:
// SentencePiece's unigram model.
type ugm struct {
	v       *Vocab
	trie    byteTrie // tokens that are normal, user-defined or unused in the file, regardless of their kind here
	user    byteTrie // user-defined tokens, which are not normalised
	unknown float64  // score of a character that is in no token
	chars   charsMap
	pool    sync.Pool // of *ugmState
}

type ugmState struct {
	text []byte
	best []ugmBest
}

// ugmBest is the best tokenization of a text up to a position.
type ugmBest struct {
	token int32
	from  int32 // start of the last token
	score float64
}

func newUGM(v *Vocab) *ugm {
	u := &ugm{v: v}
	u.pool.New = func() any { return new(ugmState) }
	u.chars, _ = parseCharsMap(v.charsMap) // checked when the vocabulary was created
	lowest := float32(math.MaxFloat32)
	for id := range int32(v.Len()) {
		switch v.fileKinds[id] {
		case Normal:
			lowest = min(lowest, v.Score(id))
		case UserDefined:
			u.user.insert(v.Text(id), id)
		case Unused:
		default:
			continue
		}
		u.trie.insert(v.Text(id), id)
	}
	const penalty = 10 // below the least likely token; SentencePiece's
	u.unknown = float64(lowest - penalty)
	return u
}

func (u *ugm) tokenize(dst []int32, text string, mode tokenizeMode) []int32 {
	s := u.pool.Get().(*ugmState)
	defer u.pool.Put(s)
	u.normalise(s, text, mode)
	n := len(s.text)
	if n == 0 {
		return dst
	}
	unk := u.v.special.unk
	s.best = slices.Grow(s.best[:0], n+1)[:n+1]
	for i := range s.best {
		s.best[i] = ugmBest{unk, 0, -math.MaxFloat64}
	}
	s.best[0].score = 0
	for at := 0; at < n; {
		width := min(utf8Width(s.text[at]), n-at)
		u.extend(s, at, width)
		at += width
	}
	begin := len(dst)
	unknown := false
	for at := n; ; {
		b := s.best[at]
		if !(unknown && b.token == unk) && b.token >= 0 {
			dst = append(dst, b.token)
		}
		if b.from == 0 {
			break
		}
		unknown = b.token == unk
		at = int(b.from)
	}
	slices.Reverse(dst[begin:])
	return dst
}

// extend tries all tokens that start at the character at, which is width bytes long.
func (u *ugm) extend(s *ugmState, at, width int) {
	base := s.best[at].score
	offer := func(end int, token int32, score float64) {
		if score > s.best[end].score {
			s.best[end] = ugmBest{token, int32(at), score}
		}
	}
	whole := false // a token matches just this character
	node := u.trie.root[s.text[at]]
	for end := at + 1; node != 0; end++ {
		if id := u.trie.nodes[node].value; id >= 0 {
			whole = whole || end-at == width
			score := 0.0 // user-defined tokens take precedence: the scores of others are negative
			if !u.userDefined(id) {
				score = float64(u.v.Score(id))
			}
			offer(end, id, base+score)
		}
		if end == len(s.text) {
			break
		}
		node = u.trie.step(node, s.text[end])
	}
	if !whole {
		offer(at+width, u.v.special.unk, base+u.unknown)
	}
}

// userDefined reports whether a token is user-defined, or was in the file before its text made
// it a control token.
func (u *ugm) userDefined(id int32) bool {
	return u.v.kinds[id] == UserDefined || u.v.kinds[id] == Control && u.v.fileKinds[id] == UserDefined
}

// normalise writes the normalised text to s.text: characters replaced according to the model's
// map, spaces marked, and merged or added as the model requires.
func (u *ugm) normalise(s *ugmState, text string, mode tokenizeMode) {
	out := s.text[:0]
	merge := u.v.removeExtraWhitespace && !mode.exact
	pending := u.v.addSpacePrefix && !mode.exact // llama.cpp adds it before each part of a text
	inWord := false
	var piece string
	for len(text) > 0 {
		piece, text = u.next(text, mode)
		for i := range len(piece) {
			c := piece[i]
			if c == ' ' {
				inWord = false
				if !merge {
					out = append(out, spaceMark...)
				}
				continue
			}
			if !inWord {
				inWord = true
				if pending || merge {
					out = append(out, spaceMark...)
					pending = false
				}
			}
			out = append(out, c)
		}
	}
	s.text = out
}

// next returns the normalised start of text, and the rest.
func (u *ugm) next(text string, mode tokenizeMode) (piece, rest string) {
	if n := u.userPrefix(text); n > 0 {
		return text[:n], text[n:]
	}
	if piece, n := u.chars.longest(text); n > 0 {
		return piece, text[n:]
	}
	r, n := decodeLoose(text)
	if r == utf8.RuneError && n == 1 && !mode.exact {
		return "\ufffd", text[1:]
	}
	return text[:n], text[n:]
}

// userPrefix returns the length of the longest common prefix of text and a user-defined token.
// As in llama.cpp it may be shorter than the token.
func (u *ugm) userPrefix(text string) int {
	node := u.user.root[text[0]]
	n := 0
	for node != 0 {
		n++
		if n == len(text) {
			break
		}
		node = u.user.step(node, text[n])
	}
	return n
}

// charsMap is SentencePiece's compiled normalisation: a double array that finds the longest
// prefix of a text, and the zero-terminated replacements. An entry of the array has the byte of
// its edge in bits 0-7, whether a replacement ends there in bit 8, and from bit 10 the offset
// of its children, in steps of 256 if bit 9 is set.
type charsMap struct {
	array        []byte // of little-endian uint32
	replacements string
}

func parseCharsMap(data []byte) (charsMap, error) {
	if len(data) == 0 {
		return charsMap{}, nil
	}
	if len(data) < 4 {
		return charsMap{}, errors.New("vocab: precompiled_charsmap is truncated")
	}
	n := uint64(binary.LittleEndian.Uint32(data))
	if n+4 >= uint64(len(data)) {
		return charsMap{}, errors.New("vocab: precompiled_charsmap is truncated")
	}
	if data[len(data)-1] != 0 {
		return charsMap{}, errors.New("vocab: precompiled_charsmap: the last replacement has no end")
	}
	return charsMap{data[4 : 4+n/4*4], string(data[4+n:])}, nil
}

func (m charsMap) entry(i uint32) uint32 {
	if uint64(i)*4+4 > uint64(len(m.array)) {
		return 0
	}
	return binary.LittleEndian.Uint32(m.array[i*4:])
}

// longest returns the replacement of the longest prefix of text that has one, and its length.
func (m charsMap) longest(text string) (replacement string, length int) {
	if len(m.array) == 0 {
		return "", 0
	}
	children := func(e uint32) uint32 { return e >> 10 << (e >> 6 & 8) }
	at := children(m.entry(0))
	found := uint32(0)
	for i := range len(text) {
		c := uint32(text[i])
		if c == 0 {
			break
		}
		at ^= c
		e := m.entry(at)
		if e&(1<<31|0xff) != c {
			break
		}
		at ^= children(e)
		if e>>8&1 != 0 {
			length, found = i+1, m.entry(at)&(1<<31-1)
		}
	}
	if length == 0 || int(found) >= len(m.replacements) {
		return "", 0
	}
	replacement, _, _ = strings.Cut(m.replacements[found:], "\x00")
	return replacement, length
}
