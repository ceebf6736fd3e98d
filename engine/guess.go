package engine

import (
	"bytes"
	"slices"

	"github.com/stencil-json/stencil/vocab"
)

// A drafter guesses how a sequence continues: with what followed the last place
// where its text, prompt and answer, reads as at its end, and with what the
// constraint forces after that. Places are compared in bytes, because a word
// after a quote is rarely the same token as after a space. It belongs to the
// loop.
//
// A draft is decoded in one batch with the token before it. The sequence then
// samples from one row of logits after the other, as it would without a draft, as
// long as the tokens are those guessed. So guesses change how long a text takes,
// never the text. They cost their places in the batch whether they come true or
// not, so only those that are likely enough become drafts, see [prices].
type drafter struct {
	vocab  *vocab.Vocab
	most   int     // guesses in a draft, not counting forced tokens
	shared *learnt // by all sequences of the loop
	own    rates   // initially the shared ones

	tokens []int32 // of the sequence, as far as followed
	text   []byte  // of the tokens, then of guesses
	ends   []int32 // where each of the tokens ends in text
	heads  []int32 // by hash of a gram: where it ended last
	older  []int32 // by end of a gram: where one of the same hash ended before
	filed  int     // how much of text is in heads and older

	all    []guess  // the last guesses
	place  string   // the habit of the place before the guesses, if any
	source struct { // of the next guess
		at    int // where in text, -1: nowhere
		match int // equal bytes before it
	}

	used   int         // number of guesses in the running batch
	begun  int         // number of the sequence's tokens before them
	rows   []int       // by guess in the batch: its row of logits, -1 if none is needed
	logits [][]float32 // by guess in the batch: its row, nil if it has none

	drafted, accepted int // guesses in batches, not counting forced ones
}

// A guess is a token that may follow those before it.
type guess struct {
	token  int32
	forced bool    // by the constraint, if the guesses before it come true
	kind   uint8   // how it was made, unless forced
	chance float64 // probability that it and those before it come true
}

// The kinds of guesses: a copy after a match, by the length of the match; a space
// instead of a line break that the constraint refuses, and the end of a string
// there; the first token of text that must follow, if it can be tokenized in
// several ways.
const (
	guessCopy  uint8 = 0
	guessJoin        = guessCopy + 8
	guessClose       = guessJoin + 1
	guessSpelt       = guessClose + 1
	guessKinds       = guessSpelt + 1
)

// copied returns the kind of a guess after a match of the given number of bytes.
func copied(match int) uint8 {
	n := guessCopy
	for _, limit := range [...]int{4, 5, 6, 8, 12, 16, maxMatch} {
		if match >= limit {
			n++
		}
	}
	return n
}

const (
	gramSize  = 3  // bytes that must be equal for a match
	maxMatch  = 32 // most bytes compared
	maxLooks  = 48 // most places compared for a guess
	hashBits  = 12
	habitSize = 12 // bytes
	maxHabits = 1024
	speltSize = 24 // bytes of a text whose first token is wanted
)

// rates are the recent success rates of guesses of each kind.
type rates [guessKinds]float64

// The approximate number of recent guesses that rates cover. Those of a sequence
// change quickly, since texts differ.
const (
	ownMemory    = 8
	sharedMemory = 64
)

func (r *rates) learn(kind uint8, right bool, memory float64) {
	outcome := 0.0
	if right {
		outcome = 1
	}
	r[kind] += (outcome - r[kind]) / memory
}

// learnt is state that the sequences of a loop share.
type learnt struct {
	rates  rates
	close  int32            // the last token that ended a string; -1 before the first
	habits map[string]int32 // by drafter.habit: the last token written there
}

// newLearnt starts with a rate of 0.5 for each kind.
func newLearnt() *learnt {
	l := &learnt{close: -1, habits: map[string]int32{}}
	for i := range l.rates {
		l.rates[i] = 0.5
	}
	return l
}

func newDrafter(v *vocab.Vocab, most int, shared *learnt) *drafter {
	d := &drafter{vocab: v, most: most, shared: shared, own: shared.rates, heads: make([]int32, 1<<hashBits)}
	d.source.at = -1
	return d
}

// follow processes the tokens added to the sequence since the last call.
func (d *drafter) follow(tokens []int32) {
	d.tokens = tokens
	for _, t := range tokens[len(d.ends):] {
		d.text = append(d.text, d.vocab.Bytes(t)...)
		d.ends = append(d.ends, int32(len(d.text)))
	}
	n := len(d.text)
	d.older = slices.Grow(d.older, n+1-len(d.older))[:n+1]
	for end := max(d.filed+1, gramSize); end <= n; end++ {
		h := hashBefore(d.text, end)
		d.older[end] = d.heads[h]
		d.heads[h] = int32(end)
	}
	d.filed = n
}

