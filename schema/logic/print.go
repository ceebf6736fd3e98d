package logic

import (
	"fmt"
	"strings"
)

// String describes a goal. A schema is written as # and its JSON pointer.
func (t *Goals) String(g Goal) string {
	info := &t.Info[g]
	switch info.Kind {
	case Nothing:
		return "nothing"
	case Anything:
		return "anything"
	case OfNode:
		return "#" + info.Node.Pointer()
	case NotNode:
		return "not #" + info.Node.Pointer()
	case Equals:
		return "= " + string(info.Value.AppendCanonical(nil))
	case Differs:
		return "≠ " + string(info.Value.AppendCanonical(nil))
	}
	parts := make([]string, len(info.List))
	for i, x := range info.List {
		parts[i] = t.String(x)
	}
	if info.Kind == AllOf {
		return "(" + strings.Join(parts, " and ") + ")"
	}
	return "(" + strings.Join(parts, " or ") + ")"
}

// Names formats the numbers in literals. If a function is nil, the number is
// printed.
type Names struct {
	Keys    func(set int32) string
	Decimal func(x int32) string
	Numbers func(set int32) string
}

// String returns the formula with ∧, ∨, ⊤ for [Yes] and ⊥ for [No].
func (t *Forms) String(f Form, n Names) string { return t.text(f, n, false) }

func (t *Forms) text(f Form, n Names, inner bool) string {
	info := &t.Info[f]
	sign := " ∧ "
	switch info.Op {
	case OpNo:
		return "⊥"
	case OpYes:
		return "⊤"
	case OpLit:
		return t.literal(info.Lit, n)
	case OpOr:
		sign = " ∨ "
	}
	parts := make([]string, len(info.Kids))
	for i, k := range info.Kids {
		parts[i] = t.text(k, n, true)
	}
	if inner {
		return "(" + strings.Join(parts, sign) + ")"
	}
	return strings.Join(parts, sign)
}

func (t *Forms) literal(l Lit, n Names) string {
	name := func(f func(int32) string) string {
		if f == nil {
			return fmt.Sprint(l.A)
		}
		return f(l.A)
	}
	goal := t.goals.String(l.Goal)
	items := "items from " + fmt.Sprint(l.A)
	if l.B >= 0 {
		items += " to " + fmt.Sprint(l.B)
	}
	switch l.Kind {
	case AllKeys:
		return "every " + name(n.Keys) + ": " + goal
	case SomeKey:
		return "some " + name(n.Keys) + ": " + goal
	case AllItems:
		return "every of " + items + ": " + goal
	case Leading, NotLeading:
		var goals []string
		for list := l.A; list != 0; list = t.lists[list].rest {
			goals = append(goals, t.goals.String(t.lists[list].first))
		}
		return map[LitKind]string{Leading: "first items: ", NotLeading: "first items not all: "}[l.Kind] + strings.Join(goals, "; ")
	case SomeItem:
		return "some of " + items + ": " + goal
	case MinProps:
		return fmt.Sprintf("≥ %d members", l.A)
	case MaxProps:
		return fmt.Sprintf("≤ %d members", l.A)
	case MinItems:
		return fmt.Sprintf("≥ %d items", l.A)
	case MaxItems:
		return fmt.Sprintf("≤ %d items", l.A)
	case AtLeast:
		return fmt.Sprintf("≥ %d items: %s", l.A, goal)
	case AtMost:
		return fmt.Sprintf("≤ %d items: %s", l.A, goal)
	case Unique:
		return "items differ"
	case NotUnique:
		return "two items equal"
	case Integer:
		return "integer"
	case NotInteger:
		return "not integer"
	case Plain:
		return "integer without a fraction"
	case NotPlain:
		return "not integer without a fraction"
	case Min:
		return [...]string{"≥ ", "> "}[l.B] + name(n.Decimal)
	case Max:
		return [...]string{"≤ ", "< "}[l.B] + name(n.Decimal)
	case Multiple:
		return "multiple of " + name(n.Decimal)
	case NotMultiple:
		return "not multiple of " + name(n.Decimal)
	case In:
		return "one of " + name(n.Numbers)
	}
	return "none of " + name(n.Numbers)
}
