package repair

import (
	"errors"
	"strings"
)

// The search finds all readings of a broken text as JSON that need the fewest changes:
// error-correcting parsing (Aho and Peterson, 1972) as a shortest-path search
// (Dijkstra) with one queue per cost. A state is an offset in the text, what is
// expected there, and the stack of open brackets; states are visited in order of the
// cost of the changes so far. States with equal offset, expectation and brackets have
// the same future: of two paths to one, only the cheaper matters, and of two with
// equal cost both are kept if they have read different documents.
//
// Free, because unambiguous: comments, trailing commas, single quotes, keys without
// quotes, raw line breaks in strings, True, False and None, numbers such as .5 and +5.
//
// Costs:
//
//	1  a missing comma or colon, or another character in its place
//	1  any number of brackets added at one place, in the middle or at the end
//	1  the first bracket of an array or object added
//	1  a bracket dropped, or replaced by one of the other type
//	1  a string with one quote missing, or without quotes
//	1  a backslash before a character that needs no escape
//	2  two unescaped quotes within a string
//	1  text after the document
//
// No change drops or adds a value or a key.

// Limits of the search, far above what broken answers need. A state takes a few
// hundred nanoseconds, so the worst text takes tens of milliseconds.
const (
	maxText      = 256 << 10 // bytes
	maxStates    = 200_000   // visited
	maxDepth     = 200       // of brackets
	maxCost      = 12        // of a reading
	maxQuoteCost = 2         // of a reading with quotes added to strings
	maxSame      = 4         // readings kept per state
	maxReadings  = 16
)

// What is expected at a position.
type want uint8

const (
	wantValue want = iota
	wantFirstItem
	wantNextItem // after a comma
	wantFirstKey
	wantNextKey // after a comma
	wantColon
	wantAfter // the value is complete: a comma or a bracket
	wantEnd   // only white space and comments
)

// A place is the part of a state that determines its future.
type place struct {
	pos   int
	stack int32 // see stacks
	want  want
	open  bool // brackets are being added here, more are free
}

type state struct {
	place
	cost  int32
	depth int32 // of open brackets
	text  int32 // the document so far, see texts
	edits int32
	// shaky means that the last value ends at the end of the text, so it may be
	// truncated.
	shaky bool
	guess bool // text without quotes was taken for a string
	crowd bool // stands for readings that were not kept
	bare  bool // a bracket was dropped just before
	quote bool // a quote was added to a string
}

// A link is an element of a persistent list that grows at its end and shares its
// prefix with other lists. Links are hash-consed: equal lists are the same link.
type link struct {
	before int32
	text   string
}

type editLink struct {
	before int32
	edit   Edit
}

// A search is one search.
type search struct {
	src   string
	hints Hints
	// surplus is, for each bracket, the number of its occurrences minus that of
	// its counterpart. Only brackets that are too few are added, and only those
	// that are too many are dropped.
	surplus [256]int
	links   []link
	ids     map[link]int32
	edits   []editLink
	// stacks are links whose text is a bracket.
	queue   [maxCost + 1][]state
	best    map[place]int32
	texts   map[place][]int32
	known   map[scalarPlace][]scalar
	visited int
	found   []reading
	crowded bool // more readings than were kept
}

// A reading is one interpretation of the text.
type reading struct {
	text  int32
	edits int32
	guess bool
}

var (
	errTooLong  = errors.New("repair: the text is too long to be repaired")
	errNothing  = errors.New("repair: the text can't be read as JSON without adding or dropping something")
	errTooMany  = errors.New("repair: there are too many ways to read the text")
	errUnclear  = errors.New("repair: there is more than one way to read the text")
	errUnquoted = errors.New("repair: text without quotes may be a string or a name for something else, and no schema says which")
)

