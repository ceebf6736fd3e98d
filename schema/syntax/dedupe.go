package syntax

import (
	"encoding/binary"
	"strconv"

	"github.com/stencil-json/stencil/schema/jsondoc"
)

// dedupe gives equal schemas the same number, so that results for one of them hold
// for all: large documents repeat themselves. Subschemas come after their schemas
// in nodes.
func (d *Document) dedupe() {
	if d.Dynamic {
		return // the meaning of a schema depends on the references that lead to it
	}
	known := map[string]int32{}
	var key contentKey
	for i := len(d.Nodes) - 1; i >= 0; i-- {
		n := d.Nodes[i]
		key = key[:0]
		if !n.content(&key) {
			continue
		}
		if same, found := known[string(key)]; found {
			n.EqualID = same
		} else {
			known[string(key)] = n.EqualID
		}
	}
}

// contentKey is the content of a schema as a map key.
type contentKey []byte

func (k *contentKey) int(list ...int) {
	for _, x := range list {
		*k = binary.AppendVarint(*k, int64(x))
	}
}

func (k *contentKey) text(s string) {
	k.int(len(s))
	*k = append(*k, s...)
}

func (k *contentKey) node(n *Node) {
	switch {
	case n == nil:
		k.int(-1)
	case n.Boolean != 0:
		k.int(-2, int(n.Boolean))
	default:
		k.int(int(n.EqualID))
	}
}

func (k *contentKey) nodes(list []*Node) {
	k.int(len(list))
	for _, n := range list {
		k.node(n)
	}
}

func (k *contentKey) properties(list []Property) {
	k.int(len(list))
	for _, p := range list {
		k.text(p.Name)
		k.node(p.Node)
	}
}

func (k *contentKey) value(v *jsondoc.Value) {
	if v == nil {
		k.int(-1)
		return
	}
	k.text(string(v.AppendCanonical(nil)))
}

func (k *contentKey) flag(b bool) { k.text(strconv.FormatBool(b)) }

// content appends the content of a schema, without annotations, to a key. It
// returns false if the key does not cover everything.
func (n *Node) content(k *contentKey) bool {
	k.int(int(n.Draft), int(n.Boolean), int(n.Types), len(n.Enum))
	k.flag(n.HasEnum)
	for _, v := range n.Enum {
		k.value(v)
	}
	k.value(n.Const)
	if s := n.String; s != nil {
		k.text("string")
		k.int(s.Min, s.Max)
		k.text(s.Pattern)
		k.flag(s.HasPattern)
		k.text(s.Format)
	}
	if x := n.Number; x != nil {
		if x.Min != nil || x.Max != nil || x.ExclusiveMin != nil || x.ExclusiveMax != nil || len(x.MultipleOf) > 0 {
			k.text("number")
			k.int(int(n.id)) // decimals are rarely repeated
		}
	}
	if a := n.Array; a != nil {
		if a.Unevaluated != nil {
			return false
		}
		k.text("array")
		k.nodes(a.Prefix)
		k.flag(a.hasPrefix)
		k.node(a.Items)
		k.node(a.Contains)
		k.int(a.MinContains, a.MaxContains, a.Min, a.Max)
		k.flag(a.Unique)
	}
	if o := n.Object; o != nil {
		if o.Unevaluated != nil {
			return false
		}
		k.text("object")
		k.properties(o.Properties)
		k.properties(o.Patterns)
		k.node(o.Additional)
		k.node(o.Names)
		k.int(len(o.Required))
		for _, r := range o.Required {
			k.text(r)
		}
		k.int(o.Min, o.Max, len(o.DependentRequired))
		for _, r := range o.DependentRequired {
			k.text(r.Name)
			k.int(len(r.Required))
			for _, x := range r.Required {
				k.text(x)
			}
		}
		k.properties(o.DependentSchemas)
		k.flag(o.PropertiesFirst)
	}
	if a := n.Apply; a != nil {
		if a.DynamicRef != nil {
			return false
		}
		k.text("apply")
		k.nodes(a.AllOf)
		k.nodes(a.AnyOf)
		k.nodes(a.OneOf)
		k.node(a.Not)
		k.node(a.If)
		k.node(a.Then)
		k.node(a.Else)
		if a.Ref != nil {
			k.node(a.Ref.Target)
		} else {
			k.node(nil)
		}
	}
	return true
}
