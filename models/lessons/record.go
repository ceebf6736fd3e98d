package lessons

import (
	"regexp"
	"slices"
	"sort"
	"strings"
)

// A slot is a property of a thing or a person that a text can state.
type slot struct {
	name string
	keys []string // its names in schemas
	desc []string // its descriptions in schemas
	typ  string   // string, integer, number, boolean
	make func(g *gen, r record) value
	// format and formatted: a keyword with which the JSON form differs from the
	// text's.
	format string
	// choices: an enumeration's values; the value's JSON is one of them.
	choices []string
}

// A record holds the values of slots by name.
type record map[string]value

// A domain is a kind of record, with the texts about it. Sentences have
// {slots}; {who} is the record's subject: its name the first time, then its
// name or a pronoun.
type domain struct {
	subject    string // the slot named by {who}; "" if there is none
	prefixes   []string
	slots      []slot
	sentences  []string
	opens      []string // sentences that start a text
	noise      []string // sentences without requested information
	requests   []string
	labels     bool // a text may be a list of labels and values
	least      int  // least slots in a text
	most       int
	missing    float64 // how often a property is requested that the text does not state
	wholeNames []string
}

// record generates the values of all slots.
func (d *domain) record(g *gen) record {
	r := record{}
	for _, s := range d.slots {
		r[s.name] = s.make(g, r)
	}
	return r
}

// slotsOf returns the slots in a sentence.
func slotsOf(sentence string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(sentence, "{")
		if !ok {
			return out
		}
		name, rest, _ := strings.Cut(rest, "}")
		out = append(out, name)
		sentence = rest
	}
}

// told is a text about a record, and which of its slots it states.
type told struct {
	text string
	has  map[string]bool
}

// tell writes a text about a record.
func (d *domain) tell(g *gen, r record) told {
	want := g.between(d.least, d.most)
	if d.labels && g.chance(0.15) {
		return d.labelled(g, r, want)
	}
	has := map[string]bool{}
	var parts []string
	named := false
	add := func(s string) {
		var b strings.Builder
		rest := s
		for {
			before, after, ok := strings.Cut(rest, "{")
			b.WriteString(before)
			if !ok {
				break
			}
			name, after, _ := strings.Cut(after, "}")
			switch name {
			case "who":
				b.WriteString(d.who(g, r, &named, b.Len() == 0, !objects.MatchString(before) && !strings.HasPrefix(after, "'s")))
				has[d.subject] = true
			default:
				b.WriteString(r[name].text)
				has[name] = true
				named = named || name == d.subject
			}
			rest = after
		}
		parts = append(parts, title(b.String()))
	}
	if len(d.opens) > 0 && g.chance(0.5) {
		add(g.say(d.opens))
	}
	tries := 0
	for len(has) < want && tries < 40 {
		tries++
		s := g.say(d.sentences)
		fresh := true
		for _, name := range slotsOf(s) {
			fresh = fresh && (name == "who" || !has[name])
		}
		if fresh {
			add(s)
		}
	}
	if len(d.noise) > 0 {
		for g.chance(0.3) {
			at := g.n(len(parts) + 1)
			s := g.say(d.noise)
			rest := append([]string{}, parts[at:]...)
			parts = append(append(parts[:at], s), rest...)
		}
	}
	sep := " "
	if g.chance(0.1) {
		sep = "\n"
	}
	for i, p := range parts {
		if sep == " " && i < len(parts)-1 && !strings.ContainsAny(p[len(p)-1:], ".!?:,") && g.chance(0.85) {
			parts[i] += g.of([]string{".", ".", ".", ",", ";"})
		}
	}
	return told{strings.Join(parts, sep), has}.derived()
}

// derived adds what the stated slots imply: a name includes its parts.
func (t told) derived() told {
	if t.has["name"] {
		t.has["first"], t.has["last"] = true, true
	}
	return t
}

// objects matches words after which "he" and "she" would be wrong.
var objects = regexp.MustCompile(`(?i)(^| )(to|with|for|find|call|text|reach|introduce|by|ask|give|tell|about|of|from|meet|contact|email|phone)( email| mail)? $`)

