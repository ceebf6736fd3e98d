package lessons

import (
	"strconv"
	"strings"
)

// personSlots are what people and contacts have in common.
var personSlots = []slot{
	{name: "name", typ: "string", keys: []string{"name", "full_name", "person", "customer_name", "person_name", "contact_name", "name_of_person", "complete_name", "customer", "client"},
		desc: []string{"The person's full name", "First and last name", "Full name as written", "Name of the person"},
		make: func(g *gen, r record) value { return text(g.fullName(r["pronoun"].text == "She")) }},
	{name: "first", typ: "string", keys: []string{"first_name", "given_name", "firstname", "forename"},
		desc: []string{"First name only", "The given name"},
		make: func(g *gen, r record) value { f, _, _ := strings.Cut(r["name"].text, " "); return text(f) }},
	{name: "age", typ: "integer", keys: []string{"age", "age_years", "age_in_years", "years_old", "current_age", "person_age"},
		desc: []string{"Age in years", "How old the person is", "The age"},
		make: func(g *gen, r record) value { return number(g.between(1, 99)) }},
	{name: "job", typ: "string", keys: []string{"job", "occupation", "profession", "job_title", "position", "role", "work", "job_name", "current_job"},
		desc: []string{"What the person does for a living", "Job title", "The occupation"},
		make: func(g *gen, r record) value { return text(g.job()) }},
	{name: "employer", typ: "string", keys: []string{"employer", "company", "company_name", "organization", "workplace", "works_for", "employer_name", "firm"},
		desc: []string{"Company the person works for", "The employer's name"},
		make: func(g *gen, r record) value { return text(g.company()) }},
	{name: "city", typ: "string", keys: []string{"city", "town", "home_city", "city_name", "lives_in", "residence", "place", "location", "home_town"},
		desc: []string{"City of residence", "Where the person lives", "The town"},
		make: func(g *gen, r record) value { return text(g.city()) }},
	{name: "country", typ: "string", keys: []string{"country", "country_name", "nation", "home_country", "land"},
		desc: []string{"Country of residence", "Name of the country"},
		make: func(g *gen, r record) value { return text(g.country()) }},
	{name: "email", typ: "string", format: "email", keys: []string{"email", "email_address", "mail", "e_mail", "contact_email", "mail_address", "work_email", "primary_email"},
		desc: []string{"Email address", "Where to send mail"},
		make: func(g *gen, r record) value { return text(g.emailOf(r["name"].text)) }},
	{name: "phone", typ: "string", keys: []string{"phone", "phone_number", "telephone", "mobile", "tel", "contact_phone", "mobile_number", "cell_phone", "phone_no"},
		desc: []string{"Phone number as written", "Number to call"},
		make: func(g *gen, r record) value { return text(g.phone()) }},
	{name: "hobby", typ: "string", keys: []string{"hobby", "interest", "pastime", "favourite_hobby", "likes", "main_interest"},
		desc: []string{"What the person likes to do", "A hobby"},
		make: func(g *gen, r record) value { return text(g.hobby()) }},
	{name: "language", typ: "string", keys: []string{"language", "native_language", "mother_tongue", "speaks", "first_language"},
		desc: []string{"Language the person speaks", "The mother tongue"},
		make: func(g *gen, r record) value { return text(g.language()) }},
	{name: "born", typ: "string", format: "date", keys: []string{"birth_date", "date_of_birth", "born", "birthday", "birthdate", "dob"},
		desc: []string{"Date of birth", "The day of birth"},
		make: func(g *gen, r record) value { return g.date(1940, 2012) }},
	{name: "married", typ: "boolean", keys: []string{"married", "is_married", "has_spouse"},
		desc: []string{"Whether the person is married"},
		make: func(g *gen, r record) value {
			if g.chance(0.5) {
				return value{g.of([]string{"is married", "got married last year", "is happily married"}), "true"}
			}
			return value{g.of([]string{"is single", "is not married", "has never married"}), "false"}
		}},
	{name: "children", typ: "integer", keys: []string{"children", "number_of_children", "child_count", "kids", "children_count"},
		desc: []string{"How many children the person has"},
		make: func(g *gen, r record) value { return number(g.between(2, 9)) }},
}

