package vocab

// at returns code point i of the words from..to, or -1 outside of them.
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

// contraction returns the length of an English contraction at i ('s, 't, 'm, 'd, 're, 've, 'll), 0
// if there is none. fold says whether capitals count.
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

// splitGPT2 cuts contractions, words, numbers and runs of anything else, each with a space before
// it, and whitespace.
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

// blanks returns where a run of whitespace at pos is cut: before its last character when a word
// follows, at its end otherwise.
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

// blankLines returns where a run of whitespace at pos is cut, as blanks does, but after its last
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

// splitLlama3 cuts contractions, words with one character before them, numbers of up to three
// digits, runs of anything else with the line ends after them, and whitespace.
func splitLlama3(t *runeText, from, to int, ends []int32) []int32 {
	for pos := from; pos < to; {
		if n := t.contraction(pos, to, true); n > 0 {
			pos += n
			ends = append(ends, int32(pos))
			continue
		}
		r, class := t.runes[pos], t.class[pos]
		if !lineEnd(r) && !class.number() && (class.letter() || t.classAt(pos+1, from, to).letter()) {
			for pos++; t.classAt(pos, from, to).letter(); pos++ {
			}
			ends = append(ends, int32(pos))
			continue
		}
		if class.number() {
			ends = t.numbers(&pos, from, to, ends)
			continue
		}
		pos = t.othersOrBlanks(pos, from, to)
		ends = append(ends, int32(pos))
	}
	return ends
}

// numbers cuts a run of digits at pos into groups of three, beginning from the left.
func (t *runeText) numbers(pos *int, from, to int, ends []int32) []int32 {
	start := *pos
	for t.classAt(*pos, from, to).number() {
		*pos++
		if *pos-start == 3 {
			ends = append(ends, int32(*pos))
			start = *pos
		}
	}
	if *pos > start {
		ends = append(ends, int32(*pos))
	}
	return ends
}

// othersOrBlanks returns the end of a run of characters that are neither letters nor numbers, with
// a space before and line ends after it, or else of a run of whitespace.
func (t *runeText) othersOrBlanks(pos, from, to int) int {
	body := pos
	if t.runes[pos] == ' ' {
		body++
	}
	if t.classAt(body, from, to).other() {
		for pos = body; t.classAt(pos, from, to).other(); pos++ {
		}
		for lineEnd(t.at(pos, from, to)) {
			pos++
		}
		return pos
	}
	return t.blankLines(pos, from, to)
}
