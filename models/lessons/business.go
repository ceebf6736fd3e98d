package lessons

import (
	"fmt"
	"strconv"
	"strings"
)

func slotOf(name, typ string, keys string, desc string, make func(g *gen, r record) value) slot {
	return slot{name: name, typ: typ, keys: words(keys), desc: lines(desc), make: make}
}

var meetings = domain{
	subject:  "event",
	prefixes: []string{"event", "meeting", "appointment"},
	slots: []slot{
		slotOf("event", "string", `title event event_name name event_title what subject meeting activity happening occasion name_of_event what_happens the_event event_type headline topic meeting_title programme
			occasion_name event_subject meeting_subject meeting_name event_heading appointment_title calendar_title
			activity_name event_summary summary agenda_title session_title session_name gathering event_topic entry_title
			meeting_topic event_label`, `What takes place
			Name of the event
			Title of the event
			The name of the meeting
			What the calendar entry is called
			What people are invited to
			The kind of meeting or activity`,
			func(g *gen, r record) value { return text(g.occasion()) }),
		{name: "date", typ: "string", format: "date", keys: embeddedWords("meetings.date.keys"), desc: []string{"Day of the event", "The date",
			"Date of the event", "The day on which it takes place", "On which day people meet", "When it is, without the time", "Calendar day of the meeting"},
			make: func(g *gen, r record) value { return g.date(2023, 2027) }},
		slotOf("time", "string", `time start_time starts_at start begin begins_at time_of_day clock hour the_time begin_time starting_time time_start when_it_starts opening_time event_time
			starting_at begins start_hour time_of_start beginning_time kickoff kickoff_time begin_at doors_open
			scheduled_time meeting_time time_begin event_start_time appointment_time session_start time_from from_time
			start_clock_time`, `When it begins
			Time of day
			Start time
			When the event starts
			The hour at which it starts
			Time at which people should be there
			Clock time of the beginning`,
			func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("end", "string", `end_time ends_at until end finish finish_time ends end_of_event time_end finishes_at the_end closing_time over_at
			end_hour ending_time time_of_end ends_by finish_at until_time time_until event_end_time meeting_end event_end
			session_end end_at ending ends_when finishing_time wrap_up_time time_to end_clock_time`, `When it ends
			End time
			Time at which it is over
			When the event finishes
			The hour at which it ends
			How long it goes on, as a time of day
			Clock time of the end`,
			func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("venue", "string", `location venue place where room event_location meeting_place building the_place venue_name site hall meeting_room where_it_is place_of_event event_venue
			location_name venue_location event_place event_site place_name meeting_location room_name where_held held_at
			hall_name facility facility_name premises meeting_point venue_or_room building_name where_it_takes_place
			location_of_event`, `Where it takes place
			The room or building
			Name of the venue
			The place of the meeting
			Where people should go
			Venue of the event, without the city
			Room, hall or building in which it is held`,
			func(g *gen, r record) value { return text(g.venue()) }),
		slotOf("city", "string", `city town event_city the_city city_name in_city host_city venue_city municipality town_of_event
			city_of_event town_name location_city event_town locality city_or_town event_municipality meeting_city
			which_city held_in_city city_of_venue venue_town where_city in_which_city`, `The city
			City in which it takes place
			The town of the event
			Name of the city or town
			City of the venue
			In which city people meet`, func(g *gen, r record) value { return text(g.city()) }),
		slotOf("host", "string", `organizer host organised_by contact speaker host_name organiser organised_by_whom invited_by presenter responsible leader person_in_charge contact_person the_host event_host lecturer
			organizer_name organiser_name event_organizer event_organiser host_person hosted_by led_by speaker_name
			presenter_name contact_name chaired_by chairperson moderator facilitator coordinator event_lead
			point_of_contact session_leader arranged_by`, `Who organises it
			The host
			Full name of the organiser
			Person in charge of the event
			Who leads or hosts it
			Name of the contact person
			The person who invites`,
			func(g *gen, r record) value { return text(g.fullName(g.chance(0.5))) }),
		slotOf("guests", "integer", `attendees participants guests seats capacity max_participants number_of_guests people guest_count head_count places number_of_people max_guests attendee_count expected_guests how_many participant_count size
			number_of_attendees number_of_participants number_of_seats seat_count max_attendees max_capacity attendance
			expected_attendance expected_attendees participants_count guests_expected people_count total_guests
			total_attendees visitor_count visitors group_size invitee_count places_available`, `How many people
			Number of people
			How many people take part
			Number of guests or seats
			How many can come or are expected
			Size of the audience`,
			func(g *gen, r record) value { return number(g.between(3, 400)) }),
		slotOf("fee", "number", `price fee cost ticket_price entry_fee admission costs entrance_fee price_of_ticket ticket_cost amount the_fee charge entry ticket
			admission_fee admission_price participation_fee ticket_fee registration_fee entry_price entrance_price
			attendance_fee price_per_person fee_per_person cost_per_person price_per_ticket ticket_amount event_fee
			event_cost fee_amount entry_cost admission_cost`, `What it costs
			Price of a ticket
			Entry fee
			What a person pays to take part
			Cost of admission as a number
			Fee per person, without the currency`, func(g *gen, r record) value { return g.amount(80) }),
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
		slotOf("name", "string", `name recipient addressee full_name company receiver who to deliver_to ship_to_name name_of_recipient resident addressee_name recipient_name
			recipient_full_name receiver_name addressed_to person_or_company contact_name deliver_to_name occupant
			occupant_name resident_name attention_to attn consignee consignee_name receiving_party name_on_label
			name_on_parcel party_name`, `Who lives there
			Name of the recipient
			Person or company at this address
			To whom it is addressed
			Full name or company name
			The name on the door or label`,
			func(g *gen, r record) value {
				if g.chance(0.4) {
					return text(g.company())
				}
				return text(g.fullName(g.chance(0.5)))
			}),
		slotOf("street", "string", `street street_address address_line address line1 street_and_number road street_name address_line_1 the_street street_line street_with_number
			street_addr street_and_house_number address_street road_name address1 address_1 addr_line1 street_1
			thoroughfare street_address_line house_and_street road_and_number first_address_line street_part street_and_no`, `Street and house number
			Street with house number
			First line of the address
			The road and the number of the house
			Street part of the address
			Street address, without city and postal code`, func(g *gen, r record) value { return text(g.street()) }),
		slotOf("zip", "string", `zip postal_code postcode zip_code post_code zipcode postal the_zip code_of_city zip_or_postcode postal_number
			zip_number postal_code_number mail_code mailing_code postcode_number zip_postal_code postal_zip address_zip
			address_postcode plz post_code_number postal_area_code delivery_postcode city_zip pincode pin_code`, `Postal code
			ZIP or postal code
			The postcode of the address
			Code of the postal area
			Post code as it is written
			Postal code that stands beside the city`, func(g *gen, r record) value { return text(g.zip()) }),
		slotOf("city", "string", `city town place city_name the_city municipality city_or_town village locality town_name
			address_city town_or_city city_part city_of_address city_town city_of_residence post_town address_locality
			town_or_village name_of_city name_of_town which_city settlement`, `The city
			Name of the city or town
			Town of the address
			City or village
			In which city it is
			The place that the postal code belongs to`, func(g *gen, r record) value { return text(g.city()) }),
		slotOf("country", "string", `country country_name nation land the_country state destination_country country_of_delivery
			country_of_address address_country country_of_residence which_country destination_land nation_name
			country_full_name name_of_country country_part country_or_region in_which_country home_country
			delivery_country`, `The country
			Name of the country
			Country of the address
			In which country it is
			The country as it is written
			Country of destination`, func(g *gen, r record) value { return text(g.country()) }),
		slotOf("floor", "integer", `floor storey floor_number level
			floor_no floor_level building_floor storey_number story level_number which_floor level_in_building
			floor_of_building on_floor apartment_floor flat_floor storey_no`, `The floor
			Number of the floor
			Floor of the building
			On which floor it is
			Level in the building
			The storey, as a number`, func(g *gen, r record) value { return number(g.between(1, 30)) }),
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
	"in_stock": {"in stock", "available now", "ready to ship", "on the shelf",
		"in stock and ready to ship", "available immediately", "available for immediate delivery", "on hand", "in our warehouse",
		"back in stock", "ready for dispatch", "ready for collection", "available from stock", "still available", "in stock again",
		"in good supply", "waiting in the warehouse", "ready to be sent today"},
	"out_of_stock": {"sold out", "out of stock", "not available at the moment", "gone",
		"unavailable", "not in stock", "no longer in stock", "temporarily unavailable", "temporarily out of stock", "no longer available",
		"all gone", "completely sold out", "sold out everywhere", "sold out for now", "not on the shelf", "not in stock right now",
		"not to be had at present", "gone until the next delivery"},
	"preorder": {"available for preorder", "coming next month", "to be released soon",
		"open for preorder", "on preorder", "ready to preorder", "not yet released", "not released yet, but can be ordered in advance",
		"due for release soon", "coming soon", "coming out in spring", "coming out next month", "about to be launched",
		"still to be released", "only on preorder so far", "available for advance orders", "expected in the shops next month"},
}

var goods = domain{
	subject:  "product",
	prefixes: []string{"product", "item", "article"},
	slots: []slot{
		slotOf("product", "string", `product product_name name item title article item_name goods name_of_product article_name the_product what thing product_title
			product_label item_title goods_name merchandise merchandise_name product_sold name_of_item name_of_article
			what_is_sold offered_product listing_title catalogue_name sold_item item_sold article_title item_label
			offered_item thing_sold`, `What is sold
			Name of the product
			The product's name
			Name of the article or item
			What is offered
			Title of the product
			The thing that can be bought`, func(g *gen, r record) value { return text(g.thing()) }),
		slotOf("currency", "string", `currency currency_code
			price_currency currency_iso iso_currency currency_iso_code currency_of_price money_unit monetary_unit
			payment_currency currency_name currency_used currency_abbreviation iso_code price_currency_code sale_currency`, `Three letters, as EUR
			Currency of the price
			Currency code
			The currency in which it is sold
			Code of the currency, three letters
			In which money the price is given`, func(g *gen, r record) value { return text(g.currency()) }),
		slotOf("price", "number", `price unit_price cost amount price_per_unit retail_price costs the_price sale_price price_value product_price price_amount list_price
			product_cost item_price selling_price current_price shop_price price_tag price_number sell_price asking_price
			base_price purchase_price price_of_product price_of_item unit_cost how_much price_each`, `What it costs
			Price without currency
			Price of the product
			The price as a number
			How much one has to pay for it
			Amount, without the currency
			Retail price of one item`, func(g *gen, r record) value { return g.amount(900) }),
		slotOf("brand", "string", `brand manufacturer maker brand_name producer made_by vendor company the_brand label produced_by manufacturer_name
			product_brand brand_of_product brand_label manufactured_by maker_name producer_name manufacturing_company
			product_manufacturer product_maker which_brand who_makes_it trademark item_brand brand_company`, `Who makes it
			Brand of the product
			Name of the manufacturer
			The company that makes it
			Maker of the product
			Brand name`, func(g *gen, r record) value { return text(g.brand()) }),
		slotOf("colour", "string", `color colour main_color shade the_colour product_color paint color_name
			item_color item_colour product_colour colour_name color_of_product colour_of_product main_colour color_variant
			colour_variant color_option finish_color tint hue available_color which_colour`, `The colour
			Colour of the product
			Color of the item
			In which colour it comes
			The main color
			Name of the colour`, func(g *gen, r record) value { return text(g.of(colours)) }),
		slotOf("sku", "string", `sku article_number product_code item_number code product_id id article_no order_code part_number number catalogue_number reference_code stock_code
			sku_code sku_number item_code article_code product_number product_sku item_sku item_no catalog_number
			catalogue_code stock_keeping_unit stock_number item_id article_id product_no part_no`, `The product's number
			Stock keeping unit
			Article number
			Code of the product in the catalogue
			The number to order it by
			Product code or item number`, func(g *gen, r record) value { return text(g.code()) }),
		slotOf("weight", "number", `weight_kg weight kilograms weight_in_kg
			weight_kilograms mass mass_kg product_weight item_weight weight_kilos kilos net_weight shipping_weight
			how_heavy item_weight_kg product_weight_kg kg weight_of_product`, `Weight in kilograms
			Weight of the product in kg
			How heavy it is
			Mass in kilograms
			The weight as a number
			How many kilos it weighs`, func(g *gen, r record) value { return g.amount(40) }),
		slotOf("rating", "number", `rating stars score average_rating review_score user_rating
			customer_rating star_rating product_rating item_rating mean_rating rating_value rating_stars number_of_stars
			stars_out_of_5 review_rating overall_rating rating_score customer_score avg_rating buyer_rating user_score`, `Stars out of 5
			Average rating
			Rating by customers
			How many stars it has
			Score in reviews, at most 5
			Number of stars that buyers give`, func(g *gen, r record) value {
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
		slotOf("id", "string", `order_id id order_number number reference invoice_number order_no order_reference document_number invoice_id no purchase_id order_code order
			order_ref order_num purchase_order purchase_order_number po_number order_identifier invoice_no invoice_ref
			receipt_number receipt_no document_id document_no transaction_id confirmation_number purchase_number
			reference_no reference_number`, `The order's number
			Number of the order
			Order or invoice number
			The order's reference
			Identifier of the order
			Code under which the order is known`, nil),
		slotOf("customer", "string", `customer customer_name buyer name client ordered_by purchaser buyer_name client_name who_ordered name_of_customer ordering_customer sold_to
			customer_full_name purchaser_name ordering_party ordering_person account_holder bill_to bill_to_name
			client_full_name buyer_full_name billed_to who_buys shopper shopper_name ordered_by_name placed_by
			purchased_by sold_to_name`, `Who ordered
			Name of the customer
			The buyer's full name
			Who placed the order
			Person who buys the items
			To whom the goods are sold`, nil),
		{name: "date", typ: "string", format: "date", keys: embeddedWords("orders.date.keys"), desc: embedded("orders.date.desc")},
		slotOf("city", "string", `city ship_to destination delivery_city town customer_city deliver_to place
			ship_to_city destination_city shipping_city city_of_delivery recipient_city delivery_town customer_town
			delivery_place shipping_destination town_of_customer buyer_city city_of_customer deliver_to_city city_name`, `Where it goes
			City of the customer
			Where the order is delivered
			Destination of the delivery
			Town to which it is sent
			The city`, nil),
		slotOf("total", "number", `total total_amount sum grand_total amount_due total_price amount total_sum price_total order_total to_pay value total_cost
			invoice_total order_sum sum_total total_due amount_total overall_total overall_amount full_amount full_price
			payable amount_payable amount_to_pay total_value order_amount order_value invoice_amount total_payable
			final_total`, `Sum of the order
			Total of the order
			What all of it costs
			The amount to be paid
			Grand total, without the currency
			Sum of all items as a number`, nil),
		slotOf("currency", "string", `currency currency_code
			price_currency currency_iso iso_currency currency_iso_code currency_of_order money_unit monetary_unit
			payment_currency currency_name currency_used currency_abbreviation iso_code order_currency invoice_currency`, `Three letters
			Currency of the prices
			Currency code
			Code of the currency, as EUR
			In which currency it is paid
			Currency of the order, three letters`, nil),
	}}
	goodsSlots := domain{missing: 0.03, slots: []slot{
		slotOf("product", "string", `product name item description product_name article title goods item_name what article_name product_title
			product_ordered ordered_product item_title item_label product_label goods_name name_of_product name_of_item
			ordered_item line_description item_description article_title product_description what_was_ordered merchandise`, `What was ordered
			Name of the product
			The item's name
			What is bought
			Article that was ordered
			Product on this line`, nil),
		slotOf("qty", "integer", `quantity qty count amount pieces units number how_many ordered_quantity number_of_pieces unit_count
			item_count item_quantity order_quantity quantity_ordered number_ordered qty_ordered piece_count product_count
			product_quantity line_quantity number_of_units units_ordered pcs how_many_pieces number_of_items item_qty
			product_qty line_qty`, `How many
			Number of pieces
			How many were ordered
			Quantity of this product
			The ordered quantity
			How many units of it`, nil),
		slotOf("price", "number", `price unit_price price_each cost_per_unit each cost price_per_item single_price item_price price_of_one
			price_per_piece unit_cost piece_price price_a_piece price_per_unit product_price cost_each cost_per_item
			unit_amount each_costs price_for_one rate_per_unit article_price list_price item_cost per_unit_price`, `Price of one
			Unit price
			Price per piece
			What one of them costs
			Cost of a single item
			Price of one unit, without the currency`, nil),
		slotOf("sku", "string", `sku article_number code product_code
			sku_code item_code item_number item_sku product_sku product_number article_no article_code part_number part_no
			catalogue_number stock_code item_id product_id item_no product_no`, `The product's number
			Article number
			Code of the product
			SKU of the item
			Number of the article in the catalogue
			The item's code`, nil),
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
		slotOf("time", "string", `timestamp time ts logged_at datetime
			log_time event_time created_at occurred_at date_time log_timestamp when_logged time_stamp recorded_at
			written_at logged_time entry_time happened_at`, `When it was logged
			Time of the entry
			Timestamp of the log line
			When it happened
			Date and time
			The time as it is written in the line`, nil),
		{name: "level", typ: "string", choices: levels, keys: embeddedWords("logs.level.keys"), desc: embedded("logs.level.desc")},
		slotOf("service", "string", `service component source module logger
			service_name app application app_name component_name logger_name source_service module_name emitted_by
			process_name program subsystem`, `Which service wrote it
			Name of the service
			Component that logged the line
			The program that wrote the entry
			Where the message comes from
			Name of the logger`, nil),
		slotOf("message", "string", `message msg text log_message event
			log_text message_text body content description details log_msg event_message what_happened message_body
			entry_text`, `What happened
			The message
			Text of the log entry
			What the line says
			What was logged
			Message without the other fields`, nil),
		slotOf("user", "string", `user username user_id login
			user_name login_name account account_name username_or_id actor logged_in_user user_login by_user affected_user`, `Who
			Name of the user
			The user's login
			Which user it was
			Account of the user
			User named in the line`, nil),
		slotOf("request", "string", `request_id request trace_id
			req_id request_identifier correlation_id trace request_ref request_number reqid transaction_id request_code`, `The request's id
			Id of the request
			The request that it belongs to
			Identifier of the request
			Trace or request id
			Request named in the line`, nil),
		slotOf("ms", "integer", `duration_ms latency_ms ms took_ms
			duration elapsed_ms duration_in_ms response_time_ms time_taken_ms milliseconds latency response_ms
			request_duration_ms request_time_ms`, `Milliseconds
			Duration in milliseconds
			How long it took
			How many milliseconds it took
			Latency in ms
			Time taken, in milliseconds`, nil),
		slotOf("status", "integer", `status status_code http_status code
			response_code http_code http_status_code response_status status_number http_response_code response_status_code
			statuscode return_code`, `HTTP status
			Status code
			The status of the response
			HTTP status as a number
			Code of the response
			Three digits of the status`, nil),
		slotOf("ip", "string", `ip client_ip remote_addr ip_address
			client_address remote_ip remote_address source_ip ipv4 client_ip_address from_ip peer_ip ip_addr caller_ip
			sender_ip origin_ip`, `Client's address
			IP address
			The client's IP
			Address of the client
			From which address it came
			IPv4 address in the line`, nil),
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
