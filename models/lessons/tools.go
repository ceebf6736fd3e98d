package lessons

import "strings"

// A function is a function that can be called, with requests for it.
type function struct {
	names    []string
	params   []param
	requests []string
}

type param struct {
	keys []string
	typ  string
	make func(g *gen) value
	slot string
}

var functions = []function{
	{words("get_weather weather_forecast current_weather"), []param{
		{words("city location place town"), "string", func(g *gen) value { return text(g.city()) }, "city"}},
		lines("What is the weather in {city}?\nWill it rain in {city}?\nHow warm is it in {city}?\nDo I need a coat in {city}?\nForecast for {city} please.")},
	{words("send_email send_mail write_email"), []param{
		{words("to recipient address email"), "string", func(g *gen) value { return text(g.emailOf(g.fullName(true))) }, "to"},
		{words("subject title topic"), "string", func(g *gen) value { return text(g.occasion()) }, "subject"}},
		lines("Send an email to {to} about the {subject}.\nWrite to {to}, subject {subject}.\nMail {to} on the {subject}.\nPlease email {to} with the subject {subject}.")},
	{words("set_alarm set_timer wake_me"), []param{
		{words("time at when"), "string", func(g *gen) value { return text(g.clock()) }, "time"}},
		lines("Wake me at {time}.\nSet an alarm for {time}.\nI have to get up at {time}.\nAlarm at {time} please.")},
	{words("search_products find_product shop_search"), []param{
		{words("query product search_term text"), "string", func(g *gen) value { return text(g.thing()) }, "query"},
		{words("max_price price_limit budget"), "number", func(g *gen) value { return number(g.between(5, 500)) }, "max"}},
		lines("Find a {query} for less than {max} euros.\nI need a {query} under {max}.\nSearch for a {query}, at most {max}.\nShow me a {query} up to {max} euros.")},
	{words("book_table reserve_table restaurant_booking"), []param{
		{words("guests people persons party_size"), "integer", func(g *gen) value { return number(g.between(2, 12)) }, "n"},
		{words("time at hour"), "string", func(g *gen) value { return text(g.clock()) }, "time"}},
		lines("Book a table for {n} people at {time}.\nReserve a table at {time} for {n}.\nWe are {n} and want to eat at {time}.\nTable for {n} at {time} please.")},
	{words("translate translate_text translation"), []param{
		{words("language target_language to_language"), "string", func(g *gen) value { return text(g.language()) }, "lang"},
		{words("text phrase sentence"), "string", func(g *gen) value { return text(g.thing()) }, "text"}},
		lines("Translate {text} into {lang}.\nHow do you say {text} in {lang}?\nWhat is {text} in {lang}?\nPlease translate \"{text}\" to {lang}.")},
	{words("get_order track_order order_status"), []param{
		{words("order_id id order_number number"), "string", func(g *gen) value { return text(g.code()) }, "id"}},
		lines("Where is order {id}?\nTrack {id}.\nWhat is the state of order {id}?\nHas {id} been shipped?\nPlease check order {id}.")},
	{words("call_contact make_call phone_call"), []param{
		{words("name contact person who"), "string", func(g *gen) value { return text(g.fullName(g.chance(0.5))) }, "name"}},
		lines("Call {name}.\nPhone {name} please.\nI want to talk to {name}.\nRing up {name}.")},
	{words("convert_currency exchange_money currency_converter"), []param{
		{words("amount value sum"), "number", func(g *gen) value { return g.amount(2000) }, "amount"},
		{words("from source from_currency"), "string", func(g *gen) value { return text(g.currency()) }, "from"},
		{words("to target to_currency"), "string", func(g *gen) value { return text(g.currency()) }, "into"}},
		lines("Convert {amount} {from} to {into}.\nHow much is {amount} {from} in {into}?\nChange {amount} {from} into {into}.")},
	{words("play_music play_song start_playlist"), []param{
		{words("artist performer by"), "string", func(g *gen) value { return text(g.fullName(g.chance(0.5))) }, "artist"}},
		lines("Play something by {artist}.\nI want to hear {artist}.\nPut on {artist}.\nMusic by {artist} please.")},
}

// calls generates lessons that choose a function and fill in its arguments.
func calls(g *gen) Lesson {
	order := g.shuffled(len(functions))[:g.between(2, 4)]
	at := g.n(len(order))
	nameKey := g.style.key(g.named(words("name tool function action")))
	argsKey := g.style.key(g.named(words("arguments args parameters input")))
	var branches []string
	var content string
	var answer object
	for i, k := range order {
		f := functions[k]
		r := record{}
		name := g.named(f.names)
		props := []property{}
		for _, p := range f.params {
			v := p.make(g)
			r[p.slot] = v
			props = append(props, property{key: g.named(p.keys), schema: plain(p.typ), value: v.json})
		}
		inner := g.object(props)
		o := g.object([]property{
			{key: nameKey, schema: `{"const":` + quote(name) + `}`, value: quote(name)},
			{key: argsKey, schema: inner.schema, value: inner.value, parts: inner.keys}})
		branches = append(branches, o.schema)
		if i == at {
			answer = o
			content = expand(g.say(f.requests), r)
		}
	}
	answer.schema = `{"anyOf":[` + strings.Join(branches, ",") + `]}`
	l := Lesson{Schema: answer.schema, Answer: answer.value, Keys: answer.keys}
	l.Chat = []Message{{"user", content}}
	return l
}
