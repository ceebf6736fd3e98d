package lessons

import (
	"strconv"
	"strings"
)

// A class is a value of an enumeration, and sentences that mean it.
type class struct {
	names []string // what schemas call it
	texts []string
}

var categories = []class{
	{words("billing payment invoicing finance"), lines(`
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
	`)},
	{words("technical bug software_issue malfunction"), lines(`
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
	`)},
	{words("account login access sign_in"), lines(`
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
	`)},
	{words("shipping delivery logistics parcel"), lines(`
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
	`)},
	{words("feature_request suggestion idea wish"), lines(`
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
	`)},
	{words("question general other inquiry"), lines(`
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
	`)},
}

var urgencies = []class{
	{words("high urgent critical"), lines(`
		This is urgent!
		We can't work until this is solved.
		Please help immediately.
		I need an answer today.
		It has to be solved within the hour.
		All our customers are affected.
		Please treat this with top priority.
		This can't wait.
		Everything stands still here.
	`)},
	{words("medium normal moderate"), lines(`
		Please look into it this week.
		An answer in the next days would be good.
		It is annoying, but we can work.
		I would like to have this solved soon.
		Please get back to me when you can this week.
		It disturbs our work a little.
	`)},
	{words("low minor trivial"), lines(`
		There is no hurry.
		It is not urgent.
		Take your time.
		Whenever you have time.
		This can wait.
		It is only a small thing.
		No need to hurry.
		Just for your information.
	`)},
}

var feelings = []class{
	{words("positive good happy"), lines(`
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
	`)},
	{words("negative bad unhappy"), lines(`
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
	`)},
	{words("neutral mixed indifferent"), lines(`
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
	`)},
}

// classes chooses classes and one name for each. The first n of them, or all.
func (g *gen) classes(all []class, least int) (names []string, chosen []class) {
	order := g.shuffled(len(all))
	n := g.between(least, len(all))
	style := g.n(4)
	for _, i := range order[:n] {
		name := g.named(all[i].names)
		switch {
		case style == 0 && len(name) > 0:
			name = title(strings.ReplaceAll(name, "_", " "))
		case style == 1:
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
	said := []string{g.say(chosen[c].texts)}
	if g.chance(0.3) {
		if s := g.say(chosen[c].texts); s != said[0] {
			said = append(said, s)
		}
	}
	asked := []property{{key: g.style.key(g.named(words("category topic type department kind class"))), schema: g.enum(names), value: quote(names[c])}}
	if g.chance(0.6) {
		said = append(said, g.say(grades[u].texts))
		asked = append(asked, property{key: g.style.key(g.named(words("urgency priority severity importance"))), schema: g.enum(levels), value: quote(levels[u])})
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
	return g.put(strings.Join(said, " "), lines(`
		Classify the ticket.
		Sort this support request.
		What kind of request is it?
		Which team should get this?
		Read the support ticket.
		Support ticket:
		Categorise the message.
		Triage this.
	`), g.object(asked))
}

// mix puts properties into another order.
func (g *gen) mix(list []property) {
	g.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func sentiment(g *gen) Lesson {
	names, chosen := g.classes(feelings, 2)
	c := g.n(len(chosen))
	said := []string{g.say(chosen[c].texts)}
	for g.chance(0.4) && len(said) < 3 {
		said = append(said, g.say(chosen[c].texts))
	}
	asked := []property{{key: g.style.key(g.named(words("sentiment label mood polarity feeling tone"))), schema: g.enum(names), value: quote(names[c])}}
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
	return g.put(strings.Join(said, " "), lines(`
		What is the sentiment?
		Classify the review.
		Is this positive or negative?
		How does the writer feel?
		Sentiment of this text:
		Rate the mood of the text.
		Review:
	`), g.object(asked))
}
