package logic

import "slices"

// Tags are the values, by number, that a formula lists for required members, by
// key set. They distinguish alternatives.
type Tags map[int32][]int32

// Tags returns the tags of f. listed returns the values that a goal allows, if it
// lists them.
func (t *Forms) Tags(f Form, listed func(Goal) ([]int32, bool)) Tags {
	info := &t.Info[f]
	if info.Op != OpAnd {
		return nil
	}
	required := map[int32]bool{}
	for _, k := range info.Kids {
		if l := t.Info[k]; l.Op == OpLit && l.Lit.Kind == SomeKey {
			required[l.Lit.A] = true
		}
	}
	tags := Tags{}
	for _, k := range info.Kids {
		l := t.Info[k]
		if l.Op != OpLit || l.Lit.Kind != AllKeys || !required[l.Lit.A] || tags[l.Lit.A] != nil {
			continue
		}
		if values, ok := listed(l.Lit.Goal); ok {
			tags[l.Lit.A] = values
		}
	}
	return tags
}

// Rivals returns, for each alternative, the others that may be true together with
// it, as far as the key set for which most alternatives have tags shows. Without
// it, hundreds of alternatives would be compared in pairs.
func Rivals(alternatives []Tags) [][]int {
	set, count := int32(-1), map[int32]int{}
	for _, tags := range alternatives {
		for key := range tags {
			if count[key]++; count[key] > count[set] || count[key] == count[set] && key < set {
				set = key
			}
		}
	}
	var all, untagged []int
	byValue := map[int32][]int{}
	for i, tags := range alternatives {
		all = append(all, i)
		if _, ok := tags[set]; !ok {
			untagged = append(untagged, i)
		}
		for _, v := range tags[set] {
			byValue[v] = append(byValue[v], i)
		}
	}
	rivals := make([][]int, len(alternatives))
	for i, tags := range alternatives {
		list := slices.Clone(all)
		if values, ok := tags[set]; ok {
			list = slices.Clone(untagged)
			for _, v := range values {
				list = append(list, byValue[v]...)
			}
			slices.Sort(list)
			list = slices.Compact(list)
		}
		rivals[i] = slices.DeleteFunc(list, func(j int) bool { return j == i })
	}
	return rivals
}
