package lessons

// common are everyday words. Drills copy them, so that the model sees them in
// training.
var common = embeddedWords("common")

// someWords returns n everyday words.
func (g *values) someWords(n int) string {
	out := g.of(common)
	for range n - 1 {
		out += " " + g.of(common)
	}
	return out
}

// Words returns the words that a vocabulary should represent well: everyday
// words and, separately, the parts of names.
func Words() (everyday, names []string) {
	names = append(names, women...)
	names = append(append(names, men...), surnames...)
	for _, list := range [][]string{cities, countries, brands, streetNames, streetStems, streetFronts} {
		for _, l := range list {
			names = append(names, words(l)...)
		}
	}
	return common, names
}

var allDomains = []*domain{&people, &contacts, &meetings, &addresses, &goods}

var allClasses = [][]class{categories, urgencies, feelings}

// Sentences returns all sentences and requests, with their {slots}; those with
// alternatives occur several times.
func Sentences() []string {
	var out []string
	for _, s := range sentences() {
		out = append(out, spellings(s)...)
	}
	return out
}

// sentences returns all sentences and requests as listed.
func sentences() []string {
	var out []string
	for _, d := range allDomains {
		for _, l := range [][]string{d.opens, d.sentences, d.noise, d.requests} {
			out = append(out, l...)
		}
	}
	for _, classes := range allClasses {
		for _, c := range classes {
			out = append(append(out, c.texts...), c.frames...)
		}
	}
	for _, f := range facts {
		out = append(append(append(out, f.sentences...), f.open...), f.closed...)
	}
	for _, f := range functions {
		out = append(out, f.requests...)
	}
	return out
}

// Values returns the lower-case words that values consist of.
func Values() []string {
	var out []string
	for _, list := range [][]string{jobs, hobbies, departments, plans, products, colours, venues, events, services, logTexts, common} {
		for _, l := range list {
			out = append(out, words(l)...)
		}
	}
	// Those of these words that rarely start a value.
	little := embeddedWords("little")
	var kept []string
	for _, w := range out {
		keep := true
		for _, l := range little {
			keep = keep && w != l
		}
		if keep {
			kept = append(kept, w)
		}
	}
	return kept
}

// Learn returns the texts of lessons except names of people and places:
// sentences, names of properties, descriptions, words.
func Learn() []string {
	out := Sentences()
	for _, d := range allDomains {
		for _, s := range d.slots {
			out = append(append(append(out, s.keys...), s.desc...), s.choices...)
		}
		out = append(append(out, d.prefixes...), d.wholeNames...)
	}
	for _, classes := range allClasses {
		for _, c := range classes {
			out = append(append(out, c.names...), c.things...)
		}
	}
	for _, f := range functions {
		out = append(out, f.names...)
		for _, p := range f.params {
			out = append(out, p.keys...)
		}
	}
	for _, l := range [][]string{jobs, hobbies, departments, languages, products, colours, venues, events, months, weekdays, services, logTexts, levels, topDomains} {
		out = append(out, l...)
	}
	return append(out, "type", "properties", "required", "enum", "anyOf", "const", "items", "array", "object", "description", "format",
		"email", "date", "null", "true", "false", "string", "integer", "number", "boolean", "additionalProperties", "Answer with JSON that fits this JSON Schema, and nothing else")
}
