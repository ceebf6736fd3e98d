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

// queue holds the jobs with inputs that are not in a batch yet. Clients take turns of
// one input each; the jobs of one client are served in order of arrival.
type queue struct {
	limit   int
	size    int
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
		if c.client == j.client {
			c.jobs = append(c.jobs, j)
			return true
		}
	}
	q.clients = append(q.clients, &clientQueue{client: j.client, jobs: []*job{j}})
	return true
}

// peek returns the job whose input is next, nil if there is none.
func (q *queue) peek() *job {
	if len(q.clients) == 0 {
		return nil
	}
	return q.clients[0].jobs[0]
}

// take removes the next input of the job that peek returned, and passes the turn to
// the next client.
func (q *queue) take() (index int) {
	c := q.clients[0]
	j := c.jobs[0]
	index = j.next
	if j.next++; j.next == len(j.inputs) {
		c.jobs = slices.Delete(c.jobs, 0, 1)
		q.size--
	}
	q.clients = q.clients[1:]
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
