package engine

import "slices"

// queue holds the jobs that wait for a slot, and the further choices of those that have
// started. Clients take turns, and so do the choices of one job: a turn is one sequence.
// The jobs of one client are served in order of arrival.
type queue struct {
	limit   int
	size    int            // jobs that have not started
	further int            // choices left of jobs that have started
	clients []*clientQueue // those with jobs, the next turn first
}

type clientQueue struct {
	client string
	jobs   []*job
}

// push adds a job. It returns false if the queue is full.
func (q *queue) push(j *job) bool {
	if q.size >= q.limit {
		return false
	}
	q.size++
	for _, c := range q.clients {
		if c.client == j.req.Client {
			c.jobs = append(c.jobs, j)
			return true
		}
	}
	q.clients = append(q.clients, &clientQueue{client: j.req.Client, jobs: []*job{j}})
	return true
}

// peek returns the next sequence that is ready, in order of turns, or nil.
func (q *queue) peek(ready func(*sequence) bool) *sequence {
	for _, c := range q.clients {
		for _, j := range c.jobs {
			if s := j.sequences[j.begun]; ready(s) {
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
	if j.begun == 0 {
		q.size--
		q.further += len(j.sequences)
	}
	j.begun++
	if q.further--; j.begun == len(j.sequences) {
		c.jobs = slices.DeleteFunc(c.jobs, func(x *job) bool { return x == j })
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
			case j.begun == 0:
				q.size--
			default:
				q.further -= len(j.sequences) - j.begun
			}
			out = append(out, j)
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
