package schema

import "fmt"

// How much a schema may ask for at the least. Beyond it the shortest document
// is of no use, and finding it would take long: where what is required must
// differ, time grows with the square of the number.
const (
	mostLeastLength    = 1 << 16
	mostLeastItems     = 1 << 16
	mostLeastDifferent = 256
	mostLeastBytes     = 16 << 20 // of the shortest document
)

// checkSizes refuses demands for too much.
func (d *document) checkSizes() {
	check := func(n *node, keyword string, size *int, most int, what string) {
		if *size > most {
			d.cannot(n, keyword, n.val.get(keyword), fmt.Sprintf("more than %d %s can't be made sure of", most, what), "")
			*size = 0
		}
	}
	for _, n := range d.nodes {
		if k := n.str; k != nil {
			check(n, "minLength", &k.min, mostLeastLength, "characters")
		}
		if k := n.obj; k != nil {
			check(n, "minProperties", &k.min, mostLeastDifferent, "properties")
		}
		if k := n.arr; k != nil {
			if k.unique {
				check(n, "minItems", &k.min, mostLeastDifferent, "different items")
			}
			check(n, "minItems", &k.min, mostLeastItems, "items")
			if k.contains != nil {
				check(n, "minContains", &k.minContains, mostLeastDifferent, "items of a kind")
			}
		}
	}
}
