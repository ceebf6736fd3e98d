package sets

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A shape is a way in which people put the same task: where a prompt names the fields that it wants, and how. What a
// server adds to a prompt by default may help one shape and harm another.
type shape struct {
	name, about string
	messages    func(k *task, text string) []Message
	described   bool // the schema says what each field is
}

// A task is what the texts of a set are asked for.
type task struct {
	reader  string // what the model is told that it does
	where   string // where the values stand
	text    string // what the text is called
	absent  string // what to give where the text doesn't say, if that may be
	fields  []field
	example []example
}

// A field is a property, what it is in other words, and its name in German.
type field struct{ name, words, german string }

// An example is a text that is none of the set's, with its values; nil is null.
type example struct {
	text   string
	values map[string]any
}

var shapes = []shape{
	{"user", "the fields named by the user's message, without a system message", func(k *task, text string) []Message {
		return []Message{{"user", "Answer with one JSON object with the keys " + k.names() + ", " + k.where + "." + k.absent + "\n\n" + text}}
	}, false},
	{"both", "the fields named by the system and the user's message", func(k *task, text string) []Message {
		return conversation(k.reader+" Give "+k.names()+", "+k.where+"."+k.absent, "Give "+k.names()+" of this "+k.text+":\n\n"+text)
	}, false},
	{"paraphrased", "the fields in other words than the schema's", func(k *task, text string) []Message {
		return conversation(k.reader+" Tell "+k.list(func(f field) string { return f.words })+", "+k.where+"."+k.absent, text)
	}, false},
	{"examples", "two examples, with their answers, name the fields", func(k *task, text string) []Message {
		list := []Message{{"system", k.reader}}
		for _, e := range k.example {
			list = append(list, Message{"user", e.text}, Message{"assistant", k.answer(e)})
		}
		return append(list, Message{"user", text})
	}, false},
	{"german", "the fields named in German", func(k *task, text string) []Message {
		return conversation(k.reader+" Give "+k.list(func(f field) string { return f.german })+" (the names are German), "+k.where+"."+k.absent, text)
	}, false},
	{"turns", "the fields named two turns before the text", func(k *task, text string) []Message {
		return []Message{{"user", "I am going to send you a " + k.text + ". Give " + k.names() + ", " + k.where + "." + k.absent}, {"assistant", "All right. Please send it."}, {"user", text}}
	}, false},
	{"described", "the fields named and described by the schema alone", func(k *task, text string) []Message {
		return conversation(k.reader+" Extract the data, "+k.where+"."+k.absent, text)
	}, true},
}

