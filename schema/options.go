package schema

import "time"

// Order defines the order in which the members of an object may come.
type Order uint8

const (
	// OrderSchema is the order in which the schema names the properties;
	// properties it doesn't name come last.
	OrderSchema Order = iota
	// OrderAny is any order.
	OrderAny
)

// Whitespace defines the whitespace that may come between tokens of JSON.
type Whitespace struct {
	kind uint8
	max  int
}

const (
	wsCompact uint8 = iota
	wsPretty
	wsFlexible
	wsNatural
	wsSpaced
	wsNaturalNested
)

var (
	// Compact allows no whitespace at all.
	Compact = Whitespace{kind: wsCompact}
	// Pretty is exactly the layout of JSON.stringify(value, null, 2).
	Pretty = Whitespace{kind: wsPretty}
	// Spaced is one space after each comma and colon and none elsewhere, as
	// Python writes JSON, and most chat templates.
	Spaced = Whitespace{kind: wsSpaced}
	// Natural leaves the layout to the model: one line or several, any indentation,
	// spaces after colons and commas or none. The first choice of each holds for the
	// rest, so that most of the layout is forced; see [layout.Place].
	Natural = Whitespace{kind: wsNatural}
	// NaturalNested is Natural for a document that may be a part of an indented one.
	NaturalNested = Whitespace{kind: wsNaturalNested}
)

// DefaultBlankRun is the maximum run of flexible whitespace in one place: enough for
// indentation, too little to loop on.
const DefaultBlankRun = 16

// Flexible allows any JSON whitespace in runs of at most n bytes; n ≤ 0
// means [DefaultBlankRun].
func Flexible(n int) Whitespace {
	if n <= 0 {
		n = DefaultBlankRun
	}
	return Whitespace{kind: wsFlexible, max: min(n, 1<<12)}
}

// OnUnsupported selects the treatment of keywords that can't be enforced.
type OnUnsupported uint8

const (
	// UnsupportedIsError refuses the schema.
	UnsupportedIsError OnUnsupported = iota
	// UnsupportedIsChecked leaves them to a validator after generation;
	// the report lists them.
	UnsupportedIsChecked
	// UnsupportedIsIgnored drops them; the report lists them.
	UnsupportedIsIgnored
)

// Limits bounds what compiling and running a schema may use. A zero field means its
// default.
type Limits struct {
	Bytes  int // size of the document; default 8 MiB
	Depth  int // nesting of the document; default 512
	States int // automaton frames alive at once; default 4 million
	Steps  int // elementary steps of one satisfiability question; default 2 million

	Time   time.Duration // for compiling, and for each mask or completion afterwards; default 10 s
	Memory int           // bytes of the tables of one schema at once; default 512 MiB
}

// OrDefaults returns the limits with zero fields replaced by the defaults.
func (l Limits) OrDefaults() Limits {
	set := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	set(&l.Bytes, 8<<20)
	set(&l.Depth, 512)
	set(&l.States, 4<<20)
	set(&l.Steps, 2<<20)
	set(&l.Memory, 512<<20)
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	return l
}

// Options configures how a schema is read and how documents are written. The zero value
// is the default for generation.
type Options struct {
	Order         Order
	Whitespace    Whitespace
	OnUnsupported OnUnsupported
	// AnyNumberSpelling accepts every JSON spelling of an allowed number, such as 1e0
	// for 1; numbers of any length; needless escapes in strings; and leap seconds and
	// durations of any size. Without it, numbers are written so that every JSON parser
	// reads them exactly, and strings as JSON.stringify writes them.
	AnyNumberSpelling bool
	// Closed allows no members other than named ones where a schema names some and does
	// not mention others, as if it had unevaluatedProperties: false there. This
	// improves generated documents; to check whether a text fits a schema, leave it
	// unset.
	Closed bool
	// Strict turns warnings, such as for a misspelled keyword, into errors.
	Strict bool
	Limits Limits
}

// A Report lists what a schema requires and how much of it is enforced.
type Report struct {
	Hash     string   // sha256 over the document without whitespace between tokens
	Draft    string   // such as "2020-12"
	Enforced []string // keywords, in order of first use
	Checked  []Issue  // left to a validator
	Ignored  []Issue  // dropped
	Warnings []Issue
	Closed   bool // Options.Closed narrowed the schema
}
