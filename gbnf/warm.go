package gbnf

// A machine is made as it is used, but what the first texts meet is made before
// them, so that it doesn't delay their masks.
const (
	warmStates = 100  // of which at most so many are expanded
	warmItems  = 4000 // and with them so many places in the grammar
)

// warm expands the states that are nearest to the beginning. It reports whether
// they were as small as those of grammars that people write; else the machine
// has to be reset.
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
