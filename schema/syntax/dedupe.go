package syntax

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/stencil-json/stencil/schema/jsondoc"
)

// dedupe gives equal schemas the same number, so that results for one of them hold
// for all: large documents repeat themselves. Subschemas come after their schemas
// in nodes.
func (d *Document) dedupe() {
	if d.Dynamic {
		return // the meaning of a schema depends on the references that lead to it
	}
	known := contents{slots: make([]int32, 64)}
	for i := len(d.Nodes) - 1; i >= 0; i-- {
		n := d.Nodes[i]
		from := len(known.keys)
		if !n.content(&known.keys) {
			known.keys = known.keys[:from]
			continue
		}
		n.EqualID = known.number(from, n.EqualID)
	}
}

// contents is a hash table of the contents of schemas.
type contents struct {
	keys  contentKey // one after another
	list  []content
	slots []int32 // 1 + index into list
}

type content struct {
	hash     uint64
	from, to int32 // of its key
	number   int32
}

// contentSeed is that of the hashes of contents.
var contentSeed = maphash.MakeSeed()

// number returns the number of the content whose key begins at from and is the last one;
// a new one gets the number given.
func (c *contents) number(from int, number int32) int32 {
	key := c.keys[from:]
	h := maphash.Bytes(contentSeed, key)
	mask := uint64(len(c.slots) - 1)
	at := h & mask
	for ; c.slots[at] != 0; at = (at + 1) & mask {
		if x := &c.list[c.slots[at]-1]; x.hash == h && bytes.Equal(c.keys[x.from:x.to], key) {
			c.keys = c.keys[:from]
			return x.number
		}
	}
	c.list = append(c.list, content{h, int32(from), int32(len(c.keys)), number})
	c.slots[at] = int32(len(c.list))
	if 2*len(c.list) > len(c.slots) {
		c.slots = make([]int32, 4*len(c.slots))
		mask = uint64(len(c.slots) - 1)
		for i := range c.list {
			at := c.list[i].hash & mask
			for ; c.slots[at] != 0; at = (at + 1) & mask {
			}
			c.slots[at] = int32(i) + 1
		}
	}
	return number
}

// contentKey is the content of a schema as a text.
type contentKey []byte

func (k *contentKey) int(x int) {
	if uint(x) < 32 {
		*k = append(*k, byte(2*x))
		return
	}
	*k = binary.AppendVarint(*k, int64(x))
}

func (k *contentKey) byte(b byte) { *k = append(*k, b) }

func (k *contentKey) text(s string) {
	k.int(len(s))
	*k = append(*k, s...)
}

func (k *contentKey) node(n *Node) {
	switch {
	case n == nil:
		k.int(-1)
	case n.Boolean != 0:
		k.int(-3 - int(n.Boolean))
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
	for i := range list {
		k.text(list[i].Name)
		k.node(list[i].Node)
	}
}

func (k *contentKey) texts(list []string) {
	k.int(len(list))
	for _, s := range list {
		k.text(s)
	}
}

func (k *contentKey) value(v *jsondoc.Value) { *k = append(v.AppendCanonical(*k), ',') }

func (k *contentKey) flag(b bool) {
	if b {
		k.byte(1)
	} else {
		k.byte(0)
	}
}

// content appends the content of a schema, without annotations, to a key. It
// returns false if the key does not cover everything.
func (n *Node) content(k *contentKey) bool {
	*k = append(*k, byte(n.Draft), byte(n.Boolean), byte(n.Types))
	k.flag(n.HasEnum)
	k.int(len(n.Enum))
	for _, v := range n.Enum {
		k.value(v)
	}
	if n.Const != nil {
		k.byte('c')
		k.value(n.Const)
	}
	if s := n.String; s != nil {
		k.byte('s')
		k.int(s.Min)
		k.int(s.Max)
		k.text(s.Pattern)
		k.flag(s.HasPattern)
		k.text(s.Format)
	}
	if x := n.Number; x != nil {
		if x.Min != nil || x.Max != nil || x.ExclusiveMin != nil || x.ExclusiveMax != nil || len(x.MultipleOf) > 0 {
			k.byte('n')
			k.int(int(n.id)) // decimals are rarely repeated
		}
	}
	if a := n.Array; a != nil {
		if a.Unevaluated != nil {
			return false
		}
		k.byte('a')
		k.nodes(a.Prefix)
		k.flag(a.hasPrefix)
		k.node(a.Items)
		k.node(a.Contains)
		k.int(a.MinContains)
		k.int(a.MaxContains)
		k.int(a.Min)
		k.int(a.Max)
		k.flag(a.Unique)
	}
	if o := n.Object; o != nil {
		if o.Unevaluated != nil {
			return false
		}
		k.byte('o')
		k.properties(o.Properties)
		k.properties(o.Patterns)
		k.node(o.Additional)
		k.node(o.Names)
		k.texts(o.Required)
		k.int(o.Min)
		k.int(o.Max)
		k.int(len(o.DependentRequired))
		for _, r := range o.DependentRequired {
			k.text(r.Name)
			k.texts(r.Required)
		}
		k.properties(o.DependentSchemas)
		k.flag(o.PropertiesFirst)
	}
	if a := n.Apply; a != nil {
		if a.DynamicRef != nil {
			return false
		}
		k.byte('p')
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