// who returns the subject of a sentence, possibly as a pronoun.
func (d *domain) who(g *gen, r record, named *bool, first, pronouns bool) string {
	name := r[d.subject].text
	if !*named {
		*named = true
		return name
	}
	pronoun, ok := r["pronoun"]
	switch {
	case !ok:
		return name
	case !pronouns && g.chance(0.5):
		return name
	case !pronouns:
		given, _, _ := strings.Cut(name, " ")
		return given
	case g.chance(0.6):
		if first {
			return pronoun.text
		}
		return strings.ToLower(pronoun.text)
	case g.chance(0.6):
		given, _, _ := strings.Cut(name, " ")
		return given
	}
	return name
}

// labelled writes a record as labels with values.
func (d *domain) labelled(g *gen, r record, want int) told {
	has := map[string]bool{}
	var parts []string
	sep := g.of([]string{": ", ": ", ": ", " - ", " = "})
	end := g.of([]string{"\n", "\n", "\n", "; ", ", ", " | "})
	order := g.shuffled(len(d.slots))
	if g.chance(0.7) {
		sort.Ints(order)
	}
	for _, i := range order {
		s := d.slots[i]
		if s.name == "pronoun" || len(s.keys) == 0 || s.typ == "boolean" || len(has) >= want && g.chance(0.7) {
			continue
		}
		has[s.name] = true
		label := strings.ReplaceAll(d.call(g, s), "_", " ")
		if g.chance(0.8) {
			label = title(label)
		}
		parts = append(parts, label+sep+r[s.name].text)
	}
	return told{strings.Join(parts, end), has}.derived()
}

