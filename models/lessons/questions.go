package lessons

import (
	"fmt"
	"strings"
)

// A fact is a sentence about one of several people, and questions that it
// answers. {name} is the person, {value} the value.
type fact struct {
	slot      string
	sentences []string
	open      []string // answered with the value
	closed    []string // answered with yes or no
}

var facts = []fact{factOf("city"), factOf("job"), factOf("hobby"), factOf("language"), factOf("thing")}

func factOf(slot string) fact {
	list := "facts." + slot
	return fact{slot, embedded(list + ".sentences"), embedded(list + ".open"), embedded(list + ".closed")}
}

func (g *gen) factValue(slot string) string {
	switch slot {
	case "city":
		return g.city()
	case "job":
		return g.job()
	case "hobby":
		return g.hobby()
	case "language":
		return g.language()
	}
	return g.thing()
}

func put2(s, name, value string) string {
	return strings.NewReplacer("{name}", name, "{value}", value).Replace(s)
}

// quiz returns a text with facts about several people and picks one of them.
func (g *gen) quiz() (content string, f fact, name, value string, others []string) {
	f = facts[g.n(len(facts))]
	n := g.between(2, 4)
	var said []string
	at := g.n(n)
	for i := range n {
		who, what := g.firstName(g.chance(0.5)), g.factValue(f.slot)
		said = append(said, put2(g.say(f.sentences), who, what))
		if i == at {
			name, value = who, what
		} else {
			others = append(others, what)
		}
		if g.chance(0.3) {
			o := facts[g.n(len(facts))]
			if o.slot != f.slot {
				said = append(said, put2(g.say(o.sentences), who, g.factValue(o.slot)))
			}
		}
	}
	return strings.Join(said, " "), f, name, value, others
}

func answerKey(g *gen) string {
	return g.style.key(g.named(words("answer result response reply solution")))
}

// yesNo generates lessons that ask whether a statement is true.
func yesNo(g *gen) Lesson {
	content, f, name, value, others := g.quiz()
	is := g.chance(0.5)
	what := value
	if !is {
		what = others[g.n(len(others))]
		is = what == value
	}
	question := put2(g.say(f.closed), name, what)
	p := property{key: answerKey(g)}
	if g.chance(0.5) {
		p.schema, p.value = plain("boolean"), fmt.Sprint(is)
	} else {
		pair := []string{"yes", "no"}
		switch g.n(3) {
		case 0:
			pair = []string{"Yes", "No"}
		case 1:
			pair = []string{"true", "false"}
		}
		p.value = quote(pair[1])
		if is {
			p.value = quote(pair[0])
		}
		if g.chance(0.3) {
			pair[0], pair[1] = pair[1], pair[0]
		}
		p.schema = g.enum(pair)
	}
	return g.question(content, question, p)
}

// multiple generates lessons that ask for one of several answers, or for a
// free one.
func multiple(g *gen) Lesson {
	content, f, name, value, others := g.quiz()
	question := put2(g.say(f.open), name, value)
	p := property{key: answerKey(g), schema: plain("string"), value: quote(value)}
	switch g.n(3) {
	case 0:
		options := []string{value}
		for _, o := range append(others, g.factValue(f.slot)) {
			fresh := true
			for _, have := range options {
				fresh = fresh && have != o
			}
			if fresh {
				options = append(options, o)
			}
		}
		g.rng.Shuffle(len(options), func(i, j int) { options[i], options[j] = options[j], options[i] })
		if g.chance(0.5) {
			p.schema = g.enum(options)
			break
		}
		letters := []string{"A", "B", "C", "D", "E"}[:len(options)]
		for i, o := range options {
			question += fmt.Sprintf("\n%s) %s", letters[i], o)
			if o == value {
				p.value = quote(letters[i])
			}
		}
		p.schema = g.enum(letters)
	}
	return g.question(content, question, p)
}

func (g *gen) question(content, question string, p property) Lesson {
	o := g.object([]property{p})
	l := Lesson{Schema: o.schema, Answer: o.value, Keys: o.keys}
	switch {
	case o.complete() && g.chance(0.1):
		l.Prompt = content + "\n" + question + "\n"
		return l
	case g.chance(0.5):
		content += g.of([]string{"\n", "\n\n", " ", "\nQuestion: "}) + question
	default:
		content = question + g.of([]string{"\n", "\n\n", "\nText: "}) + content
	}
	l.Chat = []Message{{"user", content}}
	return l
}

// envelopes generates lessons whose answers have the form that agents use: a
// conclusion, its confidence and the next action. Some questions are about a
// person whom the text does not mention.
func envelopes(g *gen) Lesson {
	content, f, name, value, _ := g.quiz()
	known := g.chance(0.65)
	if !known {
		name, value = title(g.madeUp(3)), "unknown"
	}
	question := put2(g.say(f.open), name, value)
	g.style = style{}
	confidence, next := "0.9", "finalize"
	if !known {
		confidence, next = "0.2", "ask_user"
	}
	all := []property{
		{key: "reasoning", schema: plain("string"), value: quote("The text says so.")},
		{key: "conclusion", schema: plain("string"), value: quote(value)},
		{key: "confidence", schema: `{"type":"number","minimum":0,"maximum":1}`, value: confidence},
		{key: "files", schema: `{"type":"array","items":{"type":"string"}}`, value: "[]"},
		{key: "sub_tasks", schema: `{"type":"array","items":{"type":"object","properties":{"query":{"type":"string"},"priority":{"type":"integer"}},"required":["query","priority"]}}`, value: "[]"},
		{key: "needs_more_info", schema: plain("boolean"), value: fmt.Sprint(!known)},
		{key: "next_action", schema: `{"type":"string","enum":["continue","finalize","ask_user"]}`, value: quote(next)},
	}
	if !known {
		all[0].value = quote("The text does not say it.")
	}
	var chosen []property
	for _, p := range all {
		if p.key == "conclusion" || g.chance(0.7) {
			chosen = append(chosen, p)
		}
	}
	o := g.object(chosen)
	l := Lesson{Schema: o.schema, Answer: o.value, Keys: o.keys}
	l.Chat = []Message{{"user", content + g.of([]string{"\n", "\n\n", " "}) + question}}
	return l
}
