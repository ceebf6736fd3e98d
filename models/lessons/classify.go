package lessons

import (
	"strconv"
	"strings"
)

// A class is a value of an enumeration, and sentences that mean it.
type class struct {
	names []string // what schemas call it
	texts []string
	// frames are sentences about one of things, {x}, which say the same of all.
	frames, things []string
}

// sentence says something that means the class.
func (c *class) sentence(g *gen) string {
	if len(c.frames) > 0 && g.chance(0.6) {
		return title(strings.ReplaceAll(g.say(c.frames), "{x}", g.pick(c.things)))
	}
	return g.say(c.texts)
}

var categories = []class{
	{words("billing payment invoicing finance accounting invoices payments money"), lines(`
		I was charged twice this month.
		My invoice shows the wrong amount.
		The payment with my card did not go through.
		I want my money back.
		Please send me the invoice for March.
		Why did the price of my plan go up?
		The refund has not arrived on my account.
		There is a fee on my bill that I do not know.
		My credit card was declined.
		Can I pay by bank transfer?
		The tax on the receipt is wrong.
		You took the money but I got no receipt.
	`), lines(`
		There is something wrong with {x}.
		I have a question about {x}.
		{x} is too high.
		{x} is not correct.
		Please check {x}.
		I do not understand {x}.
		I did not agree to {x}.
		Why was {x} changed?
		{x} was booked twice.
		I need a copy of {x}.
		Please correct {x}.
		I can't find {x} in my bank statement.
		Who can explain {x} to me?
		I have paid {x} already.
		{x} was taken from my card.
		Please cancel {x} and refund me.
	`), lines(`
		my invoice
		the bill
		the last payment
		the refund
		the fee
		the amount
		the tax on the bill
		the monthly price
		the charge on my card
		the receipt
		the discount
		the bank transfer
		the instalment
		the subscription fee
		the price of my plan
		the direct debit
	`)},
	{words("technical bug software_issue malfunction technical_problem defect error"), lines(`
		The app crashes when I open it.
		I see an error message on the screen.
		The page does not load.
		The export to a file fails.
		The button does nothing when I click on it.
		After the update nothing works any more.
		The program freezes all the time.
		Search gives no results although there are some.
		The video has no sound.
		It says internal server error.
		The printer is not recognised.
		The synchronisation stops half way.
	`), lines(`
		{x} crashes.
		{x} does not work.
		{x} is broken.
		{x} freezes after a minute.
		{x} shows an error.
		{x} stopped working after the update.
		{x} does not respond.
		{x} is terribly slow.
		I get an error message from {x}.
		{x} hangs when I start it.
		{x} does not load.
		There is a bug in {x}.
		{x} fails with code 500.
		{x} keeps restarting.
		Nothing happens when I open {x}.
		{x} shows a blank screen.
	`), lines(`
		the app
		the program
		the start page
		the search
		the export
		the website
		the upload
		the printer driver
		the video player
		the save button
		the mobile app
		the import of files
		the screen
		the calendar page
		the server
		the new version
	`)},
	{words("account login access sign_in user_account profile authentication"), lines(`
		I can't log in.
		I forgot my password.
		My account is locked.
		The link to reset my password does not arrive.
		Please delete my account.
		I want to change my email address.
		Somebody else has used my account.
		The code for signing in is not accepted.
		How do I change my user name?
		I no longer have access to my profile.
		Two-factor sign-in asks for a phone that I lost.
	`), lines(`
		I forgot {x}.
		I want to change {x}.
		Please reset {x}.
		I can't find {x} any more.
		{x} is not accepted.
		{x} is locked.
		How do I change {x}?
		I want you to delete {x}.
		Somebody has stolen {x}.
		{x} was blocked after three attempts.
		I can't sign in with {x}.
		Please unlock {x}.
		I need to update {x}.
		{x} has expired and I am locked out.
		You have the wrong data in {x}.
	`), lines(`
		my password
		my account
		my user name
		my login
		my profile
		the access code
		my PIN
		my sign-in link
		my email address in the profile
		my security question
		my second account
		my log-in data
		my user profile
	`)},
	{words("shipping delivery logistics parcel shipment transport package"), lines(`
		My parcel has not arrived.
		The package was delivered to the wrong address.
		Where is my order?
		The box was open and damaged on arrival.
		The tracking number does not work.
		The courier did not ring.
		Delivery takes much longer than promised.
		One of the items was missing in the box.
		Can you deliver on Saturday?
		The shipment is stuck at customs.
		I got somebody else's parcel.
	`), lines(`
		{x} has not arrived.
		{x} is late.
		{x} is lost.
		Where has {x} gone?
		When will {x} arrive?
		{x} was damaged on the way.
		{x} was left in the rain.
		{x} went to my neighbour.
		{x} has been on the way for three weeks.
		{x} came to the wrong house.
		The driver did not bring {x}.
		{x} is still at the depot.
		{x} was sent to my old address.
		I am waiting for {x}.
		I can't track {x}.
		{x} came without its contents.
	`), lines(`
		my parcel
		the package
		my order
		the delivery
		the box
		the shipment
		the second parcel
		the letter
		my new chair
		the shoes I ordered
		the book I ordered
		the goods
		the crate
		our pallet
		the replacement
	`)},
	{words("feature_request suggestion idea wish feature improvement proposal enhancement"), lines(`
		It would be great to have a dark mode.
		Please add support for more languages.
		I wish I could sort the list by date.
		Could you add a calendar view?
		A way to export all data would help.
		I suggest a bigger font.
		Please let us choose the colours.
		I would love to see a mobile version.
		An undo button would be useful.
		Have you thought of adding tags?
	`), lines(`
		Please add {x}.
		It would be nice to have {x}.
		I would like to have {x}.
		Could you offer {x}?
		I miss {x}.
		Have you considered {x}?
		Other programs have {x}.
		Are you planning {x}?
		{x} would be a great addition.
		My idea: {x}.
		I propose {x}.
		What about {x} in the next version?
		We would use {x} every day.
		{x} would make my work easier.
		It would help us to have {x}.
		I suggest {x}.
	`), lines(`
		a dark mode
		a calendar view
		an undo button
		more languages
		larger fonts
		tags for notes
		a mobile version
		shortcuts for the keyboard
		an offline mode
		a search by date
		a filter for lists
		more colours
		templates for letters
		voice input
		a night theme
		an export to PDF
	`)},
	{words("question general other inquiry information general_question misc"), lines(`
		What are your opening hours?
		Do you have a shop in the city?
		How long does the guarantee last?
		Which size should I take?
		Who is the right person to talk to?
		Do you offer discounts for schools?
		Is there a manual?
		Where are your products made?
		Do you have job openings?
		Can I visit your office?
	`), lines(`
		Do you have {x}?
		Where can I find {x}?
		Can you tell me about {x}?
		I would like to know more about {x}.
		What can you tell me about {x}?
		Is there any information on {x}?
		Who can I ask about {x}?
		I am looking for {x}.
		I am interested in {x}.
		Please send me information about {x}.
		What are {x}?
		How do I find out about {x}?
		A short question about {x}.
	`), lines(`
		your opening hours
		a shop in my town
		your office
		a catalogue
		your products
		a manual
		the guarantee
		job openings
		guided tours
		your team
		a brochure
		your partners
		the size chart
		your holidays
		training courses
		the history of your company
	`)},
}

