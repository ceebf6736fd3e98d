package lessons

// tasks lists what there is to learn. The weights say how often each is met.
var tasks = []task{
	{"people", 26, people.lesson},
	{"contacts", 22, contacts.lesson},
	{"groups", 6, group},
	{"one-of-many", 5, among},
	{"orders", 12, orders},
	{"events", 14, meetings.lesson},
	{"addresses", 6, addresses.lesson},
	{"products", 8, goods.lesson},
	{"logs", 4, logs},
	{"tickets", 7, tickets},
	{"sentiment", 4, sentiment},
	{"yes-no", 3, yesNo},
	{"multiple-choice", 4, multiple},
	{"calls", 3, calls},
	{"envelopes", 3, envelopes},
	{"copies", 10, copies},
}