// withPronoun puts the slot first that others depend on.
func withPronoun(slots []slot) []slot {
	return append([]slot{{name: "pronoun", make: func(g *gen, r record) value {
		if g.chance(0.5) {
			return text("She")
		}
		return text("He")
	}}}, slots...)
}

// only returns the slots of those names.
func only(slots []slot, names ...string) []slot {
	var out []slot
	for _, n := range names {
		for _, s := range slots {
			if s.name == n {
				out = append(out, s)
			}
		}
	}
	return out
}

var people = domain{
	subject:  "name",
	prefixes: []string{"person", "employee", "member", "user", "patient", "guest"},
	slots:    withPronoun(personSlots),
	opens: lines(`
		{name} is {age} years old.
		{name}, {age}, lives in {city}.
		{name} ({age}) is a {job} from {city}.
		My name is {name} and I am {age} years old.
		Meet {name}, a {job} at {employer}.
		{name} works as a {job} in {city}, {country}.
		This is {name} from {country}.
		I am {name}, I live in {city} and I work for {employer}.
		Hi, I'm {name}, {age}, and I work as a {job}.
		At {age}, {name} is the youngest {job} at {employer}.
		Yesterday I met {name}, who lives in {city}.
		Our new colleague is called {name}.
		The {job} {name} has joined {employer}.
		{name}, born on {born}, is a {job}.
		{name} was born on {born} in {city}.
		There is also {name}, who is {age}.
		Name: {name}.
		{employer} has hired {name} ({age}) as {job}.
		For {age}-year-old {name}, {hobby} is everything.
		Let me introduce {name}.
	`),
	sentences: lines(`
		{who} is {age} years old.
		{who} is {age}.
		{who} turned {age} this year.
		{who} is now {age} years of age.
		{who} works as a {job}.
		{who} is a {job}.
		{who} is a {job} by profession.
		{who} earns a living as a {job}.
		{who} has been a {job} for many years.
		{who} works for {employer}.
		{who} is employed at {employer}.
		{who} works at {employer} as a {job}.
		{who} is a {job} at {employer}.
		{who} recently joined {employer}.
		The employer is {employer}.
		{who} lives in {city}.
		{who} lives in {city}, {country}.
		{who} moved to {city} last year.
		{who} is from {country}.
		{who} comes from {country}.
		{who} grew up in {country} and now lives in {city}.
		{who} has a flat in {city}.
		Home is {city}.
		{who} can be reached at {email}.
		You can write to {email}.
		The email address is {email}.
		Please send mail to {email}.
		{who} reads mail at {email}.
		{who}'s email is {email}.
		The phone number is {phone}.
		Call {phone}.
		{who} can be called at {phone}.
		{who}'s phone number is {phone}.
		You can call {phone} or write to {email}.
		In the evenings {who} enjoys {hobby}.
		{who} likes {hobby}.
		{who} spends weekends on {hobby}.
		A favourite hobby is {hobby}.
		{who} loves {hobby}.
		{who} speaks {language}.
		At home {who} speaks {language}.
		{who}'s mother tongue is {language}.
		{who} was born on {born}.
		Date of birth: {born}.
		{who}'s birthday is {born}.
		{who} {married}.
		{who} {married} and has {children} children.
		{who} has {children} children.
		{who} and the {children} children live in {city}.
	`),
	noise: lines(`
		The weather was good that day.
		We talked for a long time.
		It was a pleasure to meet.
		More about that next week.
		The photo was taken in the garden.
		Thank you for reading.
		Nobody knows what comes next.
		The train was late again.
		Please let me know if anything is missing.
		We had coffee and cake.
		It all began with a small notice in the paper.
		The neighbours are friendly.
		There are 3 cats and 2 dogs in the house.
		The meeting took 45 minutes.
	`),
	requests: lines(`
		Extract the person.
		Extract the person from the text.
		Who is this about?
		Give me the details of the person.
		Fill in the form from the text.
		Find the data about the person in this text.
		Read the text and return the person's data.
		What does the text say about this person?
		Extract all fields.
		Turn this into JSON.
		Parse this text.
		Please extract the information.
		Profile
		Who is it?
	`),
	labels: true, least: 2, most: 7, missing: 0.06,
	wholeNames: []string{"person", "employee", "profile", "member", "user"},
}