// hashBefore returns the hash of the gram that ends at a position.
func hashBefore(text []byte, end int) uint32 {
	x := uint32(text[end-3])<<16 | uint32(text[end-2])<<8 | uint32(text[end-1])
	return x * 2654435761 >> (32 - hashBits)
}

// find looks for the place with the longest match with the end of the text, the
// latest among equals.
func (d *drafter) find() {
	d.source.at, d.source.match = -1, gramSize-1
	n := len(d.text)
	if n < gramSize {
		return
	}
	end := int(d.heads[hashBefore(d.text, n)])
	for looks := 0; end > 0 && looks < maxLooks; looks++ {
		if end < n {
			if m := sameBefore(d.text, end, n); m > d.source.match {
				d.source.at, d.source.match = end, m
				if m == maxMatch {
					return
				}
			}
		}
		end = int(d.older[end])
	}
}

// sameBefore returns how many bytes before two positions are equal, up to
// maxMatch. The second position is the later one.
func sameBefore(text []byte, a, b int) int {
	n := 0
	for n < min(maxMatch, a) && text[a-1-n] == text[b-1-n] {
		n++
	}
	return n
}

// guess fills all with at most room guesses of what follows the tokens. The
// matcher, if there is one, has accepted the tokens; it is back in that state
// afterwards. With force, text that must follow is not guessed, but is already
// part of the text.
func (d *drafter) guess(tokens []int32, m Matcher, force bool, room int) error {
	d.all, d.used = d.all[:0], 0
	d.follow(tokens)
	n, chance := len(d.text), 1.0
	d.place = ""
	if m != nil {
		if text := forcedBytes(m); len(text) > 0 {
			d.place = d.habit(text)
		}
	}
	d.find()
	for guessed := 0; guessed < d.most; guessed++ {
		g, ok := d.next(m)
		if !ok {
			break
		}
		chance *= d.own[g.kind]
		g.chance = chance
		d.add(g)
		if force && m != nil && !d.addForced(m, chance) || len(d.all) >= room {
			break
		}
		if d.source.at < 0 {
			d.find()
		}
	}
	d.text = d.text[:n]
	if m == nil {
		d.all = d.all[:min(len(d.all), max(0, room))]
		return nil
	}
	err := m.Rollback(len(d.all))
	d.all = d.all[:min(len(d.all), max(0, room))]
	return err
}

// add appends a guess that the matcher has accepted.
func (d *drafter) add(g guess) {
	d.all = append(d.all, g)
	d.text = append(d.text, d.vocab.Bytes(g.token)...)
}

// addForced appends the text that must follow the guesses. It returns false if
// the matcher can't continue.
func (d *drafter) addForced(m Matcher, chance float64) bool {
	if len(forcedBytes(m)) == 0 {
		return true
	}
	for _, t := range slices.Clone(m.ForcedTokens()) {
		if m.Accept(t) != nil {
			return false
		}
		d.add(guess{token: t, forced: true, chance: chance})
		d.source.at = -1 // the source need not have this text
	}
	return true
}

// forcedBytes returns the text that must follow, if the matcher can tell.
func forcedBytes(m Matcher) []byte {
	if f, ok := m.(interface{ ForcedBytes() []byte }); ok {
		return f.ForcedBytes()
	}
	return nil
}

// spell guesses the first token of text that must follow: the one written last
// time, else the tokenizer's.
func (d *drafter) spell(m Matcher, text []byte) (guess, bool) {
	d.source.at = -1
	g := guess{kind: guessSpelt}
	if t, ok := d.shared.habits[d.habit(text)]; ok && m.Accept(t) == nil {
		g.token = t
		return g, true
	}
	list := d.vocab.TokenizeText(nil, text)
	if len(list) == 0 || m.Accept(list[0]) != nil {
		return g, false
	}
	g.token = list[0]
	return g, true
}

// habit returns a key for a place at which text must follow: the text before and
// the forced text.
func (d *drafter) habit(forced []byte) string {
	return string(d.text[max(0, len(d.text)-habitSize):]) + "\x00" + string(forced[:min(len(forced), habitSize)])
}

