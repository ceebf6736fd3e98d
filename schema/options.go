package schema

// Order says in which order the members of an object may come.
type Order uint8

const (
	// OrderSchema is the order in which the schema names the properties;
	// properties it doesn't name come last.
	OrderSchema Order = iota
	// OrderAny is any order.
	OrderAny
)

// Whitespace says which whitespace may stand between tokens of JSON.
type Whitespace struct {
	kind uint8
	max  int
}

const (
	wsCompact uint8 = iota
	wsPretty
	wsFlexible
	wsNatural
)

var (
	// Compact allows no whitespace at all.
	Compact = Whitespace{kind: wsCompact}
	// Pretty is exactly the layout of JSON.stringify(value, null, 2).
	Pretty = Whitespace{kind: wsPretty}
	// Natural leaves the layout to the model: whitespace in runs of at most
	// [NaturalBlankRun] bytes wherever a formatter puts any, so neither around
	// the document nor between a key and its colon.
	Natural = Whitespace{kind: wsNatural, max: NaturalBlankRun}
)

// NaturalBlankRun is a line break and the indentation of 8 levels by 4.
const NaturalBlankRun = 33

// DefaultBlankRun is how much whitespace may stand in one place when it is
// flexible: enough for indentation, too little to loop on.
const DefaultBlankRun = 16

// Flexible allows any JSON whitespace in runs of at most n bytes; n ≤ 0
// means [DefaultBlankRun].
func Flexible(n int) Whitespace {
	if n <= 0 {
		n = DefaultBlankRun
	}
	return Whitespace{kind: wsFlexible, max: min(n, 1<<12)}
}

// OnUnsupported says what becomes of keywords that can't be enforced.
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

// Limits bound what compiling and running a schema may use. A zero field
// means its default.
type Limits struct {
	Bytes  int // size of the document; default 8 MiB
	Depth  int // nesting of the document; default 512
	States int // automaton frames alive at once; default 4 million
	Steps  int // elementary steps of one satisfiability question; default 2 million
}

func (l Limits) withDefaults() Limits {
	set := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	set(&l.Bytes, 8<<20)
	set(&l.Depth, 512)
	set(&l.States, 4<<20)
	set(&l.Steps, 2<<20)
	return l
}

// Options says how a schema is read and how documents are to be written. The
// zero value is the default for generation.
type Options struct {
	Order         Order
	Whitespace    Whitespace
	OnUnsupported OnUnsupported
	// AnyNumberSpelling accepts every JSON spelling of an allowed number,
	// such as 1e0 for 1, numbers of any length, and needless escapes in
	// strings. Without it numbers are spelt so that every JSON parser reads
	// them exactly, and strings as JSON.stringify spells them.
	AnyNumberSpelling bool
	// Strict makes an error of what is otherwise a warning, such as a
	// misspelt keyword.
	Strict bool
	Limits Limits
}

// A Report says what a schema asks for and how much of it is enforced.
type Report struct {
	Hash     string   // sha256 over the document without whitespace between tokens
	Draft    string   // such as "2020-12"
	Enforced []string // keywords, in order of first use
	Checked  []Issue  // left to a validator
	Ignored  []Issue  // dropped
	Warnings []Issue
}
