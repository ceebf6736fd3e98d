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
		embedded("functions.get_weather")},
	{words("send_email send_mail write_email"), []param{
		{words("to recipient address email"), "string", func(g *gen) value { return text(g.emailOf(g.fullName(true))) }, "to"},
		{words("subject title topic"), "string", func(g *gen) value { return text(g.occasion()) }, "subject"}},
		embedded("functions.send_email")},
	{words("set_alarm set_timer wake_me"), []param{
		{words("time at when"), "string", func(g *gen) value { return text(g.clock()) }, "time"}},
		embedded("functions.set_alarm")},
	{words("search_products find_product shop_search"), []param{
		{words("query product search_term text"), "string", func(g *gen) value { return text(g.thing()) }, "query"},
		{words("max_price price_limit budget"), "number", func(g *gen) value { return number(g.between(5, 500)) }, "max"}},
		embedded("functions.search_products")},
	{words("book_table reserve_table restaurant_booking"), []param{
		{words("guests people persons party_size"), "integer", func(g *gen) value { return number(g.between(2, 12)) }, "n"},
		{words("time at hour"), "string", func(g *gen) value { return text(g.clock()) }, "time"}},
		embedded("functions.book_table")},
	{words("translate translate_text translation"), []param{
		{words("language target_language to_language"), "string", func(g *gen) value { return text(g.language()) }, "lang"},
		{words("text phrase sentence"), "string", func(g *gen) value { return text(g.thing()) }, "text"}},
		embedded("functions.translate")},
	{words("get_order track_order order_status"), []param{
		{words("order_id id order_number number"), "string", func(g *gen) value { return text(g.code()) }, "id"}},
		embedded("functions.get_order")},
	{words("call_contact make_call phone_call"), []param{
		{words("name contact person who"), "string", func(g *gen) value { return text(g.fullName(g.chance(0.5))) }, "name"}},
		embedded("functions.call_contact")},
	{words("convert_currency exchange_money currency_converter"), []param{
		{words("amount value sum"), "number", func(g *gen) value { return g.amount(2000) }, "amount"},
		{words("from source from_currency"), "string", func(g *gen) value { return text(g.currency()) }, "from"},
		{words("to target to_currency"), "string", func(g *gen) value { return text(g.currency()) }, "into"}},
		embedded("functions.convert_currency")},
	{words("play_music play_song start_playlist"), []param{
		{words("artist performer by"), "string", func(g *gen) value { return text(g.fullName(g.chance(0.5))) }, "artist"}},
		embedded("functions.play_music")},
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
