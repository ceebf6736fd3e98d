package lessons

import (
	"strconv"
	"strings"
)

// A class is a value of an enumeration, and sentences that express it.
type class struct {
	names []string // its names in schemas
	texts []string
	// frames are sentences about one of things, {x}, which express the class for
	// any of them.
	frames, things []string
}

// sentence returns a sentence that expresses the class. In training some of
// them are about arbitrary things, so that the frame counts too.
func (c *class) sentence(g *gen) string {
	if len(c.frames) > 0 && g.chance(0.6) {
		x := g.pick(c.things)
		if g.training() && g.chance(0.3) {
			x = g.of([]string{"the ", "the ", "my ", "our ", "a "}) + g.someWords(g.between(1, 2))
		}
		return title(strings.ReplaceAll(g.say(c.frames), "{x}", x))
	}
	return g.say(c.texts)
}

var categories = []class{
	{embeddedWords("categories.billing.names"), embedded("categories.billing.texts"), embedded("categories.billing.frames"), embedded("categories.billing.things")},
	{embeddedWords("categories.technical.names"), embedded("categories.technical.texts"), embedded("categories.technical.frames"), embedded("categories.technical.things")},
	{embeddedWords("categories.account.names"), embedded("categories.account.texts"), embedded("categories.account.frames"), embedded("categories.account.things")},
	{embeddedWords("categories.shipping.names"), embedded("categories.shipping.texts"), embedded("categories.shipping.frames"), embedded("categories.shipping.things")},
	{embeddedWords("categories.feature_request.names"), embedded("categories.feature_request.texts"), embedded("categories.feature_request.frames"), embedded("categories.feature_request.things")},
	{embeddedWords("categories.question.names"), embedded("categories.question.texts"), embedded("categories.question.frames"), embedded("categories.question.things")},
}

var urgencies = []class{
	{embeddedWords("urgencies.high.names"), embedded("urgencies.high.texts"), nil, nil},
	{embeddedWords("urgencies.medium.names"), embedded("urgencies.medium.texts"), nil, nil},
	{embeddedWords("urgencies.low.names"), embedded("urgencies.low.texts"), nil, nil},
}

var feelings = []class{
	{embeddedWords("feelings.positive.names"), embedded("feelings.positive.texts"), embedded("feelings.positive.frames"), aspects},
	{embeddedWords("feelings.negative.names"), embedded("feelings.negative.texts"), embedded("feelings.negative.frames"), aspects},
	{embeddedWords("feelings.neutral.names"), embedded("feelings.neutral.texts"), embedded("feelings.neutral.frames"), aspects},
}

var aspects = embedded("aspects")

// classes chooses at least least classes, and one name for each. In training
// some names are compounds with a noun, also of held-out names.
func (g *gen) classes(all []class, least int, nouns []string) (names []string, chosen []class) {
	order := g.shuffled(len(all))
	n := g.between(least, len(all))
	style := g.n(20)
	for _, i := range order[:n] {
		name := all[i].names[0]
		switch {
		case g.training() && g.chance(0.3):
			for name = g.compound(all[i].names, nouns); heldOut(name); name = g.compound(all[i].names, nouns) {
			}
		case g.unseen.Keys || g.chance(0.4):
			name = g.named(all[i].names)
		}
		switch {
		case style < 6 && len(name) > 0:
			name = title(strings.ReplaceAll(name, "_", " "))
		case style == 6:
			name = strings.ToUpper(name)
		}
		names = append(names, name)
		chosen = append(chosen, all[i])
	}
	return names, chosen
}

// compound appends a noun to a name, or sometimes prepends it.
func (g *gen) compound(names, nouns []string) string {
	name, noun := g.of(names), g.of(nouns)
	if g.chance(0.25) {
		return noun + "_" + name
	}
	return name + "_" + noun
}

var (
	ticketNouns  = embeddedWords("tickets.nouns")
	levelNouns   = embeddedWords("urgencies.nouns")
	feelingNouns = embeddedWords("feelings.nouns")
)

