package embedding

import (
	"context"
	"slices"
	"time"
)

// job is a request in progress.
type job struct {
	client string
	inputs [][]int32
	ctx    context.Context

	submitted time.Time
	started   time.Time // when its first input was taken
	next      int       // its first input not yet taken
	left      int       // inputs without a row

	result Result
	err    error
	done   chan struct{} // closed when result or err is final
	ended  bool          // whether done is closed
}

// queue holds the jobs with inputs that are not in a batch yet. The next input is of
// the client of which the fewest tokens have been taken, since it has been in the
// queue. The jobs of one client are started in order of arrival; the further inputs of
// one go behind the others.
type queue struct {
	limit   int
	size    int
	clients []*clientQueue // those with jobs
}

type clientQueue struct {
	client string
	jobs   []*job
	taken  int // tokens; a client that arrives starts like the one with the fewest
}

// waiting returns the number of jobs that have not started.
func (c *clientQueue) waiting() int {
	n := 0
	for _, j := range c.jobs {
		if j.next == 0 {
			n++
		}
	}
	return n
}

// push adds a job. If the queue is full, it returns the job that is refused instead:
// the newest that has not started of the client with the most that wait, or j if its
// client would have as many as that client then.
func (q *queue) push(j *job) (refused *job) {
	var mine *clientQueue
	if i := slices.IndexFunc(q.clients, func(c *clientQueue) bool { return c.client == j.client }); i >= 0 {
		mine = q.clients[i]
	}
	if q.size >= q.limit {
		if refused = q.evict(mine); refused == nil {
			return j
		}
	}
	q.size++
	if mine == nil {
		mine = &clientQueue{client: j.client}
		if first := q.first(); first != nil {
			mine.taken = first.taken
		}
		q.clients = append(q.clients, mine)
	}
	mine.jobs = append(mine.jobs, j)
	return refused
}

// evict removes and returns the newest job that has not started of the client with the
// most of them, if these are at least two more than those of the client mine, which may
// be nil. Otherwise it returns nil.
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
	for i, j := range slices.Backward(most.jobs) {
		if j.next == 0 {
			most.jobs = slices.Delete(most.jobs, i, i+1)
			q.size--
			return j
		}
	}
	return nil
}

// first returns the client whose turn it is, nil if there is none.
func (q *queue) first() (first *clientQueue) {
	for _, c := range q.clients {
		if first == nil || c.taken < first.taken {
			first = c
		}
	}
	return first
}

// peek returns the job whose input is next, nil if there is none.
func (q *queue) peek() *job {
	c := q.first()
	if c == nil {
		return nil
	}
	return c.jobs[0]
}

// take removes the next input of the job that peek returned, and passes the turn to
// the next client.
func (q *queue) take() (index int) {
	c := q.first()
	j := c.jobs[0]
	index = j.next
	c.taken += len(j.inputs[index])
	c.jobs = slices.Delete(c.jobs, 0, 1)
	if j.next++; j.next == len(j.inputs) {
		q.size--
	} else {
		c.jobs = append(c.jobs, j)
	}
	q.clients = slices.DeleteFunc(q.clients, func(x *clientQueue) bool { return x == c })
	if len(c.jobs) > 0 {
		q.clients = append(q.clients, c)
	}
	return index
}

// remove removes and returns the jobs for which gone is true.
func (q *queue) remove(gone func(*job) bool) (out []*job) {
	for _, c := range q.clients {
		c.jobs = slices.DeleteFunc(c.jobs, func(j *job) bool {
			if gone(j) {
				out = append(out, j)
				return true
			}
			return false
		})
	}
	q.size -= len(out)
	q.clients = slices.DeleteFunc(q.clients, func(c *clientQueue) bool { return len(c.jobs) == 0 })
	return out
}
