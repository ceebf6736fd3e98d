package lessons

import (
	"strconv"
	"strings"
)

// personSlots are what people and contacts have in common.
var personSlots = []slot{
	{name: "name", typ: "string", keys: []string{"name", "full_name", "person", "customer_name", "person_name", "contact_name", "name_of_person", "complete_name", "customer", "client", "member_name", "patient_name", "employee_name", "guest_name", "name_full", "persons_name", "student", "applicant", "candidate", "who", "the_name", "user_full_name"},
		desc: []string{"The person's full name", "First and last name", "Full name as written", "Name of the person"},
		make: func(g *gen, r record) value { return text(g.fullName(r["pronoun"].text == "She")) }},
	{name: "first", typ: "string", keys: []string{"first_name", "given_name", "firstname", "forename", "first", "name_first", "firstName_only", "persons_first_name", "the_first_name", "christian_name"},
		desc: []string{"First name only", "The given name"},
		make: func(g *gen, r record) value { f, _, _ := strings.Cut(r["name"].text, " "); return text(f) }},
	{name: "age", typ: "integer", keys: []string{"age", "age_years", "age_in_years", "years_old", "current_age", "person_age", "years", "age_of_person", "years_of_age", "how_old", "the_age", "age_number", "patient_age", "age_now", "age_in_full_years", "age_value", "years_lived"},
		desc: []string{"Age in years", "How old the person is", "The age"},
		make: func(g *gen, r record) value { return number(g.between(1, 99)) }},
	{name: "job", typ: "string", keys: []string{"job", "occupation", "profession", "job_title", "position", "role", "work", "job_name", "current_job", "trade", "job_role", "career", "employment", "job_description", "works_as", "what_they_do", "the_job", "job_position", "professional_title", "main_job", "job_or_role"},
		desc: []string{"What the person does for a living", "Job title", "The occupation"},
		make: func(g *gen, r record) value { return text(g.job()) }},
	{name: "employer", typ: "string", keys: []string{"employer", "company", "company_name", "organization", "workplace", "works_for", "employer_name", "firm", "current_employer", "organisation", "business", "works_at", "company_or_employer", "place_of_work", "firm_name", "employed_by", "current_company", "the_company", "corporation", "organization_name"},
		desc: []string{"Company the person works for", "The employer's name"},
		make: func(g *gen, r record) value { return text(g.company()) }},
	{name: "city", typ: "string", keys: []string{"city", "town", "home_city", "city_name", "lives_in", "residence", "place", "location", "home_town", "city_of_residence", "where", "lives_where", "current_city", "the_city", "home_place", "place_of_residence", "city_or_town", "lives_in_city", "based_in", "office_city"},
		desc: []string{"City of residence", "Where the person lives", "The town"},
		make: func(g *gen, r record) value { return text(g.city()) }},
	{name: "country", typ: "string", keys: []string{"country", "country_name", "nation", "home_country", "land", "country_of_residence", "country_of_origin", "home_nation", "from_country", "the_country", "which_country", "lives_in_country"},
		desc: []string{"Country of residence", "Name of the country"},
		make: func(g *gen, r record) value { return text(g.country()) }},
	{name: "email", typ: "string", format: "email", keys: []string{"email", "email_address", "mail", "e_mail", "contact_email", "mail_address", "work_email", "primary_email", "mail_to", "emailaddress", "email_contact", "reply_email", "personal_email", "business_email", "e_mail_address", "the_email", "mailbox", "electronic_mail"},
		desc: []string{"Email address", "Where to send mail"},
		make: func(g *gen, r record) value { return text(g.emailOf(r["name"].text)) }},
	{name: "phone", typ: "string", keys: []string{"phone", "phone_number", "telephone", "mobile", "tel", "contact_phone", "mobile_number", "cell_phone", "phone_no", "phonenumber", "telephone_number", "number", "call", "phone_contact", "cell", "mobile_phone", "work_phone", "phone_or_mobile", "the_phone_number", "telephone_no", "tel_number"},
		desc: []string{"Phone number as written", "Number to call"},
		make: func(g *gen, r record) value { return text(g.phone()) }},
	{name: "hobby", typ: "string", keys: []string{"hobby", "interest", "pastime", "favourite_hobby", "likes", "main_interest", "hobbies_text", "leisure", "free_time", "favorite_hobby", "spare_time", "main_hobby", "the_hobby", "leisure_activity", "enjoys", "interested_in"},
		desc: []string{"What the person likes to do", "A hobby"},
		make: func(g *gen, r record) value { return text(g.hobby()) }},
	{name: "language", typ: "string", keys: []string{"language", "native_language", "mother_tongue", "speaks", "first_language", "spoken_language", "main_language", "home_language", "the_language", "language_spoken", "tongue", "which_language"},
		desc: []string{"Language the person speaks", "The mother tongue"},
		make: func(g *gen, r record) value { return text(g.language()) }},
	{name: "born", typ: "string", format: "date", keys: []string{"birth_date", "date_of_birth", "born", "birthday", "birthdate", "dob", "day_of_birth", "born_on", "date_born", "birth_day", "birth", "the_birthday", "when_born"},
		desc: []string{"Date of birth", "The day of birth"},
		make: func(g *gen, r record) value { return g.date(1940, 2012) }},
	{name: "married", typ: "boolean", keys: []string{"married", "is_married", "has_spouse", "married_status", "wed", "is_wed", "married_now", "spouse"},
		desc: []string{"Whether the person is married"},
		make: func(g *gen, r record) value {
			if g.chance(0.5) {
				return value{g.of([]string{"is married", "got married last year", "is happily married"}), "true"}
			}
			return value{g.of([]string{"is single", "is not married", "has never married"}), "false"}
		}},
	{name: "last", typ: "string", keys: []string{"last_name", "surname", "family_name", "lastname", "name_last", "persons_last_name", "family", "second_name", "name_of_family"},
		desc: []string{"Last name only", "The family name"},
		make: func(g *gen, r record) value {
			name := r["name"].text
			return text(name[strings.LastIndexByte(name, ' ')+1:])
		}},
	{name: "salary", typ: "number", keys: []string{"salary", "income", "wage", "yearly_salary", "annual_income", "pay", "salary_amount", "earnings", "yearly_income", "earns"},
		desc: []string{"What the person earns", "Salary without currency"},
		make: func(g *gen, r record) value { return number(g.between(12, 180) * g.of3(100, 500, 1000)) }},
	{name: "department", typ: "string", keys: []string{"department", "team", "division", "unit", "dept", "department_name", "team_name", "works_in", "business_unit", "office", "faculty"},
		desc: []string{"Department the person works in", "The team"},
		make: func(g *gen, r record) value { return text(g.department()) }},
	{name: "plan", typ: "string", keys: []string{"plan", "subscription", "tier", "membership", "plan_name", "subscription_plan", "membership_level", "package"},
		desc: []string{"What the person pays for", "The plan"}, choices: plans,
		make: func(g *gen, r record) value { return text(g.of(plans)) }},
	{name: "id", typ: "string", keys: []string{"id", "employee_id", "customer_id", "member_number", "user_id", "customer_number", "personnel_number", "id_number", "identifier", "reference_number", "record_id", "person_id"},
		desc: []string{"Number of the person in our files", "The id"},
		make: func(g *gen, r record) value { return text(g.code()) }},
	{name: "children", typ: "integer", keys: []string{"children", "number_of_children", "child_count", "kids", "children_count", "num_children", "kids_count", "how_many_children", "children_number", "total_children", "how_many_kids", "sons_and_daughters"},
		desc: []string{"How many children the person has"},
		make: func(g *gen, r record) value { return number(g.between(2, 9)) }},
}

