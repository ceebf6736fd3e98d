package schema

import (
	"unicode/utf8"

	"stencil/decoder"
	"stencil/regular"
)

// Inside of strings and keys a frame also says where in the spelling of one
// character it is. sub packs that: a kind, a count and a value.
const (
	subUTF8     = 1 << 28 // count: bytes to come; value: the bits so far
	subTail     = 2 << 28 // count: bytes to come, of a character that has been stepped over
	subEscape   = 3 << 28 // after a backslash
	subHex      = 4 << 28 // count: digits read; value: theirs
	subHighEsc  = 5 << 28 // after a high surrogate, before the backslash; value: the half
	subHighU    = 6 << 28 // after that backslash
	subLow      = 7 << 28 // count: digits read; value: the high half and the digits
	subKind     = 7 << 28
	subCount    = 1 << 24
	subValue    = subCount - 1
	lowestHigh  = 0xD800
	lowestLow   = 0xDC00
	endOfLow    = 0xE000
	afterBMP    = 0x10000
	surrogateOf = 10 // bits in half a surrogate pair
)

// text is what strings and keys have in common: places in a text between
// characters, and the frames for them.
type text interface {
	// next returns the place after character r; ok is false if no text goes
	// on that way.
	next(r rune) (place int32, ok bool)
	// alive reports whether some character from lo to hi may come.
	alive(lo, hi rune) bool
	// escapes reports whether characters may be spelt as escapes that don't
	// need to be.
	escapes() bool
	// uniform returns the place after any character beyond ASCII, if it is
	// the same for all of them.
	uniform() (place int32, ok bool)
	// frame returns the frame for a place and a sub.
	frame(place, sub int32) decoder.Frame
}

// run collects ranges of neighbouring bytes that lead to the same frame.
type run struct {
	e      *decoder.Edges
	lo, hi int
	frame  decoder.Frame
	open   bool
}

func (r *run) add(b int, f decoder.Frame) {
	if r.open && r.frame == f && b == r.hi+1 {
		r.hi = b
		return
	}
	r.flush()
	r.lo, r.hi, r.frame, r.open = b, b, f, true
}

func (r *run) flush() {
	if r.open {
		r.e.Add(byte(r.lo), byte(r.hi), r.frame)
		r.open = false
	}
}

// someAlive reports whether any of the characters in [lo,hi] may come, which
// may run across the surrogates.
func someAlive(t text, lo, hi rune) bool {
	if lo < lowestHigh && t.alive(lo, min(hi, lowestHigh-1)) {
		return true
	}
	return hi >= endOfLow && t.alive(max(lo, endOfLow), hi)
}

// highLive records the bytes beyond ASCII that may come between characters.
func highLive(t text, e *decoder.Edges) {
	if _, ok := t.uniform(); ok {
		e.Later(0xC2, 0xF4)
		return
	}
	if !t.alive(utf8.RuneSelf, utf8.MaxRune) {
		return
	}
	for b := 0xC2; b <= 0xF4; b++ {
		n, bits := leadByte(byte(b))
		if lo, hi := utf8Range(n, bits, n); lo <= hi && someAlive(t, lo, hi) {
			e.Later(byte(b), byte(b))
		}
	}
}

// leadByte returns how many bytes follow the first one of a character, and
// the bits it brings.
func leadByte(b byte) (n, bits int) {
	switch {
	case b >= 0xF0:
		return 3, int(b & 0x07)
	case b >= 0xE0:
		return 2, int(b & 0x0F)
	}
	return 1, int(b & 0x1F)
}

// highEdge records the edge of a byte that highLive has announced.
func highEdge(t text, place int32, b byte, e *decoder.Edges) {
	n, bits := leadByte(b)
	if after, ok := t.uniform(); ok {
		sub := int32(subTail | n*subCount)
		switch b {
		case 0xE0, 0xED, 0xF0, 0xF4:
			// The second byte is restricted after these.
			sub |= int32(b)
		}
		e.Add(b, b, t.frame(after, sub))
		return
	}
	e.Add(b, b, t.frame(place, int32(subUTF8|n*subCount|bits)))
}