var contacts = domain{
	subject:  "name",
	prefixes: []string{"contact", "customer", "client", "sender", "lead"},
	slots: append(withPronoun(only(personSlots, "name", "first", "job", "employer", "email", "phone", "city")),
		slot{name: "street", typ: "string", keys: []string{"street", "street_address", "address", "address_line", "street_and_number"},
			desc: []string{"Street and house number"}, make: func(g *gen, r record) value { return text(g.street()) }},
		slot{name: "zip", typ: "string", keys: []string{"zip", "postal_code", "postcode", "zip_code"},
			desc: []string{"Postal code"}, make: func(g *gen, r record) value { return text(g.zip()) }},
		slot{name: "site", typ: "string", keys: []string{"website", "web_site", "homepage", "url", "web_address"},
			desc: []string{"Address on the web"}, make: func(g *gen, r record) value {
				return text(g.of([]string{"www.", "https://", "https://www."}) + g.host())
			}},
	),
	opens: lines(`
		Please contact {name} at {email}.
		Contact: {name}, {phone}, {email}
		Call {name} at {phone}.
		Reach {name} at {email} or {phone}.
		{name}, {job}, {employer}
		{name} <{email}>
		Hello, this is {name} from {employer}.
		You can reach {name} by phone at {phone}.
		Best regards, {name}, {employer}
		Dear team, my name is {name} and I write on behalf of {employer}.
		From: {name} <{email}>
		Ask for {name} ({email}).
		{name} from {employer} called and left the number {phone}.
		My details: {name}, {street}, {zip} {city}.
		Our contact at {employer} is {name}.
		{employer}, attn. {name}, {street}, {zip} {city}
	`),
	sentences: lines(`
		Email: {email}
		E-mail {email}
		Write to {email}.
		Tel. {phone}
		Phone: {phone}
		Call {phone} during office hours.
		Mobile {phone}
		{who}'s number is {phone}.
		{who}'s address is {email}.
		The best way is by email, {email}.
		My number is {phone}.
		My email is {email}.
		{who} is {job} at {employer}.
		{who} works at {employer}.
		{who} represents {employer}.
		Company: {employer}
		{who} lives at {street}, {zip} {city}.
		Address: {street}, {zip} {city}
		Letters go to {street} in {city}.
		Our office is at {street}, {city}.
		{street}, {city} {zip}
		The website is {site}.
		See {site} for more.
		Web: {site}
		We are based in {city}.
		{who} is based in {city}.
		The postal code is {zip}.
		If nobody answers at {phone}, write to {email}.
		You will find us in {city}, {street}.
		Position: {job}
	`),
	noise: lines(`
		We open at 9 in the morning.
		Please do not share this.
		I look forward to your answer.
		Please call before noon.
		Kind regards
		Sent from my phone.
		The office is closed on Sundays.
		Ask for a quote.
		We will answer within 2 days.
		Thank you for your message.
	`),
	requests: lines(`
		Extract the contact.
		Extract the contact details.
		Who can be contacted, and how?
		Get the contact data from this message.
		Fill in the address book.
		Read the business card.
		Find name and numbers.
		Contact details as JSON.
		Save this contact.
		Parse the signature.
		What are the contact details?
	`),
	labels: true, least: 2, most: 6, missing: 0.06,
	wholeNames: []string{"contact", "customer", "sender", "card"},
}