var urgencies = []class{
	{words("high urgent critical top very_high immediate"), lines(`
		This is urgent!
		We can't work until this is solved.
		Please help immediately.
		I need an answer today.
		It has to be solved within the hour.
		All our customers are affected.
		Please treat this with top priority.
		This can't wait.
		Everything stands still here.
		I need help right now.
		This is an emergency.
		We lose money every minute.
		It must be fixed today.
		Please answer at once.
		The whole company is waiting.
		Time is running out.
		As soon as possible, please!
		We have a deadline in an hour.
		Please hurry.
		Production is down.
		It is of the highest importance.
	`), nil, nil},
	{words("medium normal moderate standard average regular"), lines(`
		Please look into it this week.
		An answer in the next days would be good.
		It is annoying, but we can work.
		I would like to have this solved soon.
		Please get back to me when you can this week.
		It disturbs our work a little.
		Please fix it in the next few days.
		Some time this week would be fine.
		It is not dramatic, but it should be solved.
		We found a way around it for now.
		It would be good to have it by Friday.
		A reply within two days is enough.
		It bothers us now and then.
		It matters, but it is no emergency.
	`), nil, nil},
	{words("low minor trivial lowest not_urgent small"), lines(`
		There is no hurry.
		It is not urgent.
		Take your time.
		Whenever you have time.
		This can wait.
		It is only a small thing.
		No need to hurry.
		Just for your information.
		There is plenty of time.
		It can wait until next month.
		No rush.
		It is not important.
		Just a small remark.
		Any time is fine.
		Only if you have time.
		It does not bother me much.
		You can leave it for later.
		It is just a detail.
		Answer when it suits you.
	`), nil, nil},
}

