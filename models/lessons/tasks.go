package lessons

// tasks lists what there is to learn. The weights say how often each is met.
var tasks = []task{
	{"people", 20, people.lesson},
	{"contacts", 18, contacts.lesson},
	{"groups", 8, group},
	{"orders", 14, orders},
	{"events", 14, meetings.lesson},
	{"addresses", 7, addresses.lesson},
	{"products", 9, goods.lesson},
	{"logs", 7, logs},
	{"tickets", 9, tickets},
	{"sentiment", 5, sentiment},
	{"yes-no", 5, yesNo},
	{"multiple-choice", 6, multiple},
	{"calls", 6, calls},
	{"copies", 8, copies},
}