func (k *task) list(word func(field) string) string {
	var all []string
	for _, f := range k.fields {
		all = append(all, word(f))
	}
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

func (k *task) names() string { return k.list(func(f field) string { return f.name }) }

// answer returns an example's document, its fields in the order of the schema.
func (k *task) answer(e example) string {
	var all []string
	for _, f := range k.fields {
		value, _ := json.Marshal(e.values[f.name]) // a string or nil
		all = append(all, fmt.Sprintf("  %q: %s", f.name, value))
	}
	return "{\n" + strings.Join(all, ",\n") + "\n}"
}

// schema returns the schema of the fields, with the type that each has.
func (k *task) schema(kind string, described bool) json.RawMessage {
	var list []property
	for _, f := range k.fields {
		text := `{"type":` + kind + `}`
		if described {
			about, _ := json.Marshal(f.words)
			text = fmt.Sprintf(`{"type":%s,"description":%s}`, kind, about)
		}
		list = append(list, property{f.name, text})
	}
	return object(list)
}

// shaped returns the sets of receipts and requests in each shape.
func shaped() (out []*Set) {
	for _, s := range shapes {
		out = append(out,
			&Set{Name: "receipts-" + s.name, About: "the receipts, " + s.about, Files: receipts.Files, build: reshaped(buildReceipts, s, func(Case) *task { return &receiptTask })},
			&Set{Name: "requests-" + s.name, About: "the requests, " + s.about, Files: requests.Files, build: reshaped(buildRequests, s, requestTask)})
	}
	return out
}

// reshaped builds cases as build does, with the messages of a shape.
func reshaped(build func(*Set, [][]byte) ([]Case, error), s shape, of func(Case) *task) func(*Set, [][]byte) ([]Case, error) {
	return func(set *Set, texts [][]byte) ([]Case, error) {
		list, err := build(set, texts)
		for i, c := range list {
			k, kind := of(c), `"string"`
			if k == nil {
				return nil, fmt.Errorf("%s has a slot that no words are known for", c.ID)
			}
			if k.absent != "" {
				kind = `["string","null"]`
			}
			list[i].Messages = s.messages(k, c.Messages[len(c.Messages)-1].Content)
			list[i].Schema = k.schema(kind, s.described)
		}
		return list, err
	}
}

var receiptTask = task{
	reader: "You read shop receipts.", where: "as written on the receipt", text: "receipt",
	fields: []field{
		{"company", "who sold the goods", "Firma"},
		{"date", "on which day", "Datum"},
		{"address", "where the seller is", "Anschrift"},
		{"total", "how much was to be paid in the end", "Gesamtbetrag"},
	},
	example: []example{
		{"GREENLEAF STATIONERY SDN BHD\n(123456-A)\n12, JALAN MERANTI 3,\n50480 KUALA LUMPUR.\nTAX INVOICE\nINV NO: A-00317\nDATE: 04/03/2018 11:02 AM\nA4 PAPER 2 X 9.90\n19.80\nSTAPLER\n7.20\nTOTAL\n27.00\nCASH\n50.00\nCHANGE\n23.00",
			map[string]any{"company": "GREENLEAF STATIONERY SDN BHD", "date": "04/03/2018", "address": "12, JALAN MERANTI 3, 50480 KUALA LUMPUR.", "total": "27.00"}},
		{"KEDAI KOPI SENANG\nLOT 7, PASAR BARU,\n41000 KLANG, SELANGOR\nRECEIPT 5521\n17-11-17 08:45\nKOPI O 1.80\nROTI BAKAR 2.40\nSUBTOTAL 4.20\nROUNDING 0.00\nTOTAL DUE RM 4.20\nTHANK YOU",
			map[string]any{"company": "KEDAI KOPI SENANG", "date": "17-11-17", "address": "LOT 7, PASAR BARU, 41000 KLANG, SELANGOR", "total": "4.20"}},
	},
}

// slotWords says what the slots of the requests are, and their names in German.
var slotWords = []field{
	{"album", "the record", "Album"}, {"artist", "who makes the music", "Interpret"}, {"best_rating", "the most points that can be given", "Bestnote"},
	{"city", "the town", "Stadt"}, {"condition_description", "the kind of weather", "Wetterlage"}, {"condition_temperature", "how warm or cold it is", "Temperatur"},
	{"country", "the nation", "Land"}, {"cuisine", "the style of cooking", "Küche"}, {"current_location", "words for being here", "Standort"},
	{"entity_name", "the title of what is added", "Titel"}, {"facility", "what the place offers", "Ausstattung"}, {"genre", "the style of music", "Musikrichtung"},
	{"geographic_poi", "the park or landmark", "Sehenswürdigkeit"}, {"location_name", "which cinema", "Kinoname"}, {"movie_name", "which film", "Filmtitel"},
	{"movie_type", "films of which sort", "Filmart"}, {"music_item", "whether it is a song, an album or something else", "Musikobjekt"},
	{"object_location_type", "the kind of cinema", "Kinoart"}, {"object_name", "the title of the work", "Werktitel"},
	{"object_part_of_series_type", "whether it is a saga, a series or a chronicle", "Reihenart"}, {"object_select", "which one is meant, such as this or the last", "Auswahl"},
	{"object_type", "the kind of work", "Werkart"}, {"party_size_description", "who comes along", "Begleitung"}, {"party_size_number", "how many people come", "Personenzahl"},
	{"playlist", "the list that songs are in", "Wiedergabeliste"}, {"playlist_owner", "whose list it is", "Besitzer"}, {"poi", "the place that it should be near", "Bezugspunkt"},
	{"rating_unit", "what the points are called", "Einheit"}, {"rating_value", "how many points are given", "Bewertung"}, {"restaurant_name", "what the house is called", "Restaurantname"},
	{"restaurant_type", "the kind of house", "Lokalart"}, {"served_dish", "what should be on the menu", "Gericht"}, {"service", "the app that plays it", "Dienst"},
	{"sort", "how good or popular it should be", "Rang"}, {"spatial_relation", "how near it should be", "Lage"}, {"state", "the part of the nation", "Bundesstaat"},
	{"timeRange", "when", "Zeitraum"}, {"track", "the song", "Lied"}, {"year", "from when the music is", "Jahr"},
}

// requestExamples are requests with the slots that they fill.
var requestExamples = map[string][]example{
	"AddToPlaylist": {
		{"put Blue in Green on my Late Evenings list", map[string]any{"entity_name": "Blue in Green", "playlist": "Late Evenings", "playlist_owner": "my"}},
		{"add a song by Nina Simone to Rainy Days", map[string]any{"music_item": "song", "artist": "Nina Simone", "playlist": "Rainy Days"}},
	},
	"BookRestaurant": {
		{"reserve a table for six at a thai bistro in Vermont", map[string]any{"party_size_number": "six", "cuisine": "thai", "restaurant_type": "bistro", "state": "Vermont"}},
		{"book the best tavern near Union Station for tomorrow noon", map[string]any{"sort": "best", "restaurant_type": "tavern", "spatial_relation": "near", "poi": "Union Station", "timeRange": "tomorrow noon"}},
	},
	"GetWeather": {
		{"will it snow in Oslo on friday", map[string]any{"condition_description": "snow", "city": "Oslo", "timeRange": "friday"}},
		{"how hot is it at my current place", map[string]any{"condition_temperature": "hot", "current_location": "my current place"}},
	},
	"PlayMusic": {
		{"play some fifties jazz on Deezer", map[string]any{"year": "fifties", "genre": "jazz", "service": "Deezer"}},
		{"I want to hear the newest album by Adele", map[string]any{"sort": "newest", "music_item": "album", "artist": "Adele"}},
	},
	"RateBook": {
		{"give this novel 3 stars", map[string]any{"object_select": "this", "object_type": "novel", "rating_value": "3", "rating_unit": "stars"}},
		{"rate The Silent Coast two of 6", map[string]any{"object_name": "The Silent Coast", "rating_value": "two", "best_rating": "6"}},
	},
	"SearchCreativeWork": {
		{"find the painting called Harbour at Dusk", map[string]any{"object_type": "painting", "object_name": "Harbour at Dusk"}},
		{"where can I get Letters Home", map[string]any{"object_name": "Letters Home"}},
	},
	"SearchScreeningEvent": {
		{"when is Night Train on at the Odeon", map[string]any{"movie_name": "Night Train", "location_name": "the Odeon"}},
		{"are there cartoons at the closest cinema this evening", map[string]any{"movie_type": "cartoons", "spatial_relation": "closest", "object_location_type": "cinema", "timeRange": "this evening"}},
	},
}

// requestTask returns the task of a case of buildRequests; nil if it has a slot that slotWords doesn't.
func requestTask(c Case) *task {
	intent, _, _ := strings.Cut(c.ID, "-")
	k := &task{
		reader: "You read what people say to a voice assistant.", where: "as worded in the request", text: "request",
		absent: " Give null for each that the request says nothing of.", example: requestExamples[intent],
	}
	names, err := namesOf(c.Schema)
	if err != nil {
		return nil
	}
	for _, name := range names {
		i := slices.IndexFunc(slotWords, func(f field) bool { return f.name == name })
		if i < 0 {
			return nil
		}
		k.fields = append(k.fields, slotWords[i])
	}
	return k
}

// namesOf returns the names of what a schema of object requires, in its order.
func namesOf(schema json.RawMessage) ([]string, error) {
	var s struct{ Required []string }
	err := json.Unmarshal(schema, &s)
	return s.Required, err
}
