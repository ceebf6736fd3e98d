package lessons

import (
	"strconv"
	"strings"
)

// personSlots are the slots that people and contacts share.
var personSlots = []slot{
	slotOf("person.name", "string", func(g *gen, r record) value { return text(g.fullName(r["pronoun"].text == "She")) }),
	slotOf("person.first", "string", func(g *gen, r record) value { f, _, _ := strings.Cut(r["name"].text, " "); return text(f) }),
	slotOf("person.age", "integer", func(g *gen, r record) value { return number(g.between(1, 99)) }),
	slotOf("person.job", "string", func(g *gen, r record) value { return text(g.job()) }),
	slotOf("person.employer", "string", func(g *gen, r record) value { return text(g.company()) }),
	slotOf("person.city", "string", func(g *gen, r record) value { return text(g.city()) }),
	slotOf("person.country", "string", func(g *gen, r record) value { return text(g.country()) }),
	{name: "email", typ: "string", format: "email", keys: embeddedWords("person.email.keys"),
		desc: embedded("person.email.desc"),
		make: func(g *gen, r record) value { return text(g.emailOf(r["name"].text)) }},
	slotOf("person.phone", "string", func(g *gen, r record) value { return text(g.phone()) }),
	slotOf("person.hobby", "string", func(g *gen, r record) value { return text(g.hobby()) }),
	slotOf("person.language", "string", func(g *gen, r record) value { return text(g.language()) }),
	{name: "born", typ: "string", format: "date", keys: embeddedWords("person.born.keys"),
		desc: embedded("person.born.desc"),
		make: func(g *gen, r record) value { return g.date(1940, 2012) }},
	slotOf("person.married", "boolean", func(g *gen, r record) value {
		if g.chance(0.5) {
			return value{g.of(embedded("married.yes")), "true"}
		}
		return value{g.of(embedded("married.no")), "false"}
	}),
	slotOf("person.last", "string", func(g *gen, r record) value {
		name := r["name"].text
		return text(name[strings.LastIndexByte(name, ' ')+1:])
	}),
	slotOf("person.salary", "number", func(g *gen, r record) value { return number(g.between(12, 180) * g.of3(100, 500, 1000)) }),
	slotOf("person.department", "string", func(g *gen, r record) value { return text(g.department()) }),
	{name: "plan", typ: "string", keys: embeddedWords("person.plan.keys"),
		desc: embedded("person.plan.desc"), choices: plans,
		make: func(g *gen, r record) value { return text(g.of(plans)) }},
	slotOf("person.id", "string", func(g *gen, r record) value { return text(g.code()) }),
	slotOf("person.children", "integer", func(g *gen, r record) value { return number(g.between(2, 9)) }),
}

var plans = words("free basic pro team premium enterprise")

// withPronoun prepends the slot on which others depend.
func withPronoun(slots []slot) []slot {
	return append([]slot{{name: "pronoun", make: func(g *gen, r record) value {
		if g.chance(0.5) {
			return text("She")
		}
		return text("He")
	}}}, slots...)
}

// only returns the slots with those names.
func only(slots []slot, names ...string) []slot {
	var out []slot
	for _, n := range names {
		for _, s := range slots {
			if s.name == n {
				out = append(out, s)
			}
		}
	}
	return out
}

var people = domain{
	subject:   "name",
	prefixes:  []string{"person", "employee", "member", "user", "patient", "guest"},
	slots:     withPronoun(personSlots),
	opens:     embedded("people.opens"),
	sentences: embedded("people.sentences"),
	noise:     embedded("people.noise"),
	requests:  embedded("people.requests"),
	labels:    true, least: 2, most: 7, missing: 0.09,
	wholeNames: []string{"person", "employee", "profile", "member", "user"},
}

