package syntax

import (
	"fmt"
	"slices"
)

// Named returns the members that the keywords name, possibly with duplicates.
func (k *ObjectKeywords) Named() []string {
	out := slices.Clone(k.Required)
	for _, p := range k.Properties {
		out = append(out, p.Name)
	}
	for _, d := range k.DependentRequired {
		out = append(append(out, d.Name), d.Required...)
	}
	for _, d := range k.DependentSchemas {
		out = append(out, d.Name)
	}
	return out
}

// SpeaksOfOthers reports whether the keywords apply to members that aren't named.
func (k *ObjectKeywords) SpeaksOfOthers() bool {
	return k.Additional != nil || k.Unevaluated != nil || len(k.Patterns) > 0 || k.Names != nil
}

// Closes reports whether the document has objects that name members and do not
// mention others, so that closing restricts them. It lists those that can't be
// closed because they require more members than they name.
func (d *Document) Closes() (found bool, open []Issue) {
	c := &closing{doc: d, kinds: map[*Node]caseKinds{}, least: map[*Node]leastMembers{}, values: map[*Node]bool{}, insides: map[*Node]bool{}, steps: maxClosingSteps}
	c.value(d.Root)
	return c.found, c.open
}

// closing searches for objects that name members and do not mention others.
type closing struct {
	doc   *Document
	found bool
	open  []Issue

	kinds           map[*Node]caseKinds
	least           map[*Node]leastMembers
	values, insides map[*Node]bool
	steps           int // remaining for counting names
}

// maxClosingSteps bounds the counting of names, which only a warning needs.
const maxClosingSteps = 1 << 20

// leastMembers is the minimum number of members of an object, and the schema that
// requires it.
type leastMembers struct {
	n  int
	at *Node
}

// caseKinds is a set of cases: bit named|open is set if objects may fall into a
// case in which members are named or not, and others mentioned or not.
type caseKinds uint8

const (
	caseNamed = 1
	caseOpen  = 2
	casePlain = caseKinds(1 << 0) // neither
)

// both returns the cases of a conjunction.
func (a caseKinds) both(b caseKinds) caseKinds {
	var out caseKinds
	for i := range 4 {
		for j := range 4 {
			if a>>i&1 != 0 && b>>j&1 != 0 {
				out |= 1 << (i | j)
			}
		}
	}
	return out
}

// inPlace calls visit with the schemas that n applies to the same value, and
// whether they have to hold.
func (n *Node) inPlace(visit func(x *Node, must bool)) {
	if k := n.Object; k != nil {
		for _, d := range k.DependentSchemas {
			visit(d.Node, false)
		}
	}
	a := n.Apply
	if a == nil {
		return
	}
	for _, x := range a.AllOf {
		visit(x, true)
	}
	for _, r := range []*Reference{a.Ref, a.DynamicRef} {
		if r != nil && r.Target != nil {
			visit(r.Target, true)
		}
	}
	for _, x := range []*Node{a.If, a.Then, a.Else} {
		if x != nil {
			visit(x, false)
		}
	}
	for _, x := range slices.Concat(a.AnyOf, a.OneOf) {
		visit(x, false)
	}
}

// kindsOf returns the kinds of cases that the objects of n fall into.
func (c *closing) kindsOf(n *Node) caseKinds {
	if k, ok := c.kinds[n]; ok {
		return k
	}
	c.kinds[n] = 0
	if n.Types != 0 && n.Types&TypeObject == 0 || n.Boolean < 0 {
		return 0
	}
	self := 0
	if n.Const != nil || n.HasEnum {
		self |= caseOpen
	}
	if k := n.Object; k != nil {
		if len(k.Named()) > 0 {
			self |= caseNamed
		}
		if k.SpeaksOfOthers() {
			self |= caseOpen
		}
	}
	out := caseKinds(1 << self)
	n.inPlace(func(x *Node, must bool) {
		if must {
			out = out.both(c.kindsOf(x))
		}
	})
	if a := n.Apply; a != nil {
		for _, list := range [][]*Node{a.AnyOf, a.OneOf} {
			var some caseKinds
			for _, x := range list {
				some |= c.kindsOf(x)
			}
			if len(list) > 0 {
				out = out.both(some)
			}
		}
		if a.If != nil {
			then, other := c.kindsOf(a.If), casePlain
			if a.Then != nil {
				then = then.both(c.kindsOf(a.Then))
			}
			if a.Else != nil {
				other = c.kindsOf(a.Else)
			}
			out = out.both(then | other)
		}
	}
	if k := n.Object; k != nil {
		for _, d := range k.DependentSchemas {
			out = out.both(casePlain | c.kindsOf(d.Node))
		}
	}
	c.kinds[n] = out
	return out
}

// value searches a schema that is applied to a value as a whole.
func (c *closing) value(n *Node) {
	if c.values[n] {
		return
	}
	c.values[n] = true
	if c.kindsOf(n)>>caseNamed&1 != 0 {
		names := map[string]bool{}
		least := c.leastOf(n)
		if c.count(n, least.n, names, map[*Node]bool{}); least.n > len(names) && c.steps > 0 {
			c.open = append(c.open, c.doc.Locate(Issue{Pointer: least.at.Pointer() + "/minProperties", Keyword: "minProperties",
				Reason: fmt.Sprintf("asks for %d members where %d are named, so others may come", least.n, len(names))}, least.at.Value.Get("minProperties")))
		} else {
			c.found = true
		}
	}
	c.inside(n)
}

// leastOf returns the minimum number of members of objects of n.
func (c *closing) leastOf(n *Node) leastMembers {
	if l, ok := c.least[n]; ok {
		return l
	}
	out := leastMembers{at: n}
	if n.Object != nil {
		out.n = n.Object.Min
	}
	c.least[n] = out
	n.inPlace(func(x *Node, must bool) {
		if must {
			if l := c.leastOf(x); l.n > out.n {
				out = l
			}
		}
	})
	c.least[n] = out
	return out
}

// count collects names of the members of n's objects until there are enough.
func (c *closing) count(n *Node, enough int, names map[string]bool, seen map[*Node]bool) {
	if seen[n] || len(names) >= enough || c.steps <= 0 {
		return
	}
	seen[n] = true
	c.steps--
	if k := n.Object; k != nil {
		for _, name := range k.Named() {
			c.steps--
			names[name] = true
		}
	}
	n.inPlace(func(x *Node, _ bool) { c.count(x, enough, names, seen) })
}

// inside searches the schemas of members and items.
func (c *closing) inside(n *Node) {
	if c.insides[n] {
		return
	}
	c.insides[n] = true
	if k := n.Object; k != nil {
		for _, p := range slices.Concat(k.Properties, k.Patterns) {
			c.value(p.Node)
		}
		for _, x := range []*Node{k.Additional, k.Unevaluated} {
			if x != nil {
				c.value(x)
			}
		}
	}
	if k := n.Array; k != nil {
		for _, x := range append(slices.Clone(k.Prefix), k.Items, k.Contains, k.Unevaluated) {
			if x != nil {
				c.value(x)
			}
		}
	}
	n.inPlace(func(x *Node, _ bool) { c.inside(x) })
}