var feelings = []class{
	{words("positive good happy satisfied pleased favourable"), lines(`
		I love it.
		The best I ever bought.
		Great quality and fast service.
		The staff was friendly and helpful.
		It works perfectly.
		I am very happy with it.
		Absolutely wonderful.
		I would buy it again at any time.
		The food was delicious.
		What a beautiful place!
		Everything went smoothly.
		Excellent value for the money.
		I can only recommend it.
		My children adore it.
		A pleasure from start to finish.
		Thanks for the superb support.
		I am so glad I bought it.
		Five stars!
		Great!
		Fantastic, thank you!
		We will come back.
		It makes me smile every day.
		Super fast and friendly.
		My favourite shop.
		Simply brilliant.
		It exceeded all my hopes.
		I enjoy it every day.
		Well done!
	`), lines(`
		{x} was excellent.
		{x} is great.
		I love {x}.
		{x} is wonderful.
		We enjoyed {x} a lot.
		{x} was perfect.
		{x} made me happy.
		I am delighted with {x}.
		{x} was better than expected.
		{x} could not be better.
		What fantastic quality, {x}!
		I am very pleased with {x}.
		{x} deserves praise.
		I can recommend {x}.
		{x} was a nice surprise.
		{x} was lovely.
		Thanks for {x}, it is amazing.
	`), aspects},
	{words("negative bad unhappy dissatisfied angry unfavourable"), lines(`
		I hate it.
		It broke after two days.
		A waste of money.
		The staff was rude.
		I am very disappointed.
		Never again.
		The food was cold and tasteless.
		It does not work at all.
		The worst hotel I have been to.
		Terrible quality.
		Nobody answered my calls.
		I want to return it.
		It smells awful.
		We waited for two hours and left.
		Do not buy this.
		The room was dirty and loud.
		I regret buying it.
		One star is too many.
		What a mess.
		We will not come back.
		I am furious.
		It stopped working on the first day.
		Slow and unfriendly.
		I feel cheated.
		Simply dreadful.
		It is far too expensive for what it is.
		I had to complain three times.
		Avoid this place.
	`), lines(`
		{x} was terrible.
		{x} is awful.
		I hate {x}.
		{x} was a disappointment.
		We were unhappy with {x}.
		{x} was bad.
		{x} made me angry.
		I am annoyed by {x}.
		{x} was worse than expected.
		{x} could hardly be worse.
		What poor quality, {x}!
		I am not happy with {x}.
		{x} ruined my day.
		I can't recommend {x}.
		{x} was horrible.
		{x} was a nasty surprise.
		{x} is useless, I want my money back.
	`), aspects},
	{words("neutral mixed indifferent average so_so undecided"), lines(`
		It is okay.
		Nothing special.
		It does what it should.
		The parcel contained a manual and a cable.
		I bought it last week.
		It is neither good nor bad.
		Average.
		I have not formed an opinion yet.
		It comes in a brown box.
		Some things are fine, others less so.
		It is as described.
		It is what it is.
		Good in parts, bad in parts.
		Neither here nor there.
		I use it now and then.
		Could be better, could be worse.
		It arrived on Tuesday.
		I have seen better and worse.
		The manual has 20 pages.
		Fair enough.
		No complaints, no praise.
	`), lines(`
		{x} was okay.
		{x} is average.
		I have no strong opinion on {x}.
		{x} was as expected.
		{x} is neither good nor bad.
		{x} was acceptable.
		{x} is all right, nothing more.
		There is nothing special about {x}.
		{x} was so-so.
		{x} has its strong and weak sides.
		{x} does the job.
		{x} is fine, but not great.
		I do not mind {x}.
	`), aspects},
}