func tickets(g *gen) Lesson {
	names, chosen := g.classes(categories, 3, ticketNouns)
	levels, grades := g.classes(urgencies, 3, levelNouns)
	c, u := g.n(len(chosen)), g.n(len(grades))
	customer, order, email := g.fullName(g.chance(0.5)), g.code(), g.emailOf("a b")
	said := []string{chosen[c].sentence(g)}
	asked := []property{{key: g.categoryKey(), schema: g.enum(names), value: quote(names[c])}}
	switch {
	case g.chance(0.25): // only the category
		return g.put(said[0], ticketRequests, g.object(asked))
	case g.chance(0.15): // only the urgency
		said = append(said, grades[u].sentence(g))
		g.rng.Shuffle(2, func(i, j int) { said[i], said[j] = said[j], said[i] })
		return g.put(strings.Join(said, " "), ticketRequests, g.object([]property{g.urgency(levels, u)}))
	}
	if g.chance(0.3) {
		if s := chosen[c].sentence(g); s != said[0] {
			said = append(said, s)
		}
	}
	if g.chance(0.6) {
		said = append(said, grades[u].sentence(g))
		asked = append(asked, g.urgency(levels, u))
	}
	if g.chance(0.4) {
		said = append([]string{strings.ReplaceAll(g.say(embedded("tickets.greeting")), "{name}", customer)}, said...)
		asked = append(asked, property{key: g.style.key(g.named(embeddedWords("tickets.customer.keys"))), schema: plain("string"), value: quote(customer)})
	}
	if g.chance(0.25) {
		said = append(said, strings.ReplaceAll(g.say(embedded("tickets.order")), "{id}", order))
		asked = append(asked, property{key: g.style.key(g.named(embeddedWords("tickets.order.keys"))), schema: plain("string"), value: quote(order)})
	}
	if g.chance(0.2) {
		said = append(said, strings.ReplaceAll(g.say(embedded("tickets.reply")), "{email}", email))
		asked = append(asked, property{key: g.style.key(g.named(embeddedWords("tickets.email.keys"))), schema: plain("string"), value: quote(email)})
	}
	if g.chance(0.4) {
		said = append(said, g.say(embedded("tickets.closing")))
	}
	g.mix(asked)
	return g.put(strings.Join(said, " "), ticketRequests, g.object(asked))
}

// urgency returns a property for one of levels.
func (g *gen) urgency(levels []string, u int) property {
	return property{key: g.levelKey(), schema: g.enum(levels), value: quote(levels[u])}
}

var ticketRequests = embedded("ticketRequests")

// classed are several short texts to be put into the same classes.
func classed(g *gen) Lesson {
	key, all, nouns, requests := g.categoryKey(), categories, ticketNouns, ticketRequests
	if g.chance(0.4) {
		key, all, nouns, requests = g.feelingKey(), feelings, feelingNouns, reviewRequests
	}
	names, chosen := g.classes(all, 2, nouns)
	levels, grades := g.classes(urgencies, 2, levelNouns)
	schemas := []string{g.enum(names), g.enum(levels)}
	levelKey := g.levelKey()
	kind := g.n(10) // both, only the urgency, or only the class
	var out []Lesson
	for range g.between(4, 9) {
		c, u := g.n(len(chosen)), g.n(len(grades))
		class := property{key: key, schema: schemas[0], value: quote(names[c])}
		level := property{key: levelKey, schema: schemas[1], value: quote(levels[u])}
		said := []string{chosen[c].sentence(g)}
		asked := []property{class}
		switch {
		case kind < 2:
			said, asked = append(said, grades[u].sentence(g)), append(asked, level)
		case kind < 4:
			said, asked = []string{grades[u].sentence(g)}, []property{level}
		case g.chance(0.3):
			said = append(said, chosen[c].sentence(g))
		}
		content := strings.Join(said, " ")
		if g.chance(0.2) {
			content = g.say(requests) + "\n" + content
		}
		o := g.object(asked)
		out = append(out, Lesson{Chat: []Message{{"user", content}}, Schema: o.schema, Answer: o.value, Keys: o.keys})
		out[len(out)-1].Schema = out[0].Schema
	}
	l := out[0]
	l.Others = out[1:]
	return l
}

func (g *gen) categoryKey() string {
	return g.style.key(g.named(embeddedWords("categoryKey")))
}

func (g *gen) feelingKey() string {
	return g.style.key(g.named(embeddedWords("feelingKey")))
}

func (g *gen) levelKey() string {
	return g.style.key(g.named(embeddedWords("levelKey")))
}

// mix shuffles properties.
func (g *gen) mix(list []property) {
	g.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func sentiment(g *gen) Lesson {
	names, chosen := g.classes(feelings, 2, feelingNouns)
	c := g.n(len(chosen))
	said := []string{chosen[c].sentence(g)}
	for g.chance(0.4) && len(said) < 3 {
		said = append(said, chosen[c].sentence(g))
	}
	asked := []property{{key: g.feelingKey(), schema: g.enum(names), value: quote(names[c])}}
	if g.chance(0.4) {
		p := g.thing()
		said = append([]string{strings.ReplaceAll(g.say(embedded("sentiment.product")), "{p}", p)}, said...)
		if strings.HasSuffix(said[0], p) { // otherwise the end of its name would be ambiguous
			said[0] += g.of([]string{".", "\n", ";", " -"})
		}
		asked = append(asked, property{key: g.style.key(g.named(embeddedWords("reviews.product.keys"))), schema: plain("string"), value: quote(p)})
	}
	if g.chance(0.25) {
		n := g.between(1, 5)
		said = append(said, strings.ReplaceAll(g.say(embedded("sentiment.stars")), "{n}", strconv.Itoa(n)))
		asked = append(asked, property{key: g.style.key(g.named(embeddedWords("reviews.stars.keys"))), schema: plain("integer"), value: strconv.Itoa(n)})
	}
	g.mix(asked)
	return g.put(strings.Join(said, " "), reviewRequests, g.object(asked))
}

var reviewRequests = embedded("reviewRequests")
