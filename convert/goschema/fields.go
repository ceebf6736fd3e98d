package goschema

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// field is a struct field as encoding/json sees it.
type field struct {
	name     string // in JSON
	goName   string
	typ      reflect.Type
	tag      reflect.StructTag
	optional bool // omitempty or omitzero
	quoted   bool // the option string
	tagged   bool // the name comes from a tag
	index    []int
}

// fields returns the fields of a struct, including those of embedded structs, in the
// order in which encoding/json writes them. Of several fields with the same name,
// the least nested one is used, and among those the tagged one; if this is still
// ambiguous, none is.
func fields(t reflect.Type) []field {
	type level struct {
		typ   reflect.Type
		index []int
	}
	var all []field
	seen := map[reflect.Type]bool{}
	for current := []level{{typ: t}}; len(current) > 0; {
		var next []level
		visited := map[reflect.Type]bool{}
		for _, l := range current {
			if seen[l.typ] {
				continue
			}
			visited[l.typ] = true
			for i := range l.typ.NumField() {
				f, embedded, ok := readField(l.typ.Field(i))
				f.index = append(slices.Clone(l.index), i)
				switch {
				case embedded:
					next = append(next, level{f.typ, f.index})
				case ok:
					all = append(all, f)
				}
			}
		}
		for v := range visited {
			seen[v] = true
		}
		current = next
	}
	return dominant(all)
}

// readField reads the tags of a field. embedded reports whether it is a struct whose
// fields belong to the outer one; otherwise ok reports whether the field is written.
func readField(sf reflect.StructField) (f field, embedded, ok bool) {
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if sf.Tag.Get("json") == "-" {
		return f, false, false
	}
	if !validName(name) {
		name = ""
	}
	f = field{name: name, goName: sf.Name, typ: sf.Type, tag: sf.Tag, tagged: name != ""}
	if sf.Anonymous && name == "" {
		t := sf.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct {
			f.typ = t
			return f, true, false
		}
	}
	if !sf.IsExported() {
		return f, false, false
	}
	if name == "" {
		f.name = sf.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty", "omitzero":
			f.optional = true
		case "string":
			f.quoted = true
		}
	}
	return f, false, true
}

// validName reports whether encoding/json accepts a name from a tag.
func validName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// dominant returns one field for each name, or none if the name is ambiguous.
func dominant(all []field) []field {
	byName := map[string][]field{}
	for _, f := range all {
		byName[f.name] = append(byName[f.name], f)
	}
	rank := func(a, b field) int {
		tagged := 0
		if a.tagged != b.tagged {
			if tagged = 1; a.tagged {
				tagged = -1
			}
		}
		return cmp.Or(cmp.Compare(len(a.index), len(b.index)), tagged)
	}
	var out []field
	for _, same := range byName {
		slices.SortStableFunc(same, rank)
		if len(same) == 1 || rank(same[0], same[1]) != 0 {
			out = append(out, same[0])
		}
	}
	slices.SortFunc(out, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return out
}
