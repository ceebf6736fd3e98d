package syntax

import (
	"strconv"

	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/number"
)

// Draft is a version of the JSON Schema specification.
type Draft uint8

// The drafts, oldest first.
const (
	Draft4 Draft = iota
	Draft6
	Draft7
	Draft2019
	Draft2020
)

// String returns the draft's usual name.
func (d Draft) String() string {
	return [...]string{"draft-04", "draft-06", "draft-07", "2019-09", "2020-12"}[d]
}

// TypeSet is a set of JSON types.
type TypeSet uint8

// The values of the keyword type.
const (
	TypeNull TypeSet = 1 << iota
	TypeBoolean
	TypeNumber
	TypeString
	TypeArray
	TypeObject
	TypeInteger // numbers without a fraction; implied by typeNumber
	allTypes    = TypeNull | TypeBoolean | TypeNumber | TypeString | TypeArray | TypeObject
)

// A Node is one schema of the document, with its keywords read and checked.
// Absent keywords are zero, or NoMax for upper bounds.
type Node struct {
	id      int32
	EqualID int32 // id of an equal schema, or its own
	at      position
	Draft   Draft
	Boolean int8    // 1: the schema true, -1: false
	Types   TypeSet // zero: no type keyword
	HasEnum bool

	parent   *Node
	Value    *jsondoc.Value
	Resource *Resource

	Enum  []*jsondoc.Value
	Const *jsondoc.Value

	Object *ObjectKeywords
	Array  *ArrayKeywords
	String *StringKeywords
	Number *NumberKeywords
	Apply  *Applicators
}

// A position is the position of a schema in its parent. JSON pointers are derived from it on
// demand.
type position struct {
	keyword string // or several segments of a pointer
	name    string // of a member of the keyword's value
	item    int32  // 1 + the index in the keyword's value
	member  bool   // name counts
}

// segments returns the position as part of a JSON pointer.
func (p *position) segments() string {
	switch {
	case p.member:
		return p.keyword + "/" + jsondoc.EscapePointer(p.name)
	case p.item > 0:
		return p.keyword + "/" + strconv.Itoa(int(p.item)-1)
	}
	return p.keyword
}

// A Property is a schema with the name or pattern that it applies to.
type Property struct {
	Name string
	Node *Node
}

// ObjectKeywords are the keywords about objects.
type ObjectKeywords struct {
	Properties        []Property
	Patterns          []Property // name is the pattern
	Additional        *Node
	Names             *Node
	Required          []string
	Min, Max          int // max -1: none
	DependentRequired []Dependency
	DependentSchemas  []Property
	Unevaluated       *Node
	PropertiesFirst   bool // `properties` precedes the applicators in the document
}

// A Dependency lists the properties that a property requires.
type Dependency struct {
	Name     string
	Required []string
}

// ArrayKeywords are the keywords about arrays.
type ArrayKeywords struct {
	Prefix      []*Node
	hasPrefix   bool
	Items       *Node // for the items after the prefix
	Contains    *Node
	MinContains int
	MaxContains int // -1: none
	Min, Max    int // max -1: none
	Unique      bool
	Unevaluated *Node
}

// StringKeywords are the keywords about strings.
type StringKeywords struct {
	Min, Max   int // max -1: none
	Pattern    string
	HasPattern bool
	Format     string
}

// NumberKeywords are the keywords about numbers. Absent bounds are nil.
type NumberKeywords struct {
	Min, Max                   *number.Decimal
	ExclusiveMin, ExclusiveMax *number.Decimal
	MultipleOf                 []number.Decimal
}

// Applicators are the keywords that apply other schemas to the same value.
type Applicators struct {
	AllOf, AnyOf, OneOf []*Node
	Not, If             *Node // when is `if`
	Then, Else          *Node
	Ref                 *Reference
	DynamicRef          *Reference // $dynamicRef or $recursiveRef
}

// A Reference is a $ref, $dynamicRef or $recursiveRef and what it refers to.
type Reference struct {
	Keyword string
	text    string
	Target  *Node
	// Anchor is the name to look up in the dynamic scope, or "" if the reference
	// is an ordinary one.
	Anchor string
}

// Pointer returns the node's JSON pointer.
func (n *Node) Pointer() string {
	if n.parent == nil {
		return n.at.segments()
	}
	return n.parent.Pointer() + "/" + n.at.segments()
}
