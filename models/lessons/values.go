package lessons

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A value is the content of a slot: in the text, and as JSON.
type value struct {
	text string
	json string
}

func text(s string) value { return value{s, quote(s)} }

func number(n int) value { s := strconv.Itoa(n); return value{s, s} }

// quote returns s as a JSON string with only the necessary escapes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// title returns s with its first letter in upper case.
func title(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

// values generates values of records: names, places, dates, amounts.
type values struct{ chooser }

// madeUp returns a made-up word of n syllables.
func (g *values) madeUp(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(g.of(onsets))
		b.WriteString(g.of(nuclei))
	}
	b.WriteString(g.of(codas))
	return b.String()
}

func (g *values) firstName(female bool) string {
	if g.chance(0.1) {
		return title(g.madeUp(g.between(1, 2)))
	}
	if female {
		return g.pick(women)
	}
	return g.pick(men)
}

func (g *values) surname() string {
	if g.chance(0.1) {
		return title(g.madeUp(g.between(1, 3)))
	}
	s := g.pick(surnames)
	if g.chance(0.06) {
		s += "-" + g.pick(surnames)
	}
	return s
}

func (g *values) fullName(female bool) string {
	name := g.firstName(female)
	switch {
	case g.harder(0.08):
		name += " " + g.firstName(female)
	case g.chance(0.05):
		name += " " + string(rune('A'+g.n(26))) + "."
	}
	if g.chance(0.05) {
		name += " " + g.of([]string{"van", "de", "von", "al", "da"})
	}
	return name + " " + g.surname()
}

var ascii = strings.NewReplacer("ü", "ue", "ö", "oe", "ä", "ae", "å", "a", "é", "e", "í", "i", "á", "a", "ã", "a", "ó", "o", "'", "", " ", "")

// emailOf returns an address that may be derived from the name.
func (g *values) emailOf(name string) string {
	parts := strings.Fields(ascii.Replace(strings.ToLower(strings.ReplaceAll(name, " ", "\t"))))
	first, last := parts[0], parts[len(parts)-1]
	var local string
	switch g.n(8) {
	case 0:
		local = first + "." + last
	case 1:
		local = first
	case 2:
		local = first[:1] + "." + last
	case 3:
		local = last + strconv.Itoa(g.n(100))
	case 4:
		local = first + "_" + last
	case 5:
		local = g.of([]string{"info", "sales", "office", "hello", "support", "contact", "booking", "team"})
	case 6:
		local = g.of(common) + strconv.Itoa(g.n(100))
	default:
		local = first + last
	}
	return local + "@" + g.host()
}

func (g *values) host() string {
	var name string
	switch g.n(4) {
	case 0:
		name = "example"
	case 1:
		name = strings.ToLower(g.pick(brands))
	case 2:
		name = g.of(common)
	default:
		name = g.of([]string{"mail", "post", "web", "inbox", "office"}) + g.of([]string{"", "box", "er", "hub"})
	}
	return name + "." + g.of(topDomains)
}

func (g *values) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + g.n(10))
	}
	return string(b)
}

func (g *values) phone() string {
	switch g.n(8) {
	case 0:
		return "+" + strconv.Itoa(g.between(1, 99)) + " " + g.digits(3) + " " + g.digits(4)
	case 1:
		return "+" + strconv.Itoa(g.between(20, 98)) + " " + g.digits(2) + " " + g.digits(2) + " " + g.digits(2) + " " + g.digits(2)
	case 2:
		return "(" + g.digits(3) + ") " + g.digits(3) + "-" + g.digits(4)
	case 3:
		return "0" + g.digits(3) + " " + g.digits(6)
	case 4, 5, 6:
		return g.digits(3) + g.of([]string{"-", " "}) + g.digits(4)
	}
	return g.digits(3) + "-" + g.digits(3) + "-" + g.digits(4)
}

func (g *values) street() string {
	n := g.between(1, 180)
	switch g.n(6) {
	case 0:
		return fmt.Sprintf("%d %s", n, g.pick(streetNames))
	case 1:
		return fmt.Sprintf("%s%s %d", g.pick(streetStems), g.of([]string{"straße", "weg", "gasse", "platz"}), n)
	case 2:
		return fmt.Sprintf("%s %s %d", g.pick(streetFronts), g.surname(), n)
	case 3:
		return fmt.Sprintf("%s%s %d", title(g.madeUp(2)), g.of([]string{"gatan", "vegen", "gade", "katu", "laan"}), n)
	case 4:
		return fmt.Sprintf("%d %s %s", n, g.surname(), g.of([]string{"Street", "Road", "Lane", "Avenue", "Drive"}))
	}
	return fmt.Sprintf("%s %d", g.pick(streetNames), n)
}

func (g *values) zip() string {
	switch g.n(4) {
	case 0:
		return g.digits(4)
	case 1:
		return g.digits(2) + "-" + g.digits(3)
	case 2:
		return string(rune('A'+g.n(26))) + string(rune('A'+g.n(26))) + strconv.Itoa(g.n(20)) + " " + strconv.Itoa(g.n(10)) + string(rune('A'+g.n(26))) + string(rune('A'+g.n(26)))
	}
	return g.digits(5)
}

func (g *values) city() string {
	if g.chance(0.1) {
		name := title(g.madeUp(g.between(1, 2))) + g.of([]string{"", "", "burg", "ton", "ville", "stad"})
		if g.chance(0.15) {
			name = g.of([]string{"San", "New", "Port", "Saint", "Bad", "Upper"}) + " " + name
		}
		return name
	}
	return g.pick(cities)
}

