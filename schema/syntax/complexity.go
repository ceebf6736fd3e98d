package syntax

import (
	"fmt"
	"slices"
)

// costly holds the numbers from which keywords are reported.
type costly struct {
	oneOf, anyOf     int // alternatives that are open objects
	conditions       int // ifs in one conjunction
	dependentSchemas int
	patterns         int // patternProperties of one object
	values           int // of an enum
}

var (
	// noticed: compiling takes more than about 30 ms, or a mask a millisecond; below,
	// no delay is noticeable.
	noticed = costly{oneOf: 60, anyOf: 200, conditions: 40, dependentSchemas: 80, patterns: 24, values: 50_000}
	// suspected: together with the rest of a schema, it may have been too much.
	suspected = costly{oneOf: 20, anyOf: 20, conditions: 16, dependentSchemas: 16, patterns: 24, values: 20_000}
)

// Complexity lists the costly parts of a schema, with their cost and possible remedies.
func (d *Document) Complexity() []Issue { return d.costs(noticed) }

// Suspects lists the parts that probably made a schema exceed a limit.
func (d *Document) Suspects() []Issue { return d.costs(suspected) }

func (d *Document) costs(many costly) []Issue {
	var out []Issue
	warn := func(n *Node, keyword, hint, format string, args ...any) {
		i := Issue{Pointer: n.Pointer(), Keyword: "complexity", Reason: fmt.Sprintf(format, args...), Hint: hint}
		out = append(out, d.Locate(i, n.Value.Get(keyword)))
	}
	for _, n := range d.Nodes {
		if n.Value == nil {
			continue
		}
		if a := n.Apply; a != nil {
			if open := openObjects(a.OneOf); open >= many.oneOf {
				warn(n, "oneOf", "add additionalProperties: false to each, or a required property with a const of its own",
					"oneOf of %d open objects: a document may fit several, so each of %d pairs is kept apart when the schema is compiled", open, open*(open-1)/2)
			}
			if open := openObjects(a.AnyOf); open >= many.anyOf {
				warn(n, "anyOf", "add additionalProperties: false to each, or a required property with a const of its own",
					"anyOf of %d open objects: all of them are followed to the end of the document", open)
			}
			if c := conditions(a.AllOf); c >= many.conditions {
				warn(n, "allOf", "put the cases into one oneOf whose objects have a required property with a const of its own",
					"%d conditions (if) beside one another: with each member it is followed which of them may still hold", c)
			}
		}
		if o := n.Object; o != nil {
			if c := len(o.DependentSchemas); c >= many.dependentSchemas {
				warn(n, "dependentSchemas", "put the cases into one oneOf of objects that require the property or exclude it",
					"%d dependent schemas beside one another: with each member it is followed which of them may still apply", c)
			}
			if c := len(o.Patterns); c >= many.patterns {
				warn(n, "patternProperties", "name the properties, or join the patterns whose schemas are equal",
					"%d patterns for names: every name is matched against all of them", c)
			}
		}
		if c := len(n.Enum); c >= many.values {
			warn(n, "enum", "use a pattern, or fewer values", "enum of %d values: all of them are put into one automaton when the schema is compiled", c)
		}
	}
	return out
}

// openObjects counts the alternatives that are objects which allow members that they
// don't name and that no value of a named member distinguishes.
func openObjects(list []*Node) (open int) {
	for _, n := range list {
		n = referred(n)
		o := n.Object
		if o == nil || len(o.Properties) == 0 || o.Additional != nil || o.Unevaluated != nil || o.Names != nil {
			continue
		}
		marked := slices.ContainsFunc(o.Properties, func(p Property) bool {
			v := referred(p.Node)
			return (v.Const != nil || v.HasEnum && len(v.Enum) == 1) && slices.Contains(o.Required, p.Name)
		})
		if !marked {
			open++
		}
	}
	return open
}

func conditions(list []*Node) (n int) {
	for _, one := range list {
		if one = referred(one); one.Apply != nil && one.Apply.If != nil {
			n++
		}
	}
	return n
}

// referred follows references, up to a number that a reader would follow.
func referred(n *Node) *Node {
	for range 8 {
		if n.Apply == nil || n.Apply.Ref == nil || n.Apply.Ref.Target == nil {
			break
		}
		n = n.Apply.Ref.Target
	}
	return n
}
