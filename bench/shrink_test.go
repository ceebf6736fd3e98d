package bench

import "slices"

// maxShrinks is the maximum number of values tried in the search for a smaller
// failing case.
const maxShrinks = 20_000

// shrink searches for a smaller value that still fails.
func shrink(v *value, fails func(*value) bool) *value {
	tried := 0
	for progress := true; progress; {
		progress = false
		for n := len(v.nodes(nil)) - 1; n >= 0; n-- {
			for step := 0; ; step++ {
				if tried++; tried > maxShrinks {
					return v
				}
				c := v.clone()
				nodes := c.nodes(nil)
				if n >= len(nodes) || !simplify(nodes[n], step) {
					break
				}
				if fails(c) {
					v, progress = c, true
					break
				}
			}
		}
	}
	return v
}

// simplify applies the step-th simplification to a node. It returns false if there
// is none.
func simplify(at *value, step int) bool {
	n := len(at.items)
	if step < n { // omit a part
		at.items = slices.Delete(at.items, step, step+1)
		if at.kind == kindObject {
			at.keys = slices.Delete(at.keys, step, step+1)
		}
		return true
	}
	if step -= n; step < n { // replace the whole by a part
		*at = *at.items[step]
		return true
	}
	step -= n
	simpler := []*value{boolean(true), boolean(false), {kind: kindNull}, num("0"), num("1"), num("2"), str(""), str("a"), str("b"), obj(), list()}
	if at.kind == kindObject || at.kind == kindArray {
		if step < 2 {
			*at = *simpler[step]
			return true
		}
		return false
	}
	rank := slices.IndexFunc(simpler, func(s *value) bool { return s.kind == at.kind && s.text == at.text })
	if rank < 0 {
		rank = len(simpler)
	}
	// Scalars are only simplified to others of the same kind that come earlier in
	// the list, so that shrinking ends.
	var choices []*value
	for i, s := range simpler {
		if i < rank && s.kind == at.kind {
			choices = append(choices, s)
		}
	}
	if rank == len(simpler) && at.kind == kindString && len(at.text) > 1 {
		runes := []rune(at.text)
		choices = append(choices, str(string(runes[1:])), str(string(runes[:len(runes)-1])))
	}
	if step < len(choices) {
		*at = *choices[step]
		return true
	}
	return false
}
