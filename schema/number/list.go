package number

import "slices"

// addTexts builds the automaton of the canonical spellings of listed values:
// the tree of their texts, with all steps known.
func (a *Automaton) addTexts() error {
	texts := a.texts()
	a.trie = true
	if _, err := a.addBranch(texts, 0); err != nil {
		return err
	}
	return nil
}

// texts returns the spellings of the listed values, sorted.
func (a *Automaton) texts() []string {
	var list []string
	for _, d := range a.spec.In {
		if a.Contains(d) {
			list = append(list, a.textsOf(d)...)
		}
	}
	if !a.spec.HasIn {
		list = a.textsOf(*a.spec.Min) // the only value
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// longestPlain is the length of the longest spelling without an exponent that
// is accepted beside the one with an exponent.
const longestPlain = 40

// textsOf returns the spellings of a listed value: the one of String, the
// original one, and the one without an exponent if that is not too long.
func (a *Automaton) textsOf(d Decimal) []string {
	if a.spec.Plain || a.spec.Integer && d.pos <= 308 {
		return []string{d.plain()}
	}
	list := []string{d.String()}
	if -longestPlain < d.pos && d.pos <= longestPlain {
		list = append(list, d.plain())
	}
	if d.src != "" && len(d.src) <= len(d.digits)+longestPlain && !(d.IsZero() && d.src[0] == '-') {
		list = append(list, d.src)
	}
	return list
}

// addBranch adds the state of the texts that share their first n bytes.
func (a *Automaton) addBranch(texts []string, n int) (State, error) {
	q := State(len(a.nodes))
	if int(q) >= a.limits.States {
		return Dead, &LimitError{Limit: "states of a number automaton", Max: a.limits.States}
	}
	a.addRow()
	a.nodes = append(a.nodes, node{})
	if len(texts[0]) == n {
		a.row(q)[flags] = accepting
		texts = texts[1:]
	}
	for i := range symbols {
		a.row(q)[i] = -1
	}
	for len(texts) > 0 {
		c := texts[0][n]
		k := 1
		for k < len(texts) && texts[k][n] == c {
			k++
		}
		to, err := a.addBranch(texts[:k], n+1)
		if err != nil {
			return Dead, err
		}
		a.row(q)[symbolOf[c]] = to + 1
		texts = texts[k:]
	}
	return q, nil
}

// shortestBranch is Shortest for the tree of texts.
func (a *Automaton) shortestBranch(q State) []byte {
	var best, text []byte
	found := false
	var walk func(q State)
	walk = func(q State) {
		if found && len(text) >= len(best) {
			return
		}
		if a.Accepting(q) {
			best, found = append(best[:0], text...), true
			return
		}
		for sym, next := range a.row(q)[:symbols] {
			if next > 0 {
				text = append(text, byteOf[sym])
				walk(next - 1)
				text = text[:len(text)-1]
			}
		}
	}
	walk(q)
	return best
}
