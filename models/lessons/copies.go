package lessons

import "strings"

// copies are short drills in finding a value by its label and copying it.
// Every word is made up, so that only the text is informative.
func copies(g *gen) Lesson {
	n := g.between(2, 6)
	g.style.prefix = ""
	used := map[string]bool{}
	var props []property
	var said []string
	pattern := g.of([]string{"{k}: {v}", "{k} = {v}", "The {k} is {v}.", "{k} {v}", "{v} ({k})", "{v} is the {k}."})
	for range n {
		k := g.of([]string{"", "", g.madeUp(1) + "_"}) + g.madeUp(g.between(1, 2))
		if g.chance(0.5) {
			k = strings.ReplaceAll(g.someWords(g.between(1, 2)), " ", "_")
		}
		if used[k] {
			continue
		}
		used[k] = true
		v, typ := value{}, "string"
		switch g.n(14) {
		case 0:
			v, typ = number(g.n(100000)), "integer"
		case 1:
			v, typ = g.amount(3000), "number"
		case 2:
			v = text(g.code())
		case 3:
			v = text(title(g.madeUp(2)) + " " + title(g.madeUp(2)))
		case 4:
			v = text(g.emailOf(g.fullName(true)))
		case 5:
			v = text(g.someWords(g.between(1, 4)))
		case 6:
			v = text(title(g.someWords(g.between(1, 3))))
		case 7, 8:
			v = text(g.phone())
		case 9:
			v = text(g.date(1950, 2030).text)
		case 10:
			v = text(g.street())
		case 11, 12:
			v = text(g.clock())
		default:
			v = text(g.madeUp(g.between(1, 4)))
		}
		p := property{key: g.style.key(k), schema: plain(typ), value: v.json}
		label := p.key
		if g.chance(0.3) {
			label = strings.ReplaceAll(k, "_", " ")
		}
		said = append(said, strings.NewReplacer("{k}", label, "{v}", v.text).Replace(pattern))
		if g.chance(0.75) || len(props) == 0 {
			props = append(props, p)
		}
	}
	if g.chance(0.5) {
		g.mix(props)
	}
	if !distinct(props) {
		props = props[:1]
	}
	return g.put(strings.Join(said, g.of([]string{"\n", " ", ", ", "; "})), embedded("copies"), g.object(props))
}
