package lessons

import (
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"
)

// chooser is a random source that respects held-out entries.
type chooser struct {
	rng    *rand.Rand
	unseen Unseen
}

func (g *chooser) n(n int) int                { return g.rng.IntN(n) }
func (g *chooser) between(from, to int) int   { return from + g.rng.IntN(to-from+1) }
func (g *chooser) chance(p float64) bool      { return g.rng.Float64() < p }
func (g *chooser) of(list []string) string    { return list[g.n(len(list))] }
func (g *chooser) pick(list []string) string  { return g.side(list, g.unseen.Words) }
func (g *chooser) say(list []string) string   { return g.settle(g.side(list, g.unseen.Phrases)) }
func (g *chooser) named(list []string) string { return g.side(list, g.unseen.Keys) }

// training reports whether no held-out entries are selected.
func (g *chooser) training() bool { return g.unseen == Unseen{} }

// settle chooses one alternative of every <a|b|c> in a sentence pattern. A pattern is
// held out with all its alternatives.
func (g *chooser) settle(s string) string {
	return alternatives.ReplaceAllStringFunc(s, func(group string) string {
		return g.of(strings.Split(group[1:len(group)-1], "|"))
	})
}

var alternatives = regexp.MustCompile(`<[^<>|]*\|[^<>]*>`)

// spellings returns variants of a sentence so that each alternative of each group
// occurs in one of them.
func spellings(s string) []string {
	n := 1
	for _, group := range alternatives.FindAllString(s, -1) {
		n = max(n, strings.Count(group, "|")+1)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = alternatives.ReplaceAllStringFunc(s, func(group string) string {
			all := strings.Split(group[1:len(group)-1], "|")
			return all[i%len(all)]
		})
	}
	return out
}

// side picks an entry of a list, either among those held out or among the others. If
// the list has none of that kind, it picks any.
func (g *chooser) side(list []string, unseen bool) string {
	for range 100 { // most lists have both, so this ends soon
		if s := g.of(list); heldOut(s) == unseen {
			return s
		}
	}
	for _, s := range list {
		if heldOut(s) == unseen {
			return s
		}
	}
	return g.of(list)
}

// heldOut reports whether an entry of a list is held out: about one in six. It depends
// only on the text of the entry, so that lists can grow.
func heldOut(s string) bool {
	h := fnv.New32a()
	h.Write([]byte(s))
	return (h.Sum32()>>8)%6 == 0 && !usual[s]
}

// usual are property names that are never held out, because they are so common.
var usual = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range words(`full_name person first last_name employer email_address contact_email phone_number language
		born birthday subscription postal_code zip_code date start_date start_time event meeting venue attendees fee
		currency color colour stars weight_kg floor_number billing delivery feature_request question normal bad site web`) {
		out[w] = true
	}
	return out
}()

// shuffled returns the numbers below n in random order.
func (g *chooser) shuffled(n int) []int { return g.rng.Perm(n) }