// readings returns all readings with the least cost.
func readings(src string, hints Hints) (*search, error) {
	if len(src) > maxText {
		return nil, errTooLong
	}
	s := &search{src: src, hints: hints, ids: map[link]int32{}, known: map[scalarPlace][]scalar{}, best: map[place]int32{}, texts: map[place][]int32{}, links: make([]link, 1), edits: make([]editLink, 1)}
	for i := range len(src) {
		s.surplus[src[i]]++
	}
	for _, pair := range []string{"{}", "[]"} {
		n := s.surplus[pair[0]] - s.surplus[pair[1]]
		s.surplus[pair[0]], s.surplus[pair[1]] = n, -n
	}
	s.push(state{place: place{want: wantValue}})
	for cost := range s.queue {
		for len(s.queue[cost]) > 0 {
			last := len(s.queue[cost]) - 1
			st := s.queue[cost][last]
			s.queue[cost] = s.queue[cost][:last]
			if s.visited++; s.visited > maxStates {
				return nil, errTooMany
			}
			s.step(st)
		}
		if len(s.found) > 0 {
			return s, nil
		}
	}
	return nil, errNothing
}

func (s *search) link(before int32, text string) int32 {
	l := link{before, text}
	if id, ok := s.ids[l]; ok {
		return id
	}
	id := int32(len(s.links))
	s.links = append(s.links, l)
	s.ids[l] = id
	return id
}

// push adds a state unless it leads to nothing new.
func (s *search) push(st state) {
	if st.cost > maxCost {
		return
	}
	if best, ok := s.best[st.place]; ok && best < st.cost {
		return
	} else if !ok || best > st.cost {
		s.best[st.place], s.texts[st.place] = st.cost, nil
	}
	same := s.texts[st.place]
	for _, t := range same {
		if t == st.text {
			return
		}
	}
	if len(same) > maxSame {
		return
	}
	// One more than the limit represents all others.
	st.crowd = st.crowd || len(same) == maxSame
	s.texts[st.place] = append(same, st.text)
	s.queue[st.cost] = append(s.queue[st.cost], st)
}

// then returns the state after text was read or added.
func (st state) then(pos int, w want) state {
	st.pos, st.want, st.open, st.shaky, st.bare = pos, w, false, false, false
	return st
}

// write appends to the document.
func (s *search) write(st state, text string) state {
	st.text = s.link(st.text, text)
	return st
}

// note records a change and its cost.
func (s *search) note(st state, cost int, step string, pos int, what string) state {
	s.edits = append(s.edits, editLink{st.edits, Edit{Step: step, Offset: pos, Note: what}})
	st.edits = int32(len(s.edits) - 1)
	st.cost += int32(cost)
	return st
}

// top returns the innermost open bracket, 0 if there is none.
func (s *search) top(st state) byte {
	if st.stack == 0 {
		return 0
	}
	return s.links[st.stack].text[0]
}

// opened returns the state within a new bracket.
func (s *search) opened(st state, bracket string, pos int) state {
	w := wantFirstItem
	if bracket[0] == '{' {
		w = wantFirstKey
	}
	st = s.write(st, bracket[:1]).then(pos, w)
	st.stack = s.link(st.stack, bracket)
	if st.depth++; st.depth > maxDepth {
		st.cost = maxCost + 1
	}
	return st
}

// begun pushes the state within a missing opening bracket. The closing bracket must be
// in the text.
func (s *search) begun(st state, bracket string) {
	if s.surplus[bracket[0]] < 0 && !st.bare {
		s.push(s.opened(s.note(st, 1, StepBracket, st.pos, bracket+" added"), bracket+lacking, st.pos))
	}
}

// lacking marks a bracket on the stack as added.
const lacking = "+"

// halfThere reports whether the innermost bracket is in the text rather than added.
func (s *search) halfThere(st state) bool { return len(s.links[st.stack].text) == 1 }

// closed returns the state after the innermost bracket.
func (s *search) closed(st state, pos int) state {
	closer := "]"
	if s.top(st) == '{' {
		closer = "}"
	}
	st = s.write(st, closer).then(pos, wantAfter)
	st.depth--
	if st.stack = s.links[st.stack].before; st.stack == 0 {
		st.want = wantEnd
	}
	return st
}

