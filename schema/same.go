package schema

import (
	"encoding/binary"
	"strconv"
)

// findSame gives schemas that say the same the same number, so that what has
// been found out about one of them holds for all: large documents repeat
// themselves. Subschemas come after their schemas in nodes.
func (d *document) findSame() {
	if d.dynamic {
		return // what a schema means depends on how it is reached
	}
	known := map[string]int32{}
	for i := len(d.nodes) - 1; i >= 0; i-- {
		n := d.nodes[i]
		key, ok := n.content()
		if !ok {
			continue
		}
		if same, found := known[string(key)]; found {
			n.same = same
		} else {
			known[string(key)] = n.same
		}
	}
}

// contentKey collects what a schema says.
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

func (k *contentKey) node(n *node) {
	switch {
	case n == nil:
		k.int(-1)
	case n.boolean != 0:
		k.int(-2, int(n.boolean))
	default:
		k.int(int(n.same))
	}
}

func (k *contentKey) nodes(list []*node) {
	k.int(len(list))
	for _, n := range list {
		k.node(n)
	}
}

func (k *contentKey) properties(list []property) {
	k.int(len(list))
	for _, p := range list {
		k.text(p.name)
		k.node(p.node)
	}
}

func (k *contentKey) value(v *value) {
	if v == nil {
		k.int(-1)
		return
	}
	k.text(string(v.canonical(nil)))
}

func (k *contentKey) flag(b bool) { k.text(strconv.FormatBool(b)) }

// content returns a key of what a schema says, its annotations left out. ok is
// false where that isn't all there is to it.
func (n *node) content() (key []byte, ok bool) {
	var k contentKey
	k.int(int(n.draft), int(n.boolean), int(n.types), len(n.enum))
	k.flag(n.hasEnum)
	for _, v := range n.enum {
		k.value(v)
	}
	k.value(n.constant)
	if s := n.str; s != nil {
		k.text("string")
		k.int(s.min, s.max)
		k.text(s.pattern)
		k.flag(s.hasPattern)
		k.text(s.format)
	}
	if x := n.num; x != nil {
		if x.min != nil || x.max != nil || x.minExclusive != nil || x.maxExclusive != nil || len(x.multiple) > 0 {
			k.text("number")
			k.int(int(n.id)) // decimals are rarely repeated
		}
	}
	if a := n.arr; a != nil {
		if a.unevaluated != nil {
			return nil, false
		}
		k.text("array")
		k.nodes(a.prefix)
		k.flag(a.hasPrefix)
		k.node(a.items)
		k.node(a.contains)
		k.int(a.minContains, a.maxContains, a.min, a.max)
		k.flag(a.unique)
	}
	if o := n.obj; o != nil {
		if o.unevaluated != nil {
			return nil, false
		}
		k.text("object")
		k.properties(o.properties)
		k.properties(o.patterns)
		k.node(o.additional)
		k.node(o.names)
		k.int(len(o.required))
		for _, r := range o.required {
			k.text(r)
		}
		k.int(o.min, o.max, len(o.depRequired))
		for _, r := range o.depRequired {
			k.text(r.name)
			k.int(len(r.required))
			for _, x := range r.required {
				k.text(x)
			}
		}
		k.properties(o.depSchemas)
		k.flag(o.orderedBefore)
	}
	if a := n.apply; a != nil {
		if a.dynamic != nil {
			return nil, false
		}
		k.text("apply")
		k.nodes(a.allOf)
		k.nodes(a.anyOf)
		k.nodes(a.oneOf)
		k.node(a.not)
		k.node(a.when)
		k.node(a.then)
		k.node(a.otherwise)
		if a.ref != nil {
			k.node(a.ref.target)
		} else {
			k.node(nil)
		}
	}
	return k, true
}
