package repair

import (
	"fmt"
	"slices"
	"strings"
)

// The strategies, which are groups of steps, in order.
const (
	Cleaning  = "clean"    // the text around the document
	Repairing = "repair"   // the syntax
	Markdown  = "markdown" // emphasis in strings and keys
	Coercing  = "coerce"   // values of the wrong type; needs a schema
)

// Use allows only these strategies. Cleaning is always enabled, since the others depend on it.
func (opt *Options) Use(strategies []string) error {
	known := []string{Cleaning, Repairing, Markdown, Coercing}
	for _, s := range strategies {
		if !slices.Contains(known, s) {
			return fmt.Errorf("repair: there is no strategy %q; there are %s", s, strings.Join(known, ", "))
		}
	}
	opt.OnlyCoerce = slices.Contains(strategies, Coercing) && !slices.Contains(strategies, Repairing)
	opt.Repair = slices.Contains(strategies, Repairing) || opt.OnlyCoerce
	opt.NoCoerce = !slices.Contains(strategies, Coercing)
	opt.Markdown = slices.Contains(strategies, Markdown)
	return nil
}

// Strategies returns the strategies of the edits, in order.
func Strategies(edits []Edit) (list []string) {
	for _, s := range []string{Cleaning, Repairing, Markdown, Coercing} {
		if slices.ContainsFunc(edits, func(e Edit) bool { return e.strategy() == s }) {
			list = append(list, s)
		}
	}
	return list
}

func (e Edit) strategy() string {
	switch e.Step {
	case StepMark, StepThoughts, StepFence, StepSurround, StepTypographic:
		return Cleaning
	case StepMarkers:
		if e.Inside {
			return Markdown
		}
		return Cleaning
	case StepCoercion, StepUnwrapping, StepWrapping:
		return Coercing
	}
	return Repairing
}
