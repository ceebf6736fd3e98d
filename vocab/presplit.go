package vocab

// at returns code point i of the range from..to, or -1 outside of it.
func (t *runeText) at(i, from, to int) rune {
	if i < from || i >= to {
		return -1
	}
	return t.runes[i]
}

// classAt returns the class of code point i, or clsNone outside of from..to.
func (t *runeText) classAt(i, from, to int) rclass {
	if i < from || i >= to {
		return clsNone
	}
	return t.class[i]
}

// contraction returns the length of an English contraction at i ('s, 't, 'm, 'd, 're, 've,
// 'll), 0 if there is none. fold also allows capitals.
func (t *runeText) contraction(i, to int, fold bool) int {
	if i+1 >= to || t.runes[i] != '\'' {
		return 0
	}
	lower := func(r rune) rune {
		if fold {
			return toLower(r)
		}
		return r
	}
	a := lower(t.runes[i+1])
	switch a {
	case 's', 't', 'm', 'd':
		return 2
	}
	if i+2 >= to {
		return 0
	}
	b := lower(t.runes[i+2])
	if a == 'r' && b == 'e' || a == 'v' && b == 'e' || a == 'l' && b == 'l' {
		return 3
	}
	return 0
}

// splitGPT2 splits off contractions, words, numbers and runs of anything else, each with a
// preceding space, and whitespace.
func splitGPT2(t *runeText, from, to int, ends []int32) []int32 {
	for pos := from; pos < to; {
		if n := t.contraction(pos, to, false); n > 0 {
			pos += n
			ends = append(ends, int32(pos))
			continue
		}
		first := t.class[pos]
		body := pos
		if t.runes[pos] == ' ' {
			body++
			first = t.classAt(body, from, to)
		}
		switch {
		case first.letter():
			for pos = body; t.classAt(pos, from, to).letter(); pos++ {
			}
		case first.number():
			for pos = body; t.classAt(pos, from, to).number(); pos++ {
			}
		case first.other():
			for pos = body; t.classAt(pos, from, to).other(); pos++ {
			}
		default:
			pos = t.blanks(pos, from, to)
		}
		ends = append(ends, int32(pos))
	}
	return ends
}

// blanks returns where a run of whitespace at pos is split: before its last character if a word
// follows, otherwise at its end.
func (t *runeText) blanks(pos, from, to int) int {
	end := pos
	for t.classAt(end, from, to).space() {
		end++
	}
	if end-pos > 1 && end < to {
		return end - 1
	}
	return max(end, pos+1)
}

// blankLines returns where a run of whitespace at pos is split: like blanks, but after its last
// line end if it has one.
func (t *runeText) blankLines(pos, from, to int) int {
	line := 0
	for i := pos; t.classAt(i, from, to).space(); i++ {
		if t.runes[i] == '\r' || t.runes[i] == '\n' {
			line = i + 1
		}
	}
	if line > 0 {
		return line
	}
	return t.blanks(pos, from, to)
}

func lineEnd(r rune) bool { return r == '\r' || r == '\n' }

// wordRules are the differences within a family of pre-tokenizers.
type wordRules struct {
	short  bool // contractions are separate words
	marks  bool // combining marks belong to words
	digits int  // in a group
	halves bool // whitespace is split into powers of two
}

// splitWords splits off contractions, words with one preceding character, groups of digits,
// runs of anything else with the line ends after them, and whitespace.
func splitWords(w wordRules) splitter {
	return func(t *runeText, from, to int, ends []int32) []int32 {
		for pos := from; pos < to; {
			if w.short {
				if n := t.contraction(pos, to, true); n > 0 {
					pos += n
					ends = append(ends, int32(pos))
					continue
				}
			}
			r, class := t.runes[pos], t.class[pos]
			switch {
			case class.number():
				ends = t.numbers(&pos, from, to, w.digits, ends)
				continue
			case !lineEnd(r) && (w.word(class) || w.word(t.classAt(pos+1, from, to))):
				for pos++; w.word(t.classAt(pos, from, to)); pos++ {
				}
			default:
				begin := pos
				pos = w.othersOrBlanks(t, pos, from, to)
				if last := pos - 1; w.halves && t.class[last].space() && !lineEnd(t.runes[last]) {
					ends = halves(begin, pos, ends)
					continue
				}
			}
			ends = append(ends, int32(pos))
		}
		return ends
	}
}

// halves splits a run into as many parts of 512 characters as possible, then 256, 128 … 2, 1.
func halves(from, to int, ends []int32) []int32 {
	for n := 512; from < to; {
		if n > to-from {
			n /= 2
			continue
		}
		from += n
		ends = append(ends, int32(from))
	}
	return ends
}

// word reports whether a character is part of words.
func (w *wordRules) word(c rclass) bool { return c.letter() || w.marks && c.mark() }

// othersOrBlanks returns the end of a run of characters that are neither words nor numbers,
// with a preceding space and following line ends, or else of a run of whitespace.
func (w *wordRules) othersOrBlanks(t *runeText, pos, from, to int) int {
	other := func(i int) bool {
		c := t.classAt(i, from, to)
		return c.other() && !w.word(c)
	}
	body := pos
	if t.runes[pos] == ' ' {
		body++
	}
	if other(body) {
		for pos = body; other(pos); pos++ {
		}
		for lineEnd(t.at(pos, from, to)) {
			pos++
		}
		return pos
	}
	return t.blankLines(pos, from, to)
}

