package lessons

import (
	"strconv"
	"strings"
)

// personSlots are what people and contacts have in common.
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
		{name} turned {age} <last week|yesterday|on Sunday|this month>.
		<Have you met|Do you know|Do you remember> {name}, the {job} <from|in> {city}?
		Dear <all|team|colleagues>, please welcome {name}, our new {job}.
		I <am writing|want to write|would like to talk> about {name}, a {job} <at|with> {employer}.
		<Profile|Member profile|Portrait|Person>: {name}
		<Full name|The name is|Name of the person>: {name}
		{name} <grew up|was raised> in {country} and is now a {job} in {city}.
		{name}, a {job} <working|employed> at {employer}, <called|wrote|came by> this morning.
		<Today's guest is|Our guest today is|On the show today:> {name}, {job}.
		<Interview with|A talk with|Lunch with|News from> {name}, {job} at {employer}
		{name} is <the new|our new|a new> {job} at {employer}.
		{name} <has just started|just started|recently started> as a {job} at {employer}.
		hi my name is {name} and i live in {city}
		hey, i'm {name}, {age}, from {country}
		Hello <everyone|everybody|all>! I am {name} and I work <for|at> {employer}.
		Hello, my name is {name}. I <come|am> from {country} and I speak {language}.
		I'm {name} and I <love|really like|am into> {hobby}.
		Name {name}, age {age}, city {city}
		{name}, {age}, {country}
		{name} / {job} / {city}
		{name} - {job}, {employer}
		New <member|user|customer|employee|patient>: {name}, <born|born on|date of birth> {born}.
		<Customer|Member|User|Patient> {name} (<id|no.|number> {id}) <called|wrote to us|came in> today.
		<Patient|Guest|Applicant|Student>: {name}, <age|aged> {age}
		<Applicant|Candidate>: {name}, currently {job} at {employer}
		{name} <asked|has asked> for a room and lives in {city} at the moment.
		We are <happy|pleased|proud|glad> to announce that {name} is joining {employer} as a {job}.
		{name} from the {department} <team|department> <is on holiday|sits next door|will help you>.
		Please ask {name} from the {department} <department|team|office>.
		{name} and {children} <children|kids> live in {city}.
		{name}, parent of {children} <children|kids>, <works|has a job> as a {job}.
		<According to the paper|As you may know|As I heard>, {name} lives in {city} and works as a {job}.
		It was {name}, a {job} from {city}, who <opened the door|told us this story|found the keys|won the prize>.
		<Last night|Last week|On Monday|At the party> I <met|talked to|sat next to> {name}, a {job} from {country}.
		You <should|must|have to> meet {name}, who <loves|enjoys|is into> {hobby}.
		There is a new <face|colleague|member> in the {department} team: {name}.
		{employer} has <a new colleague|welcomed a new face|found somebody new>: {name}, {age}.
		At {employer}, everybody knows {name}, the {job}.
		When {name} is not at work at {employer}, {hobby} fills the day.
		{name} <speaks|is fluent in> {language} and works as a {job}.
		{name} was born on {born} <at home|in a small hospital|on a cold night>.
		<Born on|Born|Birthday> {born}: {name}
		On {born}, {name} was born in {country}.
		{name} <earns|makes> {salary} a year <at|with> {employer}.
		{name} {married} and lives in {city}.
		{name} {married} and is {age} years old.
		Subscriber {name} <is|has been> on the {plan} plan<| for a while| since spring>.
		{name} <upgraded|switched|moved> to the {plan} plan <today|last month|this week>.
		Account of {name}, {plan} plan, {email}
		<Ticket|Request|Account|Case> opened by {name} ({email}).
		{name} can be <reached|called|contacted> on {phone}.
		Contact details of {name}: {email}, {phone}
		The story <starts|begins> with {name}, a {job} <of|aged> {age}.
		Once again {name} from {city} has won the <race|prize|cup|lottery>.
		{name}, <who is|now> {age}, has lived in {city} for <years|a long time|ages>.
		A <letter|postcard|message|parcel> came from {name} in {city}, {country}.
		<My neighbour|My friend|My colleague|My cousin|My boss> {name} is a {job}.
		<My neighbour|My friend|An old friend>, {name}, is {age} and loves {hobby}.
		<Guess what|Did you hear the news>? {name} <moved|has moved> to {city}.
		<Who is|Have you heard of> {name}? A {job} from {country}.
		<Staff|Personnel|Employee> <file|record|list>: {name}, {department}
		{name}, staff number {id}, <works|sits> in {department}.
		Meeting notes: {name} ({job}, {employer}) <was there|took part|came late>.
		Thanks to {name}, a {job} at {employer}, <the problem was solved|everything went well|we found the error>.
		{name} - {age} - {job} - {city}
		At home in {city}, {name} <enjoys|spends the evening with|finds time for> {hobby}.
		Next to me sat {name}, a {job} from {city}.
		{employer} welcomed {name}, {age}, as a {job}.
		The <race|lottery> was won by {name}, {age}, from {city}.
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
		{who} <just|recently|has just|has now> turned {age}.
		Age <today|now|at present>: {age}
		How old is {who}? <Exactly|Just|Only> {age}.
		{who} is <only|just|already> {age}< years old| years of age|>.
		{who} <gave an age of|stated an age of|says the right age is> {age}.
		The <file|form|paper> <says|states|shows> that {who} is {age}< years old| years of age|>.
		Believe it or not, {who} is {age}.
		{who} looks younger but is {age}< years old|>.
		According to the <form|papers|passport>, {who} is {age} <years old|years of age>.
		There were {age} candles on {who}'s birthday cake <this week|on Sunday|yesterday>.
		At {age}, {who} <is full of energy|still learns something new every day|has many plans>.
		Despite being {age}, {who} <runs up the stairs|sleeps very little|is never tired>.
		{age} years <old|of age>
		Aged {age}
		{who} makes a living as a {job}.
		By <trade|training|education>, {who} is a {job}.
		What does {who} do for a living? <Works|Has a job> as a {job}.
		{who} is <currently|now|presently> working as a {job}.
		<Occupation|Job|Job title|Works as>: {job}
		{who} got a job as a {job} <last month|this summer|not long ago>.
		{who} is <proud|glad|happy> to be a {job}.
		Every day {who} goes to work as a {job}.
		{who} has <a job|work> as a {job}<| and likes it| and would not change it>.
		<Friends|Colleagues|Neighbours> know that {who} is a {job}.
		{who} has found the perfect job: {job}.
		On the form, under <job|occupation|profession>, it says {job}.
		Did you know that {who} is a {job}?
		{who} always wanted to be a {job} and <now is one|made it>.
		Working as a {job} is what {who} does <best|all day|for a living>.
		{who} learned the trade and now works as a {job}.
		{who} is on the <staff|payroll> of {employer}.
		{who}'s <employer|workplace|firm> is {employer}.
		<Employer|Works for|Company name|Workplace>: {employer}
		{who} has a <desk|job|contract> at {employer}.
		{who} has been <with|at|working for> {employer} <for a long time|since spring|for years>.
		{who} <took|accepted|got> a job at {employer}.
		{who} was <hired|employed|taken on> by {employer}.
		{who} is part of the <staff|crew|workforce> at {employer}.
		At {employer}, {who} is <well liked|known as a hard worker|one of the best>.
		{who} draws a salary from {employer}.
		If you work at {employer} too, {who} is your colleague.
		{who} left the old firm and now works for {employer}.
		Where does {who} work? At {employer}.
		Every morning {who} drives to work at {employer}.
		{who} has an apartment in {city}.
		{who} <calls {city} home|has {city} as a home|made {city} a home>.
		{who} <found a house|rents a room|owns a house|bought a place> in {city}.
		<Home town|Town|Residence|Place of residence|Lives in>: {city}
		{who} <settled down|has been living|is living|has found a new home> in {city}.
		{who} lives in {city} and never wants to <leave|move again|live anywhere else>.
		Where does {who} live? In {city}.
		{who} left the <village|countryside> and moved to {city}.
		Last I heard, {who} was living in {city}.
		{who} lives <near the station|by the river|near the park|downtown> in {city}.
		Currently <residing|living> in {city}
		{who} <is|has been> a resident of {city}<| for a long time| for years>.
		As far as I know, {who} still lives in {city}.
		{who} comes home to {city} every evening.
		The rent in {city} is high, but {who} lives there <anyway|gladly>.
		{who} shares a flat in {city} with <friends|two cats|an old dog>.
		{who} is a citizen of {country}.
		{who} <has|holds|carries> a passport from {country}.
		<Native country|Home country|From>: {country}
		{who}'s <home|native|own> country is {country}.
		{who} <grew up|spent a happy childhood> in {country}.
		Back home in {country}, {who} was <well known|known to everyone>.
		{who} is proud to be from {country}.
		Which country is {who} from? {country}.
		{who} often <thinks|dreams> of {country}, the old home.
		{who} misses {country}, the <old home|home country>.
		{who} <lives|is living|resides> in {country}.
		{who} is a native of {country}.
		{who} comes <all the way|originally> from {country}.
		{who} <is reachable|is best reached|can be contacted> <at|under> {email}.
		<Messages|Mails|Invitations> for {who} <go to|should go to|may be sent to> {email}.
		The <best|easiest|quickest> way to reach {who} is {email}.
		{who} <checks|looks at> {email} <every day|twice a day|each morning>.
		To reach {who}, <use|try|write to|send a mail to> {email}.
		{who}'s <inbox|mailbox> is {email}.
		<Questions|Comments|Replies> to {email}<, please|>
		If you have questions, <email|write to|contact> {email}.
		{who} left an email address: {email}.
		Any <news|photos> for {who}? Send them to {email}.
		For <details|more|anything else>: {email}
		{who} <gave|left|wrote down> {email} as the <email address|address to write to>.
		{who} prefers <email|mail|written messages>: {email}
		<You may|You can also> write an email to {email}.
		<E-mail address|Email address|Mail address>: {email}
		{who} is online a lot and answers at {email}.
		{who} <is available|can be reached|is reachable> <on|under> {phone}.
		<Tel|Cell|Phone no.|Mobile number>: {phone}
		If it is urgent, <call|ring|phone|dial> {phone}.
		{who} <picks up|answers> the phone at {phone}.
		To talk to {who}, <call|ring|dial|phone> {phone}.
		{who} left {phone} as a number to call back.
		{who} <gave us|left> the number {phone}<| for urgent cases| for calls>.
		{who}'s <mobile|cell|cell phone|telephone> is {phone}.
		{who}'s <telephone|cell|mobile|contact> number is {phone}.
		Just <ring|dial|try> {phone} <any time|after work|in the morning>.
		Reach {who} by phone <on|at|under> {phone}.
		You can text {who} <at|on|under> {phone}.
		The number to <call|ring|dial> is {phone}.
		Call {phone} and {who} will <answer|pick up|be there>.
		For calls and texts: {phone}
		{who} is <crazy|mad|passionate> about {hobby}.
		{who} <really|simply|truly> <loves|enjoys|adores> {hobby}.
		<Hobby|Interests|Free time|Likes>: {hobby}
		{who}'s <favourite pastime|favorite hobby|big passion|main interest> is {hobby}.
		<After work|On Sundays|At the weekend|On rainy days|In summer>, {who} <has time for|turns to|is busy with> {hobby}.
		When there is time, {who} <likes|enjoys> {hobby}.
		{who} <cannot get enough of|never gets tired of|could not live without> {hobby}.
		{who} joined a club for {hobby}.
		{who} is <keen on|interested in|into|fond of> {hobby}.
		What does {who} do <for fun|in the evening|after work>? Mostly {hobby}.
		{who} took up {hobby} <as a child|at school|years ago>.
		For {who}, there is nothing <better|nicer> than {hobby}.
		{who} talks about {hobby} all the time.
		{who} spends <every free hour|all free time|many evenings|hours> on {hobby}.
		If there is one thing {who} <loves|likes>, it is {hobby}.
		{who} <speaks fluent|is fluent in|grew up speaking|is a native speaker of> {language}.
		<Language|Mother tongue|Speaks|Native language>: {language}
		{who} <thinks|dreams|counts|sings> in {language}.
		With friends {who} <speaks|talks in|uses> {language}.
		{who}'s <native|main|home|everyday> language is {language}.
		It is best to speak {language} with {who}.
		Which language does {who} speak? {language}.
		{who} prefers to <speak|talk in|be spoken to in> {language}.
		At the table, {who} and the family speak {language}.
		{who} learned {language} as a <baby|small child>.
		{who} would like to be <written to|spoken to> in {language}.
		{who} answers in {language} when asked.
		{who} knows {language} <from home|very well>.
		{who} <came into the world|saw the light of day> on {born}.
		<DOB|Birth date|Birthday|Birth>: {born}
		The <passport|form|register> gives {born} as <the date of birth|the birthday>.
		{who}'s <date of birth|birth date> is {born}.
		{born} is {who}'s <birthday|date of birth|birth date>.
		{who} <entered|gave|wrote down> {born} as <date of birth|the birthday>.
		On {born}, {who} was born<| at home| early in the morning| in a small hospital>.
		When was {who} born? On {born}.
		{who} was born <early|late> on {born}.
		According to the <records|papers|files>, {who} was born on {born}.
		Mother and child were well when {who} was born on {born}.
		{who} has been around since {born}.
		As far as <we|I> know, {who} {married}.
		By the way, {who} {married}.
		The <file|form|letter> says that {who} {married}.
		<Family|Private life|Status>: {who} {married}.
		I <heard|read|was told> that {who} {married}.
		{who} {married}, <in case you wonder|as everybody knows|by the way>.
		<Everybody knows|It is known|No secret> that {who} {married}.
		<Please note|Note|It is true> that {who} {married}.
		{who} <is paid|gets|receives> {salary} <a year|per year|every year>.
		<Salary|Pay|Income|Yearly income|Annual salary>: {salary}
		{who}'s <salary|pay|income|yearly salary> is {salary}<| a year| per year>.
		The job pays {salary} <a year|per year|euros a year>.
		{who} has a contract for {salary}< euros| dollars|> a year.
		At work {who} <makes|earns> {salary} a year.
		The yearly <income|wage|pay> comes to {salary}.
		On paper {who} earns {salary}< euros| dollars| pounds|> a year.
		How much does {who} earn? {salary} <a year|per year>.
		With {salary} a year, {who} <can live well|has enough to live on|does not complain>.
		After <long talks|the last raise|the review>, {who} now <earns|gets|makes> {salary} a year.
		{who} told <the bank|the tax office> about an income of {salary} a year.
		{who} <is in|is part of|sits in|is a member of> the {department} <team|department|unit>.
		<Team|Unit|Division|Dept.>: {department}
		{who} <runs|heads|manages|supports|joined> the {department} <department|team|unit>.
		{who}'s <team|department|unit> is {department}.
		You will find {who} in the {department} <department|office>.
		{who} moved to the {department} <department|team>.
		The {department} <team|department> is where {who} <works|belongs|has a desk>.
		{who} was <assigned|transferred|sent> to the {department} department.
		{who} has a desk in the {department} <office|department>.
		{who} <is responsible for|takes care of|looks after> {department} <at the company|in the office|here>.
		Ask in the {department} department for {who}.
		{who} reports to the head of {department}.
		{who} <uses|has|is using|asked for|picked|took> the {plan} plan.
		<Subscription|Membership|Tier|Account type>: {plan}
		{who} has <upgraded|switched|changed> to the {plan} plan.
		{who}'s <plan|subscription|account|membership> is {plan}.
		{who} is a {plan} <customer|user|member|subscriber>.
		{who} is subscribed to {plan}.
		The account <runs|is> on the {plan} plan.
		{who} <stays|is still|remains> on the {plan} plan.
		{who} <booked|ordered|selected> the {plan} <package|plan>.
		Which plan does {who} have? The {plan} one.
		{who} is happy with the {plan} <plan|subscription|membership>.
		Of all the plans {who} <picked|chose|wanted> {plan}.
		{who} <is listed|is filed|can be found> under {id}<| in our system| in our files>.
		{who}'s <id|customer number|member number|employee number|user id> is {id}.
		<Employee|Member|User|File> <number|no.|id>: {id}
		In our <records|files|system|database> {who} has the <number|id|code> {id}.
		Please <quote|use|give> the <id|number> {id} <in every letter|when you write|when calling>.
		{who} is registered <as|under|with> {id}.
		{who} logged in with the id {id}.
		The badge <says|reads|shows> {id}.
		{who} wears a badge with the number {id}.
		<File|Card|Record> {id} belongs to {who}.
		<Reference number|Record|Membership card> {id}
		The reference is {id}.
		{who} was given the <number|id|code> {id}.
		{who} is <a proud|the|a> parent of {children}< children| kids|>.
		<Children|Kids|Number of children>: {children}
		{who} <raised|brought up|is raising> {children} <children|kids>.
		There are {children} <children|kids|little ones> in {who}'s <family|house|home>.
		{who} has a <big|large|happy|noisy> family with {children} <children|kids>.
		{who} is proud of all {children} <children|kids|sons and daughters>.
		How many children does {who} have? {children}.
		With {children} <kids|children> at home, {who} <is never bored|has little time|sleeps very little>.
		{who}'s {children} <children|kids> <go to school|are at home|play in the garden|keep the house noisy>.
		All {children} of {who}'s <children|kids> <can swim|like school|are well>.
		Family: {children} <children|kids>
		{who} came with all {children} <children|kids>.
		{who} is {age} and <lives|is at home|has a flat> in {city}.
		{who} is a {job}, {age} years old.
		{who} is {age}, works as a {job} and <likes|loves|enjoys> {hobby}.
		{who} works for {employer} in the {department} <department|team>.
		{who} earns {salary} a year as a {job}.
		{who} speaks {language} and <comes|is> from {country}.
		{who} was born on {born} and <grew up|was raised> in {country}.
		{who} has {children} <children|kids> and works as a {job}.
		{who} lives in {city} and works <for|at> {employer}.
		<Call|Phone|Ring> {phone} or <mail|email|write to> {email}.
		<Contact details|Reachable at|Details>: {email}, {phone}
		{who} moved from {country} to {city}.
		{who} is a {job} in the {department} department of {employer}.
		Outside work, {who} <enjoys|likes> {hobby}, and at home it is all {language}.
		{who} <pays for|uses> the {plan} plan under the number {id}.
		Account {id}, {plan} plan
		{who} {married} and lives in {city}.
		{who} {married} and works as a {job}.
		{who} {married}, has {children} <kids|children> and lives in {city}.
		Born on {born} in {country}, {who} now works <for|at> {employer}.
		{age} years, {job}, {city}
		{city}, {country}
		{who} <pays for|has> a {plan} account with the email {email}.
		{who} likes {hobby}, speaks {language} and lives in {city}.
		{who} (<id|no.|number> {id}) works in {department}.
		As a {job} at {employer}, {who} <earns|makes> {salary} a year.
		{who} lives with {children} <children|kids> in a <small|big|bright> <flat|house> in {city}.
		{who} finds {hobby} <wonderful|great fun|relaxing>.
		{who} drives home to {city} <after work|at night>.
		{who}'s apartment is in {city}.
		{who} sings and writes in {language}.
		On {born}, {who} saw the <light of day|world> for the first time.
		Since the raise, {who} earns {salary} a year.
		{who} is busy raising {children} <children|kids>.
		{who} brought all {children} <children|kids> along.
		In {who}'s large and noisy family, {children} <children|kids> play and keep everyone awake.
		On <weekends|most weekends> it is {hobby} for {who}.
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
		The <bus|train|flight|ferry> to Madrid left at <7:40|9:15|half past six>.
		The <dog|cat> is called Biscuit.
		Outside it was <raining|snowing|getting dark|warm and sunny>.
		It <rained|snowed> all <day|morning|night>.
		The soup was <too hot|cold|excellent>.
		The book has <120|240|300> pages.
		The <meeting|talk|call> <was short|lasted 20 minutes|took longer than planned|was moved to Friday>.
		See you <soon|tomorrow|on Monday|next time>.
		Have a <nice|good|great> <day|weekend|evening>!
		The <list|form|file> was <updated|printed|checked> <on Tuesday|last night|again today>.
		<No|There is no> further information <for now|at the moment>.
		<Lunch|Dinner|Breakfast> was served at <noon|8|12:30>.
		The shop in Marseille sold 40 lamps.
		The <road|bridge|tunnel> is closed until <spring|further notice|Thursday>.
		This <form|page|note> was filled in by hand.
		The <printer|lift|coffee machine> is broken <again|since Monday>.
		<Around|About|More than> 200 guests came to the party.
		Tickets cost 15 <euros|dollars|pounds>.
		The <house|school|church> was built in <1911|1874|1960>.
		Room 14 is on the <first|second|third> floor.
		<That is all|That was all|Nothing else> for today.
		Many thanks for your <patience|help|time|reply>.
		The coffee there is <famous|terrible|very good>.
		An umbrella was left <in the hall|by the door|on the bus>.
		The <results|answers|photos> will be <published|sent|ready> <next week|in two weeks|soon>.
		The story was in <all the papers|the news|the local paper>.
		Page <2|3|4> of 5
		(<translated|copied|scanned> from the original)
		<Draft|Internal|Confidential|For internal use only>
		The <garden|market|harbour|park> is <beautiful|quiet|full of people> in <May|summer|autumn>.
		The car broke down <twice|three times> on the way.
		The <band|choir|orchestra> played until midnight.
		<Nothing|Not much> has changed since <then|last year>.
		It is <hard to believe|a long story|no secret>.
		There is <plenty of|not much|no> <room|time|food> left.
		The <rest|end> of the letter is <missing|hard to read|torn off>.
		Everything else is <on the next page|in the file|well known>.
		The parking fee is 4.50 an hour.
		Bring <warm clothes|a pen|your own cup>, please.
		Version 2, <last changed|printed|saved> on a <Monday|Friday>
		We <laughed|sang|danced> <a lot|all evening|until late>.
		It <is|was> a <long|busy|quiet|strange> <day|week|year>.
		The dog answers to the name Biscuit.
		In the morning it <rained|snowed> a little.
		A <band|small orchestra> played <old songs|very well> <until midnight|at the end>.
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
		<Extract|Get|Pull|Collect|Take> the <person's|personal> <data|details|information> <from the text|from this text|out of the text|below>.
		What do we know about <the person|this person|him or her>?
		<Summarize|Summarise|Describe> the person as <JSON|data|a record>.
		<Convert|Turn|Change|Transform> the <text|note|message|following> into <JSON|a JSON object|structured data>.
		<Return|Give me|Output|Print> <only|just> the <JSON|JSON object|data>.
		Fill the fields <from the text|with what the text says|with what is said>.
		Complete the <form|profile|record|template> <with the text|using the text|from the note>.
		I need a <record|profile|file> of <the person|this person>.
		<Create|Make|Write> a <profile|record|file|card> <for|of> the person <in the text|described|mentioned>.
		Which <facts|details|data> about the person <are given|does the text give|are in the text>?
		Please <read|go through|look at> the <text|note> and <fill in the fields|answer as JSON|give the data|extract the fields>.
		<Person|Personal data|Details|Data|Fields>:
		Describe the person with these <fields|properties|keys>.
		<Answer|Reply|Respond> with the <person's data|details of the person|fields|requested data>.
		<Put|Write> the <facts|information|data> about the person into the <schema|form|fields>.
		<Can|Could> you <get|find|extract> the <details|data> of the person<| for me>?
		What is said about the person <here|in this text|below>?
		<Analyse|Analyze|Process|Evaluate> the <text|note|message>.
		<JSON please|As JSON, please|JSON only>
		<Use|Take|Write> null <if|when> something is <missing|not said|not given>.
		Structured data from <this note|this text|the message>, please.
		Look for <name, age and the like|the person's details|facts about the person>.
		Read the text and <tell me|answer> <who it is about|who this is>.
		Get me <everything|all> about the <person|customer|employee>.
		<Data|Information> extraction
		Identify the person and <their|the> details.
		<Parse|Scan|Read> <it|this note|this message|the profile>.
		Enter the person into the <database|system|register|CRM>.
		New <record|entry|profile> from this <text|note|message>:
		<Record|Note down|Register> what is <known|said|written> about the person.
		Please transform this into <JSON|a record>.
		Answer as the schema <says|wants>.
	`),
	labels: true, least: 2, most: 7, missing: 0.09,
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
		<Hi|Hello|Dear> <all|team|colleagues>, please <note|save> the new address of {name}: {email}.
		<You may|You can|Feel free to> <contact|write to|email> {name} at {email}.
		<Contact person|Your contact|Contact name|Main contact>: {name}
		<Name|Full name>: {name}, <phone|tel|telephone>: {phone}
		<Kind|Warm|With kind|With best> regards, {name}, {job}
		<Cheers|Thanks|Yours sincerely|Sincerely|Many thanks|All the best>, {name}, {phone}
		<Thanks|Cheers|Yours>, {name} ({employer})
		{name}, {employer}, {city}
		{name}, {street}, {zip} {city}
		{name} - {job} - {employer} - {email}
		{name} / {employer} / {phone}
		{name} ({employer}), {email}, {site}
		Business card: {name}, {job}, {employer}, {street}, {zip} {city}
		<Missed call|Voice message|Call> from {name}, {phone}.
		<Please|Kindly> <call|ring|phone> {name} at {employer}, {phone}.
		Could you <call|ring|phone> {name} <back|today|tomorrow>? The number is {phone}.
		{name} <called|rang|phoned> <this morning|at noon|just now|an hour ago>, please call back: {phone}
		{name} from {city} <wants|would like|has asked for> a call at {phone}.
		I am <the|a> {job} at {employer}, my name is {name}.
		This is {name}, {job} at {employer}.
		My name is {name} and <you can reach me|I can be reached> at {phone}.
		Hi, I'm {name}, <write to me|mail me|drop me a line> at {email}.
		hi {name} here from {employer}, my mail is {email}
		<Sender|From>: {name}, {street}, {city}
		<Deliver|Send|Ship|Post> <it|the parcel|the letter|everything> to {name}, {street}, {zip} {city}.
		<Invoice|Bill|Delivery> address: {name}, {street}, {zip} {city}
		<Send|Address> the invoice to {name} at {employer}, {street}, {city}.
		{name} is <our contact|the person to talk to|your contact> at {employer}.
		{name} is the {job} <at|of> {employer} in {city}.
		For <questions|help|prices|bookings>, <ask|call|contact> {name}: {phone}
		<Questions|Need help|Any problems>? <Ask|Contact|Call> {name}, {phone}.
		<Appointments|Bookings|Complaints|Orders> are handled by {name}, {email}.
		<Lead|New customer|New client|Caller>: {name} from {employer}, {email}
		I <met|spoke to|talked with> {name} of {employer} at the <fair|conference|trade show>.
		{name} (<tel.|phone|mobile> {phone}, <mail|email> {email})
		<Emergency contact|In an emergency|If anything happens>: {name}, {phone}
		{employer} is represented by {name}<| in this matter| from today>.
		On behalf of {employer}: {name}, {city}
		Please add {name} ({phone}) to the <address book|contacts|list>.
		Contact card for {name}, {email}
		{name} has a new <number|phone number|mobile>: {phone}
		{name} is now {job} at {employer}.
		Here are the <details|contact details|data> of {name}: {phone}, {email}.
		{name} wrote from {email} <yesterday|this week|about the offer>.
		Got a mail from {name} ({email}), {employer}.
		Attention: {name}, {employer}, {zip} {city}
		{name} <rang|phoned> about an order, the number is {phone}
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
		<E-mail address|Email address|Mail address>: {email}
		<Contact us|Get in touch|Reach us> <at|via|under> {email}.
		<Please|Kindly> <send|forward> <your reply|the offer|all documents|the invoice> to {email}.
		<My|Our> <new|current|direct|private> <email|mail|e-mail> address is {email}.
		<You may|Feel free to|Just> <email|mail|write to> {email}<| at any time| with any question>.
		<Any questions|More details|Need an offer>? <Write to|Contact|Mail> {email}.
		{who} <is best reached|can be contacted|is reachable|replies fastest> at {email}.
		{who} <checks|reads|uses> {email} <daily|every day|all the time>.
		<Inbox|Mailbox|Mail to>: {email}
		{who}'s <work email|e-mail|mail address|email address> is {email}.
		<Applications|Orders|Invoices|Bills> <go|should be sent|are to be sent> to {email}.
		The old address is no longer used, <write to|use|take> {email} <now|instead|from now on>.
		Messages for {who} <reach us|arrive> at {email}.
		I prefer <email|mail|written messages>: {email}
		Copy {email} on <your reply|all mails|everything>.
		Mail for {who}: {email}
		<Email|Mail|Write to> me at {email}<|, please>.
		{who} <left|gave> us the address {email}.
		<Tel|Phone no.|Telephone no.|Cell>: {phone}
		<Call|Ring|Phone> <me|us> <at|on|under> {phone}.
		<My|Our> <new|direct|mobile|cell|private> number is {phone}.
		<You may|Please|Just|Feel free to> <call|ring|dial> {phone}<| any time| on weekdays| in the morning>.
		{who} <answers|picks up|can be called> at {phone} <on weekdays|in the afternoon|most of the day>.
		{who} can be reached by <phone|telephone|mobile>: {phone}
		<For urgent matters|If it is urgent|In urgent cases|If nobody is in>, <call|dial|ring> {phone}.
		The <office|direct|mobile|main> number is {phone}.
		<Hotline|Office phone|Reception|Main line>: {phone}
		<Text|Call> {who} on {phone}.
		Our <telephone|mobile|phone> number: {phone}
		To <book|order|ask for a quote|make an appointment>, <call|phone|dial> {phone}.
		Leave a message <at|under|on> {phone}.
		Ask for {who} when you call {phone}.
		{who} left <a number|the number|a mobile number>: {phone}
		Call back {phone} <today|tomorrow|before noon|when you can>
		{who} has a <new|mobile|work> phone, {phone}.
		We are on the phone <all day|on weekdays>: {phone}
		<Calls and texts|Calls|Messages>: {phone}
		<Street|Street address|House>: {street}
		<Town|Name of the town>: {city}
		<Postcode|Postal code|ZIP|Post code>: {zip}
		{who} <can be found|has an office|works|sits> at {street}.
		<Send|Post> <letters|parcels|mail|documents> to {street}, {zip} {city}.
		<Our|The> <shop|office|showroom|workshop|store> is <at|in> {street}.
		<Our|The> <head office|branch|warehouse|studio> is in {city}.
		You can <visit|find> us <at|in> {street}, {city}.
		<We have|The office has|The company has> moved to {city}.
		<Visit|Come and see> us in {city}, {street}, <any day|on weekdays|when you like>.
		<Visiting|Postal|Office|Delivery|Business|Home> address: {street}, {zip} {city}
		{who} has <an office|a desk|a small office> in {city}.
		{who} <is in|works from|writes from|is calling from> {city}.
		<Located|Based> in {city}
		Please <park|ring the bell|use the side door> at {street}.
		The <building|entrance|office|shop> at {street} is <easy to find|next to the bank|opposite the station>.
		For <letters|the navigation system|the map>, use {street}, {zip} {city}.
		The <zip|zip code|postcode|post code> <is|of the office is|for letters is> {zip}.
		Use <the postcode|zip code|postal code> {zip} <for letters|in the navigation system|on parcels>.
		Do not forget the <postcode|zip code|postal code>, {zip}.
		{zip} {city}
		{city} {zip}
		Located at {street}, {zip}
		We <ship|send|deliver> from {street}, {city}.
		{who}'s <desk|office> is at {street}, {zip} {city}.
		{who}'s <office|shop|business> is in {city}.
		<Come by|Stop by|Drop in> at {street} <any time|on weekdays|for a coffee>.
		Our new <address|home> is {street}, {city}.
		Parcels <reach us|arrive safely> at {street}, {zip} {city}.
		{who} <moved|has moved> to {street} in {city}.
		The <side|main|visitors'> entrance is at {street}.
		<Site|Homepage|Web site|Internet|URL>: {site}
		<More|Details|All offers|Prices|Photos> <at|on> {site}
		<Have a look at|Take a look at|Check|Go to|Look at> {site}<| for details| first| for our offers>.
		Our <homepage|site|web page|web site|new website> is {site}.
		You can <order|book|read more|find everything> <at|on> {site}.
		<Our shop is|We are|Find us> online at {site}.
		The <form|catalogue|price list|map> is on {site}.
		On the <web|internet>: {site}
		{who}'s <page|site|homepage|website> is {site}.
		{who} <has a website|writes a blog|can be found online>: {site}
		Opening hours <are|can be found> at {site}.
		For <news|pictures|our offers>, <visit|open|look at> {site}.
		<Job title|Title|Occupation>: {job}
		{who} works here as a {job}.
		{who} is <our|the|the new> {job}.
		As {job}, {who} <handles all orders|answers your questions|takes care of this>.
		I <work|am employed> as a {job}.
		I am <writing|calling> as {job} of {employer}.
		I <represent|speak for|am with|am calling from|write for> {employer}.
		<Firm|Organization|Business>: {employer}
		{who} is <from|calling from|writing for> {employer}.
		{who} is the {job} of {employer}.
		{who} joined {employer} as {job}.
		We at {employer} <would be happy to help|look forward to your call|thank you for your order>.
		Our company is <called|named> {employer}.
		The company is {employer} in {city}.
		{who}'s <title|position|role> is {job}.
		<Current role|Title at work|Job>: {job}, {employer}
		{who} works for {employer} in {city}.
		{who} handles <orders|sales|complaints> for {employer}.
		You are talking to the {job} of {employer}.
		My job is {job}.
		My <company|employer|firm> is {employer}.
		Your contact at {employer}
		{who} <signs|speaks|writes> for {employer}.
		{who} has the <job|position|role> of {job} at {employer}.
		<Call|Ring> {phone} or <mail|email> {email}.
		{phone} / {email}
		{employer}, {street}, {city}
		{employer}, {city}
		{employer}, {site}
		{employer}, {phone}
		Phone {phone}, <email|mail|e-mail> {email}, <web|site> {site}
		<T|Tel|P> {phone} <E|Mail|Email> {email}
		<Office|Shop|Visitors>: {street}, {city}, <tel.|phone> {phone}
		Write to {email} or <visit|see> {site}.
		{who} works as {job} <in|from> {city}.
		{who} is {job} at {employer}, {city}.
		If {phone} is busy, <try|use|write to> {email}.
		The <hotline|reception> has the number {phone}.
		Our showroom in {city} is open to <everybody|all>.
		Documents arrive safely at {street}, {city}.
		This is {employer} talking, {city} office.
		{who} always signs for {employer} in {city}.
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
		<Have|Wish you> a <nice|good|great> <day|weekend|week>.
		Looking forward to <hearing from you|your reply|our meeting>.
		<Closed|Open> on <Saturdays|public holidays|Mondays>.
		Office hours: 8 to <16|17|18>
		Think before you print this <mail|email|message>.
		This <message|mail|email> is <confidential|meant for you only|private>.
		Order 4711 is on its way.
		Your <order|parcel|ticket|request> has been <received|shipped|closed>.
		The offer is valid for <14|30> days.
		Prices <include|exclude|are without> VAT.
		<Sent|Written> <in a hurry|from a train|on the road>.
		Please excuse <typos|the delay|the late answer>.
		<See you|Talk to you> <soon|on Tuesday|next week>.
		As discussed on the phone <yesterday|today|last week>.
		The <invoice|offer|price list|contract> is attached.
		<Please find|You will find> the <file|offer|photos> attached.
		We have been in business since <1987|1954|2003>.
		Parking is <free|behind the house|difficult>.
		The lift is <out of order|on the left>, take the stairs.
		Delivery takes <3 to 5|about 4|up to 10> <days|working days>.
		Thanks <a lot|so much|again> for <the call|your help|the coffee>.
		Bus <12|40|7> stops <in front of the house|nearby|at the corner>.
		<Great|Nice|Lovely> to <meet you|see you again|hear from you>.
		The old fax machine is gone.
		No <appointment|booking|ticket> needed.
		Please <do not|don't> reply to this <automatic|automated> <message|mail>.
		Terms and conditions apply.
		All rights reserved.
		Please reply <by Friday|as soon as you can|when you have time>.
		I am <out of office|on holiday|travelling> until <Monday|next week>.
		<Invoice|Ticket|Order> no. <2210|884|305172>
		Coffee and <cake|tea> are on us.
		The <order|parcel> was <received|shipped> <yesterday|last week>.
		All <fees|prices> <include|exclude> VAT and postage.
		Every booking is <free|confirmed by mail>.
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
		<Extract|Get|Pull|Copy> the <contact|address|sender's> <data|details|information> <from the text|from this mail|below|given here>.
		How can <I|we|one> <reach|contact|get hold of> this person?
		<Create|Make|Write|Add> a <new contact|contact card|contact record|address card> <from this|from the message|for the sender>.
		Who <wrote|sent|signed> this<| message| mail>?
		<Find|Tell me> the <address and number|phone and email|contact information>.
		<Read|Scan> the <signature|footer|letterhead|visiting card> and <fill in the fields|return the fields|return JSON>.
		<Convert|Turn> the <signature|card|mail|message> into <JSON|a contact|structured data>.
		<Put|Enter> the contact into the <CRM|address book|database|system>.
		<Contact|Contact data|Address data|Address book entry|Contact card>:
		<Fill|Complete> the <contact form|customer record|fields> <from|with> the <message|text>.
		New <contact|customer|lead>, please <save|enter|record> it.
		<Return|Give me|Output> the contact as <JSON|an object|data>.
		Who should <I|we> <call|write to|contact>?
		<List|Name|Collect> all contact <details|data|information>.
		<Extract|Find> <who it is and how to reach them|the person and the company|name, phone and email>.
		<Please|Kindly> <extract|read out|find> the <sender|customer|contact person>.
		Store the <sender|caller|customer|lead>.
		Who <called|is calling|wants to be called>?
		Update the <contact|customer|address> record <with this|from this message|from the text>.
		What <data|details|information> does the <message|mail|note> give about the <sender|contact|customer>?
		<Look up|Find> the <address|contact> in the text.
		<Contact|Address|Sender> fields from the <text|mail|message>
		<Get|Take> everything <needed|you need> to reach the <person|customer|sender>.
		Signature to <JSON|contact|data>
		<Process|Handle> the <request|business card|message>.
		<Can|Could> you <save|note|extract> this contact<| for me>?
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
		{name}, {job} at {employer}
		{name}, {city}
		{name} <lives in|comes from|is based in> {city}
		{name} from {city}: {phone}
		{name} (<born|born on|birthday> {born})
		{name} - {age} - {city}
		{name}: {email}
		{name} speaks {language}
		{name} from {country} speaks {language}
		{name}: {department}
		{name} <works in|belongs to|is in> {department}
		{name}, {department}, {email}
		{name}, <id|no.|number> {id}
		{id}: {name}
		{id} {name}, {job}
		{name} is on the {plan} plan
		{name} <has|pays for|uses> a {plan} account
		{name} has {children} <children|kids>
		{name} {married}
		{name} earns {salary} a year
		{name} = {phone}, {email}
		{name}, {age}, {job}, {city}
		{name} ({job})
		{name} - {job} - {employer}
		{name}, who is {age}, <likes|loves|enjoys> {hobby}
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
			<Participants|Attendees|Members|Present|Employees>:
			<In the room|At the table|At the meeting|On the phone> were:
			<The following|These> people <signed up|have joined|took part|work here>:
			<My|Our> <colleagues|friends|neighbours|new members>:
			Contact list
			<New|Current|Registered> <users|customers|members>:
			<Meet|Let me introduce> the <team|group|crew>.
			<I wrote down|We noted|Here are> the <names|people|guests>.
			<Who came|Who was there|Who is in>?
			From the <visitors' book|register|guest list>:
			Everyone on the <course|trip|project>:
			<Names|People> noted <today|at the door>:
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
		<Extract|Get|Find|Collect> <every person|all the people|all persons|everyone> <mentioned|named|in the text|in the list>.
		Turn the list into <JSON|an array|records>.
		<Return|Output|Give me> <an array|a list|a JSON array> <of people|of persons|with all people>.
		Who are <they|these people|the people in the text>?
		One <entry|object|record|item> <per|for each> person<|, please>.
		<Names|People|Persons|Everyone> <with details|and their data|as JSON>
		<List|Name> everybody <mentioned|who is mentioned|in the text> with <the details|all details|what is said>.
		<Parse|Convert|Read> the <list|staff list|guest list|table of people>.
		Which people are <mentioned|listed|named> <here|in the text>?
		<Make|Create|Build> a <table|list|register> of <everyone|all persons|everybody> <in the text|mentioned|named>.
		Put every person in <the list|a list|an array>.
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
		<Extract|Get|Find|Collect> the <details|data|information|facts> <about|on|for> {name}.
		I <only|just> need {name}.
		<Give me|Return|Show me> <only|just> <the data of|the entry for|what is said about> {name}.
		<Tell me|Write down|List> <everything|all you know|what you know> about {name}.
		What do we know about {name}?
		<Profile|Record|Data|Details> of {name}<| as JSON|, please>
		Ignore the others, <take|use> {name}.
		Look for {name} <in the text|only|and fill in the fields>.
		{name}: <fill in the form|what is known|all details>
		Which <facts|details|data> <are given|does the text give> about {name}?
		Only what is said about {name} <matters|counts>.
		<Fill|Complete> the fields for {name}<| from the text| only>.
		Ignore everything but {name}.
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
