package regular

// A User runs operations on a Store that it shares with others. If an operation exceeds a limit or is ended by its user,
// what it added is removed: the Store stays usable, and as small as it was.
//
// Without a User, the first limit that is exceeded makes the Store unreliable: see [Store.Err] and [Machine.Err].
type User struct {
	// Nodes is the maximum number of expressions that the user may add to the Store; 0: no limit but the Store's.
	Nodes int

	step     func(n int)
	exceeded func(err *LimitError)
	added    int
}

// NewUser returns a User. step is called every few microseconds with the work done since, in the units of Limits.Work. It may end the
// operation with a panic, and may be nil. exceeded is called with the limit that an operation without an error result exceeded,
// after it was undone. If it does not panic, the operation returns as if there were no strings. It must not be nil: the limit
// would go unnoticed.
func NewUser(step func(n int), exceeded func(err *LimitError)) *User {
	if exceeded == nil {
		panic("regular: a user that isn't told of limits")
	}
	return &User{step: step, exceeded: exceeded}
}

// Report sets the user of the Store's operations from now on; nil: none. The Store's machines have users of their own:
// see [Machine.Reporting].
func (s *Store) Report(user *User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = user
}

// lock starts an operation.
func (s *Store) lock() {
	s.mu.Lock()
	s.begin(s.user)
}

// begin resets the work of an operation, and discards what an operation that ended with a panic has left.
func (s *Store) begin(user *User) {
	s.work, s.told, s.asker, s.failed = 0, 0, user, false
	s.openRecs = 0
	x := &s.scratch
	x.exprs, x.classes, x.nots, x.edges, x.ranges, x.lists = x.exprs[:0], x.classes[:0], x.nots[:0], x.edges[:0], x.ranges[:0], x.lists[:0]
	s.before = s.mark()
}

// done ends an operation without an error result. It is deferred.
func (s *Store) done() {
	user := s.asker
	if err := s.end(); err != nil {
		user.exceeded(err)
	}
}

// doneWith ends an operation with an error result.
func (s *Store) doneWith(err *error) {
	s.failed = s.failed || *err != nil
	if limit := s.end(); limit != nil {
		*err = limit
	}
}

// end undoes an operation that has failed, if it has a user, and releases the lock.
func (s *Store) end() *LimitError {
	defer s.mu.Unlock()
	if s.asker == nil {
		return nil
	}
	limit, _ := s.err.(*LimitError)
	if limit != nil || s.failed {
		s.undo(s.before)
		s.err = nil
	}
	return limit
}

// tellEvery is how much work passes between reports.
const tellEvery = 256

// spend reports whether an operation may combine n more expressions. An operation
// without a bound would block all other users of the Store.
func (s *exprs) spend(n int) bool {
	if s.work += n; s.work > s.limits.Work {
		s.fail("Work", s.limits.Work)
	}
	if more := s.work - s.told; more >= tellEvery && s.asker != nil && s.asker.step != nil {
		s.told = s.work
		s.failed = true
		s.asker.step(more)
		s.failed = false
	}
	return s.err == nil
}

// A mark is how much a Store held at some time.
type mark struct {
	nodes, ranges, args, automata int
	blocks, edges                 int // edges: in the last block
	states                        int32
}

func (s *Store) mark() mark {
	m := mark{nodes: s.size, ranges: len(s.ranges), args: len(s.args), automata: len(s.automata), blocks: len(s.edges)}
	if m.blocks > 0 {
		m.edges = len(s.edges[m.blocks-1])
	}
	if s.states != nil {
		m.states = s.states.count.Load()
	}
	return m
}

// later reports whether a list of edges was kept after the mark.
func (m *mark) later(at span) bool {
	return at.to > 0 && (int(at.block) >= m.blocks || int(at.block) == m.blocks-1 && int(at.from) >= m.edges)
}

// undo removes what was added since the mark. No other operation has seen it: this one holds the lock, and others follow
// only those successors of a state that [Machine.make] has finished.
func (s *Store) undo(m mark) {
	gone := func(e Expr) bool { return int(e) >= m.nodes }
	if s.asker != nil {
		s.asker.added -= min(s.asker.added, s.size-m.nodes)
	}
	s.size = m.nodes
	s.ranges, s.args, s.automata = s.ranges[:m.ranges], s.args[:m.args], s.automata[:m.automata]
	s.autoLetters = s.autoLetters[:min(len(s.autoLetters), m.automata)]
	s.blocks = s.blocks[:(m.nodes+len(nodeBlock{})-1)>>nodeBits]
	clear(s.slots)
	for e := range Expr(m.nodes) {
		n := s.node(e)
		if m.later(n.edges) {
			n.derived, n.edges = false, span{}
		}
		if n.state > m.states {
			n.state = 0
		}
		if n.op > opEpsilon && n.op != opRec {
			s.place(int32(e), n.hash)
		}
	}
	clear(s.edges[m.blocks:])
	s.edges = s.edges[:m.blocks]
	if m.blocks > 0 {
		s.edges[m.blocks-1] = s.edges[m.blocks-1][:m.edges]
	}
	for i, e := range s.ascii {
		if gone(e) {
			s.ascii[i] = 0
		}
	}
	for e := range s.letters {
		if gone(e) {
			delete(s.letters, e)
		}
	}
	for e, h := range s.heads {
		if gone(e) || gone(h.class) {
			delete(s.heads, e)
		}
	}
	for _, known := range []map[string]Expr{s.patterns, s.formats} {
		for name, e := range known {
			if gone(e) {
				delete(known, name)
			}
		}
	}
	for e := range s.machines {
		if gone(e) {
			delete(s.machines, e)
		}
	}
	if s.states != nil {
		s.states.count.Store(m.states)
	}
}