var plans = words("free basic pro team premium enterprise")

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
		{name} is {age}, lives in {city} and works as a {job}.
		{name}, a {age}-year-old {job} from {city}, works for {employer}.
		{name} is a {age}-year-old {job}.
		{name} ({email}) is on the {plan} plan.
		Customer {name}, {age}, has chosen the {plan} plan.
		{name} signed up for the {plan} plan today.
		{name} has moved from the {department} team to {employer}.
		{job} {name} lives in {city} with {children} children.
		The {department} department welcomes {name}, our new {job}.
		In {city} lives {name}, a {job} of {age} years.
		I spoke with {name} from {city} today.
		{name} (born {born}) comes from {country}.
		{name}, {job} at {employer}, can be reached at {email}.
		You asked about {name}: {age} years old, {job}, lives in {city}.
		Employee {id}: {name}, {job}.
		Say hello to {name}, who joined {employer} as a {job}.
		After ten years at {employer}, {name} is still a {job}.
		Here is {name}, {age} years old, from {country}.
		Her name is {name}.
		A {job} named {name} lives in {city}.
		The new {job} is {name}.
		{name} of {city} is {age} today.
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
		{who} celebrated birthday number {age}.
		{who} will soon be older than {age}.
		At the age of {age}, {who} feels young.
		For a living, {who} is a {job}.
		{who} found a job as a {job}.
		{who} trained as a {job}.
		{who}'s job is {job}.
		Profession: {job}.
		{who} makes money as a {job}.
		{who} has a position at {employer}.
		{who}'s company is {employer}.
		{who} started at {employer} this spring.
		The firm {employer} pays the salary.
		{who} is with {employer}.
		{who} has settled in {city}.
		{who} has lived in {city} for years.
		{who}'s home town is {city}.
		{who} is at home in {city}.
		You will find {who} in {city}.
		{who} lives near {city}.
		{who} resides in {city}, {country}.
		{who} was raised in {country}.
		{who}'s country is {country}.
		Originally {who} is from {country}.
		Contact: {email}
		Mail: {email}
		Reach {who} by email: {email}.
		Send questions to {email}.
		{who} answers mail sent to {email}.
		{who} uses the address {email}.
		Dial {phone} to speak to {who}.
		Phone {phone}
		Telephone: {phone}
		{who} has the number {phone}.
		Text {who} at {phone}.
		{who}'s hobby is {hobby}.
		In free time {who} goes for {hobby}.
		{who} is a fan of {hobby}.
		Nothing beats {hobby}, says {who}.
		{who} relaxes with {hobby}.
		{who}'s first language is {language}.
		{who} talks {language} at home.
		{who} was born in the night of {born}.
		Born: {born}
		Born on {born}, {who} likes to celebrate.
		{who} is on the {plan} plan.
		{who} pays for the {plan} plan.
		{who} chose the {plan} tier.
		The subscription is {plan}.
		Plan: {plan}
		{who} has a {plan} account.
		{who} works in {department}.
		{who} belongs to the {department} department.
		{who} leads the {department} team.
		Department: {department}
		{who} earns {salary} euros a year.
		{who} makes {salary} a year.
		The salary is {salary}.
		Yearly pay: {salary} dollars.
		{who}'s number in our files is {id}.
		Customer number {id}.
		ID: {id}
		{who} has the employee number {id}.
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
	labels: true, least: 2, most: 7, missing: 0.09,
	wholeNames: []string{"person", "employee", "profile", "member", "user"},
}

