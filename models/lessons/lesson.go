package lessons

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// A Lesson is one training or evaluation example: a prompt and the only right answer.
type Lesson struct {
	Task   string    // people, orders, …
	Prompt string    // raw prompt, if there are no messages
	Chat   []Message // what a client sends; the server adds the schema
	Schema string    // JSON Schema of the answer, without whitespace
	Answer string    // JSON without whitespace, keys in the schema's order
	// Keys are the ranges of Answer that the schema determines, as byte offsets from, to. Without
	// a schema in the prompt they are unpredictable.
	Keys [][2]int
	// More are answers for other schemas about the same text, for training only.
	More []Answer
	// Others are lessons with the same schema, for training only.
	Others []Lesson
}

// An Answer is one of several answers about one text.
type Answer struct {
	Answer string
	Keys   [][2]int
}

// A Message is a message of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Unseen selects the parts of a lesson that are taken from held-out entries. The zero
// value selects none.
type Unseen struct {
	Words   bool // names, places, products and the like
	Phrases bool // sentences and requests
	Keys    bool // names of properties
}

// A Generator generates lessons. Equal seeds give equal lessons. It is not safe for concurrent
// use.
type Generator struct {
	g     gen
	tasks []task
}

// New returns a generator.
func New(seed uint64, unseen Unseen) *Generator {
	return &Generator{gen{values: values{chooser{rng: rand.New(rand.NewPCG(seed, 0x5743)), unseen: unseen}}}, tasks}
}

// Only restricts Next to some of the tasks. It returns false if one of them is unknown.
func (g *Generator) Only(names ...string) bool {
	g.tasks = nil
	for _, name := range names {
		i := slices.IndexFunc(tasks, func(t task) bool { return t.name == name })
		if i < 0 {
			return false
		}
		g.tasks = append(g.tasks, tasks[i])
	}
	return true
}

// Next generates a lesson of a random task, according to the tasks' weights.
func (g *Generator) Next() Lesson {
	all := 0
	for _, t := range g.tasks {
		all += t.weight
	}
	n := g.g.n(all)
	for _, t := range g.tasks {
		if n -= t.weight; n < 0 {
			return g.make(t)
		}
	}
	panic("unreachable")
}

// Of generates a lesson of one task. It returns false if the task is unknown.
func (g *Generator) Of(name string) (Lesson, bool) {
	for _, t := range tasks {
		if t.name == name {
			return g.make(t), true
		}
	}
	return Lesson{}, false
}

func (g *Generator) make(t task) Lesson {
	g.g.style = g.g.newStyle()
	l := t.make(&g.g)
	l.Task = t.name
	return l
}

// Tasks returns the names of all tasks.
func Tasks() []string {
	var out []string
	for _, t := range tasks {
		out = append(out, t.name)
	}
	return out
}

type task struct {
	name   string
	weight int
	make   func(*gen) Lesson
}

// gen writes lessons: random values, and the style of property names in the current lesson.
type gen struct {
	values
	style style
}

// style is the style of property names within one schema.
type style struct {
	spelling int
	prefix   string
}

const (
	snake = iota
	camel
	kebab
	spaced
	pascal
	upper
)

func (g *gen) newStyle() style {
	switch n := g.n(100); {
	case n < 70:
		return style{spelling: snake}
	case n < 90:
		return style{spelling: camel}
	case n < 93:
		return style{spelling: kebab}
	case n < 97:
		return style{spelling: spaced}
	case n < 99:
		return style{spelling: pascal}
	}
	return style{spelling: upper}
}

// key returns a name in this style; it is given in lower case with underscores.
func (s style) key(name string) string {
	if s.prefix != "" {
		name = s.prefix + "_" + name
	}
	parts := strings.Split(name, "_")
	switch s.spelling {
	case camel, pascal, spaced:
		for i := range parts {
			if i > 0 || s.spelling != camel {
				parts[i] = title(parts[i])
			}
		}
		if s.spelling == spaced {
			return strings.Join(parts, " ")
		}
		return strings.Join(parts, "")
	case kebab:
		return strings.Join(parts, "-")
	case upper:
		return strings.ToUpper(name)
	}
	return name
}
