package tokens

import (
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/spelling"
)

// escapedTokens returns the tokens that contain escapes or parts of characters
// and stay inside the string after state q of m.
func (t *Tables) escapedTokens(m *regular.Machine, q regular.State, strict bool) []int32 {
	trie := t.Strings.Irregular
	states := make([]spelling.Place, trie.Depth+1)
	states[0].State = q
	known := map[spelling.Place]*spelling.Recorder{}
	var list []int32
	for i := int32(0); int(i) < trie.Len(); {
		n := &trie.Nodes[i]
		text := &spelling.String{Machine: m, State: states[n.Depth-1].State, Free: !strict}
		at, ok := text.Step(states[n.Depth-1].Sub, n.Byte, known)
		if !ok {
			i = n.End
			continue
		}
		states[n.Depth] = at
		list = append(list, trie.At(i)...)
		i++
	}
	return list
}