var aspects = lines(`
	the food
	the service
	the room
	the staff
	the hotel
	the view
	the breakfast
	the quality
	the battery
	the sound
	the film
	the book
	the trip
	the course
	the delivery
	the packaging
	the taste
	the screen
	the design
	the support
	this product
	this purchase
	the price
	the place
	the music
	the colour
	the keyboard
	the customer service
	the atmosphere
	my stay
`)

// classes chooses classes and one name for each. The first n of them, or all.
func (g *gen) classes(all []class, least int) (names []string, chosen []class) {
	order := g.shuffled(len(all))
	n := g.between(least, len(all))
	style := g.n(20)
	for _, i := range order[:n] {
		name := all[i].names[0]
		if g.unseen.Keys || g.chance(0.35) {
			name = g.named(all[i].names)
		}
		switch {
		case style < 6 && len(name) > 0:
			name = title(strings.ReplaceAll(name, "_", " "))
		case style == 6:
			name = strings.ToUpper(name)
		}
		names = append(names, name)
		chosen = append(chosen, all[i])
	}
	return names, chosen
}

func tickets(g *gen) Lesson {
	names, chosen := g.classes(categories, 3)
	levels, grades := g.classes(urgencies, 3)
	c, u := g.n(len(chosen)), g.n(len(grades))
	customer, order, email := g.fullName(g.chance(0.5)), g.code(), g.emailOf("a b")
	said := []string{chosen[c].sentence(g)}
	asked := []property{{key: g.categoryKey(), schema: g.enum(names), value: quote(names[c])}}
	switch {
	case g.chance(0.25): // nothing but the category
		return g.put(said[0], ticketRequests, g.object(asked))
	case g.chance(0.15): // nothing but the urgency
		said = append(said, grades[u].sentence(g))
		g.rng.Shuffle(2, func(i, j int) { said[i], said[j] = said[j], said[i] })
		return g.put(strings.Join(said, " "), ticketRequests, g.object([]property{g.urgency(levels, u)}))
	}
	if g.chance(0.3) {
		if s := chosen[c].sentence(g); s != said[0] {
			said = append(said, s)
		}
	}
	if g.chance(0.6) {
		said = append(said, grades[u].sentence(g))
		asked = append(asked, g.urgency(levels, u))
	}
	if g.chance(0.4) {
		said = append([]string{strings.ReplaceAll(g.say(lines(`
			Hello, my name is {name}.
			This is {name}.
			I am {name}.
			{name} writes:
			From: {name}
		`)), "{name}", customer)}, said...)
		asked = append(asked, property{key: g.style.key(g.named(words("customer name customer_name from sender"))), schema: plain("string"), value: quote(customer)})
	}
	if g.chance(0.25) {
		said = append(said, strings.ReplaceAll(g.say(lines(`
			My order is {id}.
			It is about order {id}.
			Order number: {id}
			Reference {id}
		`)), "{id}", order))
		asked = append(asked, property{key: g.style.key(g.named(words("order_id order_number reference ticket_id"))), schema: plain("string"), value: quote(order)})
	}
	if g.chance(0.2) {
		said = append(said, strings.ReplaceAll(g.say(lines(`
			Answer to {email}.
			You can write to me at {email}.
			My email: {email}
		`)), "{email}", email))
		asked = append(asked, property{key: g.style.key(g.named(words("email reply_to email_address"))), schema: plain("string"), value: quote(email)})
	}
	if g.chance(0.4) {
		said = append(said, g.say(lines(`
			Thank you.
			Kind regards
			I have been a customer for years.
			Please help.
			Thanks in advance.
			I look forward to your answer.
		`)))
	}
	g.mix(asked)
	return g.put(strings.Join(said, " "), ticketRequests, g.object(asked))
}