func (g *values) company() string {
	var name string
	switch g.n(4) {
	case 0:
		name = g.surname()
	case 1:
		name = title(g.madeUp(2))
	default:
		name = g.brand()
	}
	if g.chance(0.8) {
		name += " " + g.pick(companyEnds)
	}
	return name
}

// code returns an identifier such as an order number.
func (g *values) code() string {
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('A' + g.n(26))
		}
		return string(b)
	}
	switch g.n(6) {
	case 0:
		return letters(1) + "-" + g.digits(4)
	case 1:
		return letters(2) + g.digits(5)
	case 2:
		return letters(3) + "-" + g.digits(3)
	case 3:
		return g.of([]string{"ORD", "INV", "SO", "PO", "REF", "T", "CASE"}) + "-" + g.digits(g.between(4, 6))
	case 4:
		return g.digits(g.between(5, 7))
	}
	return letters(2) + "-" + g.digits(2) + "-" + letters(2) + g.digits(1)
}

// date returns a day in one of the usual notations; as JSON it is
// year-month-day, as "format": "date" requires.
func (g *values) date(from, to int) value {
	y, m, d := g.between(from, to), g.between(1, 12), g.between(1, 28)
	iso := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
	var s string
	switch g.n(7) {
	case 0, 1:
		s = iso
	case 2:
		s = fmt.Sprintf("%d %s %d", d, months[m-1], y)
	case 3:
		s = fmt.Sprintf("%s %d, %d", months[m-1], d, y)
	case 4:
		s = fmt.Sprintf("%02d.%02d.%04d", d, m, y)
	case 5:
		s = fmt.Sprintf("%s %d, %d", months[m-1][:3], d, y)
	default:
		s = fmt.Sprintf("%d %s %d", d, months[m-1][:3], y)
	}
	return value{s, quote(iso)}
}

// clock returns a time of day.
func (g *values) clock() string {
	h, m := g.between(0, 23), g.between(0, 11)*5
	if g.chance(0.3) && h >= 1 && h <= 12 {
		half := g.of([]string{"am", "pm"})
		if m == 0 {
			return fmt.Sprintf("%d %s", h, half)
		}
		return fmt.Sprintf("%d:%02d %s", h, m, half)
	}
	return fmt.Sprintf("%02d:%02d", h, m)
}

// amount returns a price without its currency.
func (g *values) amount(most int) value {
	whole := g.between(1, most)
	if g.chance(0.35) {
		return number(whole)
	}
	cents := g.between(1, 99)
	s := fmt.Sprintf("%d.%02d", whole, cents)
	return value{s, s}
}

var currencies = []struct{ code, sign string }{{"EUR", "€"}, {"USD", "$"}, {"GBP", "£"}, {"JPY", "¥"}, {"INR", "₹"}, {"NOK", ""}, {"CHF", ""}, {"SEK", ""}, {"PLN", ""}}

// money formats an amount with its currency.
func (g *values) money(amount, code string) string {
	for _, c := range currencies {
		if c.code == code && c.sign != "" && g.chance(0.6) {
			return c.sign + amount
		}
	}
	return amount + " " + code
}

func (g *values) currency() string { return currencies[g.n(len(currencies))].code }

// harder reports whether to use a harder variant, such as words that are in
// no list. Training does so more often.
func (g *values) harder(p float64) bool {
	if g.training() {
		p += (1 - p) / 4
	}
	return g.chance(p)
}

// thing returns a product as a text would name it.
func (g *values) thing() string {
	p := g.pick(products)
	if g.harder(0.35) {
		p = g.someWords(g.between(1, 2))
		if g.harder(0) {
			p += " " + g.of(common)
		}
	}
	switch g.n(8) {
	case 0:
		return g.of(colours) + " " + p
	case 1:
		return g.brand() + " " + p
	case 2:
		return title(g.madeUp(2)) + " " + p
	}
	return p
}

// job returns an occupation, sometimes an invented one.
func (g *values) job() string {
	if g.chance(0.35) {
		return g.of(common) + " " + g.of([]string{"maker", "driver", "teacher", "manager", "assistant", "engineer", "worker", "designer", "seller", "expert"})
	}
	return g.pick(jobs)
}

func (g *values) department() string {
	if g.chance(0.3) {
		return g.of(common)
	}
	return g.pick(departments)
}

func (g *values) of3(a, b, c int) int { return []int{a, b, c}[g.n(3)] }

func (g *values) hobby() string {
	if g.chance(0.35) {
		return g.of([]string{"", "", "making ", "old ", "collecting "}) + g.of(common)
	}
	return g.pick(hobbies)
}

// country returns a country, sometimes an invented one.
func (g *values) country() string {
	if g.chance(0.1) {
		return title(g.madeUp(g.between(1, 2))) + g.of([]string{"ia", "land", "stan", ""})
	}
	return g.pick(countries)
}

func (g *values) language() string {
	if g.chance(0.1) {
		return title(g.madeUp(g.between(1, 2))) + g.of([]string{"ish", "ese", "ian", ""})
	}
	return g.pick(languages)
}

// occasion returns an event.
func (g *values) occasion() string {
	if g.harder(0.4) {
		return g.someWords(g.between(1, 2)) + " " + g.of([]string{"meeting", "evening", "day", "workshop", "party", "course", "fair", "review", "show", "walk"})
	}
	return g.pick(events)
}

func (g *values) venue() string {
	if g.harder(0.4) {
		return "the " + g.of(common) + " " + g.of([]string{"house", "room", "hall", "centre", "park", "garden", "school", "hotel"})
	}
	return g.pick(venues)
}

func (g *values) brand() string {
	if g.chance(0.1) {
		return title(g.madeUp(g.between(1, 3)))
	}
	return g.pick(brands)
}
