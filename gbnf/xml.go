package gbnf

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
)

// xmlMachine reads well-formed XML. A grammar can't express that end tags match
// start tags and that attributes are unique; here the names are part of the
// states, which are created as they are reached.
//
// While a name is read it is not part of the state: otherwise each prefix of
// each name would need a state. It is looked up in the text where it ends (see
// [decoder.Edges.Capture]).
//
// It reads XML as tools write it: names of ASCII letters, digits, hyphens, dots
// and underscores; no white space around = and before the > of an end tag; no
// document type, no processing instruction except the declaration, and no
// references except to the five characters with names.
type xmlMachine struct {
	out    *outcomes
	states []xmlState
	index  map[xmlState]int32
	tags   []xmlTag
	tagID  map[string]int32
	cache  map[int32][]edge

	root        string // name of the root element; "": any
	declaration bool   // the declaration is required
}

// xmlState is a state; the meaning of at depends on the kind.
type xmlState struct {
	kind xmlKind
	tag  int32 // the open element; unknownTag in masks that hold for every name
	at   int32
}

type xmlKind uint8

const (
	xmlStart       xmlKind = iota
	xmlFirst               // after the first <
	xmlDeclaration         // after at characters of the declaration
	xmlProlog              // after the declaration
	xmlRoot                // after the < of the root element
	xmlRootName            // in the required name of the root element, after at bytes of it
	xmlEnd                 // after the root element
	xmlName                // in the name of a start tag
	xmlAttributes          // after white space in a start tag
	xmlAttribute           // in the name of an attribute
	xmlEquals              // after its =
	xmlValue               // in its value, which ends with at
	xmlAfterValue          // after its value
	xmlClose               // after the / of an empty element
	xmlContent             // between tags, after at characters ]
	xmlMarkup              // after < in content
	xmlEndTag              // after </ and at bytes of the name
	xmlEntity              // after &, at is an index into xmlEntities
	xmlBang                // after <!, and part of - or [CDATA[; at is the position
	xmlComment             // in a comment, after at characters -
	xmlCDATA               // in a CDATA section, after at characters ]
)

// xmlTag is an open element, and the attributes in its start tag so far.
type xmlTag struct {
	name string
	used []string
}

// unknownTag stands for any element.
const unknownTag = -1

const xmlHeader = `<?xml version="1.0" encoding="UTF-8"?>`

const xmlCDATAStart = "[CDATA["

// xmlEntities lists all prefixes of the names between & and ;.
var xmlEntities = []string{"", "l", "lt", "g", "gt", "a", "am", "amp", "ap", "apo", "apos", "q", "qu", "quo", "quot"}

var xmlWholeEntities = []string{"lt", "gt", "amp", "apos", "quot"}

func newXML(out *outcomes, root string, declaration bool) *xmlMachine {
	m := &xmlMachine{out: out, root: root, declaration: declaration}
	m.reset()
	return m
}

// reset implements automaton.
func (m *xmlMachine) reset() {
	m.states, m.index = nil, map[xmlState]int32{}
	m.tags, m.tagID = nil, map[string]int32{}
	m.cache = map[int32][]edge{}
}

func (m *xmlMachine) state(kind xmlKind, tag, at int32) int32 {
	s := xmlState{kind, tag, at}
	id, ok := m.index[s]
	if !ok {
		id = int32(len(m.states))
		m.states = append(m.states, s)
		m.index[s] = id
	}
	return id
}

func (m *xmlMachine) tag(t xmlTag) int32 {
	key := t.name + " " + strings.Join(t.used, " ")
	id, ok := m.tagID[key]
	if !ok {
		id = int32(len(m.tags))
		m.tags = append(m.tags, t)
		m.tagID[key] = id
	}
	return id
}

// start implements automaton.
func (m *xmlMachine) start() int32 { return m.state(xmlStart, unknownTag, 0) }

// mayEnd implements automaton.
func (m *xmlMachine) mayEnd(q int32) bool { return m.states[q].kind == xmlEnd }

// follow implements automaton. Only the last state may end.
func (m *xmlMachine) follow(int32) charSet { return everyChar }

// followed implements automaton.
func (m *xmlMachine) followed() {}

// loosen implements automaton.
func (m *xmlMachine) loosen(q int32, _ int32) int32 { return q }

// err implements automaton.
func (m *xmlMachine) err() error { return nil }

// bytes implements automaton.
func (m *xmlMachine) bytes() int { return 60*len(m.states) + 100*len(m.tags) + 300*len(m.cache) }

var (
	xmlNameStart = charRanges("AZ__az")
	xmlNameChars = charRanges("--..09AZ__az")
	xmlSpace     = charRanges("\t\n\r\r  ")
	xmlChars     = []regular.Range{{Lo: '\t', Hi: '\n'}, {Lo: '\r', Hi: '\r'}, {Lo: ' ', Hi: lowestSurrogate - 1}, {Lo: highestSurrogate + 1, Hi: 0xFFFD}, {Lo: 0x10000, Hi: utf8.MaxRune}}
)