// utf8Range returns the characters of which bits have been read with n bytes
// to come, for a sequence of total continuation bytes.
func utf8Range(n, bits, total int) (lo, hi rune) {
	lo, hi = rune(bits<<(6*n)), rune((bits+1)<<(6*n)-1)
	least := [...]rune{0, utf8.RuneSelf, 0x800, afterBMP}[total]
	return max(lo, least), min(hi, utf8.MaxRune)
}

// subEdges records the edges in the middle of a character's spelling.
func subEdges(t text, place, sub int32, e *decoder.Edges) {
	n, value := int(sub&subKind^sub)>>24, int(sub&subValue)
	r := run{e: e}
	defer r.flush()
	switch sub & subKind {
	case subTail:
		lo, hi := 0x80, 0xBF
		switch value {
		case 0xE0:
			lo = 0xA0
		case 0xED:
			hi = 0x9F
		case 0xF0:
			lo = 0x90
		case 0xF4:
			hi = 0x8F
		}
		next := int32(0)
		if n > 1 {
			next = int32(subTail | (n-1)*subCount)
		}
		e.Add(byte(lo), byte(hi), t.frame(place, next))
	case subUTF8:
		for b := 0x80; b <= 0xBF; b++ {
			if p, next, ok := utf8Next(t, place, sub, byte(b)); ok {
				r.add(b, t.frame(p, next))
			}
		}
	case subEscape:
		const from, to = `"/\bfnrt`, "\"/\\\b\f\n\r\t"
		for i := range from {
			if from[i] == '/' && !t.escapes() {
				continue
			}
			if p, ok := t.next(rune(to[i])); ok {
				e.Add(from[i], from[i], t.frame(p, 0))
			}
		}
		if t.escapes() || controlAlive(t, 0, 0x1F) {
			e.Add('u', 'u', t.frame(place, subHex))
		}
	case subHex, subLow:
		hexEdges(t, place, sub&subKind, n, value, e)
	case subHighEsc:
		e.Add('\\', '\\', t.frame(place, int32(subHighU|value)))
	case subHighU:
		e.Add('u', 'u', t.frame(place, int32(subLow|value<<12)))
	}
}

// utf8Next returns the place and sub after a further byte of a character.
func utf8Next(t text, place, sub int32, b byte) (p, next int32, ok bool) {
	n, value := int(sub&subKind^sub)>>24, int(sub&subValue)
	// The total is kept above the bits: a sequence of three bytes has at most
	// 16 of them, one of four 21.
	total := value >> 22 & 3
	if total == 0 {
		total = n
	}
	more := value&(1<<22-1)<<6 | int(b&0x3F)
	lo, hi := utf8Range(n-1, more, total)
	switch {
	case lo > hi || b < 0x80 || b > 0xBF:
		return 0, 0, false
	case n > 1:
		return place, int32(subUTF8 | (n-1)*subCount | total<<22 | more), someAlive(t, lo, hi)
	case lo >= lowestHigh && lo < endOfLow:
		return 0, 0, false
	}
	p, ok = t.next(lo)
	return p, 0, ok
}

// controlAlive reports whether a control character from lo to hi may come
// that has no shorter escape than its number.
func controlAlive(t text, lo, hi rune) bool {
	for r := lo; r <= hi; r++ {
		switch r {
		case '\b', '\t', '\n', '\f', '\r':
			continue
		}
		if _, ok := t.next(r); ok {
			return true
		}
	}
	return false
}

