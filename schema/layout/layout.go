// Package layout says which whitespace stands between the tokens of a JSON
// document: none, that of a formatter, or that of the document's own first lines.
//
// A [Place] is what a container or a value knows of the layout. In the natural
// layout a place begins with nothing decided. What the writer does first decides
// the rest: the first indentation is that of every further level, the first colon
// and the first comma say whether a space comes after all that follow. Each
// container may stand on one line or on several. So whatever a document's writer
// prefers can be written, and most of it is known before it is written.
//
//	{                    lines, indented by 2
//	  "a": [1, 2],       a space after colons and after commas; one line
//	  "b": {             what follows is known
//	    "c": null
//	  }
//	}
//
// What is decided inside of a container isn't known outside of it. So a colon in
// an object decides for this object and all in it, and a container on one line may
// hold others whose layouts differ.
package layout

import "strings"

// A Place is where a value or the inside of a container stands. Places are
// compared and copied freely.
type Place struct {
	Depth int16 // how many levels the line is indented by
	style style
}

// style is what is known of the layout. Its fields are packed because it is a
// part of many keys.
type style uint16

const (
	lines style = 1 << iota // the container has a line for each part
	inner                   // the container has a space inside of its brackets
	free                    // the writer chooses

	unitShift  = 3 // 4 bits: the indentation of a level, 0 if open
	colonShift = 7 // 2 bits: what comes after a colon
	commaShift = 9 // 2 bits: what comes after a comma on a line

	unitMask  style = 15 << unitShift
	colonMask style = 3 << colonShift
	commaMask style = 3 << commaShift
)

// The values of what comes after a colon or a comma; 0 is open.
const (
	nothing style = 1
	space   style = 2
)

// Bits returns the place as a number, for hashes.
func (p Place) Bits() uint32 { return uint32(uint16(p.Depth))<<16 | uint32(p.style) }

// A Unit is the indentation of one level, from 1 on.
type Unit int32

// MaxSpaces is the most spaces that a level can be indented by.
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

// Natural returns the place of a document whose writer chooses.
func Natural() Place { return Place{style: free} }

// A Choice is one way to go on: a text and the place after it.
type Choice struct {
	Text  string
	Place Place
}

func (p Place) newline(levels int16) string {
	return "\n" + strings.Repeat(Unit(p.style&unitMask>>unitShift).String(), int(levels))
}

// Openings returns what may come after the bracket that opens a container at p,
// unless it is empty, with the place inside of it. The shortest comes first. If
// indent is true, a line break may come too, followed by the indentation that
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

// Indented returns the place inside of a container at p whose first line is
// indented by u. Nothing was decided before, so its own line isn't indented.
func (p Place) Indented(u Unit) Place {
	p.style |= lines | style(u)<<unitShift
	return p
}

// Value returns the place of a value inside of a container.
func (p Place) Value() Place {
	if p.style&lines != 0 {
		p.Depth++
	}
	if p.style&free != 0 {
		p.style &^= lines | inner
	}
	return p
}

// Colons returns what may come from a colon to the value after it, with the place
// inside of the object from there on. The shortest comes first.
func (p Place) Colons() []Choice {
	return p.choices(colonMask, colonShift, ":")
}

// Commas returns what may come from a comma to the part after it, with the place
// inside of the container from there on. The shortest comes first.
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

// Closing returns what comes before the bracket that closes a container which
// isn't empty.
func (p Place) Closing() string {
	switch {
	case p.style&lines != 0:
		return p.newline(p.Depth)
	case p.style&inner != 0:
		return " "
	}
	return ""
}