// charRanges returns the ranges with the given pairs of ends.
func charRanges(pairs string) (list []regular.Range) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, regular.Range{Lo: rune(pairs[i]), Hi: rune(pairs[i+1])})
	}
	return list
}

// xmlEdges collects edges.
type xmlEdges struct {
	m    *xmlMachine
	list []edge
}

// add adds edges over the characters of a class, without those in except, to
// states that replace the current one.
func (e *xmlEdges) add(class []regular.Range, except string, kind captureKind, states ...int32) {
	a := alt{n: int8(len(states))}
	copy(a.states[:], states)
	out := e.m.out.intern([]alt{a})
	for _, r := range class {
		lo := r.Lo
		for c := r.Lo; c <= r.Hi && c < utf8.RuneSelf; c++ {
			if strings.IndexByte(except, byte(c)) >= 0 {
				if lo < c {
					e.list = append(e.list, edge{lo, c - 1, out, kind})
				}
				lo = c + 1
			}
		}
		if lo <= r.Hi {
			e.list = append(e.list, edge{lo, r.Hi, out, kind})
		}
	}
}

// char adds an edge for one character.
func (e *xmlEdges) char(c byte, states ...int32) {
	e.add([]regular.Range{{Lo: rune(c), Hi: rune(c)}}, "", captureNone, states...)
}

// edges implements automaton.
func (m *xmlMachine) edges(q int32) []edge {
	if list, ok := m.cache[q]; ok {
		return list
	}
	e := xmlEdges{m: m}
	m.expand(&e, m.states[q], q)
	slices.SortFunc(e.list, func(a, b edge) int { return int(a.lo - b.lo) })
	m.cache[q] = e.list
	return e.list
}

func (m *xmlMachine) expand(e *xmlEdges, s xmlState, q int32) {
	none := captureNone
	content := m.state(xmlContent, s.tag, 0)
	switch s.kind {
	case xmlStart:
		e.char('<', m.state(xmlFirst, unknownTag, 0))
	case xmlFirst:
		e.char('?', m.state(xmlDeclaration, unknownTag, int32(len("<?"))))
		if !m.declaration {
			m.rootElement(e)
		}
	case xmlDeclaration:
		next := m.state(xmlDeclaration, unknownTag, s.at+1)
		if int(s.at)+1 == len(xmlHeader) {
			next = m.state(xmlProlog, unknownTag, 0)
		}
		e.char(xmlHeader[s.at], next)
	case xmlProlog:
		if s.at < maxXMLSpace {
			e.add(xmlSpace, "", none, m.state(xmlProlog, unknownTag, s.at+1))
		}
		e.char('<', m.state(xmlRoot, unknownTag, 0))
	case xmlRoot:
		m.rootElement(e)
	case xmlRootName:
		if int(s.at) < len(m.root) {
			e.char(m.root[s.at], m.state(xmlRootName, s.tag, s.at+1))
			break
		}
		e.add(xmlSpace, "", none, m.state(xmlAttributes, s.tag, 1))
		m.tagEnd(e, s.tag)
	case xmlEnd:
		if s.at < maxXMLSpace {
			e.add(xmlSpace, "", none, m.state(xmlEnd, unknownTag, s.at+1))
		}
	case xmlName:
		e.add(xmlNameChars, "", none, q)
		e.add(xmlSpace, "", capturePending, m.state(xmlAttributes, unknownTag, 1))
		e.char('/', m.state(xmlClose, unknownTag, 0))
		e.add(charRanges(">>"), "", capturePending, m.state(xmlContent, unknownTag, 0))
	case xmlAttributes:
		if s.at < maxXMLSpace {
			e.add(xmlSpace, "", none, m.state(xmlAttributes, s.tag, s.at+1))
		}
		e.add(xmlNameStart, "", none, m.state(xmlAttribute, s.tag, 0))
		m.tagEnd(e, s.tag)
	case xmlAttribute:
		e.add(xmlNameChars, "", none, q)
		e.add(charRanges("=="), "", captureOnly)
	case xmlEquals:
		e.char('"', m.state(xmlValue, s.tag, '"'))
		e.char('\'', m.state(xmlValue, s.tag, '\''))
	case xmlValue:
		quote := string(rune(s.at))
		e.add(xmlChars, "<&"+quote, none, q)
		e.char('&', q, m.state(xmlEntity, unknownTag, 0))
		e.char(quote[0], m.state(xmlAfterValue, s.tag, 0))
	case xmlAfterValue:
		e.add(xmlSpace, "", none, m.state(xmlAttributes, s.tag, 1))
		m.tagEnd(e, s.tag)
	case xmlClose:
		e.char('>')
	case xmlContent:
		stop := "<&]"
		if s.at == 2 {
			stop += ">"
		}
		e.add(xmlChars, stop, none, content)
		e.char(']', m.state(xmlContent, s.tag, min(2, s.at+1)))
		e.char('&', content, m.state(xmlEntity, unknownTag, 0))
		e.char('<', m.state(xmlMarkup, s.tag, 0))
	case xmlMarkup:
		e.char('/', m.state(xmlEndTag, s.tag, 0))
		e.char('!', content, m.state(xmlBang, unknownTag, 0))
		m.element(e, content)
	case xmlEndTag:
		m.endTag(e, s)
	case xmlEntity:
		m.entity(e, xmlEntities[s.at])
	default:
		m.section(e, s)
	}
}