// hexEdges records the digits that may follow in \uXXXX.
func hexEdges(t text, place, kind int32, n, value int, e *decoder.Edges) {
	r := run{e: e}
	digit := func(c, d int) {
		high, digits := 0, value
		if kind == subLow {
			high, digits = value>>12, value&0xFFF
		}
		digits = digits<<4 | d
		shift := 4 * (3 - n)
		lo, hi := rune(digits<<shift), rune((digits+1)<<shift-1)
		if kind == subLow {
			lo, hi = max(lo, lowestLow), min(hi, endOfLow-1)
			if lo > hi {
				return
			}
			char := func(low rune) rune { return afterBMP + rune(high)<<surrogateOf + low - lowestLow }
			if n < 3 {
				if t.alive(char(lo), char(hi)) {
					r.add(c, t.frame(place, int32(subLow|(n+1)*subCount|high<<12|digits)))
				}
			} else if p, ok := t.next(char(lo)); ok {
				r.add(c, t.frame(p, 0))
			}
			return
		}
		if !t.escapes() {
			switch {
			case !controlAlive(t, lo, min(hi, 0x1F)) || 'A' <= c && c <= 'F':
			case n < 3:
				r.add(c, t.frame(place, int32(subHex|(n+1)*subCount|digits)))
			default:
				p, _ := t.next(lo)
				r.add(c, t.frame(p, 0))
			}
			return
		}
		// As the first half of a pair, the digits stand for 1,024
		// characters each.
		first, last := max(lo, lowestHigh), min(hi, lowestLow-1)
		pair := func() bool {
			return t.alive(afterBMP+(first-lowestHigh)<<surrogateOf, afterBMP+(last-lowestHigh+1)<<surrogateOf-1)
		}
		switch {
		case n < 3:
			if someAlive(t, lo, hi) || first <= last && pair() {
				r.add(c, t.frame(place, int32(subHex|(n+1)*subCount|digits)))
			}
		case first <= last:
			if pair() {
				r.add(c, t.frame(place, int32(subHighEsc|(digits-lowestHigh))))
			}
		case lo >= lowestLow && lo < endOfLow:
		default:
			if p, ok := t.next(lo); ok {
				r.add(c, t.frame(p, 0))
			}
		}
	}
	for d := range 10 {
		digit('0'+d, d)
	}
	for d := range 6 {
		digit('A'+d, 10+d)
	}
	for d := range 6 {
		digit('a'+d, 10+d)
	}
	r.flush()
}

// spelling is a place in the text of a string value, but for the frames.
type spelling struct {
	m    *regular.Machine
	q    regular.State
	free bool // needless escapes are allowed
}

func (t *spelling) next(r rune) (int32, bool) {
	q := t.m.Step(t.q, r)
	return q, q != regular.Dead
}

func (t *spelling) alive(lo, hi rune) bool {
	for _, e := range t.m.Ranges(t.q) {
		if e.Lo > hi {
			return false
		}
		if e.Hi >= lo {
			return true
		}
	}
	return false
}

// escapes implements text: what is generated is spelt like JSON.stringify
// does it.
func (t *spelling) escapes() bool { return t.free }

// escape reports whether a backslash may come.
func (t *spelling) escape() bool {
	table := t.m.ASCII(t.q)
	return t.free && someAlive(t, 0, utf8.MaxRune) || table['"'] != regular.Dead || table['\\'] != regular.Dead || t.alive(0, 0x1F)
}

func (t *spelling) uniform() (int32, bool) {
	edges := t.m.Ranges(t.q)
	at, to := rune(utf8.RuneSelf), regular.State(regular.Dead)
	for _, e := range edges {
		if e.Hi < at {
			continue
		}
		if e.Lo > at || to != regular.Dead && e.To != to {
			return 0, false
		}
		to = e.To
		if at = e.Hi + 1; at == lowestHigh {
			at = endOfLow
		}
	}
	return to, to != regular.Dead && at == utf8.MaxRune+1
}

func (t *spelling) frame(int32, int32) decoder.Frame { return 0 }

// stringText is the inside of a string value.
type stringText struct {
	spelling
	s       *source
	machine int32
}

func (s *source) stringText(machine int32, q regular.State) *stringText {
	return &stringText{spelling{s.machines[machine], q, s.opt.AnyNumberSpelling}, s, machine}
}

func (t *stringText) frame(place, sub int32) decoder.Frame {
	return t.s.frame(frameKey{kind: frameString, a: t.machine, b: place, c: sub})
}

func (s *source) stringEdges(k frameKey, e *decoder.Edges) {
	t := s.stringText(k.a, k.b)
	m := t.m
	if k.c != 0 {
		subEdges(t, k.b, k.c, e)
		return
	}
	if err := m.Err(); err != nil {
		s.fail(err)
	}
	table := m.ASCII(k.b)
	from := -1
	for c := 0x20; c <= utf8.RuneSelf; c++ {
		live := false
		switch {
		case c == utf8.RuneSelf:
		case c == '"':
			live = m.Accepting(k.b)
		case c == '\\':
			live = t.escape()
		default:
			live = table[c] != regular.Dead
		}
		switch {
		case live && from < 0:
			from = c
		case !live && from >= 0:
			e.Later(byte(from), byte(c-1))
			from = -1
		}
	}
	highLive(t, e)
}

