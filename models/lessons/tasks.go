package lessons

// tasks lists the tasks. The weights determine how often each occurs;
// classification lessons are short.
var tasks = []task{
	{"people", 22, people.lesson},
	{"contacts", 16, contacts.lesson},
	{"groups", 3, group},
	{"one-of-many", 3, among},
	{"orders", 32, orders},
	{"events", 30, meetings.lesson},
	{"addresses", 5, addresses.lesson},
	{"products", 6, goods.lesson},
	{"logs", 2, logs},
	{"tickets", 50, tickets},
	{"sentiment", 44, sentiment},
	{"classes", 28, classed},
	{"yes-no", 2, yesNo},
	{"multiple-choice", 2, multiple},
	{"calls", 3, calls},
	{"envelopes", 2, envelopes},
	{"copies", 12, copies},
}