// valueDone returns the state after a value.
func valueDone(st state, pos int) state {
	w := wantAfter
	if st.stack == 0 {
		w = wantEnd
	}
	return st.then(pos, w)
}

// step pushes the successors of a state.
func (s *search) step(st state) {
	if next, comment, ok := s.blank(st.pos); comment && ok {
		if next == len(s.src) && st.want != wantEnd {
			return // the comment took the rest of the text: it is more likely not a comment
		}
		st = s.note(st, 0, StepComment, st.pos, "dropped")
		st.pos = next
	} else if !ok {
		return
	} else {
		st.pos = next
	}
	switch st.want {
	case wantValue, wantFirstItem, wantNextItem:
		s.value(st)
	case wantFirstKey, wantNextKey:
		s.key(st)
	case wantColon:
		s.colon(st)
	case wantAfter:
		s.after(st)
	case wantEnd:
		s.end(st)
	}
}

// blank skips white space and comments. It returns false for an unterminated
// comment.
func (s *search) blank(pos int) (next int, comment, ok bool) {
	for pos < len(s.src) {
		rest := s.src[pos:]
		switch {
		case isSpace(rest[0]):
			pos++
		case strings.HasPrefix(rest, "\u00a0"), strings.HasPrefix(rest, "\u2028"), strings.HasPrefix(rest, "\u2060"), strings.HasPrefix(rest, "\u200b"), strings.HasPrefix(rest, "\ufeff"):
			pos += len(string([]rune(rest[:min(3, len(rest))])[0]))
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			comment = true
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				pos += i
			} else {
				pos = len(s.src)
			}
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				return pos, true, false
			}
			comment = true
			pos += i + 4
		default:
			return pos, comment, true
		}
	}
	return pos, comment, true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// peek returns the byte at a position, 0 at the end.
func (s *search) peek(pos int) byte {
	if pos < len(s.src) {
		return s.src[pos]
	}
	return 0
}

// value reads a value, or the end of an array.
func (s *search) value(st state) {
	c := s.peek(st.pos)
	if c == 0 && st.pos >= len(s.src) {
		if st.want == wantNextItem {
			s.truncated(s.note(s.unwriteComma(st), 0, StepComma, st.pos, "trailing comma dropped"))
		}
		return
	}
	// Wherever a value may start, an opening bracket may be missing whose closing bracket
	// is a surplus one later.
	s.begun(st, "[")
	switch c {
	case ']', ')', '}':
		bare := st
		if st.want == wantNextItem {
			bare = s.note(s.unwriteComma(st), 0, StepComma, st.pos, "trailing comma dropped")
		}
		switch {
		case st.want == wantValue:
		case c != '}':
			s.push(s.closed(bare, st.pos+1))
		case st.want == wantNextItem:
			s.push(s.added(bare))
		}
		if c == '}' && st.want == wantNextItem {
			s.begun(st, "{")
		}
	case ',':
		if st.want == wantFirstItem {
			s.push(s.added(st))
		}
	case '{', '[':
		s.push(s.opened(st, string(c), st.pos+1))
		if s.surplus[c] > 0 && !s.followedBy(st.pos+1, "}])") && (st.stack != 0 || strings.IndexByte("{[", s.peek(st.pos+1)) >= 0) {
			dropped := s.note(st, 1, StepBracket, st.pos, string(c)+" dropped").then(st.pos+1, st.want)
			dropped.bare = true
			s.push(dropped)
		}
	case '(':
		if s.tuple(st.pos) {
			s.push(s.opened(s.note(st, 0, StepBracket, st.pos, "( read as ["), "[", st.pos+1))
		}
	default:
		for _, r := range s.scalars(st.pos, false) {
			s.push(s.read(st, r, valueDone(st, r.end)))
		}
		// A key here means that its opening bracket is missing.
		for _, r := range s.scalars(st.pos, true) {
			if next, _, ok := s.blank(r.end); ok && s.peek(next) == ':' && r.cost == 0 && !r.guess && r.key {
				s.begun(st, "{")
				break
			}
		}
	}
}