// ask chooses the slots that are requested, at most most.
func (d *domain) ask(g *gen, t told, most int) []slot {
	var out []slot
	for _, i := range g.shuffled(len(d.slots)) {
		s := d.slots[i]
		if len(s.keys) == 0 || len(out) == most || !t.has[s.name] && !g.chance(d.missing) {
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 { // the text states nothing: ask for something missing
		for _, s := range d.slots {
			if len(s.keys) > 0 {
				return []slot{s}
			}
		}
	}
	// Most schemas have a natural order.
	if g.chance(0.6) {
		at := map[string]int{}
		for i, s := range d.slots {
			at[s.name] = i
		}
		sort.SliceStable(out, func(i, j int) bool { return at[out[i].name] < at[out[j].name] })
	}
	return out
}

// modifiers are words with little meaning that property names start with.
var modifiers = words("the main primary current my your new given exact known their actual real stated found")

// endings are words with little meaning that property names end with.
var endings = words("value text field info data string given found mentioned stated here if_any in_text as_written as_text raw entry detail")

// compose returns a new property name that contains any listed one, held out
// or not: names that never occur in training occur there as parts of names.
// Only training uses it; exams use listed names.
func (g *gen) compose(names, prefixes []string) string {
	before := modifiers
	if len(prefixes) > 0 && g.chance(0.5) {
		before = prefixes
	}
	for {
		name := g.of(names)
		if vague[name] {
			continue
		}
		switch n := g.n(10); {
		case n < 6:
			name = g.of(before) + "_" + name
		case n < 7 && len(prefixes) > 0:
			name += g.of([]string{"_of_", "_of_the_", "_for_", "_from_"}) + g.of(prefixes)
		case n < 9:
			name += "_" + g.of(endings)
		default:
			name = g.of(before) + "_" + name + "_" + g.of(endings)
		}
		if !heldOut(name) {
			return name
		}
	}
}

// vague are names whose meaning changes with an additional word.
var vague = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range words(`number name no code id item title amount value what who where when place first last family on
		until each count call size`) {
		out[w] = true
	}
	return out
}()

// call chooses a name for a slot.
func (d *domain) call(g *gen, s slot) string {
	if !g.training() || g.chance(0.75) {
		return g.named(s.keys)
	}
	for range 10 {
		name := g.compose(s.keys, d.prefixes)
		if !slices.ContainsFunc(d.slots, func(o slot) bool { return o.name != s.name && slices.Contains(o.keys, name) }) {
			return name
		}
	}
	return g.named(s.keys)
}

// names chooses the names of properties, all different.
func (d *domain) names(g *gen, slots []slot) []string {
	g.style.prefix = ""
	switch {
	case len(d.prefixes) > 0 && g.chance(0.12):
		g.style.prefix = g.named(d.prefixes)
	case g.chance(0.08):
		g.style.prefix = g.named(modifiers)
	}
	used := map[string]bool{}
	out := make([]string, len(slots))
	for i, s := range slots {
		for range 20 {
			name := d.call(g, s)
			out[i] = g.style.key(name)
			// A prefix must not turn a name into a held-out one.
			if !used[out[i]] && (g.style.prefix == "" || heldOut(g.style.prefix+"_"+name) == g.unseen.Keys) {
				break
			}
		}
		for used[out[i]] {
			out[i] += "_2"
		}
		used[out[i]] = true
	}
	return out
}

// form is how one property is requested, the same for all records of a list.
type form struct {
	slot
	key       string
	schema    string
	formatted bool
	nullable  bool
}

// forms decides on the schema of each property.
func (d *domain) forms(g *gen, slots []slot, t told) []form {
	keys := d.names(g, slots)
	explain := g.chance(0.15)
	loose := g.chance(0.15)
	out := make([]form, len(slots))
	for i, s := range slots {
		f := form{slot: s, key: keys[i], nullable: !t.has[s.name] || loose}
		typ := quote(s.typ)
		switch {
		case s.choices != nil:
			choices := s.choices
			if f.nullable {
				f.schema = `{"enum":` + list(choices)
				f.schema = f.schema[:len(f.schema)-1] + `,null]}`
			} else {
				f.schema = g.enum(choices)
			}
		case f.nullable:
			f.schema = `{"type":[` + typ + `,"null"]}`
		default:
			f.schema = `{"type":` + typ + `}`
		}
		if s.format != "" && g.harder(0.4) {
			f.schema = within(f.schema, "format", quote(s.format))
			f.formatted = true
		}
		if explain && len(s.desc) > 0 {
			f.schema = within(f.schema, "description", quote(s.explain(g)))
		}
		out[i] = f
	}
	return out
}

// explain describes a slot; in training also by any of its other names.
func (s *slot) explain(g *gen) string {
	if !g.training() || g.chance(0.5) {
		return g.say(s.desc)
	}
	name := strings.TrimPrefix(strings.ReplaceAll(g.of(s.keys), "_", " "), "the ")
	return title(g.of([]string{"", "", "the ", "what is the ", "any ", "what the text says about "}) + name)
}

// fill returns the answers for one record.
func fill(forms []form, r record, t told) []property {
	out := make([]property, len(forms))
	for i, f := range forms {
		v := r[f.name]
		p := property{key: f.key, schema: f.schema, value: v.json}
		if f.format == "date" && !f.formatted {
			p.value = quote(v.text)
		}
		if !t.has[f.name] {
			p.value = "null"
		}
		out[i] = p
	}
	return out
}

// lesson returns a complete lesson about one record.
func (d *domain) lesson(g *gen) Lesson {
	r := d.record(g)
	t := d.tell(g, r)
	props := fill(d.forms(g, d.ask(g, t, g.between(2, 8)), t), r, t)
	o := g.object(props)
	more := g.more(5, func() object {
		return g.object(fill(d.forms(g, d.ask(g, t, g.between(2, 8)), t), r, t))
	})
	if len(d.wholeNames) > 0 && g.chance(0.08) { // one level of nesting
		g.style.prefix = ""
		o = g.object([]property{{key: g.style.key(g.named(d.wholeNames)), schema: o.schema, value: o.value, parts: o.keys}})
	}
	l := g.put(t.text, d.requests, o)
	l.More = more
	return l
}

// more returns up to most additional answers, each in its own style.
func (g *gen) more(most int, make func() object) []Answer {
	var out []Answer
	defer func(s style) { g.style = s }(g.style)
	for range g.n(most + 1) {
		g.style = g.newStyle()
		o := make()
		out = append(out, Answer{o.value, o.keys})
	}
	return out
}

// put returns a lesson for a text, requests and the answer. A raw prompt does
// not show the schema, so the schema alone must name the properties.
func (g *gen) put(text string, requests []string, o object) Lesson {
	l := Lesson{Schema: o.schema, Answer: o.value, Keys: o.keys}
	if g.chance(0.12) && o.complete() {
		l.Prompt = text + g.of([]string{"\n", "\n", "\n\n", " ", "\nJSON: "})
		if g.chance(0.3) {
			l.Prompt = g.say(requests) + "\n" + l.Prompt
		}
		return l
	}
	content := text
	switch g.n(6) {
	case 0, 1:
		content = g.say(requests) + g.of([]string{"\n\n", "\n", " ", ": "}) + text
	case 2:
		content = text + "\n\n" + g.say(requests)
	}
	l.Chat = []Message{{"user", content}}
	return l
}
