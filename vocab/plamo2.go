package vocab

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// plamo2 finds the cheapest tokenization of a text, from its end to its start. The automaton is
// that of PLaMo-2: its states are the suffixes of tokens, and the state at a position is the
// longest suffix that is a prefix of the rest of the text; the tokens that start there are its
// prefixes.
type plamo2 struct {
	bytes [256]int32
	next  map[plamoStep]int32 // state by character before it and suffix
	rows  []plamoRow          // of each state: its prefixes, longest first, and one for no token
}

type plamoStep struct {
	char   rune
	suffix int32
}

type plamoRow struct {
	length int32 // in characters
	token  int32 // -1: none
	score  int32 // the token's score times ten thousand
	suffix int32 // the state of this prefix
}

const (
	plamoInvalid = -20000000 // a prefix that is not a token
	plamoUnknown = -10000000 // the row for no token
	plamoScale   = 1e4
)

// checkPLaMo2 returns an error if the vocabulary lacks a byte token, as some texts can't be
// tokenized then.
func checkPLaMo2(v *Vocab) error {
	for b, id := range plamoBytes(v) {
		if id == 0 {
			return fmt.Errorf("vocab: no token for the byte 0x%02X", b)
		}
	}
	return nil
}

func plamoBytes(v *Vocab) (out [256]int32) {
	for id := range int32(v.Len()) {
		if b, ok := plamoByte(v.Text(id)); ok && v.kinds[id] == Byte {
			out[b] = id
		}
	}
	return out
}

// plamoByte returns the byte of a text such as "<0x0A>".
func plamoByte(text string) (byte, bool) {
	if len(text) != 6 || text[:3] != "<0x" || text[5] != '>' {
		return 0, false
	}
	b, err := hex.DecodeString(text[3:5])
	if err != nil {
		return 0, false
	}
	return b[0], true
}

func newPLaMo2(v *Vocab) *plamo2 {
	p := &plamo2{bytes: plamoBytes(v), next: map[plamoStep]int32{}}
	scores := map[string]float32{}
	nan := float32(math.NaN())
	for id := range int32(v.Len()) {
		if v.kinds[id] == Byte {
			continue
		}
		text := v.Text(id)
		scores[text] = v.Score(id)
		for i := range text {
			if _, ok := scores[text[i:]]; !ok {
				scores[text[i:]] = nan
			}
		}
	}
	suffixes := make([]string, 0, len(scores)+1)
	for s := range scores {
		suffixes = append(suffixes, s)
	}
	if _, ok := scores[""]; !ok {
		suffixes = append(suffixes, "")
	}
	slices.SortFunc(suffixes, compareReversed)

	// prefixes calls yield for the prefixes of a suffix that are suffixes of tokens too, longest
	// first.
	prefixes := func(suffix string, yield func(piece string, length int32, score float32)) {
		length := int32(utf8.RuneCountInString(suffix))
		for piece := suffix; piece != ""; length-- {
			if score, ok := scores[piece]; ok {
				yield(piece, length, score)
			}
			_, width := utf8.DecodeLastRuneInString(piece)
			piece = piece[:len(piece)-width]
		}
	}
	states := make(map[string]int32, len(suffixes))
	rows := int32(0)
	for _, suffix := range suffixes {
		states[suffix] = rows
		if first, width := utf8.DecodeRuneInString(suffix); suffix != "" {
			p.next[plamoStep{first, states[suffix[width:]]}] = rows
		}
		prefixes(suffix, func(string, int32, float32) { rows++ })
		rows++
	}
	p.rows = make([]plamoRow, 0, rows)
	for _, suffix := range suffixes {
		prefixes(suffix, func(piece string, length int32, score float32) {
			token, ok := v.Find(piece)
			if !ok {
				token = -1
			}
			p.rows = append(p.rows, plamoRow{length, token, plamoScore(score), states[piece]})
		})
		p.rows = append(p.rows, plamoRow{1, -1, plamoUnknown, 0})
	}
	return p
}

func plamoScore(score float32) int32 {
	x := math.Round(float64(score) * plamoScale)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return plamoInvalid
	}
	return int32(max(plamoInvalid, min(x, math.MaxInt32)))
}

// compareReversed compares texts from the end, byte by byte.
func compareReversed(a, b string) int {
	for i := 1; i <= min(len(a), len(b)); i++ {
		if c := cmp.Compare(a[len(a)-i], b[len(b)-i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func (p *plamo2) tokenize(dst []int32, text string, mode tokenizeMode) []int32 {
	var decoded runeText
	decoded.set(text, mode.exact)
	runes := decoded.runes
	first := 0
	if !mode.exact && len(runes) > 0 && runes[0] == '\ufeff' {
		first = 1 // a byte order mark
	}
	n := len(runes)
	const far = int64(1) << 60
	cost := make([]int64, n+1)
	best := make([]plamoRow, n)
	for i := first; i < n; i++ {
		cost[i] = far
	}
	state := int32(0)
	for i := n - 1; i >= first; i-- {
		for row := state; ; row++ {
			state = p.next[plamoStep{runes[i], p.rows[row].suffix}]
			if state > 0 || p.rows[row].score == plamoUnknown {
				break
			}
		}
		for row := state; ; row++ {
			r := p.rows[row]
			if r.score > plamoInvalid {
				if c := cost[i+int(r.length)] - int64(r.score); c < cost[i] {
					cost[i], best[i] = c, r
				}
			}
			if r.score == plamoUnknown {
				break
			}
		}
	}
	for i := first; i < n; i += int(best[i].length) {
		if best[i].token >= 0 {
			dst = append(dst, best[i].token)
			continue
		}
		for _, b := range []byte(decoded.bytes(i, i+1)) {
			dst = append(dst, p.bytes[b])
		}
	}
	return dst
}
