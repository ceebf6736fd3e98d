package engine

import "slices"

// queue holds the jobs that wait for a slot, and the further choices of those that have
// started. Clients take turns, and a turn is one sequence. The jobs of one client are started
// in order of arrival; the further choices of one go behind the others.
type queue struct {
	limit   int
	size    int            // jobs that have not started, without asides
	further int            // choices left of jobs that have started
	clients []*clientQueue // those with jobs, the next turn first
	head    *job           // of the sequence that peek returned last, until pop: it isn't evicted
}

type clientQueue struct {
	client string
	jobs   []*job
	aside  bool // a single job with Request.Aside: they are first, whoever's turn it is
}

// waiting returns the number of jobs that have not started.
func (c *clientQueue) waiting() int {
	n := 0
	for _, j := range c.jobs {
		if j.begun == 0 {
			n++
		}
	}
	return n
}

// push adds a job. If the queue is full, it returns the job that is refused instead: the newest one
// of the client with the most that wait, or j if its client would have as many as that client then.
func (q *queue) push(j *job) (refused *job) {
	if j.req.Aside {
		i := slices.IndexFunc(q.clients, func(c *clientQueue) bool { return !c.aside })
		if i < 0 {
			i = len(q.clients)
		}
		q.clients = slices.Insert(q.clients, i, &clientQueue{client: j.req.Client, jobs: []*job{j}, aside: true})
		return nil
	}
	var mine *clientQueue
	if i := slices.IndexFunc(q.clients, func(c *clientQueue) bool { return c.client == j.req.Client && !c.aside }); i >= 0 {
		mine = q.clients[i]
	}
	if q.size >= q.limit {
		if refused = q.evict(mine); refused == nil {
			return j
		}
	}
	q.size++
	if mine == nil {
		mine = &clientQueue{client: j.req.Client}
		q.clients = append(q.clients, mine)
	}
	mine.jobs = append(mine.jobs, j)
	return refused
}

// evict removes and returns the newest job that has not started of the client with the most of
// them, if these are at least two more than those of the client mine, which may be nil. Otherwise
// it returns nil. Of clients with equally many, it is the one whose turn is last.
func (q *queue) evict(mine *clientQueue) *job {
	least := 2
	if mine != nil {
		least += mine.waiting()
	}
	var most *clientQueue
	for _, c := range q.clients {
		if n := c.waiting(); n >= least {
			most, least = c, n
		}
	}
	if most == nil {
		return nil
	}
	for i, j := range slices.Backward(most.jobs) { // at least two have not started, and one at most is the head
		if j.begun == 0 && j != q.head {
			most.jobs = slices.Delete(most.jobs, i, i+1)
			q.size--
			return j
		}
	}
	return nil
}

// peek returns the next sequence that is ready, in order of turns, or nil.
func (q *queue) peek(ready func(*sequence) bool) *sequence {
	q.head = nil
	for _, c := range q.clients {
		for _, j := range c.jobs {
			if s := j.sequences[j.begun]; ready(s) {
				q.head = j
				return s
			}
		}
	}
	return nil
}

// pop removes a sequence returned by peek and passes the turn to the next client.
func (q *queue) pop(s *sequence) {
	i := slices.IndexFunc(q.clients, func(c *clientQueue) bool { return slices.Contains(c.jobs, s.job) })
	if i < 0 {
		return
	}
	c, j := q.clients[i], s.job
	q.head = nil
	if j.begun == 0 {
		if !c.aside {
			q.size--
		}
		q.further += len(j.sequences)
	}
	j.begun++
	c.jobs = slices.DeleteFunc(c.jobs, func(x *job) bool { return x == j })
	if q.further--; j.begun < len(j.sequences) {
		c.jobs = append(c.jobs, j)
	}
	if len(c.jobs) > 0 && c.aside {
		return // its further choices are first, too
	}
	if q.clients = slices.Delete(q.clients, i, i+1); len(c.jobs) > 0 {
		q.clients = append(q.clients, c)
	}
}

// remove removes and returns the jobs for which gone returns true.
func (q *queue) remove(gone func(*job) bool) []*job {
	var out []*job
	clients := q.clients[:0]
	for _, c := range q.clients {
		kept := c.jobs[:0]
		for _, j := range c.jobs {
			switch {
			case !gone(j):
				kept = append(kept, j)
				continue
			case j.begun == 0 && c.aside:
			case j.begun == 0:
				q.size--
			default:
				q.further -= len(j.sequences) - j.begun
			}
			if out = append(out, j); j == q.head {
				q.head = nil
			}
		}
		clear(c.jobs[len(kept):])
		if c.jobs = kept; len(kept) > 0 {
			clients = append(clients, c)
		}
	}
	clear(q.clients[len(clients):])
	q.clients = clients
	return out
}
