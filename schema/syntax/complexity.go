package syntax

import (
	"fmt"
	"slices"
)

// Bounds from which a construction is worth a warning. What is below compiles and masks without a delay that
// anybody notices.
const (
	manyOpen       = 20     // alternatives that are open objects
	manyConditions = 16     // if or dependentSchemas side by side
	manyPatterns   = 24     // patternProperties of one object
	manyValues     = 20_000 // of an enum
)

// Complexity lists what makes a schema costly, with what it costs and what would help.
func (d *Document) Complexity() []Issue {
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
			if open := openObjects(a.OneOf); open >= manyOpen {
				warn(n, "oneOf", "add additionalProperties: false to each, or a required property with a const of its own",
					"oneOf of %d open objects: a document may fit several, so %d pairs are kept apart while it is written", open, open*(open-1)/2)
			}
			if open := openObjects(a.AnyOf); open >= manyOpen {
				warn(n, "anyOf", "add additionalProperties: false to each, or a required property with a const of its own",
					"anyOf of %d open objects: all of them are followed to the end of the document", open)
			}
			if c := conditions(a.AllOf); c >= manyConditions {
				warn(n, "allOf", "put the cases into one oneOf whose objects have a required property with a const of its own",
					"%d conditions (if) beside one another: each may hold or not, up to 2^%d combinations", c, c)
			}
		}
		if o := n.Object; o != nil {
			if c := len(o.DependentSchemas); c >= manyConditions {
				warn(n, "dependentSchemas", "put the cases into one oneOf of objects that require the property or exclude it",
					"%d dependent schemas beside one another: each may apply or not, up to 2^%d combinations", c, c)
			}
			if c := len(o.Patterns); c >= manyPatterns {
				warn(n, "patternProperties", "name the properties, or join the patterns whose schemas are equal",
					"%d patterns for names: every name is matched against all of them", c)
			}
		}
		if c := len(n.Enum); c >= manyValues {
			warn(n, "enum", "use a pattern, or fewer values", "enum of %d values: all of them are held in memory and looked up at each character", c)
		}
	}
	return out
}

// openObjects counts the alternatives that are objects which allow members that they don't name, and that no
// value of a named one tells apart.
func openObjects(list []*Node) (open int) {
	for _, n := range list {
		n = referred(n)
		o := n.Object
		if o == nil || len(o.Properties) == 0 || o.Additional != nil || o.Unevaluated != nil || o.Names != nil {
			continue
		}
		marked := slices.ContainsFunc(o.Properties, func(p Property) bool {
			v := referred(p.Node)
			return slices.Contains(o.Required, p.Name) && (v.Const != nil || v.HasEnum && len(v.Enum) == 1)
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

// referred follows references, as far as somebody would read them.
func referred(n *Node) *Node {
	for range 8 {
		if n.Apply == nil || n.Apply.Ref == nil || n.Apply.Ref.Target == nil {
			break
		}
		n = n.Apply.Ref.Target
	}
	return n
}
