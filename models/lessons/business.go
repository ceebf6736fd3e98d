package lessons

import (
	"fmt"
	"strconv"
	"strings"
)

// slotOf returns the slot whose property names and descriptions are the lists name.keys and name.desc. Its own name is
// what follows the dot in name.
func slotOf(name, typ string, make func(g *gen, r record) value) slot {
	return slot{name: name[strings.IndexByte(name, '.')+1:], typ: typ, keys: embeddedWords(name + ".keys"), desc: embedded(name + ".desc"), make: make}
}

var meetings = domain{
	subject:  "event",
	prefixes: []string{"event", "meeting", "appointment"},
	slots: []slot{
		slotOf("meetings.event", "string", func(g *gen, r record) value { return text(g.occasion()) }),
		{name: "date", typ: "string", format: "date", keys: embeddedWords("meetings.date.keys"), desc: embedded("meetings.date.desc"),
			make: func(g *gen, r record) value { return g.date(2023, 2027) }},
		slotOf("meetings.time", "string", func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("meetings.end", "string", func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("meetings.venue", "string", func(g *gen, r record) value { return text(g.venue()) }),
		slotOf("meetings.city", "string", func(g *gen, r record) value { return text(g.city()) }),
		slotOf("meetings.host", "string", func(g *gen, r record) value { return text(g.fullName(g.chance(0.5))) }),
		slotOf("meetings.guests", "integer", func(g *gen, r record) value { return number(g.between(3, 400)) }),
		slotOf("meetings.fee", "number", func(g *gen, r record) value { return g.amount(80) }),
	},
	opens:     embedded("meetings.opens"),
	sentences: embedded("meetings.sentences"),
	noise:     embedded("meetings.noise"),
	requests:  embedded("meetings.requests"),
	labels:    true, least: 2, most: 6, missing: 0.05,
	wholeNames: []string{"event", "meeting", "appointment", "entry"},
}

var addresses = domain{
	subject:  "name",
	prefixes: []string{"shipping", "billing", "home", "delivery"},
	slots: []slot{
		slotOf("addresses.name", "string", func(g *gen, r record) value {
			if g.chance(0.4) {
				return text(g.company())
			}
			return text(g.fullName(g.chance(0.5)))
		}),
		slotOf("addresses.street", "string", func(g *gen, r record) value { return text(g.street()) }),
		slotOf("addresses.zip", "string", func(g *gen, r record) value { return text(g.zip()) }),
		slotOf("addresses.city", "string", func(g *gen, r record) value { return text(g.city()) }),
		slotOf("addresses.country", "string", func(g *gen, r record) value { return text(g.country()) }),
		slotOf("addresses.floor", "integer", func(g *gen, r record) value { return number(g.between(1, 30)) }),
	},
	opens:     embedded("addresses.opens"),
	sentences: embedded("addresses.sentences"),
	noise:     embedded("addresses.noise"),
	requests:  embedded("addresses.requests"),
	labels:    true, least: 2, most: 5, missing: 0.05,
	wholeNames: []string{"address", "destination", "recipient"},
}

var stock = []string{"in_stock", "out_of_stock", "preorder"}
var stockWords = map[string][]string{
	"in_stock":     embedded("stock.in_stock"),
	"out_of_stock": embedded("stock.out_of_stock"),
	"preorder":     embedded("stock.preorder"),
}

var goods = domain{
	subject:  "product",
	prefixes: []string{"product", "item", "article"},
	slots: []slot{
		slotOf("goods.product", "string", func(g *gen, r record) value { return text(g.thing()) }),
		slotOf("goods.currency", "string", func(g *gen, r record) value { return text(g.currency()) }),
		slotOf("goods.price", "number", func(g *gen, r record) value { return g.amount(900) }),
		slotOf("goods.brand", "string", func(g *gen, r record) value { return text(g.brand()) }),
		slotOf("goods.colour", "string", func(g *gen, r record) value { return text(g.of(colours)) }),
		slotOf("goods.sku", "string", func(g *gen, r record) value { return text(g.code()) }),
		slotOf("goods.weight", "number", func(g *gen, r record) value { return g.amount(40) }),
		slotOf("goods.rating", "number", func(g *gen, r record) value {
			s := strconv.Itoa(g.between(1, 4)) + "." + g.digits(1)
			return value{s, s}
		}),
		{name: "stock", typ: "string", choices: stock, keys: embeddedWords("goods.stock.keys"), desc: embedded("goods.stock.desc"), make: func(g *gen, r record) value {
			c := g.of(stock)
			return value{g.of(stockWords[c]), quote(c)}
		}},
	},
	opens:     embedded("goods.opens"),
	sentences: embedded("goods.sentences"),
	noise:     embedded("goods.noise"),
	requests:  embedded("goods.requests"),
	labels:    true, least: 2, most: 6, missing: 0.05,
	wholeNames: []string{"product", "item", "offer"},
}

// orders are texts with a list of items and some context.
func orders(g *gen) Lesson {
	n := g.between(1, 3)
	currency := g.currency()
	pattern := g.say(embedded("orders.pattern"))
	has := map[string]bool{}
	for _, s := range slotsOf(pattern) {
		has[s] = true
	}
	type line struct{ product, qty, price, sku value }
	items := make([]line, n)
	parts := make([]string, n)
	for i := range items {
		it := line{text(g.thing()), number(g.between(1, 24)), g.amount(300), text(g.code())}
		items[i] = it
		parts[i] = expand(pattern, record{"product": it.product, "qty": it.qty, "sku": it.sku, "money": {text: g.money(it.price.text, currency)}})
	}
	listed := ""
	switch g.n(3) {
	case 0:
		listed = "\n- " + strings.Join(parts, "\n- ") + "\n"
	case 1:
		listed = "\n" + strings.Join(parts, "\n") + "\n"
	default:
		listed = " " + strings.Join(parts, ", ") + ". "
		if n > 1 && g.chance(0.5) {
			listed = " " + strings.Join(parts[:n-1], ", ") + " and " + parts[n-1] + ". "
		}
	}
	r := record{
		"id": text(g.code()), "customer": text(g.fullName(g.chance(0.5))), "date": g.date(2023, 2027),
		"total": g.amount(2000), "city": text(g.city()),
	}
	r["sum"] = value{text: g.money(r["total"].text, currency)}
	open := g.say(embedded("orders.open"))
	tail := ""
	if g.chance(0.6) {
		tail = g.say(embedded("orders.tail"))
	}
	t := told{has: map[string]bool{}}
	for _, s := range slotsOf(open + tail) {
		t.has[s] = true
	}
	t.has["total"] = t.has["sum"]
	t.has["currency"] = has["money"] || t.has["sum"]
	content := expand(open, r) + listed + expand(tail, r)
	r["currency"] = value{currency, quote(currency)}

	d := domain{missing: 0.04, slots: []slot{
		slotOf("orders.id", "string", nil),
		slotOf("orders.customer", "string", nil),
		{name: "date", typ: "string", format: "date", keys: embeddedWords("orders.date.keys"), desc: embedded("orders.date.desc")},
		slotOf("orders.city", "string", nil),
		slotOf("orders.total", "number", nil),
		slotOf("orders.currency", "string", nil),
	}}
	goodsSlots := domain{missing: 0.03, slots: []slot{
		slotOf("items.product", "string", nil),
		slotOf("items.qty", "integer", nil),
		slotOf("items.price", "number", nil),
		slotOf("items.sku", "string", nil),
	}}
	inner := told{has: map[string]bool{"product": true, "qty": true, "price": has["money"], "sku": has["sku"]}}
	build := func() object {
		g.style.prefix = ""
		outer := fill(d.forms(g, d.ask(g, t, g.between(1, 4)), t), r, t)
		asked := goodsSlots.ask(g, inner, 4)
		forms := goodsSlots.forms(g, asked, inner)
		var objects []object
		for _, it := range items {
			objects = append(objects, g.object(fill(forms, record{"product": it.product, "qty": it.qty, "price": it.price, "sku": it.sku}, inner)))
		}
		a := array(objects[0].schema, objects)
		if g.chance(0.15) {
			return g.wrapped(a, []string{"items", "lines", "products", "positions"}, strconv.Itoa(n))
		}
		g.style.prefix = ""
		at := property{key: g.style.key(g.named(embeddedWords("orders.items.keys"))), schema: a.schema, value: a.value, parts: a.keys}
		if g.chance(0.7) {
			outer = append(outer, at)
		} else {
			outer = append([]property{at}, outer...)
		}
		if distinct(outer) {
			return g.object(outer)
		}
		return g.object([]property{at})
	}
	o := build()
	more := g.more(3, build)
	requests := embedded("orders.requests")
	l := g.put(content, requests, o)
	l.More = more
	return l
}

// distinct reports whether all properties have different names.
func distinct(list []property) bool {
	seen := map[string]bool{}
	for _, p := range list {
		if seen[p.key] {
			return false
		}
		seen[p.key] = true
	}
	return true
}

var levels = []string{"debug", "info", "warning", "error", "critical"}

// logs are single log lines in several formats.
func logs(g *gen) Lesson {
	level := g.of(levels)
	spelt := level
	switch g.n(3) {
	case 0:
		spelt = strings.ToUpper(level)
	case 1:
		spelt = map[string]string{"debug": "DEBUG", "info": "INFO", "warning": "WARN", "error": "ERROR", "critical": "FATAL"}[level]
	}
	stamp := fmt.Sprintf("%04d-%02d-%02d", g.between(2022, 2027), g.between(1, 12), g.between(1, 28))
	clock := fmt.Sprintf("%02d:%02d:%02d", g.n(24), g.n(60), g.n(60))
	stamp += g.of([]string{"T", " "}) + clock
	if g.chance(0.3) {
		stamp += "Z"
	}
	r := record{
		"time": text(stamp), "level": {spelt, quote(level)}, "service": text(g.service()), "message": text(g.logText()),
		"user": text(g.madeUp(2) + g.digits(2)), "request": text(strings.ToLower(g.code())), "ms": number(g.between(1, 9000)),
		"status": number(g.between(200, 599)), "ip": text(fmt.Sprintf("%d.%d.%d.%d", g.n(256), g.n(256), g.n(256), g.n(256))),
	}
	pattern := g.say(embedded("logs.pattern"))
	t := told{has: map[string]bool{}}
	for _, s := range slotsOf(pattern) {
		t.has[s] = true
	}
	d := domain{missing: 0.06, slots: []slot{
		slotOf("logs.time", "string", nil),
		{name: "level", typ: "string", choices: levels, keys: embeddedWords("logs.level.keys"), desc: embedded("logs.level.desc")},
		slotOf("logs.service", "string", nil),
		slotOf("logs.message", "string", nil),
		slotOf("logs.user", "string", nil),
		slotOf("logs.request", "string", nil),
		slotOf("logs.ms", "integer", nil),
		slotOf("logs.status", "integer", nil),
		slotOf("logs.ip", "string", nil),
	}}
	props := fill(d.forms(g, d.ask(g, t, g.between(2, 6)), t), r, t)
	return g.put(expand(pattern, r), embedded("logs.request"), g.object(props))
}

func (g *gen) service() string {
	if g.chance(0.4) {
		return g.of([]string{"", "", "my-", "web-"}) + g.of(common)
	}
	return g.pick(services)
}

func (g *gen) logText() string {
	if g.chance(0.4) {
		return g.someWords(g.between(2, 4))
	}
	return g.pick(logTexts)
}
