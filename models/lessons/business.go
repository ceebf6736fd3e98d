package lessons

import (
	"fmt"
	"strconv"
	"strings"
)

func slotOf(name, typ string, keys string, desc string, make func(g *gen, r record) value) slot {
	return slot{name: name, typ: typ, keys: words(keys), desc: lines(desc), make: make}
}

func choice(name string, keys, choices []string, make func(g *gen, r record) value) slot {
	return slot{name: name, typ: "string", keys: keys, choices: choices, make: make}
}

var meetings = domain{
	subject:  "event",
	prefixes: []string{"event", "meeting", "appointment"},
	slots: []slot{
		slotOf("event", "string", "title event event_name name event_title what subject meeting activity happening occasion name_of_event what_happens the_event event_type headline topic meeting_title programme", "What takes place\nName of the event",
			func(g *gen, r record) value { return text(g.occasion()) }),
		{name: "date", typ: "string", format: "date", keys: words("date day event_date on when start_date scheduled_date meeting_date the_date date_of_event on_which_day takes_place_on day_of_event calendar_date starts_on"), desc: []string{"Day of the event", "The date"},
			make: func(g *gen, r record) value { return g.date(2023, 2027) }},
		slotOf("time", "string", "time start_time starts_at start begin begins_at time_of_day clock hour the_time begin_time starting_time time_start when_it_starts opening_time event_time", "When it begins\nTime of day",
			func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("end", "string", "end_time ends_at until end finish finish_time ends end_of_event time_end finishes_at the_end closing_time over_at", "When it ends\nEnd time",
			func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("venue", "string", "location venue place where room event_location meeting_place building the_place venue_name site hall meeting_room where_it_is place_of_event event_venue", "Where it takes place\nThe room or building",
			func(g *gen, r record) value { return text(g.venue()) }),
		slotOf("city", "string", "city town event_city the_city city_name in_city host_city venue_city municipality town_of_event", "The city", func(g *gen, r record) value { return text(g.city()) }),
		slotOf("host", "string", "organizer host organised_by contact speaker host_name organiser organised_by_whom invited_by presenter responsible leader person_in_charge contact_person the_host event_host lecturer", "Who organises it\nThe host",
			func(g *gen, r record) value { return text(g.fullName(g.chance(0.5))) }),
		slotOf("guests", "integer", "attendees participants guests seats capacity max_participants number_of_guests people guest_count head_count places number_of_people max_guests attendee_count expected_guests how_many participant_count size", "How many people",
			func(g *gen, r record) value { return number(g.between(3, 400)) }),
		slotOf("fee", "number", "price fee cost ticket_price entry_fee admission costs entrance_fee price_of_ticket ticket_cost amount the_fee charge entry ticket", "What it costs", func(g *gen, r record) value { return g.amount(80) }),
	},
	opens: lines(`
		The {event} takes place on {date} at {time}.
		You are invited to the {event} on {date}.
		Join us for the {event} at {venue}!
		Reminder: {event} on {date}, {time}, {venue}.
		Save the date: {event}, {date}.
		On {date} at {time} there will be a {event} at {venue}.
		{host} invites you to the {event} in {city}.
		The next {event} is on {date}.
		Our {event} starts at {time} in {venue}.
		{event} - {date} - {venue}
		Come to {venue} on {date} for the {event}.
		We are planning a {event} for {guests} people on {date}.
		Hello all, the {event} has been moved to {date}.
		{event} on {date} from {time} to {end} in {venue}.
		{event}: {date}, {time}, {city}
		The {event} with {host} starts at {time} on {date}.
		Don't forget the {event} at {time}!
		We meet for the {event} on {date} at {venue}.
		Team, the {event} will be held at {venue} at {time}.
		The {event} in {city} begins on {date} at {time}.
		There will be a {event} on {date}.
		Please note the new date of the {event}: {date}.
		The {event} has {guests} participants so far.
		Invitation: {event}, {venue}, {date}, {time}
		{host} organises a {event} at {venue}.
		See you at the {event} on {date}, {time}.
		At {time} on {date} we open the {event}.
		Tickets for the {event} cost {fee} euros.
		This is about the {event} at {venue}.
	`),
	sentences: lines(`
		It starts at {time}.
		Doors open at {time}.
		We begin at {time} and end at {end}.
		It ends at {end}.
		It lasts until {end}.
		From {time} to {end}.
		The venue is {venue}.
		It takes place at {venue}.
		We meet at {venue} in {city}.
		Location: {venue}
		Place: {venue}, {city}
		The city is {city}.
		It is organised by {host}.
		{host} is the host.
		Questions go to {host}.
		{host} will speak.
		There is room for {guests} people.
		{guests} guests are expected.
		At most {guests} people can take part.
		Entry costs {fee} euros.
		Tickets are {fee} each.
		The fee is {fee}.
		The date is {date}.
		Date: {date}
		It is on {date}.
		Topic: {event}
		It is about the {event}.
		Be there at {time}.
		Please come at {time}.
		Start: {time}
		Time: {time}
		End: {end}
		It should be over by {end}.
		We close at {end}.
		It runs until {end}.
		We come together in {venue}.
		Come to {venue}.
		Where: {venue}
		When: {date}, {time}
		It will be held in {city}.
		All of it happens in {city}.
		Host: {host}
		Speaker: {host}
		The talk is given by {host}.
		{host} is in charge.
		Ask {host} if you have questions.
		{host} leads it.
		We expect {guests} people.
		Seats: {guests}
		The room holds {guests}.
		{guests} people have signed up.
		There are {guests} places.
		Price: {fee}
		Admission is {fee} euros.
		You pay {fee} at the door.
		A ticket costs {fee}.
		It happens on {date}.
		The day is {date}.
		Write {date} into your calendar.
	`),
	noise: lines(`
		Please bring a pen.
		Coffee will be served.
		Children are welcome.
		Do not be late.
		There is parking behind the house.
		We look forward to seeing you.
		Please confirm by email.
		Last year it rained.
		Bring a friend.
		The bus stops nearby.
	`),
	requests: lines(`
		Extract the event.
		Add this to my calendar.
		When and where is it?
		Make a calendar entry.
		What is planned?
		Find the event's data.
		Parse the invitation.
		Event details as JSON.
		Which event is announced?
	`),
	labels: true, least: 2, most: 6, missing: 0.05,
	wholeNames: []string{"event", "meeting", "appointment", "entry"},
}

var addresses = domain{
	subject:  "name",
	prefixes: []string{"shipping", "billing", "home", "delivery"},
	slots: []slot{
		slotOf("name", "string", "name recipient addressee full_name company receiver who to deliver_to ship_to_name name_of_recipient resident addressee_name recipient_name", "Who lives there",
			func(g *gen, r record) value {
				if g.chance(0.4) {
					return text(g.company())
				}
				return text(g.fullName(g.chance(0.5)))
			}),
		slotOf("street", "string", "street street_address address_line address line1 street_and_number road street_name address_line_1 the_street street_line street_with_number", "Street and house number", func(g *gen, r record) value { return text(g.street()) }),
		slotOf("zip", "string", "zip postal_code postcode zip_code post_code zipcode postal the_zip code_of_city zip_or_postcode postal_number", "Postal code", func(g *gen, r record) value { return text(g.zip()) }),
		slotOf("city", "string", "city town place city_name the_city municipality city_or_town village locality town_name", "The city", func(g *gen, r record) value { return text(g.city()) }),
		slotOf("country", "string", "country country_name nation land the_country state destination_country country_of_delivery", "The country", func(g *gen, r record) value { return text(g.country()) }),
		slotOf("floor", "integer", "floor storey floor_number level", "The floor", func(g *gen, r record) value { return number(g.between(1, 30)) }),
	},
	opens: lines(`
		{name}, {street}, {zip} {city}, {country}
		Please send it to {name}, {street}, {zip} {city}.
		The parcel goes to {street}, {city}, {country}.
		{name} has moved to {street}, {zip} {city}.
		Ship to: {name}, {street}, {city} {zip}
		My new address is {street}, {zip} {city}.
		You find us at {street} in {city}, {country}.
		Deliver to {name} at {street}, {city}.
		I live at {street} in {city}.
		Address of {name}: {street}, {zip} {city}
	`),
	sentences: lines(`
		The street is {street}.
		The postal code is {zip}.
		It is in {city}.
		That is in {country}.
		Country: {country}
		{who} lives on floor {floor}.
		Ring at the door on floor {floor}.
		City: {city}
		{who} lives in {city}, {country}.
		It is for {who}.
		Postcode {zip}
		The town is called {city}.
	`),
	noise: lines(`
		Please ring twice.
		The door is green.
		Leave it with the neighbours.
		Thank you!
		It is near the station.
		The old address is no longer valid.
	`),
	requests: lines(`
		Extract the address.
		Where should it go?
		Parse the address.
		Split the address into its parts.
		Give me the address.
		Find the postal address.
		Address as JSON
	`),
	labels: true, least: 2, most: 5, missing: 0.05,
	wholeNames: []string{"address", "destination", "recipient"},
}

var stock = []string{"in_stock", "out_of_stock", "preorder"}
var stockWords = map[string][]string{
	"in_stock":     {"in stock", "available now", "ready to ship", "on the shelf"},
	"out_of_stock": {"sold out", "out of stock", "not available at the moment", "gone"},
	"preorder":     {"available for preorder", "coming next month", "to be released soon"},
}

var goods = domain{
	subject:  "product",
	prefixes: []string{"product", "item", "article"},
	slots: []slot{
		slotOf("product", "string", "product product_name name item title article item_name goods name_of_product article_name the_product what thing product_title", "What is sold\nName of the product", func(g *gen, r record) value { return text(g.thing()) }),
		slotOf("currency", "string", "currency currency_code", "Three letters, as EUR", func(g *gen, r record) value { return text(g.currency()) }),
		slotOf("price", "number", "price unit_price cost amount price_per_unit retail_price costs the_price sale_price price_value product_price price_amount list_price", "What it costs\nPrice without currency", func(g *gen, r record) value { return g.amount(900) }),
		slotOf("brand", "string", "brand manufacturer maker brand_name producer made_by vendor company the_brand label produced_by manufacturer_name", "Who makes it", func(g *gen, r record) value { return text(g.brand()) }),
		slotOf("colour", "string", "color colour main_color shade the_colour product_color paint color_name", "The colour", func(g *gen, r record) value { return text(g.of(colours)) }),
		slotOf("sku", "string", "sku article_number product_code item_number code product_id id article_no order_code part_number number catalogue_number reference_code stock_code", "The product's number", func(g *gen, r record) value { return text(g.code()) }),
		slotOf("weight", "number", "weight_kg weight kilograms weight_in_kg", "Weight in kilograms", func(g *gen, r record) value { return g.amount(40) }),
		slotOf("rating", "number", "rating stars score average_rating review_score user_rating", "Stars out of 5", func(g *gen, r record) value {
			s := strconv.Itoa(g.between(1, 4)) + "." + g.digits(1)
			return value{s, s}
		}),
		choice("stock", words("availability stock_status status stock"), stock, func(g *gen, r record) value {
			c := g.of(stock)
			return value{g.of(stockWords[c]), quote(c)}
		}),
	},
	opens: lines(`
		The {product} costs {price} {currency}.
		{product} by {brand}, {price} {currency}
		New: {product} from {brand}.
		Buy the {product} for only {price} {currency}!
		The {brand} {product} is {stock}.
		We sell the {product} (no. {sku}) for {price} {currency}.
		{sku}: {product}, {colour}
		This {product} comes in {colour}.
		For {price} {currency} you get a {product}.
		The {product} is {stock} and costs {price} {currency}.
	`),
	sentences: lines(`
		It costs {price} {currency}.
		The price is {price} {currency}.
		Price: {price} {currency}
		Now {price} {currency}.
		It is made by {brand}.
		The brand is {brand}.
		{brand} makes it.
		The colour is {colour}.
		It is {colour}.
		Comes in {colour}.
		Article number {sku}.
		SKU {sku}
		The order code is {sku}.
		It weighs {weight} kg.
		Weight: {weight} kg
		Customers give it {rating} stars.
		Rated {rating} out of 5.
		It is {stock}.
		This item is {stock}.
		Currently {stock}.
	`),
	noise: lines(`
		Free shipping on orders over 50.
		You can return it within 30 days.
		A good present.
		Two years of warranty.
		Our best seller this season.
		Batteries are not included.
	`),
	requests: lines(`
		Extract the product.
		What is sold, and for how much?
		Product data as JSON.
		Read the product page.
		Find product and price.
		Make a catalogue entry.
		Parse the offer.
	`),
	labels: true, least: 2, most: 6, missing: 0.05,
	wholeNames: []string{"product", "item", "offer"},
}

// orders are texts with a list of items in them, and something around it.
func orders(g *gen) Lesson {
	n := g.between(1, 3)
	currency := g.currency()
	pattern := g.say(lines(`
		{qty} x {product} at {money}
		{qty} {product} ({money} each)
		{qty} pcs {product}, {money}
		{product}, quantity {qty}, {money}
		{product} x{qty} - {money}
		{qty}x {product}
		{qty} of {product} for {money} each
		{product}: {qty} at {money}
		{product} ({qty} pieces, {money})
		{sku} {product} {qty} {money}
		{product} no. {sku}, {qty} pcs
		{qty} {product} for {money} each
		{qty} {product}
		{qty} pieces of {product} at {money}
		{qty} * {product} = {money} each
		{product} ({qty})
		{money} {product} x {qty}
	`))
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
	open := g.say(lines(`
		Order {id} of {date} for {customer}:
		{customer} ordered on {date}:
		Order {id}
		Hello, this is {customer}. I would like to order
		Please send to {customer} in {city}:
		Invoice {id}, {customer}, {city}
		{customer} buys
		New order from {customer}:
		Your order {id} contains:
		On {date} {customer} bought
		{customer} from {city} has placed order {id}:
		Delivery note {id} ({date}):
		Order {id} from {customer}, {date}:
		{customer} has ordered the following:
		{customer} wants
		Hi, {customer} here. Please send me
		Purchase order {id} of {date}
		For {customer}, order {id}:
		{customer} ({city}) orders:
		Receipt {id}, {date}
		Thank you for your order {id} of {date}, {customer}!
		We confirm the order of {customer}:
		{customer} ordered
	`))
	tail := ""
	if g.chance(0.6) {
		tail = g.say(lines(`
			Total: {sum}
			The total is {sum}.
			Sum {sum}
			Altogether that is {sum}.
			Please deliver to {city}.
			Order number {id}.
			Customer: {customer}
			Ordered on {date}.
			Thank you!
			Amount due {sum}
			To pay: {sum}
			In total {sum}.
			Sum total {sum}, ordered on {date}.
			Send it to {customer} in {city}.
			Delivery to {city}.
			The order has the number {id}.
		`))
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
		slotOf("id", "string", "order_id id order_number number reference invoice_number order_no order_reference document_number invoice_id no purchase_id order_code order", "The order's number", nil),
		slotOf("customer", "string", "customer customer_name buyer name client ordered_by purchaser buyer_name client_name who_ordered name_of_customer ordering_customer sold_to", "Who ordered", nil),
		{name: "date", typ: "string", format: "date", keys: words("date order_date ordered_on invoice_date day date_of_order purchase_date bought_on placed_on")},
		slotOf("city", "string", "city ship_to destination delivery_city town customer_city deliver_to place", "Where it goes", nil),
		slotOf("total", "number", "total total_amount sum grand_total amount_due total_price amount total_sum price_total order_total to_pay value total_cost", "Sum of the order", nil),
		slotOf("currency", "string", "currency currency_code", "Three letters", nil),
	}}
	goodsSlots := domain{missing: 0.03, slots: []slot{
		slotOf("product", "string", "product name item description product_name article title goods item_name what article_name product_title", "What was ordered", nil),
		slotOf("qty", "integer", "quantity qty count amount pieces units number how_many ordered_quantity number_of_pieces unit_count", "How many", nil),
		slotOf("price", "number", "price unit_price price_each cost_per_unit each cost price_per_item single_price item_price price_of_one", "Price of one", nil),
		slotOf("sku", "string", "sku article_number code product_code", "The product's number", nil),
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
		at := property{key: g.style.key(g.named(words("items lines line_items products positions articles order_lines"))), schema: a.schema, value: a.value, parts: a.keys}
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
	requests := lines(`
		Extract the order.
		Read the order.
		Order as JSON
		What was ordered?
		List the items.
		Parse this invoice.
		Find the line items.
		Enter this order into the system.
	`)
	l := g.put(content, requests, o)
	l.More = more
	return l
}

// distinct reports whether no two properties have the same name.
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
	pattern := g.say(lines(`
		{time} {level} {service}: {message}
		[{time}] [{level}] {service} - {message}
		{time} {service} {level} {message} user={user}
		{level} {time} {service} {message} ({ms} ms)
		{time} | {level} | {service} | {message}
		ts={time} level={level} service={service} msg="{message}" request_id={request}
		{time} {level} [{service}] {message} status={status} ip={ip}
		{service}[{request}]: {level}: {message}
		{time} {ip} {service} {status} {ms}ms {level} {message}
		<{level}> {service} {message} user={user} request={request}
	`))
	t := told{has: map[string]bool{}}
	for _, s := range slotsOf(pattern) {
		t.has[s] = true
	}
	d := domain{missing: 0.06, slots: []slot{
		slotOf("time", "string", "timestamp time ts logged_at datetime", "When it was logged", nil),
		choice("level", words("level severity log_level"), levels, nil),
		slotOf("service", "string", "service component source module logger", "Which service wrote it", nil),
		slotOf("message", "string", "message msg text log_message event", "What happened", nil),
		slotOf("user", "string", "user username user_id login", "Who", nil),
		slotOf("request", "string", "request_id request trace_id", "The request's id", nil),
		slotOf("ms", "integer", "duration_ms latency_ms ms took_ms", "Milliseconds", nil),
		slotOf("status", "integer", "status status_code http_status code", "HTTP status", nil),
		slotOf("ip", "string", "ip client_ip remote_addr ip_address", "Client's address", nil),
	}}
	props := fill(d.forms(g, d.ask(g, t, g.between(2, 6)), t), r, t)
	return g.put(expand(pattern, r), lines(`
		Parse the log line.
		Parse this log entry.
		What does the log say?
		Log line to JSON.
		Split this line into fields.
		Structure this log.
	`), g.object(props))
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
