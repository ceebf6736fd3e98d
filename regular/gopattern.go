package regular

import (
	"regexp/syntax"
	"slices"

	"github.com/stencil-json/stencil/regular/runes"
)

// GoPattern returns the strings in which a pattern of package regexp matches
// somewhere. The error is a *SyntaxError, an *UnsupportedError or a
// *LimitError.
func (s *Store) GoPattern(text string) (e Expr, err error) {
	s.lock()
	defer s.doneWith(&err)
	if len(text) > s.limits.PatternBytes {
		return exprEmpty, &LimitError{"PatternBytes", s.limits.PatternBytes}
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return exprEmpty, &SyntaxError{0, err.Error()}
	}
	e, err = s.found(fromGo(re))
	if err == nil {
		err = s.err
	}
	if err != nil {
		return exprEmpty, err
	}
	return e, nil
}

// fromGo converts a syntax tree of package regexp to one of this package.
func fromGo(re *syntax.Regexp) *tree {
	t := &tree{kind: kindSeq}
	for _, sub := range re.Sub {
		c := fromGo(sub)
		t.subs = append(t.subs, c)
		t.asserts = t.asserts || c.asserts
	}
	assertion := func(k kind) { t.kind, t.asserts = k, true }
	loop := func(least, most int32) { t.kind, t.least, t.most = kindRepeat, least, most }
	set := func(rs []runes.Range) { t.kind, t.set = kindClass, rs }
	newline := runes.Of('\n', '\n')
	line := func(edge, look kind) {
		end := &tree{kind: edge, asserts: true}
		either := &tree{kind: kindAlt, asserts: true, subs: []*tree{end, {kind: kindClass, set: newline}}}
		assertion(look)
		t.subs = []*tree{either}
	}
	switch re.Op {
	case syntax.OpNoMatch:
		set(nil)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			one := runes.Of(r, r)
			if re.Flags&syntax.FoldCase != 0 {
				one = runes.FoldCase(one)
			}
			t.subs = append(t.subs, &tree{kind: kindClass, set: one})
		}
	case syntax.OpCharClass:
		var rs []runes.Range
		for pair := range slices.Chunk(re.Rune, 2) {
			rs = append(rs, runes.Range{Lo: pair[0], Hi: pair[1]})
		}
		set(runes.Normalise(rs))
	case syntax.OpAnyCharNotNL:
		set(runes.AppendComplement(nil, newline))
	case syntax.OpAnyChar:
		set(runes.All)
	case syntax.OpBeginText:
		assertion(kindStart)
	case syntax.OpEndText:
		assertion(kindEnd)
	case syntax.OpBeginLine:
		line(kindStart, kindBehind)
	case syntax.OpEndLine:
		line(kindEnd, kindAhead)
	case syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		assertion(kindWord)
		t.negated = re.Op == syntax.OpNoWordBoundary
	case syntax.OpStar:
		loop(0, infinite)
	case syntax.OpPlus:
		loop(1, infinite)
	case syntax.OpQuest:
		loop(0, 1)
	case syntax.OpRepeat:
		most := int32(re.Max)
		if re.Max < 0 {
			most = infinite
		}
		loop(int32(re.Min), most)
	case syntax.OpAlternate:
		t.kind = kindAlt
	}
	return t
}