// group is about several people, one object each.
func group(g *gen) Lesson {
	d := people
	n := g.between(2, 4)
	pattern := g.say(lines(`
		{name} ({age}) from {city}
		{name}, {age}, {job}
		{name} is a {job} in {city}
		{name} from {country}, {age} years old
		{name}: {job}, {email}
		{name} - {phone}
		{name} works at {employer} as a {job}
		{name}, {email}, {phone}
		{name} ({city}, {country})
		{name} is {age}
		{name} likes {hobby}
	`))
	t := told{has: map[string]bool{}}
	for _, s := range slotsOf(pattern) {
		t.has[s] = true
	}
	var parts []string
	records := make([]record, n)
	for i := range records {
		records[i] = d.record(g)
		parts = append(parts, expand(pattern, records[i]))
	}
	content := ""
	switch g.n(4) {
	case 0:
		content = strings.Join(parts, "\n")
	case 1:
		content = "- " + strings.Join(parts, "\n- ")
	case 2:
		content = strings.Join(parts[:n-1], ", ") + " and " + parts[n-1] + "."
	default:
		content = strings.Join(parts, ". ") + "."
	}
	if g.chance(0.4) {
		content = g.say(lines(`
			These people came:
			The team:
			Guests tonight:
			We have the following members.
			People on the list:
			Staff
			Here is who works with us:
		`)) + g.of([]string{" ", "\n"}) + content
	}
	forms := d.forms(g, d.ask(g, t, 4), t)
	var items []object
	for _, r := range records {
		items = append(items, g.object(fill(forms, r, t)))
	}
	return g.put(content, lines(`
		Extract all people.
		List the people in the text.
		Who is named?
		Return every person.
		Make a list of the people.
		All persons as a list.
	`), g.wrapped(array(items[0].schema, items), []string{"people", "persons", "members", "team", "staff", "guests", "entries", "results"}, strconv.Itoa(n)))
}

// wrapped puts a list into an object, mostly, now and then with its length.
func (g *gen) wrapped(o object, names []string, length string) object {
	if g.chance(0.3) {
		return o
	}
	g.style.prefix = ""
	props := []property{{key: g.style.key(g.named(names)), schema: o.schema, value: o.value, parts: o.keys}}
	if g.chance(0.15) {
		props = append(props, property{key: g.style.key(g.named([]string{"count", "total_count", "number"})), schema: plain("integer"), value: length})
	}
	return g.object(props)
}

// expand writes a pattern's slots.
func expand(pattern string, r record) string {
	for _, s := range slotsOf(pattern) {
		pattern = strings.Replace(pattern, "{"+s+"}", r[s].text, 1)
	}
	return pattern
}

// among asks for one of several people that a text is about.
func among(g *gen) Lesson {
	d := people
	d.least, d.most, d.labels = 2, 4, false
	n := g.between(2, 3)
	at := g.n(n)
	var texts []string
	var r record
	var t told
	for i := range n {
		one := d.record(g)
		about := d.tell(g, one)
		if !about.has["name"] {
			about.text = one["name"].text + ": " + about.text
			about.has["name"] = true
		}
		texts = append(texts, about.text)
		if i == at {
			r, t = one, about
		}
	}
	name := r["name"].text
	if g.chance(0.3) {
		name = r["first"].text
	}
	request := strings.ReplaceAll(g.say(lines(`
		Extract the data of {name}.
		What does the text say about {name}?
		Only {name}, please.
		Find everything about {name}.
		Who is {name}?
		Fill in the form for {name}.
		The profile of {name}
	`)), "{name}", name)
	props := fill(d.forms(g, d.ask(g, t, g.between(2, 5)), t), r, t)
	o := g.object(props)
	content := strings.Join(texts, g.of([]string{"\n", " ", "\n\n"}))
	if g.chance(0.5) {
		content += "\n" + request
	} else {
		content = request + "\n" + content
	}
	return Lesson{Chat: []Message{{"user", content}}, Schema: o.schema, Answer: o.value, Keys: o.keys}
}