var contacts = domain{
	subject:  "name",
	prefixes: []string{"contact", "customer", "client", "sender", "lead"},
	slots: append(withPronoun(only(personSlots, "name", "first", "last", "job", "employer", "email", "phone", "city")),
		slotOf("contacts.street", "string", func(g *gen, r record) value { return text(g.street()) }),
		slotOf("contacts.zip", "string", func(g *gen, r record) value { return text(g.zip()) }),
		slotOf("contacts.site", "string", func(g *gen, r record) value {
			return text(g.of([]string{"www.", "https://", "https://www."}) + g.host())
		}),
	),
	opens:     embedded("contacts.opens"),
	sentences: embedded("contacts.sentences"),
	noise:     embedded("contacts.noise"),
	requests:  embedded("contacts.requests"),
	labels:    true, least: 2, most: 6, missing: 0.06,
	wholeNames: []string{"contact", "customer", "sender", "card"},
}

// group generates lessons about several people, with one object each.
func group(g *gen) Lesson {
	d := people
	n := g.between(2, 4)
	pattern := g.say(embedded("group.pattern"))
	t := told{has: map[string]bool{}}
	for _, s := range slotsOf(pattern) {
		t.has[s] = true
	}
	t = t.derived()
	var parts []string
	records := make([]record, n)
	for i := range records {
		records[i] = d.record(g)
		parts = append(parts, expand(pattern, records[i]))
	}
	content := ""
	switch g.n(4) {
	case 0:
		content = strings.Join(parts, "\n")
	case 1:
		content = "- " + strings.Join(parts, "\n- ")
	case 2:
		content = strings.Join(parts[:n-1], ", ") + " and " + parts[n-1] + "."
	default:
		content = strings.Join(parts, ". ") + "."
	}
	if g.chance(0.4) {
		content = g.say(embedded("group.content")) + g.of([]string{" ", "\n"}) + content
	}
	forms := d.forms(g, d.ask(g, t, 4), t)
	var items []object
	for _, r := range records {
		items = append(items, g.object(fill(forms, r, t)))
	}
	return g.put(content, embedded("group.request"), g.wrapped(array(items[0].schema, items), []string{"people", "persons", "members", "team", "staff", "guests", "entries", "results"}, strconv.Itoa(n)))
}

// wrapped usually puts a list into an object, sometimes with its length.
func (g *gen) wrapped(o object, names []string, length string) object {
	if g.chance(0.3) {
		return o
	}
	g.style.prefix = ""
	props := []property{{key: g.style.key(g.named(names)), schema: o.schema, value: o.value, parts: o.keys}}
	if g.chance(0.15) {
		props = append(props, property{key: g.style.key(g.named([]string{"count", "total_count", "number"})), schema: plain("integer"), value: length})
	}
	return g.object(props)
}

// expand fills a pattern's slots.
func expand(pattern string, r record) string {
	for _, s := range slotsOf(pattern) {
		pattern = strings.Replace(pattern, "{"+s+"}", r[s].text, 1)
	}
	return pattern
}

// among generates lessons that ask for one of several people in a text.
func among(g *gen) Lesson {
	d := people
	d.least, d.most, d.labels = 2, 4, false
	n := g.between(2, 3)
	at := g.n(n)
	var texts []string
	var r record
	var t told
	for i := range n {
		one := d.record(g)
		about := d.tell(g, one)
		if !about.has["name"] {
			about.text = one["name"].text + ": " + about.text
			about.has["name"] = true
			about = about.derived()
		}
		texts = append(texts, about.text)
		if i == at {
			r, t = one, about
		}
	}
	name := r["name"].text
	if g.chance(0.3) {
		name = r["first"].text
	}
	request := strings.ReplaceAll(g.say(embedded("among.request")), "{name}", name)
	props := fill(d.forms(g, d.ask(g, t, g.between(2, 5)), t), r, t)
	o := g.object(props)
	content := strings.Join(texts, g.of([]string{"\n", " ", "\n\n"}))
	if g.chance(0.5) {
		content += "\n" + request
	} else {
		content = request + "\n" + content
	}
	return Lesson{Chat: []Message{{"user", content}}, Schema: o.schema, Answer: o.value, Keys: o.keys}
}
