package engine

// queue holds the jobs that wait for a slot. Clients take turns; the jobs of
// one client come in the order in which they arrived.
type queue struct {
	limit   int
	size    int
	clients []*clientQueue // those with jobs, the next turn first
}

type clientQueue struct {
	client string
	jobs   []*job
}

// push adds a job; false when the queue is full.
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

// peek returns the job whose turn it is, nil when there is none.
func (q *queue) peek() *job {
	if len(q.clients) == 0 {
		return nil
	}
	return q.clients[0].jobs[0]
}

// pop removes the job that peek returned and gives the turn to the next
// client.
func (q *queue) pop() {
	c := q.clients[0]
	c.jobs[0] = nil
	c.jobs = c.jobs[1:]
	q.size--
	q.clients = q.clients[1:]
	if len(c.jobs) > 0 {
		q.clients = append(q.clients, c)
	}
}

// remove takes out the jobs for which gone is true and returns them.
func (q *queue) remove(gone func(*job) bool) []*job {
	var out []*job
	clients := q.clients[:0]
	for _, c := range q.clients {
		kept := c.jobs[:0]
		for _, j := range c.jobs {
			if gone(j) {
				out = append(out, j)
				q.size--
				continue
			}
			kept = append(kept, j)
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
