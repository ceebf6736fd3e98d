package gbnf

import (
	"slices"
	"testing"
	"unicode/utf8"
)

// earley is an independent recogniser: Earley's algorithm over productions
// derived from the syntax tree, with counts unrolled. It shares only the parser
// with the package.
type earley struct {
	prods    [][]earleySymbol // of all nonterminals
	of       [][]int          // productions by nonterminal
	nullable []bool
	names    map[string]int
	root     int
}

// earleySymbol is a test of a character or token, or a nonterminal.
type earleySymbol struct {
	char *expr // opClass, opAny, opToken, or opLiteral of one character
	to   int
}

func newEarley(t testing.TB, src string) *earley {
	t.Helper()
	f, err := parse(src, Limits{}.withDefaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &earley{names: map[string]int{}}
	for _, r := range f.rules {
		g.names[r.name] = g.nonterminal()
	}
	for _, r := range f.rules {
		g.produce(g.names[r.name], g.symbols(r.body))
	}
	g.root = g.names["root"]
	g.nullable = make([]bool, len(g.of))
	for changed := true; changed; {
		changed = false
		for n, list := range g.of {
			for _, p := range list {
				empty := !slices.ContainsFunc(g.prods[p], func(s earleySymbol) bool { return s.char != nil || !g.nullable[s.to] })
				if empty && !g.nullable[n] {
					g.nullable[n], changed = true, true
				}
			}
		}
	}
	return g
}

func (g *earley) nonterminal() int {
	g.of = append(g.of, nil)
	return len(g.of) - 1
}

func (g *earley) produce(n int, symbols []earleySymbol) {
	g.of[n] = append(g.of[n], len(g.prods))
	g.prods = append(g.prods, symbols)
}

// symbols returns the symbols of an expression, and creates nonterminals as
// needed.
func (g *earley) symbols(e *expr) []earleySymbol {
	switch e.op {
	case opLiteral:
		var out []earleySymbol
		for _, r := range e.text {
			out = append(out, earleySymbol{char: &expr{op: opLiteral, text: string(r)}})
		}
		return out
	case opClass, opAny, opToken:
		return []earleySymbol{{char: e}}
	case opRef:
		return []earleySymbol{{to: g.names[e.text]}}
	case opSequence:
		var out []earleySymbol
		for _, s := range e.sub {
			out = append(out, g.symbols(s)...)
		}
		return out
	case opChoice:
		n := g.nonterminal()
		for _, s := range e.sub {
			g.produce(n, g.symbols(s))
		}
		return []earleySymbol{{to: n}}
	case opRepeat:
		body := g.symbols(e.sub[0])
		var out []earleySymbol
		for range e.min {
			out = append(out, body...)
		}
		n := g.nonterminal()
		g.produce(n, nil)
		if e.max == unbounded {
			g.produce(n, append(slices.Clone(body), earleySymbol{to: n}))
			return append(out, earleySymbol{to: n})
		}
		g.produce(n, body)
		for range e.max - e.min {
			out = append(out, earleySymbol{to: n})
		}
		return out
	}
	panic("unknown element")
}

func (s earleySymbol) matches(r rune) bool {
	switch e := s.char; e.op {
	case opAny:
		return true
	case opToken:
		return false
	case opLiteral:
		return e.text == string(r)
	default:
		in := false
		for _, x := range e.ranges {
			in = in || x.Lo <= r && r <= x.Hi
		}
		return in != e.negated
	}
}

type earleyItem struct{ prod, dot, from int }

// parse reports whether the text belongs to the grammar, and whether it is a
// prefix of one that does, as far as an empty Earley set shows.
func (g *earley) parse(text string) (whole, beginning bool) {
	if !utf8.ValidString(text) {
		return false, false
	}
	return g.parseTokens([]earleyToken{{"", text}})
}

// An earleyToken is a token as grammars refer to it, and its text.
type earleyToken struct{ name, text string }

// reads reports whether e refers to this token.
func (t earleyToken) reads(e *expr) bool {
	return e.op == opToken && (e.text == t.name) != e.negated
}

// parseTokens is parse for a text that consists of tokens. A token without text
// takes the place of a character that nothing matches.
func (g *earley) parseTokens(tokens []earleyToken) (whole, beginning bool) {
	const nothing = -1
	var text []rune
	begins := map[int]earleyToken{}
	for _, t := range tokens {
		begins[len(text)] = t
		if t.text == "" && t.name != "" {
			text = append(text, nothing)
		}
		text = append(text, []rune(t.text)...)
	}
	sets := make([]map[earleyItem]bool, len(text)+1)
	for k := range sets {
		sets[k] = map[earleyItem]bool{}
	}
	lists := make([][]earleyItem, len(text)+1)
	head := make([]int, len(g.prods))
	for n, list := range g.of {
		for _, p := range list {
			head[p] = n
		}
	}
	add := func(k int, it earleyItem) {
		if !sets[k][it] {
			sets[k][it] = true
			lists[k] = append(lists[k], it)
		}
	}
	predict := func(k, n int) {
		for _, p := range g.of[n] {
			add(k, earleyItem{p, 0, k})
		}
	}
	predict(0, g.root)
	for k := 0; ; k++ {
		for i := 0; i < len(lists[k]); i++ {
			it := lists[k][i]
			prod := g.prods[it.prod]
			switch {
			case it.dot == len(prod):
				for j := 0; j < len(lists[it.from]); j++ {
					up := lists[it.from][j]
					if rest := g.prods[up.prod]; up.dot < len(rest) && rest[up.dot].char == nil && rest[up.dot].to == head[it.prod] {
						add(k, earleyItem{up.prod, up.dot + 1, up.from})
					}
				}
			case prod[it.dot].char == nil:
				predict(k, prod[it.dot].to)
				if g.nullable[prod[it.dot].to] {
					add(k, earleyItem{it.prod, it.dot + 1, it.from})
				}
			}
		}
		if k == len(text) {
			for _, it := range lists[k] {
				whole = whole || it.from == 0 && head[it.prod] == g.root && it.dot == len(g.prods[it.prod])
			}
			return whole, len(lists[k]) > 0
		}
		token, atToken := begins[k]
		for _, it := range lists[k] {
			prod := g.prods[it.prod]
			if it.dot == len(prod) || prod[it.dot].char == nil {
				continue
			}
			if text[k] != nothing && prod[it.dot].matches(text[k]) {
				add(k+1, earleyItem{it.prod, it.dot + 1, it.from})
			}
			if atToken && token.name != "" && token.reads(prod[it.dot].char) {
				add(k+max(1, utf8.RuneCountInString(token.text)), earleyItem{it.prod, it.dot + 1, it.from})
			}
		}
		if !slices.ContainsFunc(lists[k+1:], func(l []earleyItem) bool { return len(l) > 0 }) {
			return false, false
		}
	}
}

func TestEarley(t *testing.T) {
	g := newEarley(t, "root ::= a{2,3} | root \"x\" \na ::= \"\" | [ab] b\nb ::= a{0,1} .?")
	for text, want := range map[string]bool{"": true, "abx": true, "x": true, "bbbbbbx": true, "c": false, "xc": false, "acéx": false, "acbéx": true} {
		if whole, _ := g.parse(text); whole != want {
			t.Errorf("%q: %t", text, whole)
		}
	}
}