// tuple reports whether parentheses contain more than one value; around a single one
// they only group.
func (s *search) tuple(pos int) bool {
	inside, _, closed := strings.Cut(s.src[pos:], ")")
	return closed && strings.Contains(inside, ",")
}

// read returns the state after a scalar.
func (s *search) read(from state, r scalar, to state) state {
	to = s.write(to, r.text)
	for _, e := range r.edits {
		to = s.note(to, 0, e.Step, e.Offset, e.Note)
	}
	to.cost += int32(r.cost)
	to.guess = from.guess || r.guess
	to.quote = from.quote || r.half
	to.shaky = r.end >= len(s.src) && r.shaky && !s.hints.Ended
	return to
}

// unwriteComma removes the last comma from the document.
func (s *search) unwriteComma(st state) state {
	st.text = s.links[st.text].before
	return st
}

// key reads a key, or the end of an object.
func (s *search) key(st state) {
	switch c := s.peek(st.pos); {
	case c == '}':
		if st.want == wantNextKey {
			st = s.note(s.unwriteComma(st), 0, StepComma, st.pos, "trailing comma dropped")
		}
		s.push(s.closed(st, st.pos+1))
		return
	case c == ',':
		s.push(s.note(st, 1, StepComma, st.pos, "dropped").then(st.pos+1, st.want))
		if st.want == wantFirstKey {
			s.push(s.added(st))
		}
		return
	case c == '{' && st.want == wantFirstKey && s.surplus['{'] > 0:
		// A doubled bracket, as in templates.
		s.push(s.note(st, 1, StepBracket, st.pos, "{ dropped").then(st.pos+1, st.want))
		return
	case c == 0 && st.pos >= len(s.src):
		if st.want == wantNextKey {
			s.truncated(s.note(s.unwriteComma(st), 0, StepComma, st.pos, "trailing comma dropped"))
		}
		return
	case c == ']':
		if st.want == wantNextKey {
			st = s.note(s.unwriteComma(st), 0, StepComma, st.pos, "trailing comma dropped")
		}
		s.push(s.added(st))
		return
	}
	for _, r := range s.scalars(st.pos, true) {
		s.push(s.read(st, r, st.then(r.end, wantColon)))
	}
}

// colon reads the separator between a key and its value.
func (s *search) colon(st state) {
	rest := s.src[st.pos:]
	go1 := func(st state, n int) { s.push(s.write(st, ":").then(st.pos+n, wantValue)) }
	switch {
	case rest == "":
	case rest[0] == ':' && strings.HasPrefix(rest, ":="):
		go1(s.note(st, 1, StepColon, st.pos, ":= replaced"), 2)
	case rest[0] == ':':
		go1(st, 1)
	case strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "->"):
		go1(s.note(st, 1, StepColon, st.pos, rest[:2]+" replaced"), 2)
	case rest[0] == '=':
		go1(s.note(st, 1, StepColon, st.pos, "= replaced"), 1)
	case strings.IndexByte(`"{['`, rest[0]) >= 0 || isDigit(rest[0]) || rest[0] == '-':
		go1(s.note(st, 1, StepColon, st.pos, "added"), 0)
	default:
		if w, _ := word(rest); literals[w] != "" {
			go1(s.note(st, 1, StepColon, st.pos, "added"), 0)
		}
	}
}

// next returns what is expected after a comma in the innermost bracket.
func (s *search) next(st state) want {
	if s.top(st) == '{' {
		return wantNextKey
	}
	return wantNextItem
}

// added returns the state with a missing closing bracket added. Truncated texts get
// none.
func (s *search) added(st state) state {
	cost := 1
	if st.open {
		cost = 0
	}
	if s.hints.Cut || !s.halfThere(st) || s.surplus[s.top(st)] <= 0 {
		cost = maxCost + 1
	}
	what := "] added"
	if s.top(st) == '{' {
		what = "} added"
	}
	st = s.closed(s.note(st, cost, StepBracket, st.pos, what), st.pos)
	st.open = true
	return st
}

