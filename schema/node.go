package schema

import "stencil/schema/number"

// draft is a version of the JSON Schema specification.
type draft uint8

const (
	draft4 draft = iota
	draft6
	draft7
	draft2019
	draft2020
)

// String returns the draft's usual name.
func (d draft) String() string {
	return [...]string{"draft-04", "draft-06", "draft-07", "2019-09", "2020-12"}[d]
}

// typeSet is a set of JSON types.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeNumber
	typeString
	typeArray
	typeObject
	typeInteger // numbers without a fraction; implied by typeNumber
	allTypes    = typeNull | typeBoolean | typeNumber | typeString | typeArray | typeObject
)

// A node is one schema of the document, its keywords read and checked.
type node struct {
	id       int32
	same     int32 // id of a schema that says the same
	parent   *node
	segment  string // where the parent holds it, as part of a JSON pointer
	val      *value
	draft    draft
	resource *resource
	boolean  int8 // 1: the schema true, -1: false

	types    typeSet // zero: no type keyword
	enum     []*value
	hasEnum  bool
	constant *value

	obj   *objectKeywords
	arr   *arrayKeywords
	str   *stringKeywords
	num   *numberKeywords
	apply *applicators
}

type property struct {
	name string
	node *node
}

type objectKeywords struct {
	properties    []property
	patterns      []property // name is the pattern
	additional    *node
	names         *node
	required      []string
	min, max      int // max -1: none
	depRequired   []dependency
	depSchemas    []property
	unevaluated   *node
	orderedBefore bool // `properties` precedes the applicators in the document
}

type dependency struct {
	name     string
	required []string
}

type arrayKeywords struct {
	prefix      []*node
	hasPrefix   bool
	items       *node // what follows the prefix
	contains    *node
	minContains int
	maxContains int // -1: none
	min, max    int // max -1: none
	unique      bool
	unevaluated *node
}

type stringKeywords struct {
	min, max   int // max -1: none
	pattern    string
	hasPattern bool
	format     string
}

type numberKeywords struct {
	min, max                   *number.Decimal
	minExclusive, maxExclusive *number.Decimal
	multiple                   []number.Decimal
}

type applicators struct {
	allOf, anyOf, oneOf []*node
	not, when           *node // when is `if`
	then, otherwise     *node
	ref                 *reference
	dynamic             *reference // $dynamicRef or $recursiveRef
}

type reference struct {
	keyword string
	text    string
	target  *node
	// anchor is the name looked for in the dynamic scope, "" when the
	// reference turned out to be an ordinary one.
	anchor string
}

// pointer returns the node's JSON pointer.
func (n *node) pointer() string {
	if n.parent == nil {
		return n.segment
	}
	return n.parent.pointer() + "/" + n.segment
}

// escapePointer escapes a key for use in a JSON pointer.
func escapePointer(key string) string {
	out := make([]byte, 0, len(key))
	for i := 0; i < len(key); i++ {
		switch key[i] {
		case '~':
			out = append(out, "~0"...)
		case '/':
			out = append(out, "~1"...)
		default:
			out = append(out, key[i])
		}
	}
	return string(out)
}