// maxXMLSpace bounds runs of white space between tags and attributes, so that
// they can't go on endlessly.
const maxXMLSpace = 8

// element adds the edges into the name of a start tag; after is the state after
// the element.
func (m *xmlMachine) element(e *xmlEdges, after int32) {
	e.add(xmlNameStart, "", captureNone, after, m.state(xmlName, unknownTag, 0))
}

// rootElement adds the edges into the name of the root element's start tag.
func (m *xmlMachine) rootElement(e *xmlEdges) {
	after := m.state(xmlEnd, unknownTag, 0)
	if m.root == "" {
		m.element(e, after)
		return
	}
	e.char(m.root[0], after, m.state(xmlRootName, m.tag(xmlTag{name: m.root}), 1))
}

// shortest returns the shortest document.
func (m *xmlMachine) shortest() string {
	text := "<" + cmp.Or(m.root, "a") + "/>"
	if m.declaration {
		text = xmlHeader + text
	}
	return text
}

// xmlNamed reports whether a text is a valid name of an element.
func xmlNamed(text string) bool {
	for i, c := range text {
		in := func(r regular.Range) bool { return r.Lo <= c && c <= r.Hi }
		if i == 0 && !slices.ContainsFunc(xmlNameStart, in) || !slices.ContainsFunc(xmlNameChars, in) {
			return false
		}
	}
	return text != "" && len(text) <= maxXMLName
}

// maxXMLName bounds the length of a root element's name.
const maxXMLName = 256

// tagEnd adds the edges that end a start tag.
func (m *xmlMachine) tagEnd(e *xmlEdges, tag int32) {
	e.char('/', m.state(xmlClose, unknownTag, 0))
	if tag != unknownTag {
		tag = m.tag(xmlTag{name: m.tags[tag].name})
	}
	e.char('>', m.state(xmlContent, tag, 0))
}

func (m *xmlMachine) endTag(e *xmlEdges, s xmlState) {
	if s.tag == unknownTag {
		e.add(xmlNameStart, "", captureOnly)
		return
	}
	if name := m.tags[s.tag].name; int(s.at) < len(name) {
		e.char(name[s.at], m.state(xmlEndTag, s.tag, s.at+1))
	} else {
		e.char('>')
	}
}

func (m *xmlMachine) entity(e *xmlEdges, read string) {
	for i, longer := range xmlEntities {
		if len(longer) == len(read)+1 && strings.HasPrefix(longer, read) {
			e.char(longer[len(read)], m.state(xmlEntity, unknownTag, int32(i)))
		}
	}
	if slices.Contains(xmlWholeEntities, read) {
		e.char(';')
	}
}

// section adds the edges in comments and CDATA sections.
func (m *xmlMachine) section(e *xmlEdges, s xmlState) {
	to := func(kind xmlKind, at int32) int32 { return m.state(kind, unknownTag, at) }
	switch s.kind {
	case xmlBang:
		// 0: after <!; -1: after <!-; n: after n characters of [CDATA[.
		switch {
		case s.at == 0:
			e.char('-', to(xmlBang, -1))
			e.char('[', to(xmlBang, 1))
		case s.at < 0:
			e.char('-', to(xmlComment, 0))
		case int(s.at)+1 == len(xmlCDATAStart):
			e.char(xmlCDATAStart[s.at], to(xmlCDATA, 0))
		default:
			e.char(xmlCDATAStart[s.at], to(xmlBang, s.at+1))
		}
	case xmlComment:
		if s.at == 2 {
			e.char('>')
			return
		}
		e.add(xmlChars, "-", captureNone, to(xmlComment, 0))
		e.char('-', to(xmlComment, s.at+1))
	case xmlCDATA:
		stop := "]"
		if s.at == 2 {
			stop = "]>"
			e.char('>')
		}
		e.add(xmlChars, stop, captureNone, to(xmlCDATA, 0))
		e.char(']', to(xmlCDATA, min(2, s.at+1)))
	}
}

