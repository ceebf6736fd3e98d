package layout

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// callLimits drops calls that repeat an earlier one or exceed the limit, and
// everything after them except signals.
type callLimits struct {
	seen []string // the calls passed on, as values
	made []string // the calls made before, which only those in another form than the model's own repeat
	name string   // of the call being read
	form string   // its form, if not the model's own
	text string   // its arguments
	held []Piece  // pieces of a call that may be a repetition
	hold bool
	over bool
}

// full reports whether the limit of calls is reached.
func (c *callLimits) full(l *Layout) bool {
	return l != nil && l.MaxCalls > 0 && len(c.seen) >= l.MaxCalls
}

// pass returns the pieces that may be shown.
func (c *callLimits) pass(l *Layout, pieces []Piece) (out []Piece) {
	for _, p := range pieces {
		if p.Kind == PieceCall && c.full(l) || p.Kind == pieceOver {
			c.over = true
		}
		if c.over {
			if p.Kind == PieceSignals {
				out = append(out, p)
			}
			continue
		}
		switch p.Kind {
		case PieceCall:
			c.name, c.form, c.text = p.Name, p.Form, ""
			c.hold = !l.Repeats && slices.ContainsFunc(c.before(l), func(s string) bool { return strings.HasPrefix(s, p.Name+"\x00") })
		case PieceArguments:
			c.text += p.Text
		case PieceCallEnd:
			key := callKey(c.name, c.text)
			if c.hold && slices.Contains(c.before(l), key) {
				c.over, c.hold, c.held = true, false, nil
				continue
			}
			c.seen = append(c.seen, key)
			if c.hold {
				out = append(out, c.rest()...)
			}
		}
		if c.hold {
			c.held = append(c.held, p)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// before returns the calls that the current one may repeat.
func (c *callLimits) before(l *Layout) []string {
	if c.form == "" && !l.Beside || len(l.Made) == 0 {
		return c.seen
	}
	if c.made == nil {
		for _, call := range l.Made {
			c.made = append(c.made, callKey(call.Name, string(call.Arguments)))
		}
	}
	return slices.Concat(c.made, c.seen)
}

// rest returns the pieces held back, which are no repetition.
func (c *callLimits) rest() []Piece {
	out := c.held
	c.held, c.hold = nil, false
	return out
}

// callKey returns the same key for calls that are equal as values.
func callKey(name, arguments string) string {
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		if data, err := json.Marshal(spelledAlike(v)); err == nil {
			arguments = string(data)
		}
	}
	return name + "\x00" + arguments
}

// spelledAlike returns a JSON value whose numbers are spelled alike if they are equal: those that are written as integers keep
// all their digits, others are as exact as float64.
func spelledAlike(v any) any {
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			v[i] = spelledAlike(x)
		}
	case map[string]any:
		for key, x := range v {
			v[key] = spelledAlike(x)
		}
	case json.Number:
		f, err := v.Float64()
		mantissa, _, _ := strings.Cut(strings.ToLower(string(v)), "e")
		switch {
		case !strings.ContainsAny(mantissa, "123456789"):
			return 0
		case err != nil || f == 0 || !strings.ContainsAny(string(v), ".eE"):
			return v
		case f == math.Trunc(f) && math.Abs(f) < 1<<53:
			return int64(f)
		}
		return f
	}
	return v
}
