package lessons

import (
	"strconv"
	"strings"
)

// personSlots are the slots that people and contacts share.
var personSlots = []slot{
	{name: "name", typ: "string", keys: []string{"name", "full_name", "person", "customer_name", "person_name", "contact_name", "name_of_person", "complete_name", "customer", "client", "member_name", "patient_name", "employee_name", "guest_name", "name_full", "persons_name", "student", "applicant", "candidate", "who", "the_name", "user_full_name", "fullname", "display_name", "legal_name", "real_name", "contact_person", "contact_full_name", "customer_full_name", "employee_full_name", "client_name", "participant_name", "visitor_name", "applicant_name", "candidate_name", "first_and_last_name", "name_and_surname", "individual", "person_full_name", "student_name", "whole_name", "account_holder"},
		desc: []string{"The person's full name", "First and last name", "Full name as written", "Name of the person", "The name of the person as it stands in the text", "Complete name, first name and last name together", "Name of the customer or contact", "What the person is called", "The whole name of the person the text is about"},
		make: func(g *gen, r record) value { return text(g.fullName(r["pronoun"].text == "She")) }},
	{name: "first", typ: "string", keys: []string{"first_name", "given_name", "firstname", "forename", "first", "name_first", "firstName_only", "persons_first_name", "the_first_name", "christian_name", "fname", "givenname", "first_name_only", "given_name_only", "person_first_name", "customer_first_name", "contact_first_name", "user_first_name", "employee_first_name", "name_given", "forename_only", "first_given_name", "firstname_of_person", "first_name_of_person", "guest_first_name", "client_first_name"},
		desc: []string{"First name only", "The given name", "First name of the person", "The first name without the last name", "What friends call the person", "Given name, as it stands in the text", "Only the first part of the name"},
		make: func(g *gen, r record) value { f, _, _ := strings.Cut(r["name"].text, " "); return text(f) }},
	{name: "age", typ: "integer", keys: []string{"age", "age_years", "age_in_years", "years_old", "current_age", "person_age", "years", "age_of_person", "years_of_age", "how_old", "the_age", "age_number", "patient_age", "age_now", "age_in_full_years", "age_value", "years_lived", "age_years_old", "age_yrs", "years_since_birth", "user_age", "customer_age", "employee_age", "member_age", "guest_age", "client_age", "age_today", "stated_age", "age_of_customer", "age_of_patient", "age_of_employee", "full_years", "present_age", "age_at_present"},
		desc: []string{"Age in years", "How old the person is", "The age", "Age of the person in years", "How many years old the person is, according to the text", "Number of years the person has lived", "The person's age at present", "Current age of the customer or employee"},
		make: func(g *gen, r record) value { return number(g.between(1, 99)) }},
	{name: "job", typ: "string", keys: []string{"job", "occupation", "profession", "job_title", "position", "role", "work", "job_name", "current_job", "trade", "job_role", "career", "employment", "job_description", "works_as", "what_they_do", "the_job", "job_position", "professional_title", "main_job", "job_or_role", "employment_title", "work_role", "occupation_name", "occupation_title", "job_function", "vocation", "line_of_work", "current_occupation", "current_position", "current_role", "profession_name", "position_title", "professional_role", "role_title", "position_held", "day_job", "type_of_work", "kind_of_work", "working_as", "employed_as", "designation"},
		desc: []string{"What the person does for a living", "Job title", "The occupation", "The person's current job", "Occupation or profession of the person", "Role or position of the person at work", "What kind of work the person does", "The profession as named in the text"},
		make: func(g *gen, r record) value { return text(g.job()) }},
	{name: "employer", typ: "string", keys: []string{"employer", "company", "company_name", "organization", "workplace", "works_for", "employer_name", "firm", "current_employer", "organisation", "business", "works_at", "company_or_employer", "place_of_work", "firm_name", "employed_by", "current_company", "the_company", "corporation", "organization_name", "employer_company", "employing_company", "work_company", "organisation_name", "business_name", "company_or_organization", "workplace_name", "current_workplace", "employer_organization", "working_for", "org_name", "affiliation", "company_affiliation", "name_of_employer", "name_of_company", "customer_company", "contact_company", "works_for_company", "job_company"},
		desc: []string{"Company the person works for", "The employer's name", "Name of the company where the person works", "The organization that employs the person", "The firm or company the person is with", "Current employer of the person", "Company named in the text", "Company that employs the person"},
		make: func(g *gen, r record) value { return text(g.company()) }},
	{name: "city", typ: "string", keys: []string{"city", "town", "home_city", "city_name", "lives_in", "residence", "place", "location", "home_town", "city_of_residence", "where", "lives_where", "current_city", "the_city", "home_place", "place_of_residence", "city_or_town", "lives_in_city", "based_in", "office_city", "home_location", "town_name", "residential_city", "current_town", "town_of_residence", "municipality", "living_in", "living_place", "where_they_live", "address_city", "locality", "city_location", "location_city", "person_city", "customer_city", "user_city", "current_residence", "base_city", "home_base"},
		desc: []string{"City of residence", "Where the person lives", "The town", "City or town of the person", "Name of the city where the person is at home", "The city, without street or country", "Place of residence of the person", "City named in the text"},
		make: func(g *gen, r record) value { return text(g.city()) }},
	{name: "country", typ: "string", keys: []string{"country", "country_name", "nation", "home_country", "land", "country_of_residence", "country_of_origin", "home_nation", "from_country", "the_country", "which_country", "lives_in_country", "native_country", "homeland", "country_from", "person_country", "nation_name", "origin_country", "home_land", "residence_country", "address_country", "location_country", "user_country", "customer_country", "country_of_person", "country_of_home", "country_or_nation", "country_full_name"},
		desc: []string{"Country of residence", "Name of the country", "The country the person comes from", "Home country of the person", "The country, without the city", "Country named in the text", "Which country the person is from or lives in"},
		make: func(g *gen, r record) value { return text(g.country()) }},
	{name: "email", typ: "string", format: "email", keys: []string{"email", "email_address", "mail", "e_mail", "contact_email", "mail_address", "work_email", "primary_email", "mail_to", "emailaddress", "email_contact", "reply_email", "personal_email", "business_email", "e_mail_address", "the_email", "mailbox", "electronic_mail", "email_id", "user_email", "customer_email", "contact_email_address", "primary_email_address", "work_email_address", "office_email", "company_email", "person_email", "employee_email", "email_primary", "mail_id", "sender_email", "client_email", "inbox", "email_addr", "preferred_email", "private_email", "member_email", "notification_email"},
		desc: []string{"Email address", "Where to send mail", "The person's email address", "Email address of the contact", "Address for email, as it stands in the text", "Email under which the person can be reached", "Where the person reads mail"},
		make: func(g *gen, r record) value { return text(g.emailOf(r["name"].text)) }},
	{name: "phone", typ: "string", keys: []string{"phone", "phone_number", "telephone", "mobile", "tel", "contact_phone", "mobile_number", "cell_phone", "phone_no", "phonenumber", "telephone_number", "number", "call", "phone_contact", "cell", "mobile_phone", "work_phone", "phone_or_mobile", "the_phone_number", "telephone_no", "tel_number", "contact_number", "contact_phone_number", "primary_phone", "primary_phone_number", "work_phone_number", "home_phone", "office_phone", "mobile_no", "mobile_phone_number", "cell_number", "cell_phone_number", "customer_phone", "person_phone", "direct_line", "callback_number", "telephone_contact", "number_to_call", "user_phone", "business_phone", "phone_primary"},
		desc: []string{"Phone number as written", "Number to call", "Phone number of the person", "The number under which the person can be called", "Telephone or mobile number of the contact", "Number for calls, as it stands in the text", "The person's phone number"},
		make: func(g *gen, r record) value { return text(g.phone()) }},
	{name: "hobby", typ: "string", keys: []string{"hobby", "interest", "pastime", "favourite_hobby", "likes", "main_interest", "hobbies_text", "leisure", "free_time", "favorite_hobby", "spare_time", "main_hobby", "the_hobby", "leisure_activity", "enjoys", "interested_in", "hobby_name", "hobbies", "interests", "favorite_pastime", "favourite_pastime", "personal_interest", "favorite_activity", "favourite_activity", "free_time_activity", "spare_time_activity", "main_pastime", "passion", "likes_to_do", "likes_doing", "weekend_activity", "recreation", "hobby_or_interest", "leisure_interest", "leisure_pursuit"},
		desc: []string{"What the person likes to do", "A hobby", "The person's favourite hobby", "What the person does in the free time", "Hobby or interest of the person", "A pastime the person enjoys", "The hobby named in the text"},
		make: func(g *gen, r record) value { return text(g.hobby()) }},
	{name: "language", typ: "string", keys: []string{"language", "native_language", "mother_tongue", "speaks", "first_language", "spoken_language", "main_language", "home_language", "the_language", "language_spoken", "tongue", "which_language", "preferred_language", "language_name", "spoken_at_home", "primary_language", "mother_language", "native_tongue", "speaks_language", "person_language", "communication_language", "customer_language", "user_language", "language_of_person", "language_at_home", "lang", "fluent_in", "language_used", "language_preference", "native_speaker_of", "language_known"},
		desc: []string{"Language the person speaks", "The mother tongue", "Native language of the person", "The language the person speaks at home", "Name of the language", "Language in which the person can be spoken to", "The person's first language"},
		make: func(g *gen, r record) value { return text(g.language()) }},
	{name: "born", typ: "string", format: "date", keys: []string{"birth_date", "date_of_birth", "born", "birthday", "birthdate", "dob", "day_of_birth", "born_on", "date_born", "birth_day", "birth", "the_birthday", "when_born", "born_date", "birthday_date", "person_birth_date", "customer_birth_date", "patient_dob", "patient_birth_date", "employee_birth_date", "member_dob", "full_birth_date", "birthday_of_person", "date_when_born", "user_birthday", "user_dob", "applicant_dob", "guest_birthday", "birth_date_of_person", "date_of_person_birth"},
		desc: []string{"Date of birth", "The day of birth", "The person's date of birth", "Date on which the person was born", "When the person was born", "Birthday of the customer or patient", "The date of birth named in the text"},
		make: func(g *gen, r record) value { return g.date(1940, 2012) }},
	{name: "married", typ: "boolean", keys: []string{"married", "is_married", "has_spouse", "married_status", "wed", "is_wed", "married_now", "spouse", "currently_married", "is_currently_married", "marriage_status", "has_husband_or_wife", "has_wife_or_husband", "is_person_married", "person_is_married", "married_flag", "in_marriage", "is_in_marriage", "marriage", "is_married_now", "wedded", "is_wedded", "has_a_spouse", "customer_is_married", "spouse_exists"},
		desc: []string{"Whether the person is married", "True if the person is married, false if not", "Is the person married?", "Whether the person has a husband or wife", "If the person is married at present", "Says whether the person has a spouse"},
		make: func(g *gen, r record) value {
			if g.chance(0.5) {
				return value{g.of([]string{"is married", "got married last year", "is happily married", "is newly married", "married last summer", "has been married for years", "has a spouse", "tied the knot in spring", "recently got married", "is married and wears a ring", "married young and is still married", "is legally married"}), "true"}
			}
			return value{g.of([]string{"is single", "is not married", "has never married", "is not married yet", "is unmarried", "is divorced", "has no spouse", "is still single", "is engaged but not married yet", "never got married", "is not married any more", "is single and not looking"}), "false"}
		}},
	{name: "last", typ: "string", keys: []string{"last_name", "surname", "family_name", "lastname", "name_last", "persons_last_name", "family", "second_name", "name_of_family", "lname", "familyname", "last_name_only", "surname_only", "family_name_only", "person_last_name", "customer_last_name", "contact_last_name", "user_last_name", "employee_last_name", "name_family", "surname_of_person", "last_name_of_person", "family_surname"},
		desc: []string{"Last name only", "The family name", "Last name of the person", "The last name without the first name", "Family name, as it stands in the text", "Surname of the person", "Only the last part of the name"},
		make: func(g *gen, r record) value {
			name := r["name"].text
			return text(name[strings.LastIndexByte(name, ' ')+1:])
		}},
	{name: "salary", typ: "number", keys: []string{"salary", "income", "wage", "yearly_salary", "annual_income", "pay", "salary_amount", "earnings", "yearly_income", "earns", "annual_salary", "yearly_wage", "annual_pay", "annual_wage", "salary_per_year", "income_per_year", "pay_per_year", "salary_value", "compensation", "annual_compensation", "yearly_earnings", "annual_earnings", "remuneration", "wages", "current_salary", "employee_salary", "person_income", "income_amount", "earned_per_year"},
		desc: []string{"What the person earns", "Salary without currency", "Yearly salary of the person", "How much the person earns in a year", "The person's income per year", "Amount of the salary, without the currency", "Annual pay of the employee"},
		make: func(g *gen, r record) value { return number(g.between(12, 180) * g.of3(100, 500, 1000)) }},
	{name: "department", typ: "string", keys: []string{"department", "team", "division", "unit", "dept", "department_name", "team_name", "works_in", "business_unit", "office", "faculty", "department_or_team", "team_or_department", "section", "work_unit", "organizational_unit", "org_unit", "dept_name", "division_name", "unit_name", "business_area", "home_department", "assigned_team", "assigned_department", "company_department", "employee_department", "working_group", "organisational_unit", "company_unit"},
		desc: []string{"Department the person works in", "The team", "The department or team of the person", "Name of the department in the company", "Part of the company in which the person works", "Which team the person belongs to", "The unit the employee belongs to"},
		make: func(g *gen, r record) value { return text(g.department()) }},
	{name: "plan", typ: "string", keys: []string{"plan", "subscription", "tier", "membership", "plan_name", "subscription_plan", "membership_level", "package", "plan_type", "plan_tier", "plan_level", "subscription_tier", "subscription_level", "subscription_type", "account_type", "account_plan", "account_tier", "service_plan", "billing_plan", "chosen_plan", "membership_type", "membership_plan", "pricing_plan", "price_plan", "customer_plan", "package_name", "selected_plan"},
		desc: []string{"What the person pays for", "The plan", "The plan the customer is on", "Which subscription the person has", "Name of the chosen plan", "Subscription of the customer, as one of the values", "Level of the membership"}, choices: plans,
		make: func(g *gen, r record) value { return text(g.of(plans)) }},
	{name: "id", typ: "string", keys: []string{"id", "employee_id", "customer_id", "member_number", "user_id", "customer_number", "personnel_number", "id_number", "identifier", "reference_number", "record_id", "person_id", "customer_no", "employee_number", "employee_no", "staff_id", "staff_number", "member_id", "membership_number", "client_id", "client_number", "file_number", "personnel_id", "customer_code", "account_number", "account_id", "record_number", "patient_id", "external_id", "internal_id", "unique_id", "identification_number"},
		desc: []string{"Number of the person in our files", "The id", "The id of the person, as it stands in the text", "Customer or employee number", "Number under which the person is filed", "The number that identifies the person", "Identifier of the person in the system"},
		make: func(g *gen, r record) value { return text(g.code()) }},
	{name: "children", typ: "integer", keys: []string{"children", "number_of_children", "child_count", "kids", "children_count", "num_children", "kids_count", "how_many_children", "children_number", "total_children", "how_many_kids", "sons_and_daughters", "no_of_children", "num_kids", "number_of_kids", "children_total", "kid_count", "count_of_children", "amount_of_children", "offspring_count", "offspring", "kids_total", "number_of_sons_and_daughters", "children_in_family", "kids_in_family", "child_total", "children_amount", "family_children"},
		desc: []string{"How many children the person has", "The number of children", "Number of the person's children", "How many sons and daughters the person has", "How many kids there are in the family", "Count of the children named in the text"},
		make: func(g *gen, r record) value { return number(g.between(2, 9)) }},
}