// resolve implements resolver. The name at the end of text determines the
// targets of the edges.
func (m *xmlMachine) resolve(q int32, c byte, text []byte) []alt {
	s := m.states[q]
	tag := text[bytes.LastIndexByte(text, '<')+1:]
	var to int32
	switch {
	case s.kind == xmlName && c == '>':
		to = m.state(xmlContent, m.tag(xmlTag{name: string(tag)}), 0)
	case s.kind == xmlName:
		to = m.state(xmlAttributes, m.tag(xmlTag{name: string(tag)}), 1)
	case s.kind == xmlAttribute:
		name := string(tag[bytes.LastIndexAny(tag, " \t\r\n")+1:])
		t := m.tags[s.tag]
		at, used := slices.BinarySearch(t.used, name)
		if used {
			return nil
		}
		to = m.state(xmlEquals, m.tag(xmlTag{t.name, slices.Insert(slices.Clone(t.used), at, name)}), 0)
	default:
		return nil
	}
	return []alt{{n: 1, states: [2]int32{to}}}
}

// finish implements automaton.
func (m *xmlMachine) finish(q int32) []byte {
	s := m.states[q]
	name := "a"
	if s.tag != unknownTag {
		name = m.tags[s.tag].name
	}
	switch s.kind {
	case xmlStart:
		return []byte(m.shortest())
	case xmlFirst:
		return []byte(m.shortest()[1:])
	case xmlRoot:
		return []byte(cmp.Or(m.root, "a") + "/>")
	case xmlRootName:
		return []byte(m.root[s.at:] + "/>")
	case xmlDeclaration:
		return []byte(xmlHeader[s.at:] + "<" + cmp.Or(m.root, "a") + "/>")
	case xmlProlog:
		return []byte("<" + cmp.Or(m.root, "a") + "/>")
	case xmlEnd:
		return nil
	case xmlName, xmlAttributes, xmlAfterValue:
		return []byte("/>")
	case xmlAttribute:
		// A name longer than all others is unused.
		longest := 0
		if s.tag != unknownTag {
			for _, u := range m.tags[s.tag].used {
				longest = max(longest, len(u))
			}
		}
		return []byte(strings.Repeat("a", longest) + `=""/>`)
	case xmlEquals:
		return []byte(`""/>`)
	case xmlValue:
		return []byte(string(rune(s.at)) + "/>")
	case xmlClose:
		return []byte(">")
	case xmlContent:
		return []byte("</" + name + ">")
	case xmlMarkup:
		return []byte("/" + name + ">")
	case xmlEndTag:
		return []byte(name[min(int(s.at), len(name)):] + ">")
	case xmlEntity:
		return []byte(xmlEntityRest(xmlEntities[s.at]) + ";")
	case xmlBang:
		if s.at > 0 {
			return []byte(xmlCDATAStart[s.at:] + "]]>")
		}
		return []byte("---->"[-s.at:])
	case xmlComment:
		return []byte("-->"[s.at:])
	default:
		return []byte("]]>"[s.at:])
	}
}

// xmlEntityRest returns the rest of the shortest entity.
func xmlEntityRest(read string) string {
	best := ""
	for _, whole := range xmlWholeEntities {
		rest, ok := strings.CutPrefix(whole, read)
		switch {
		case !ok:
		case rest == "":
			return ""
		case best == "" || len(rest) < len(best):
			best = rest
		}
	}
	return best
}

// describe implements automaton.
func (m *xmlMachine) describe(q int32) string {
	s := m.states[q]
	switch s.kind {
	case xmlStart, xmlProlog:
		return "the start tag of the root element"
	case xmlFirst, xmlRoot:
		return "the name of " + cmp.Or(m.root, "an element")
	case xmlRootName:
		return fmt.Sprintf("the rest of the name %s, an attribute, > or />", m.root)
	case xmlDeclaration:
		return fmt.Sprintf("%q", xmlHeader[s.at:])
	case xmlEnd:
		return "white space after the root element"
	case xmlName:
		return "the rest of an element's name, an attribute, > or />"
	case xmlAttributes, xmlAfterValue:
		return "an attribute, > or />"
	case xmlAttribute:
		return "the rest of the name of an attribute that is not there yet, ="
	case xmlEquals:
		return "a quoted value"
	case xmlValue:
		return fmt.Sprintf("a value without < that ends with %c", rune(s.at))
	case xmlContent, xmlMarkup, xmlEndTag:
		if s.tag != unknownTag {
			return fmt.Sprintf("content or the end tag of %s, going on with %q", m.tags[s.tag].name, m.finish(q))
		}
		return "content or an end tag"
	case xmlEntity:
		return "one of lt; gt; amp; apos; quot; after &"
	}
	return fmt.Sprintf("something that ends with %q", m.finish(q))
}