var contacts = domain{
	subject:  "name",
	prefixes: []string{"contact", "customer", "client", "sender", "lead"},
	slots: append(withPronoun(only(personSlots, "name", "first", "last", "job", "employer", "email", "phone", "city")),
		slot{name: "street", typ: "string", keys: []string{"street", "street_address", "address", "address_line", "street_and_number", "postal_address", "home_address", "office_address", "street_name_and_number", "address_street", "mailing_address", "address_line_1"},
			desc: []string{"Street and house number"}, make: func(g *gen, r record) value { return text(g.street()) }},
		slot{name: "zip", typ: "string", keys: []string{"zip", "postal_code", "postcode", "zip_code", "postal", "code", "zipcode", "post_code", "address_zip", "area_code"},
			desc: []string{"Postal code"}, make: func(g *gen, r record) value { return text(g.zip()) }},
		slot{name: "site", typ: "string", keys: []string{"website", "web_site", "homepage", "url", "web_address", "site", "web", "web_page", "link", "website_url", "company_website", "internet"},
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
		Contact {name} ({job}) at {email} or {phone}.
		{name} | {job} | {employer} | {phone} | {email}
		Hi, {name} here, my number is {phone}.
		For orders, write to {name}: {email}.
		Please call {name} back, {phone}.
		{name} of {employer} wants an offer, {email}.
		New lead: {name}, {employer}, {city}.
		The person to ask is {name}, phone {phone}.
		Message from {name} ({employer}): please call {phone}.
		Regards, {name}, {job}, {employer}, {phone}
		Talk to {name} in {city}.
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
		Role: {job}
		Mail {email}
		Drop a line to {email}.
		Our email is {email}.
		Direct line: {phone}
		Fax and phone: {phone}
		The line {phone} is open all day.
		Give {who} a call: {phone}.
		Reply to {email}, please.
		My office phone is {phone}.
		I work for {employer}.
		On behalf of {employer}
		{who} answers for {employer}.
		I am {job} at {employer}.
		Online: {site}
		Visit {site}.
		All prices are at {site}.
		Post: {street}, {city}
		We moved to {street}, {zip} {city}.
		Visitors come to {street}.
		The office is in {city}.
		{city}, {zip}
		Zip code: {zip}
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
	t = t.derived()
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
			about = about.derived()
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