func (s *source) stringByte(k frameKey, b byte, e *decoder.Edges) {
	t := s.stringText(k.a, k.b)
	switch {
	case b == '"':
		e.Add('"', '"')
	case b == '\\':
		e.Add('\\', '\\', t.frame(k.b, subEscape))
	case b < utf8.RuneSelf:
		e.Add(b, b, t.frame(t.m.ASCII(k.b)[b], 0))
	default:
		highEdge(t, k.b, b, e)
	}
}

// keyText is the inside of a property name.
type keyText struct {
	s     *source
	depth int16
	state int32
	key   int32
}

func (t *keyText) next(r rune) (int32, bool) {
	key := t.s.keyStep(t.key, r)
	return key, t.s.keyAlive(t.state, key)
}

func (t *keyText) alive(lo, hi rune) bool {
	s := t.s
	k := s.objects.keyStates.keys[t.key]
	fam := s.objects.families[k.fam]
	try := func(r rune) bool {
		if r < lo || r > hi || 0xD800 <= r && r < 0xE000 {
			return false
		}
		_, ok := t.next(r)
		return ok
	}
	for i := k.lo; i < k.hi; i++ {
		if n := s.nameAt(fam, i); len(n) > int(k.depth) {
			r, _ := utf8.DecodeRuneInString(n[k.depth:])
			if try(r) {
				return true
			}
		}
	}
	if try(lo) {
		return true
	}
	for _, r := range s.keySamples(k) {
		if try(r) {
			return true
		}
	}
	return false
}

// escapes implements text: a name has one spelling, so that it need not be
// looked for under others.
func (t *keyText) escapes() bool { return false }

// escapable reports whether a character that needs an escape may come.
func (t *keyText) escapable() bool {
	return t.alive(0, 0x1F) || t.alive('"', '"') || t.alive('\\', '\\')
}

// keySamples returns characters such that all others are treated like one of
// them, but for those that names go on with.
func (s *source) keySamples(k keyState) []rune {
	fam := s.objects.families[k.fam]
	if len(fam.pats) == 0 {
		return nil
	}
	list := s.samples(fam, s.objects.vectors[k.vec])
	if k.free != 0 && k.at != regular.Dead {
		for _, e := range s.machines[k.free-1].Ranges(k.at) {
			list = append(list, e.Lo)
			if e.Hi < utf8.MaxRune && (e.Hi < lowestHigh-1 || e.Hi >= endOfLow-1) {
				list = append(list, e.Hi+1)
			}
		}
	}
	return list
}

// cuts returns the ASCII characters, a space among them, that needn't be treated
// like the ones before them.
func (t *keyText) cuts() (out [utf8.RuneSelf + 1]bool) {
	s := t.s
	k := s.objects.keyStates.keys[t.key]
	fam := s.objects.families[k.fam]
	out[' '] = true
	for _, r := range s.keySamples(k) {
		if r < utf8.RuneSelf {
			out[r] = true
		}
	}
	next := func(name string) {
		if len(name) > int(k.depth) && name[k.depth] < utf8.RuneSelf {
			c := name[k.depth]
			out[c], out[c+1] = true, true
		}
	}
	for i := k.lo; i < k.hi; i++ {
		next(s.nameAt(fam, i))
	}
	for _, id := range s.objects.takenLists[k.taken] {
		next(s.names[id])
	}
	return out
}

func (t *keyText) uniform() (int32, bool) {
	s := t.s
	k := s.objects.keyStates.keys[t.key]
	fam := s.objects.families[k.fam]
	for i := k.lo; i < k.hi; i++ {
		if n := s.nameAt(fam, i); len(n) > int(k.depth) && n[k.depth] >= utf8.RuneSelf {
			return 0, false
		}
	}
	for _, id := range s.objects.takenLists[k.taken] {
		if n := s.names[id]; len(n) > int(k.depth) && n[k.depth] >= utf8.RuneSelf {
			return 0, false
		}
	}
	for _, r := range s.keySamples(k) {
		if r > utf8.RuneSelf {
			return 0, false
		}
	}
	next, ok := t.next(utf8.RuneSelf)
	return next, ok
}

