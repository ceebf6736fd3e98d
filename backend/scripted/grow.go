package scripted

import "github.com/stencil-json/stencil/backend"

var _ backend.Grower = (*Context)(nil)

// Cells implements backend.Grower.
func (c *Context) Cells() int { return c.cells }

// Grow implements backend.Grower: the cells double. Without urgency it refuses
// to exceed half of the context's size.
func (c *Context) Grow(urgent bool) bool {
	next := min(2*c.cells, c.p.Size)
	if c.closed || next == c.cells || !urgent && next > c.p.Size/2 {
		return false
	}
	c.cells, c.rows = next, 0
	return true
}