// tokenAt returns the token at a position of the text, and where it ends. If the
// position is inside a token, it is the first token of the rest. The end is the
// position itself if the text ends there or a token without text follows.
func (d *drafter) tokenAt(at int) (token int32, end int) {
	i, found := slices.BinarySearch(d.ends, int32(at))
	if found {
		i++
	}
	if i == len(d.ends) || int(d.ends[i]) == at {
		return 0, at
	}
	if end = int(d.ends[i]); found {
		return d.tokens[i], end
	}
	return d.spelt(at, d.filed)
}

// spelt returns the first token of the text between two positions, as the model's
// tokenizer splits it, and where it ends.
func (d *drafter) spelt(from, to int) (token int32, end int) {
	text := d.text[from:min(to, from+speltSize)]
	list := d.vocab.TokenizeText(nil, text)
	if len(list) == 0 || !bytes.HasPrefix(text, d.vocab.Bytes(list[0])) {
		return 0, from // a tokenizer that changes the text
	}
	return list[0], from + len(d.vocab.Bytes(list[0]))
}

// next returns the next guess, which the matcher has accepted; false if there is
// none.
func (d *drafter) next(m Matcher) (guess, bool) {
	if m != nil {
		if text := forcedBytes(m); len(text) > 0 {
			return d.spell(m, text)
		}
	}
	at := d.source.at
	if at < 0 {
		return guess{}, false
	}
	token, end := d.tokenAt(at)
	if m == nil {
		if end == at || d.vocab.IsEOG(token) {
			return guess{}, false
		}
		return d.copy(token, end), true
	}
	if end > at && m.Accept(token) == nil {
		return d.copy(token, end), true
	}
	line := bytes.IndexByte(d.text[at:d.filed], '\n')
	if line > 0 && at+line < end {
		if token, end = d.spelt(at, at+line); end > at && m.Accept(token) == nil {
			return d.copy(token, end), true
		}
	}
	return d.atBreak(m, at)
}

// copy returns a guess that copies the source.
func (d *drafter) copy(token int32, end int) guess {
	g := guess{token: token, kind: copied(d.source.match)}
	d.source.match = min(maxMatch, d.source.match+end-d.source.at)
	d.source.at = end
	return g
}

// atBreak guesses how text in quotes continues at a line break in its source, or
// at the source's end: it ends too, or has a space there.
func (d *drafter) atBreak(m Matcher, at int) (guess, bool) {
	rest := bytes.TrimLeft(d.text[at:d.filed], " \t\r\n")
	from := d.filed - len(rest)
	joins := bytes.IndexByte(d.text[at:from], '\n') >= 0
	if !joins && from != at || joins && d.own[guessJoin] > d.own[guessClose] {
		return d.join(m, from)
	}
	if c := d.shared.close; c >= 0 && m.Accept(c) == nil {
		d.source.at = -1
		return guess{token: c, kind: guessClose}, true
	}
	return d.join(m, from)
}

// join guesses that the text continues with a space and the word at a position.
func (d *drafter) join(m Matcher, from int) (guess, bool) {
	word := append([]byte{' '}, d.text[from:min(d.filed, from+speltSize)]...)
	if i := bytes.IndexByte(word, '\n'); i >= 0 {
		word = word[:i]
	}
	list := d.vocab.TokenizeText(nil, word)
	if len(word) < 2 || len(list) == 0 || !bytes.HasPrefix(word, d.vocab.Bytes(list[0])) || m.Accept(list[0]) != nil {
		return guess{}, false
	}
	d.source.at = from + len(d.vocab.Bytes(list[0])) - 1
	d.source.match = gramSize
	return guess{token: list[0], kind: guessJoin}, true
}

// heard compares the guesses with what the sequence then wrote, and updates the
// rates.
func (d *drafter) heard(written []int32) {
	if len(written) > 0 {
		d.noteEnd(written[0])
		if d.place != "" {
			if len(d.shared.habits) >= maxHabits {
				clear(d.shared.habits)
			}
			d.shared.habits[d.place] = written[0]
		}
	}
	for i, g := range d.all {
		if i == len(written) {
			return
		}
		right := g.token == written[i]
		if !g.forced {
			d.own.learn(g.kind, right, ownMemory)
			d.shared.rates.learn(g.kind, right, sharedMemory)
		}
		if !right {
			return
		}
	}
}

// noteEnd records the token that ended a string: it begins with a quote, and no
// value begins there.
func (d *drafter) noteEnd(token int32) {
	b := d.vocab.Bytes(token)
	if n := len(d.text); n > 0 && len(b) > 0 && b[0] == '"' && !bytes.ContainsRune(b, ':') && !bytes.ContainsRune([]byte(":[{, \n"), rune(d.text[n-1])) {
		d.shared.close = token
	}
}
