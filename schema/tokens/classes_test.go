package tokens

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/vocab"
)

// borders are characters at and beside the borders of classes.
var borders = []rune("afgzAFGZ059-_.:/ @\u0080\u009F\u00A0\u00A1éʬ\u1680\u1681\u1FFF\u2000\u200A\u200B\u2028\u2029\u202A\u202F\u205F\u3000\u3001日\uD7FF\uE000\uFEFF\uFF00Ａ\uFFFD\U00010000😀\U0010FFFF")

func bordersVocab(t *testing.T, rng *rand.Rand) *vocab.Vocab {
	t.Helper()
	texts := map[string]bool{}
	for _, c := range borders {
		texts[string(c)] = true
	}
	for range 3000 {
		var text []rune
		for range 2 + rng.IntN(4) {
			text = append(text, borders[rng.IntN(len(borders))])
		}
		texts[string(text)] = true
	}
	var list []vocab.Token
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		list = append(list, vocab.Token{Text: text, Kind: vocab.Normal})
	}
	v, err := vocab.FromTokens(list, vocab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A walk over classes of characters finds the tokens that one over their texts finds, both as a list
// and as a set, or says that it can't.
func TestClasses(t *testing.T) {
	v := bordersVocab(t, rand.New(rand.NewPCG(1, 2)))
	tables := For(v)
	if full, few := tables.Strings.PlainTrie.Len(), tables.classes.trie.Len(); few >= full {
		t.Errorf("%d nodes by classes, %d by texts", few, full)
	}
	for _, c := range borders {
		if r := representative(c); r > c || !startsClass(r) {
			t.Errorf("the class of %U begins with %U", c, r)
		}
	}
	for pattern, alike := range map[string]bool{
		`^(?!.*://)(?=.{1,255}$)((.{1,63}\.){1,127}(?![0-9]*$)[a-zA-Z0-9-]+\.?)$`: true,
		`^[A-Za-z0-9_]{3,}[^:/]*$`: true,
		`[a-f0-9]{2}-[a-f0-9]{2}`:  true,
		`^\s*\S+\s?$`:              true,
		`^[0-4]+[5-9]*.?$`:         true,
		`^(?=.*[A-Z])(?=.*\d).+$`:  true,
		`^[^é]*$`:                  false, // é among the letters of Latin-1
		`^[a-y]+.*$`:               false,
		`^.{2}[a-c].*$`:            false, // from the third character on
		`^.*[日-時]$`:                false,
		`^\p{L}*.?$`:               false,
		`(admin|maker)`:            false,
	} {
		m := compile(t, regular.NewStore(regular.Limits{}), pattern)
		whole, states := true, []regular.State{m.Start()}
		for i := 0; i < len(states) && i < 100; i++ {
			q := states[i]
			for _, e := range m.Ranges(q) {
				if !slices.Contains(states, e.To) {
					states = append(states, e.To)
				}
			}
			list, _ := tables.walkTrie(tables.Strings.PlainTrie, tables.Strings.Below, false, m, q, nil)
			want := slices.Sorted(slices.Values(list))
			list, ok := tables.walkTrie(tables.classes.trie, tables.classes.below, true, m, q, nil)
			if got := slices.Sorted(slices.Values(list)); ok && !slices.Equal(got, want) {
				t.Errorf("%s, state %d: %d tokens by classes, %d by texts", pattern, q, len(got), len(want))
			}
			whole = whole && ok
			set := slices.Clone(tables.Strings.Plain)
			tables.walkPlain(m, q, set)
			if got := set.AppendTo(nil); !slices.Equal(got, want) {
				t.Errorf("%s, state %d: a set of %d tokens, should be %d", pattern, q, len(got), len(want))
			}
		}
		if whole != alike {
			t.Errorf("%s: walks over classes alone: %v, should be %v", pattern, whole, alike)
		}
	}
}
