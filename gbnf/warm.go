package gbnf

// A machine is built on demand, but the states that the first texts need are
// built in advance, so that they don't delay their masks.
const (
	warmStates = 100  // maximum number of states to expand
	warmItems  = 4000 // maximum number of their items
)

// warm expands the states nearest to the start. It reports whether they were
// within these limits, as those of practical grammars are; otherwise the
// machine has to be reset.
func (m *machine) warm() bool {
	limits := m.limits
	defer func() { m.limits = limits }()
	m.limits.Items = min(limits.Items, warmItems)
	queue := []int32{m.start()}
	seen := map[int32]bool{queue[0]: true}
	for i, items := 0, 0; i < min(len(queue), warmStates) && m.failed == nil; i++ {
		s := &m.states[queue[i]]
		if items += len(s.chars) + len(s.calls); items > warmItems {
			break
		}
		for _, e := range m.edges(queue[i]) {
			for _, a := range m.out.list[e.out] {
				for _, q := range a.states[:a.n] {
					if !seen[q] {
						seen[q] = true
						queue = append(queue, q)
					}
				}
			}
		}
	}
	return m.failed == nil
}
