package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat/jinja"
	"github.com/stencil-json/stencil/chat/jinja/python"
)

// A Notation is a family's own way of writing objects and arrays within arguments, where others write JSON. Brackets and separators
// may be empty: an object is then its members, one after another.
type Notation struct {
	Open, Close         string // around an object
	KeyOpen, KeyClose   string // around the key of a member; the value follows
	MemberEnd           string // after the value of a member; may contain [SlotKey]
	Comma               string // between members
	ListOpen, ListClose string // around an array
	ItemOpen, ItemClose string // around an item
	ItemComma           string // between items

	Quote  string // before and after a string, in which nothing is escaped; "": none
	Python bool   // strings and keys are written as Python's repr does, without Quote

	True, False, Null string
	OmitsNull         bool // members that are null are left out, and items that are null are empty
	Sorted            bool // members are sorted by key, regardless of case
}

// Marks begins what may come after text in a string without quotes, and can't be part of it.
func (n *Notation) Marks() string {
	if n.Quote != "" || n.Python {
		return ""
	}
	mark := n.KeyOpen
	for _, text := range []string{n.ItemOpen, n.MemberEnd, n.ItemClose} {
		mark = mark[:commonPrefix(mark, text)]
	}
	return mark
}

// Write returns a JSON value in the notation.
func (n *Notation) Write(value json.RawMessage) (string, error) {
	parsed, err := jinja.FromJSONAsWritten(value)
	if err != nil {
		return "", err
	}
	return n.write(parsed), nil
}

// Key returns a key as it is written between KeyOpen and KeyClose.
func (n *Notation) Key(key string) string {
	if n.Python {
		return string(python.AppendQuoted(nil, key))
	}
	return key
}

// End returns what follows the value of a member.
func (n *Notation) End(key string) string { return strings.ReplaceAll(n.MemberEnd, SlotKey, key) }

// Sort sorts keys as the notation does.
func (n *Notation) Sort(keys []string) {
	if n.Sorted {
		sortKeys(keys)
	}
}

