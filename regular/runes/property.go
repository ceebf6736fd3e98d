package runes

import (
	"strings"
	"sync"
	"unicode"
)

//go:generate go run ../../internal/unicodegen emoji emoji_tables.go

// categories maps the long names of general categories to Go's short ones.
var categories = map[string]string{
	"Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll",
	"Titlecase_Letter": "Lt", "Modifier_Letter": "Lm", "Other_Letter": "Lo",
	"Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me",
	"Number": "N", "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
	"Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd",
	"Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
	"Final_Punctuation": "Pf", "Other_Punctuation": "Po",
	"Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So",
	"Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp",
	"Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Private_Use": "Co",
	"Surrogate": "Cs", "Unassigned": "Cn",
}

var (
	propertiesMu sync.Mutex
	properties   = map[string][]Range{}
)

// Property returns the set of a Unicode property, with ECMAScript's names: Lu,
// Letter, gc=Lu, Script=Greek, sc=Grek, Alphabetic, ASCII. The set is shared and
// must not be modified. The tables are those of package unicode and, for emoji, generated.
func Property(name string) ([]Range, bool) {
	propertiesMu.Lock()
	defer propertiesMu.Unlock()
	if set, ok := properties[name]; ok {
		return set, true
	}
	set, ok := makeProperty(name)
	if ok {
		properties[name] = set
	}
	return set, ok
}

func makeProperty(name string) ([]Range, bool) {
	if key, value, found := strings.Cut(name, "="); found {
		switch key {
		case "gc", "General_Category":
			return makeCategory(value)
		case "sc", "Script":
			return makeScript(value)
		case "scx", "Script_Extensions":
			// Without extension data, the script itself would be too small a
			// set.
			return nil, false
		}
		return nil, false
	}
	if set, ok := makeCategory(name); ok {
		return set, true
	}
	if set, ok := makeBinary(name); ok {
		return set, true
	}
	return makeScript(name)
}

func makeCategory(name string) ([]Range, bool) {
	if short, ok := categories[name]; ok {
		name = short
	}
	switch name {
	case "LC":
		return FromTables(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "Cs":
		return nil, false // surrogates are not characters here
	case "Cn":
		return AppendComplement(nil, assigned()), true
	case "C":
		set := FromTables(unicode.Cc, unicode.Cf, unicode.Co)
		return appendUnion(nil, set, AppendComplement(nil, assigned())), true
	}
	if t, ok := unicode.Categories[name]; ok {
		return FromTables(t), true
	}
	return nil, false
}

func assigned() []Range {
	return FromTables(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co)
}

func makeScript(name string) ([]Range, bool) {
	if t, ok := unicode.Scripts[name]; ok {
		return FromTables(t), true
	}
	if long, ok := scriptCodes[name]; ok {
		return FromTables(unicode.Scripts[long]), true
	}
	return nil, false
}

// scriptCodes holds the four-letter codes of scripts that patterns are likely to
// name.
var scriptCodes = map[string]string{
	"Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Bopo": "Bopomofo", "Cyrl": "Cyrillic",
	"Deva": "Devanagari", "Ethi": "Ethiopic", "Geor": "Georgian", "Grek": "Greek", "Gujr": "Gujarati",
	"Guru": "Gurmukhi", "Hang": "Hangul", "Hani": "Han", "Hebr": "Hebrew", "Hira": "Hiragana",
	"Kana": "Katakana", "Khmr": "Khmer", "Knda": "Kannada", "Laoo": "Lao", "Latn": "Latin",
	"Mlym": "Malayalam", "Mong": "Mongolian", "Mymr": "Myanmar", "Orya": "Oriya", "Sinh": "Sinhala",
	"Taml": "Tamil", "Telu": "Telugu", "Thai": "Thai", "Tibt": "Tibetan", "Zyyy": "Common", "Zinh": "Inherited",
}

func makeBinary(name string) ([]Range, bool) {
	switch name {
	case "Any":
		return All, true
	case "ASCII":
		return []Range{{0, 0x7F}}, true
	case "Assigned":
		return assigned(), true
	case "Alphabetic", "Alpha":
		return FromTables(unicode.L, unicode.Nl, unicode.Other_Alphabetic), true
	case "Lowercase", "Lower":
		return FromTables(unicode.Ll, unicode.Other_Lowercase), true
	case "Uppercase", "Upper":
		return FromTables(unicode.Lu, unicode.Other_Uppercase), true
	case "Math":
		return FromTables(unicode.Sm, unicode.Other_Math), true
	case "White_Space", "space":
		return FromTables(unicode.White_Space), true
	case "ID_Start", "IDS", "ID_Continue", "IDC":
		set := FromTables(unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if name == "ID_Continue" || name == "IDC" {
			set = FromTables(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
		}
		not := FromTables(unicode.Pattern_Syntax, unicode.Pattern_White_Space)
		return AppendIntersection(nil, set, AppendComplement(nil, not)), true
	}
	if long, ok := emojiCodes[name]; ok {
		name = long
	}
	if t, ok := emojiTables[name]; ok {
		return Of(t...), true
	}
	if t, ok := unicode.Properties[name]; ok && !strings.HasPrefix(name, "Other_") {
		return FromTables(t), true
	}
	return nil, false
}

// FromTables returns the union of tables of package unicode.
func FromTables(tables ...*unicode.RangeTable) []Range {
	var set []Range
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			set = append(set, Range{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			set = append(set, Range{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return Normalise(set)
}

// LastCased is greater than every character with an upper or lower case.
const LastCased = 0x1E944

// cased returns the characters that fold to others, in order.
var cased = sync.OnceValue(func() []rune {
	var list []rune
	for r := range rune(LastCased) {
		if unicode.SimpleFold(r) != r {
			list = append(list, r)
		}
	}
	return list
})

// FoldCase adds to a normalised set all characters that differ from a member in
// case only.
func FoldCase(set []Range) []Range {
	out := append(make([]Range, 0, 2*len(set)+2), set...)
	add := func(r rune) {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			out = append(out, Range{f, f})
		}
	}
	if n := len(set); n > 0 && set[n-1].Hi < 128 {
		for _, r := range set {
			for c := r.Lo; c <= r.Hi; c++ {
				add(c)
			}
		}
		return Normalise(out)
	}
	for _, r := range cased() {
		if Contains(set, r) {
			add(r)
		}
	}
	return Normalise(out)
}

// emojiCodes holds the short names of the properties in emojiTables.
var emojiCodes = map[string]string{
	"EPres":   "Emoji_Presentation",
	"EMod":    "Emoji_Modifier",
	"EBase":   "Emoji_Modifier_Base",
	"EComp":   "Emoji_Component",
	"ExtPict": "Extended_Pictographic",
}