var plans = words("free basic pro team premium enterprise")

// withPronoun prepends the slot on which others depend.
func withPronoun(slots []slot) []slot {
	return append([]slot{{name: "pronoun", make: func(g *gen, r record) value {
		if g.chance(0.5) {
			return text("She")
		}
		return text("He")
	}}}, slots...)
}

// only returns the slots with those names.
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
	subject:   "name",
	prefixes:  []string{"person", "employee", "member", "user", "patient", "guest"},
	slots:     withPronoun(personSlots),
	opens:     embedded("people.opens"),
	sentences: embedded("people.sentences"),
	noise:     embedded("people.noise"),
	requests:  embedded("people.requests"),
	labels:    true, least: 2, most: 7, missing: 0.09,
	wholeNames: []string{"person", "employee", "profile", "member", "user"},
}

var contacts = domain{
	subject:  "name",
	prefixes: []string{"contact", "customer", "client", "sender", "lead"},
	slots: append(withPronoun(only(personSlots, "name", "first", "last", "job", "employer", "email", "phone", "city")),
		slot{name: "street", typ: "string", keys: []string{"street", "street_address", "address", "address_line", "street_and_number", "postal_address", "home_address", "office_address", "street_name_and_number", "address_street", "mailing_address", "address_line_1", "street_and_house_number", "street_line", "address_line1", "street_line_1", "visiting_address", "business_address", "street_number_and_name", "company_address", "work_address", "physical_address", "street_with_number", "first_address_line", "street_addr", "house_and_street", "visitor_address", "home_street", "office_street", "customer_street", "building_address", "road_and_number", "company_street"},
			desc: []string{"Street and house number", "Name of the street with the house number", "The street of the address", "First line of the address, without city and postal code", "Street address of the person or company", "Street and number, as they stand in the text"}, make: func(g *gen, r record) value { return text(g.street()) }},
		slot{name: "zip", typ: "string", keys: []string{"zip", "postal_code", "postcode", "zip_code", "postal", "code", "zipcode", "post_code", "address_zip", "area_code", "postal_zip", "zip_or_postcode", "postal_number", "post_number", "address_postal_code", "address_postcode", "address_zip_code", "zip_postal", "zip_number", "pin_code", "city_zip", "city_postal_code", "city_postcode", "office_zip", "office_postcode", "home_zip", "home_postcode", "mailing_zip", "postalcode"},
			desc: []string{"Postal code", "Zip code or postal code of the address", "The code that stands with the city", "The postcode", "Postal code of the city, as it stands in the text", "Code of the place for letters"}, make: func(g *gen, r record) value { return text(g.zip()) }},
		slot{name: "site", typ: "string", keys: []string{"website", "web_site", "homepage", "url", "web_address", "site", "web", "web_page", "link", "website_url", "company_website", "internet", "company_site", "web_url", "homepage_url", "site_url", "company_url", "company_web_site", "web_link", "internet_address", "home_page", "website_link", "website_address", "online_address", "business_website", "employer_website", "site_address", "site_link", "company_homepage", "company_web_page", "organization_website", "website_of_company", "client_website", "homepage_link"},
			desc: []string{"Address on the web", "The website of the company or person", "Link to the website", "Homepage named in the text", "Where to find the company on the web", "The company's site on the internet"}, make: func(g *gen, r record) value {
				return text(g.of([]string{"www.", "https://", "https://www."}) + g.host())
			}},
	),
	opens:     embedded("contacts.opens"),
	sentences: embedded("contacts.sentences"),
	noise:     embedded("contacts.noise"),
	requests:  embedded("contacts.requests"),
	labels:    true, least: 2, most: 6, missing: 0.06,
	wholeNames: []string{"contact", "customer", "sender", "card"},
}

// group generates lessons about several people, with one object each.
func group(g *gen) Lesson {
	d := people
	n := g.between(2, 4)
	pattern := g.say(embedded("group.pattern"))
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
		content = g.say(embedded("group.content")) + g.of([]string{" ", "\n"}) + content
	}
	forms := d.forms(g, d.ask(g, t, 4), t)
	var items []object
	for _, r := range records {
		items = append(items, g.object(fill(forms, r, t)))
	}
	return g.put(content, embedded("group.request"), g.wrapped(array(items[0].schema, items), []string{"people", "persons", "members", "team", "staff", "guests", "entries", "results"}, strconv.Itoa(n)))
}

// wrapped usually puts a list into an object, sometimes with its length.
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

// expand fills a pattern's slots.
func expand(pattern string, r record) string {
	for _, s := range slotsOf(pattern) {
		pattern = strings.Replace(pattern, "{"+s+"}", r[s].text, 1)
	}
	return pattern
}

// among generates lessons that ask for one of several people in a text.
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
	request := strings.ReplaceAll(g.say(embedded("among.request")), "{name}", name)
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
