package gbnf

// Limits bounds what a grammar may use. A zero field means its default; with
// the defaults, the worst grammar takes less than a second and 200 MB.
type Limits struct {
	// Source is the length of a grammar's text in bytes. Default 16 MiB.
	Source int
	// Elements is the number of elements of a grammar, and of instructions that
	// it compiles to; each takes about 100 bytes. Default 500,000.
	Elements int
	// Nesting is the depth of groups, on which the parser and the compiler
	// recurse. Default 10,000.
	Nesting int
	// Text is the length of the shortest text of a grammar, in bytes: a
	// longer one fits no model's context. Default 64 KiB.
	Text int
	// Items is the number of positions in the grammar that one text may be at
	// simultaneously, not counting calls. Default 100,000.
	Items int
	// Threads is the number of different ways in which the calls of one text
	// may be nested. Default 512.
	Threads int
	// Memory is the number of bytes at which the states and masks built so far
	// are discarded. Default 128 MiB.
	Memory int
}

func (l Limits) withDefaults() Limits {
	for _, x := range []struct {
		field *int
		value int
	}{
		{&l.Source, 16 << 20}, {&l.Elements, 500_000}, {&l.Nesting, 10_000}, {&l.Text, 64 << 10},
		{&l.Items, 100_000}, {&l.Threads, 512}, {&l.Memory, 128 << 20},
	} {
		if *x.field <= 0 {
			*x.field = x.value
		}
	}
	return l
}