// sortKeys sorts keys as Jinja's dictsort does.
func sortKeys(keys []string) {
	slices.SortStableFunc(keys, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
}

func (n *Notation) write(value any) string {
	var parts []string
	switch x := value.(type) {
	case *jinja.Dict:
		keys := x.Keys()
		n.Sort(keys)
		for _, key := range keys {
			if v, _ := x.Get(key); v != nil || !n.OmitsNull {
				parts = append(parts, n.KeyOpen+n.Key(key)+n.KeyClose+n.write(v)+n.End(key))
			}
		}
		return n.Open + strings.Join(parts, n.Comma) + n.Close
	case *jinja.List:
		for _, item := range x.Items {
			parts = append(parts, n.ItemOpen+n.write(item)+n.ItemClose)
		}
		return n.ListOpen + strings.Join(parts, n.ItemComma) + n.ListClose
	case string:
		if n.Python {
			return string(python.AppendQuoted(nil, x))
		}
		return n.Quote + x + n.Quote
	case bool:
		if x {
			return n.True
		}
		return n.False
	case nil:
		return n.Null
	}
	return jinja.JSON(value, ", ", ": ")
}

// Keys and values within an argument. None is part of another text that is asked for.
const (
	askedMember  = "stencilmc"
	askedMember2 = "stencilmd"
	askedNumber  = "734519"
	askedNumber2 = "852637"
	// askedHard is difficult to write in most notations.
	askedHard = "It's \"so\":\n\t{nice}, [é] \\n & <b> 日本 😀"
)

// withNotation returns the form with the template's own notation of objects and arrays, if it has one.
func (a *asker) withNotation(f CallForm) (CallForm, bool) {
	if !f.Arguments.NestedAsJSON() {
		return f, false
	}
	n, err := a.notation(&f.Arguments)
	if err != nil {
		return f, false
	}
	for _, of := range []ValueType{ObjectValue, ArrayValue} {
		if f.Arguments.Values[of].put != putValue {
			number := f.Arguments.Values[IntegerValue]
			f.Arguments.Values[of] = ValueForm{Open: number.Open, Close: number.Close, Nested: n}
		}
	}
	return f, a.confirm(f) == nil
}

// notation determines how objects and arrays within arguments are written, if not as JSON.
func (a *asker) notation(f *ArgumentForm) (n *Notation, err error) {
	number := f.Values[IntegerValue]
	if number.put != putValue {
		return nil, fmt.Errorf("numbers are written in another way than they are")
	}
	n = &Notation{}
	// inner returns the text of a value without what stands around arguments.
	inner := func(example string) string {
		var body string
		if err == nil {
			body, err = a.bodyOf(`{"` + askedKey + `":` + example + `,"` + askedKey2 + `":` + askedNumber3 + `}`)
		}
		_, rest, ok := strings.Cut(body, askedKey)
		rest, ok2 := strings.CutPrefix(rest, number.Open)
		middle, _, ok3 := cutLast(rest, strings.ReplaceAll(number.Close, SlotKey, askedKey)+f.Between+f.Key+askedKey2+number.Open+askedNumber3)
		if err == nil && (!ok || !ok2 || !ok3) {
			err = fmt.Errorf("objects are written in another place than numbers")
		}
		return middle
	}
	// split cuts a text around others.
	split := func(text string, at ...string) (parts []string) {
		for _, sep := range at {
			before, after, ok := strings.Cut(text, sep)
			if !ok && err == nil {
				err = fmt.Errorf("it doesn't write %q in %q", sep, text)
			}
			parts, text = append(parts, before), after
		}
		return append(parts, text)
	}
	member := func(key, value string) string { return `"` + key + `":` + value }
	one, other := member(askedMember, askedNumber), member(askedMember2, askedNumber2)
	// Objects are asked for in lists, since some templates write others as JSON.
	alone := inner("[" + askedNumber + "]")
	within := func(text string) string {
		before, after, ok := strings.Cut(alone, askedNumber)
		text, ok2 := strings.CutPrefix(text, before)
		text, ok3 := strings.CutSuffix(text, after)
		if err == nil && (!ok || !ok2 || !ok3) {
			err = fmt.Errorf("what stands around items depends on their types")
		}
		return text
	}
	empty, emptyList := within(inner("[{}]")), inner("[]")
	list := split(inner("["+askedNumber+","+askedNumber2+"]"), askedNumber, askedNumber2)
	object := split(within(inner("[{"+one+","+other+"}]")), askedMember, askedNumber, askedMember2, askedNumber2)
	turned := inner("[{" + other + "," + one + "}]")
	text := split(inner(`["`+askedText+`"]`), askedText)
	hard, hardErr := json.Marshal(askedHard)
	written := inner("[" + string(hard) + "]")
	names := split(inner("["+askedNumber+",true,"+askedNumber+",false,"+askedNumber+",null,"+askedNumber2+"]"), askedNumber, askedNumber, askedNumber, askedNumber2)
	withNull := inner("[{" + member(askedMember, "null") + "," + other + "}]")
	if err != nil || hardErr != nil {
		return nil, err
	}
	// Lists.
	n.ListOpen = list[0][:commonPrefix(list[0], emptyList)]
	n.ListClose = emptyList[len(n.ListOpen):]
	n.ItemOpen = list[0][len(n.ListOpen):]
	end, ok := strings.CutSuffix(list[2], n.ListClose)
	between, ok2 := strings.CutSuffix(list[1], n.ItemOpen)
	comma, ok3 := strings.CutPrefix(between, end)
	if !ok || !ok2 || !ok3 {
		return nil, fmt.Errorf("what stands around items depends on how many there are")
	}
	n.ItemClose, n.ItemComma = end, comma
	// Strings.
	before, ok := strings.CutPrefix(text[0], list[0])
	after, ok2 := strings.CutSuffix(text[1], list[2])
	switch {
	case !ok || !ok2 || before != after:
		return nil, fmt.Errorf("strings stand between other texts than numbers")
	case written == list[0]+string(python.AppendQuoted(nil, askedHard))+list[2]:
		n.Python = true
	case written == text[0]+askedHard+text[1]:
		n.Quote = before
	default:
		return nil, fmt.Errorf("texts are escaped in an unknown way")
	}
	// Names.
	for i, to := range []*string{&n.True, &n.False, &n.Null} {
		name, ok := strings.CutPrefix(names[i+1], list[1])
		name, ok2 := strings.CutSuffix(name, list[1])
		if !ok || !ok2 {
			return nil, fmt.Errorf("what stands around items depends on their types")
		}
		*to = name
	}
	// Objects.
	n.Open = object[0][:commonPrefix(object[0], empty)]
	n.Close = empty[len(n.Open):]
	n.KeyOpen, n.KeyClose = object[0][len(n.Open):], object[1]
	end, ok = strings.CutSuffix(strings.ReplaceAll(object[4], askedMember2, SlotKey), n.Close)
	between, ok2 = strings.CutSuffix(strings.ReplaceAll(object[2], askedMember, SlotKey), n.KeyOpen)
	comma, ok3 = strings.CutPrefix(between, end)
	if !ok || !ok2 || !ok3 || object[3] != n.KeyClose {
		return nil, fmt.Errorf("what stands around members depends on how many there are")
	}
	n.MemberEnd, n.Comma = end, comma
	if n.Python {
		open, ok := strings.CutSuffix(n.KeyOpen, "'")
		closing, ok2 := strings.CutPrefix(n.KeyClose, "'")
		if !ok || !ok2 {
			return nil, fmt.Errorf("keys are no strings")
		}
		n.KeyOpen, n.KeyClose = open, closing
	}
	n.Sorted = strings.Index(turned, askedMember) < strings.Index(turned, askedMember2)
	n.OmitsNull = !strings.Contains(withNull, askedMember+n.KeyClose) && !strings.Contains(withNull, n.Key(askedMember)+n.KeyClose)
	if n.Quote == "" && !n.Python && n.Marks() == "" {
		return nil, fmt.Errorf("strings have no end")
	}
	return n, nil
}

// askedNumber3 is the value of the argument after the one asked for.
const askedNumber3 = "961748"