func (t *keyText) frame(place, sub int32) decoder.Frame {
	return t.s.frame(frameKey{kind: frameObjKey, depth: t.depth, a: t.state, b: place, c: sub})
}

func (s *source) keyEdges(k frameKey, e *decoder.Edges) {
	t := &keyText{s: s, depth: k.depth, state: k.a, key: k.b}
	if k.c != 0 {
		subEdges(t, k.b, k.c, e)
		return
	}
	ks := s.objects.keyStates.keys[k.b]
	fam := s.objects.families[ks.fam]
	name, matching := s.keyEnd(k.b)
	quote := name >= 0 && s.allowedName(k.a, name) || name == -1 && s.allowedFree(k.a, matching)
	if ks.free == 0 && s.freeFrom(k.a, k.b) {
		// Any key may come, and any of them can be gone on with.
		if quote {
			e.Later(0x20, utf8.RuneSelf-1)
		} else {
			e.Later(0x20, '"'-1)
			e.Later('"'+1, utf8.RuneSelf-1)
		}
		e.Later(0xC2, 0xF4)
		return
	}
	var live [256]bool
	if len(fam.pats) == 0 {
		for i := ks.lo; i < ks.hi; i++ {
			n := s.nameAt(fam, i)
			if len(n) == int(ks.depth) || !s.allowedName(k.a, fam.sorted[i]) {
				continue
			}
			if c := n[ks.depth]; c < 0x20 || c == '"' || c == '\\' {
				live['\\'] = true
			} else {
				live[c] = true
			}
		}
	} else {
		cuts := t.cuts()
		alive := false
		for c := 0x20; c < utf8.RuneSelf; c++ {
			switch {
			case c == '"' || c == '\\':
				cuts[c+1] = cuts[c+1] || cuts[c]
				continue
			case cuts[c]:
				_, alive = t.next(rune(c))
			}
			live[c] = alive
		}
		live['\\'] = t.escapable()
		highLive(t, e)
	}
	live['"'] = quote
	from := -1
	for c := 0x20; c <= len(live); c++ {
		switch alive := c < len(live) && live[c]; {
		case alive && from < 0:
			from = c
		case !alive && from >= 0:
			e.Later(byte(from), byte(c-1))
			from = -1
		}
	}
}

func (s *source) keyByte(k frameKey, b byte, e *decoder.Edges) {
	t := &keyText{s: s, depth: k.depth, state: k.a, key: k.b}
	switch {
	case b == '"':
		s.keyClose(k, e)
	case b == '\\':
		e.Add('\\', '\\', t.frame(k.b, subEscape))
	case b < utf8.RuneSelf:
		e.Add(b, b, t.frame(s.keyStep(k.b, rune(b)), 0))
	default:
		highEdge(t, k.b, b, e)
	}
}

// ExpandByte implements [decoder.Source].
func (s *source) ExpandByte(f decoder.Frame, b byte, e *decoder.Edges) {
	k := s.frames.keys[f]
	if k.kind == frameString {
		s.stringByte(k, b, e)
	} else {
		s.keyByte(k, b, e)
	}
}

// keyClose records the quote that ends a key.
func (s *source) keyClose(k frameKey, e *decoder.Edges) {
	moves, free := s.keyMoves(k.a, k.b)
	if !free {
		for _, m := range moves {
			e.Add('"', '"', s.memberFrames(k.depth, m.g, m.next)...)
		}
		return
	}
	if len(moves) == 0 {
		return
	}
	if s.objects.states.keys[k.a].pending {
		// A second such key while the first isn't known.
		e.CaptureOnly('"', '"')
		return
	}
	for _, m := range moves {
		x := s.objects.states.keys[m.next]
		x.pending = true
		e.Capture('"', '"', s.memberFrames(k.depth, m.g, s.intern(x))...)
	}
}