// after reads the separator or bracket after a value.
func (s *search) after(st state) {
	c := s.peek(st.pos)
	if c == 0 && st.pos >= len(s.src) {
		s.truncated(st)
		return
	}
	switch c {
	case ',', ';':
		next := st
		if c == ';' {
			next = s.note(st, 1, StepComma, st.pos, "; replaced")
		}
		s.push(s.write(next, ",").then(st.pos+1, s.next(st)))
		s.push(s.added(st))
	case '}', ']', ')':
		match := c == '}' == (s.top(st) == '{')
		if match {
			s.push(s.closed(st, st.pos+1))
		} else if s.halfThere(st) {
			s.push(s.closed(s.note(st, 1, StepBracket, st.pos, string(c)+" replaced"), st.pos+1))
		}
		s.push(s.added(st))
		if s.surplus[c] > 0 {
			dropped := s.note(st, 1, StepBracket, st.pos, string(c)+" dropped")
			s.push(dropped.then(st.pos+1, wantAfter))
		}
	default:
		// A quote directly before a word is more likely an opening one.
		apart := isSpace(s.src[st.pos-1]) || strings.IndexByte("}]", s.src[st.pos-1]) >= 0
		if strings.IndexByte(`"'{[`, c) >= 0 || apart && (isDigit(c) || c == '-' || isLetter(s.src[st.pos:])) {
			s.push(s.write(s.note(st, 1, StepComma, st.pos, "added"), ",").then(st.pos, s.next(st)))
		}
		s.push(s.added(st))
	}
}

// truncated closes every bracket at the end of the text, if the last value is
// complete.
func (s *search) truncated(st state) {
	if st.shaky || s.hints.Cut {
		return
	}
	cost := 1
	if st.open {
		cost = 0
	}
	st = s.note(st, cost, StepTruncated, st.pos, "brackets closed at the end of the text")
	for st.stack != 0 {
		if !s.halfThere(st) {
			return
		}
		st = s.closed(st, st.pos)
	}
	s.push(st)
}

// end records a reading if the rest of the text has no meaning.
func (s *search) end(st state) {
	rest := s.src[st.pos:]
	switch {
	case rest == "":
	case strings.Trim(rest, "}]) \t\r\n") == "":
		st = s.note(st, 1, StepBracket, st.pos, strings.TrimSpace(rest)+" dropped")
	case strings.Trim(rest, ",;. \t\r\n`") == "" && len(strings.TrimSpace(rest)) <= 4:
		st = s.note(st, 1, StepTrailing, st.pos, strings.TrimSpace(rest)+" dropped")
	case prose(rest) && !strings.ContainsAny(rest, `"[]`) && (!st.open || isSpace(s.src[st.pos-1]) && strings.Contains(s.src[:st.pos], "\n")):
		st = s.note(st, 1, StepTrailing, st.pos, "dropped")
	default:
		return
	}
	// The end of a string is recognised by what follows it. If that is broken
	// too, the end is ambiguous.
	if st.cost > maxCost || st.quote && st.cost > maxQuoteCost {
		return
	}
	if rest != "" {
		done := st
		done.pos = len(s.src)
		s.push(done)
		return
	}
	for _, f := range s.found {
		if f.text == st.text {
			return
		}
	}
	if st.crowd || len(s.found) >= maxReadings {
		s.crowded = true
		return
	}
	s.found = append(s.found, reading{st.text, st.edits, st.guess})
}

// document returns the text of a reading.
func (s *search) document(r reading) []byte {
	var parts []string
	size := 0
	for i := r.text; i != 0; i = s.links[i].before {
		parts = append(parts, s.links[i].text)
		size += len(s.links[i].text)
	}
	out := make([]byte, 0, size)
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i]...)
	}
	return out
}

// changes returns the edits of a reading in the order of the text.
func (s *search) changes(r reading) []Edit {
	var out []Edit
	for i := r.edits; i != 0; i = s.edits[i].before {
		out = append(out, s.edits[i].edit)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