// numbers splits a run of digits at pos into groups, from the left.
func (t *runeText) numbers(pos *int, from, to, group int, ends []int32) []int32 {
	start := *pos
	for t.classAt(*pos, from, to).number() {
		*pos++
		if *pos-start == group {
			ends = append(ends, int32(*pos))
			start = *pos
		}
	}
	if *pos > start {
		ends = append(ends, int32(*pos))
	}
	return ends
}

// splitPhrases splits off phrases (letters with their combining marks, single spaces between
// them, one preceding character), contractions, digits, runs of anything else with one
// following line end, and whitespace.
func splitPhrases(t *runeText, from, to int, ends []int32) []int32 {
	letter := func(i int) bool { return t.classAt(i, from, to).letter() }
	for pos := from; pos < to; {
		body := pos
		if !letter(pos) {
			body++
		}
		switch n := t.contraction(pos, to, true); {
		case n > 0:
			pos += n
		case t.class[pos].number():
			pos++
		case !lineEnd(t.runes[pos]) && letter(body):
			pos = t.phrase(body, from, to)
		default:
			pos = t.othersOrLine(pos, from, to)
		}
		ends = append(ends, int32(pos))
	}
	return ends
}

// phrase returns the end of the phrase whose first letter is at pos.
func (t *runeText) phrase(pos, from, to int) int {
	for {
		switch c := t.classAt(pos, from, to); {
		case c.letter(), c.mark():
			pos++
		case t.at(pos, from, to) == ' ' && t.classAt(pos+1, from, to).letter():
			pos += 2
		default:
			return pos
		}
	}
}

// othersOrLine returns the end of a run of characters that are neither letters nor numbers,
// with a preceding space and one following line end, or else of a run of whitespace.
func (t *runeText) othersOrLine(pos, from, to int) int {
	body := pos
	if t.runes[pos] == ' ' {
		body++
	}
	if !t.classAt(body, from, to).other() {
		return t.blankLines(pos, from, to)
	}
	for pos = body; t.classAt(pos, from, to).other(); pos++ {
	}
	if lineEnd(t.at(pos, from, to)) {
		pos++
	}
	return pos
}

// splitNewlines separates runs of line feeds from the text between them.
func splitNewlines(t *runeText, from, to int, ends []int32) []int32 {
	for pos := from; pos < to; {
		feed := t.runes[pos] == '\n'
		for pos < to && (t.runes[pos] == '\n') == feed {
			pos++
		}
		ends = append(ends, int32(pos))
	}
	return ends
}

// splitTrailingSpace splits off the whitespace at the end.
func splitTrailingSpace(t *runeText, from, to int, ends []int32) []int32 {
	cut := to
	for cut > from && setSpace.has(t, cut-1) {
		cut--
	}
	if cut > from && cut < to {
		ends = append(ends, int32(cut))
	}
	return append(ends, int32(to))
}

// splitThousands splits runs of ASCII digits into groups of three, from the right. An
// incomplete first group stays with the preceding text.
func splitThousands(t *runeText, from, to int, ends []int32) []int32 {
	isDigit := func(i int) bool { return t.codes[i] >= '0' && t.codes[i] <= '9' }
	for pos := from; pos < to; pos++ {
		if !isDigit(pos) {
			continue
		}
		end := pos
		for end < to && isDigit(end) {
			end++
		}
		for cut := pos + (end-pos)%3; cut < end; cut += 3 {
			if cut > from {
				ends = append(ends, int32(cut))
			}
		}
		pos = end - 1
	}
	return append(ends, int32(to))
}

// splitDigitGroups splits runs of digits into groups of three, from the right; the first group
// may have one or two digits. It stays with the text before the run.
func splitDigitGroups(t *runeText, from, to int, ends []int32) []int32 {
	for pos := from; pos < to; pos++ {
		if !t.class[pos].number() {
			continue
		}
		start := pos
		for t.classAt(pos, from, to).number() {
			pos++
		}
		for cut := start + ((pos-start)-1)%3 + 1; cut <= pos; cut += 3 {
			ends = append(ends, int32(cut))
		}
		pos--
	}
	if len(ends) == 0 || int(ends[len(ends)-1]) < to {
		ends = append(ends, int32(to))
	}
	return ends
}

// han reports whether r is a Chinese character according to llama.cpp's kimi-k2 splitter.
func han(r rune) bool {
	switch {
	case r >= 0x4e00 && r <= 0x9fff, r >= 0x3400 && r <= 0x4dbf, r >= 0xf900 && r <= 0xfaff:
	case r >= 0x20000 && r <= 0x2a6df, r >= 0x2a700 && r <= 0x2ebef, r >= 0x2f800 && r <= 0x2fa1f:
	default:
		return false
	}
	return true
}

// kimiRules are the rules for everything but words in splitKimi.
var kimiRules wordRules

// splitKimi splits off runs of Chinese characters, words of other letters with one preceding
// character and a following contraction, and the rest as splitWords does.
func splitKimi(t *runeText, from, to int, ends []int32) []int32 {
	letter := func(i int) bool { return t.classAt(i, from, to).letter() && !han(t.runes[i]) }
	for pos := from; pos < to; {
		r, class := t.runes[pos], t.class[pos]
		switch {
		case han(r):
			for pos < to && han(t.runes[pos]) {
				pos++
			}
		case letter(pos), !lineEnd(r) && !class.letter() && !class.number() && letter(pos+1):
			for pos++; letter(pos); pos++ {
			}
			pos += t.contraction(pos, to, true)
		case class.number():
			ends = t.numbers(&pos, from, to, 3, ends)
			continue
		default:
			pos = kimiRules.othersOrBlanks(t, pos, from, to)
		}
		ends = append(ends, int32(pos))
	}
	return ends
}
