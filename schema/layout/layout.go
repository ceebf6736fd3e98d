// Package layout defines the whitespace between the tokens of a JSON document: none,
// that of a formatter, or that of the document's own first lines.
//
// A [Place] is what a container or a value knows of the layout. In the natural layout
// nothing is decided at first, and the writer's first choices determine the rest: the
// first indentation is that of every further level, and the first colon and the first
// comma determine whether a space follows all later ones. Each container may be on one
// line or on several. So the writer of a document has a free choice of layout, and
// most of the layout is known before it is written.
//
//	{                    lines, indented by 2
//	  "a": [1, 2],       a space after colons and after commas; one line
//	  "b": {             what follows is known
//	    "c": null
//	  }
//	}
//
// Decisions made inside a container aren't known outside it. So a colon in an object
// decides for this object and everything in it, and a container on one line may
// contain others with different layouts.
package layout

import "strings"

// A Place is the position of a value, or the inside of a container, in the layout.
// Places can be compared and copied.
type Place struct {
	Depth int16 // number of levels by which the line is indented
	style style
}

// style is the part of the layout that is known. Its fields are packed because it is
// part of many keys.
type style uint16

const (
	lines  style = 1 << iota // the container has a line for each part
	inner                    // the container has a space inside its brackets
	free                     // the writer chooses
	nested                   // how deep the document is in another one is undecided

	unitShift  = 4  // 4 bits: the indentation of a level, 0 if undecided
	colonShift = 8  // 2 bits: the text after a colon
	commaShift = 10 // 2 bits: the text after a comma within a line

	unitMask  style = 15 << unitShift
	colonMask style = 3 << colonShift
	commaMask style = 3 << commaShift
)

// The texts after a colon or a comma; 0 means undecided.
const (
	nothing style = 1
	space   style = 2
)

// Bits returns the place as a number, for hashes.
func (p Place) Bits() uint32 { return uint32(uint16(p.Depth))<<16 | uint32(p.style) }

// A Unit is the indentation of one level, from 1 on.
type Unit int32

// MaxSpaces is the maximum number of spaces that a level can be indented by.
const MaxSpaces = 8

// Tab is the unit of one tab.
const Tab = Unit(MaxSpaces + 2)

// Spaces returns the unit of n spaces, 0 ≤ n ≤ [MaxSpaces].
func Spaces(n int) Unit { return Unit(n + 1) }

// String returns the indentation.
func (u Unit) String() string {
	if u == Tab {
		return "\t"
	}
	return strings.Repeat(" ", int(u-1))
}

// Compact returns the place of a document without whitespace.
func Compact() Place {
	return Place{style: nothing<<colonShift | nothing<<commaShift}
}

// Spaced returns the place of a document with one space after each colon and comma and
// no other whitespace, as Python writes it.
func Spaced() Place {
	return Place{style: space<<colonShift | space<<commaShift}
}

// Pretty returns the place of a document as JSON.stringify(value, null, 2) writes
// it.
func Pretty() Place {
	return Place{style: lines | style(Spaces(2))<<unitShift | space<<colonShift}
}

// Natural returns the place of a document whose layout the writer chooses.
func Natural() Place { return Place{style: free} }

// Nested returns the place of a document whose layout the writer chooses, and which may be a part of another document
// that isn't seen: its first line may be indented by several levels, of which all but one are that document's.
func Nested() Place { return Place{style: free | nested} }

// maxNested is the number of levels that may be those of the document around: the call's and, in a list of calls, the
// list's.
const maxNested = 2

// A Choice is one possible continuation: a text and the place after it.
type Choice struct {
	Text  string
	Place Place
}

func (p Place) newline(levels int16) string {
	return "\n" + strings.Repeat(Unit(p.style&unitMask>>unitShift).String(), int(levels))
}

// Openings returns the texts that may follow the opening bracket of a container at p,
// unless the container is empty, each with the place inside. The shortest comes first.
// If indent is true, a line break may follow too, and then the indentation that
// becomes the unit: see [Place.Indented].
func (p Place) Openings() (list []Choice, indent bool) {
	broken := p
	broken.style |= lines
	if p.style&free == 0 {
		if p.style&lines != 0 {
			return []Choice{{p.newline(p.Depth + 1), broken}}, false
		}
		return []Choice{{"", p}}, false
	}
	padded := p
	padded.style |= inner
	list = []Choice{{"", p}, {" ", padded}}
	if p.style&unitMask == 0 {
		return list, true
	}
	return append(list, Choice{p.newline(p.Depth + 1), broken}), false
}

// Indented returns the places that a container at p may have inside if its first line is
// indented by n spaces or, for -1, by a tab. The layout was undecided before: the container's
// own line isn't indented or, in a nested document, by a part of that.
func (p Place) Indented(n int) []Place {
	levels := 1
	if p.style&nested != 0 && n > 0 {
		levels += maxNested
	}
	p.style = p.style&^nested | lines
	var list []Place
	for k := 1; k <= levels; k++ {
		at := p
		at.Depth += int16(k - 1)
		switch {
		case n < 0:
			at.style |= style(Tab) << unitShift
		case n%k != 0:
			continue
		default:
			at.style |= style(Spaces(n/k)) << unitShift
		}
		list = append(list, at)
	}
	return list
}

// Value returns the place of a value inside a container.
func (p Place) Value() Place {
	if p.style&lines != 0 {
		p.Depth++
	}
	if p.style&free != 0 {
		p.style &^= lines | inner
	}
	return p
}

// Colons returns the possible texts from a colon to the value after it, each with the
// place inside the object from there on. The shortest comes first.
func (p Place) Colons() []Choice {
	return p.choices(colonMask, colonShift, ":")
}

// Commas returns the possible texts from a comma to the part after it, each with the
// place inside the container from there on. The shortest comes first.
func (p Place) Commas() []Choice {
	if p.style&lines != 0 {
		return []Choice{{"," + p.newline(p.Depth+1), p}}
	}
	return p.choices(commaMask, commaShift, ",")
}

func (p Place) choices(mask style, shift int, mark string) []Choice {
	switch p.style & mask >> shift {
	case nothing:
		return []Choice{{mark, p}}
	case space:
		return []Choice{{mark + " ", p}}
	}
	tight, wide := p, p
	tight.style |= nothing << shift
	wide.style |= space << shift
	return []Choice{{mark, tight}, {mark + " ", wide}}
}

// Closing returns the whitespace before the closing bracket of a container that isn't
// empty.
func (p Place) Closing() string {
	switch {
	case p.style&lines != 0:
		return p.newline(p.Depth)
	case p.style&inner != 0:
		return " "
	}
	return ""
}
