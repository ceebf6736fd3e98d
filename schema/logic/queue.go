package logic

import "container/heap"

// A Queue is a priority queue.
type Queue[T any] struct{ h heapOf[T] }

// NewQueue returns an empty queue ordered by less.
func NewQueue[T any](less func(a, b T) bool) *Queue[T] {
	return &Queue[T]{heapOf[T]{less: less}}
}

// Len returns the number of values in the queue.
func (q *Queue[T]) Len() int { return len(q.h.list) }

// Push adds a value.
func (q *Queue[T]) Push(x T) { heap.Push(&q.h, x) }

// Pop removes and returns the first value.
func (q *Queue[T]) Pop() T { return heap.Pop(&q.h).(T) }

type heapOf[T any] struct {
	list []T
	less func(a, b T) bool
}

// Len implements [heap.Interface].
func (h *heapOf[T]) Len() int { return len(h.list) }

// Less implements [heap.Interface].
func (h *heapOf[T]) Less(i, j int) bool { return h.less(h.list[i], h.list[j]) }

// Swap implements [heap.Interface].
func (h *heapOf[T]) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }

// Push implements [heap.Interface].
func (h *heapOf[T]) Push(x any) { h.list = append(h.list, x.(T)) }

// Pop implements [heap.Interface].
func (h *heapOf[T]) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}