// urgency asks for one of levels.
func (g *gen) urgency(levels []string, u int) property {
	return property{key: g.levelKey(), schema: g.enum(levels), value: quote(levels[u])}
}

var ticketRequests = lines(`
		Classify the ticket.
		Sort this support request.
		What kind of request is it?
		Which team should get this?
		Read the support ticket.
		Support ticket:
		Categorise the message.
		Triage this.
	`)

// classed are short texts, one after the other, that are to be put into the
// same classes.
func classed(g *gen) Lesson {
	key, all, requests := g.categoryKey(), categories, ticketRequests
	if g.chance(0.4) {
		key, all, requests = g.feelingKey(), feelings, reviewRequests
	}
	names, chosen := g.classes(all, 2)
	levels, grades := g.classes(urgencies, 2)
	schemas := []string{g.enum(names), g.enum(levels)}
	levelKey := g.levelKey()
	kind := g.n(10) // both, the urgency alone, or the class alone
	var out []Lesson
	for range g.between(4, 9) {
		c, u := g.n(len(chosen)), g.n(len(grades))
		class := property{key: key, schema: schemas[0], value: quote(names[c])}
		level := property{key: levelKey, schema: schemas[1], value: quote(levels[u])}
		said := []string{chosen[c].sentence(g)}
		asked := []property{class}
		switch {
		case kind < 2:
			said, asked = append(said, grades[u].sentence(g)), append(asked, level)
		case kind < 4:
			said, asked = []string{grades[u].sentence(g)}, []property{level}
		case g.chance(0.3):
			said = append(said, chosen[c].sentence(g))
		}
		content := strings.Join(said, " ")
		if g.chance(0.2) {
			content = g.say(requests) + "\n" + content
		}
		o := g.object(asked)
		out = append(out, Lesson{Chat: []Message{{"user", content}}, Schema: o.schema, Answer: o.value, Keys: o.keys})
		out[len(out)-1].Schema = out[0].Schema
	}
	l := out[0]
	l.Others = out[1:]
	return l
}

func (g *gen) categoryKey() string {
	return g.style.key(g.named(words("category topic type department kind class ticket_type area subject label request_type issue_type ticket_category group")))
}

func (g *gen) feelingKey() string {
	return g.style.key(g.named(words("sentiment label mood polarity feeling tone opinion attitude verdict review_sentiment class emotion rating_class overall_sentiment")))
}

func (g *gen) levelKey() string {
	return g.style.key(g.named(words("urgency priority severity importance urgency_level how_urgent priority_level level")))
}

// mix puts properties into another order.
func (g *gen) mix(list []property) {
	g.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func sentiment(g *gen) Lesson {
	names, chosen := g.classes(feelings, 2)
	c := g.n(len(chosen))
	said := []string{chosen[c].sentence(g)}
	for g.chance(0.4) && len(said) < 3 {
		said = append(said, chosen[c].sentence(g))
	}
	asked := []property{{key: g.feelingKey(), schema: g.enum(names), value: quote(names[c])}}
	if g.chance(0.4) {
		p := g.thing()
		said = append([]string{strings.ReplaceAll(g.say(lines(`
			I bought the {p}.
			Review of the {p}:
			About the {p}:
			The {p} arrived today.
			{p}:
		`)), "{p}", p)}, said...)
		asked = append(asked, property{key: g.style.key(g.named(words("product item subject about"))), schema: plain("string"), value: quote(p)})
	}
	if g.chance(0.25) {
		n := g.between(1, 5)
		said = append(said, strings.ReplaceAll(g.say(lines(`
			{n} stars.
			I give it {n} stars.
			{n} out of 5.
			{n}/5
		`)), "{n}", strconv.Itoa(n)))
		asked = append(asked, property{key: g.style.key(g.named(words("stars rating points"))), schema: plain("integer"), value: strconv.Itoa(n)})
	}
	g.mix(asked)
	return g.put(strings.Join(said, " "), reviewRequests, g.object(asked))
}

var reviewRequests = lines(`
		What is the sentiment?
		Classify the review.
		Is this positive or negative?
		How does the writer feel?
		Sentiment of this text:
		Rate the mood of the text.
		Review:
	`)
