package typescript

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const (
	tooDeep   = "types are nested deeper than 200"
	noEnd     = "the type has no end"
	manySteps = "the conversion takes more than 1000000 steps"
)

// TestNesting has types that are nested without a limit, in each way that nests. They
// must not overflow the stack.
func TestNesting(t *testing.T) {
	for _, c := range []struct{ before, again, after, want string }{
		{"type A = `${A}x`", "", "", "1:13: " + noEnd},
		{"type A = `${B}x`; type B = A | A", "", "", noEnd},
		{"type A = { [k: B]: 1 }; type B = `${B}x`; type C = A", "", "", noEnd},
		{"type A = ", "keyof ", "B", "1:1204: " + tooDeep},
		{"type A = ", "readonly ", "B", tooDeep},
		{"type A = ", "readonly keyof ", "B", tooDeep},
		{"type P<T> = T; type A = P<string", "[]", ">", "1:429: " + tooDeep},
		{"type A = string", "[]", "", tooDeep},
		{"type A = string", "[0]", "", tooDeep},
		{"type A = B", "['a']", "", tooDeep},
		{"type A = ", "(", "", tooDeep},
		{"type A = ", "`${", "", tooDeep},
		{"type A = ", "A<", "", tooDeep},
		{"type A = ", "{ a: ", "", tooDeep},
		{"type A = ", "{ [k: ", "", tooDeep},
		{"type A = ", "{ [k: string]: ", "", tooDeep},
		{"type A = ", "{ [K in ", "", tooDeep},
		{"type A = ", "{ [K in 'a']: ", "", tooDeep},
		{"type A = ", "[", "", tooDeep},
		{"type A = ", "[a: ", "", tooDeep},
		{"type A = ", "[...", "", tooDeep},
		{"type A<T extends ", "B<", "", tooDeep},
		{"type A<T = ", "B<", "", tooDeep},
		{"interface A extends ", "B<", "", tooDeep},
		{"enum A { B = ", "(", "", tooDeep},
		{"type A = {a: 1}", " & {a: 1}", "", "the type refers to itself without end"},
		{"interface A extends A {}", "", "", "the type refers to itself without end"},
		{"interface A extends B {} interface B extends A {}", "", "", "the type refers to itself without end"},
	} {
		src := c.before + c.after
		if c.again != "" {
			src = c.before + strings.Repeat(c.again, 800_000/len(c.again)) + c.after
		}
		wantLimit(t, c.before+c.again, src, c.want)
	}
	// Parentheses end one nesting and so permit another one.
	deep := "string"
	for range 150 {
		deep = "(" + deep + strings.Repeat("[]", 40) + ")"
	}
	wantLimit(t, "arrays in parentheses", "type A = "+deep, noEnd)
	wantLimit(t, "arrays in an argument", "type P<T> = T; type A = P<"+deep+">", "the type's arguments are too long")
	wantLimit(t, "arrays in a body", "type P<T> = "+deep+"; type A = P<1>", "types are nested deeper than 1000")
}

// TestHugeTypes has short declarations of types with up to 2⁴⁰ parts, and long ones that
// are multiplied.
func TestHugeTypes(t *testing.T) {
	// doubled declares U0 as a type, and U1 to U40 by using the previous one for "?".
	doubled := func(start, next string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "type U0 = %s;\n", start)
		for i := range 40 {
			fmt.Fprintf(&b, "type U%d = %s;\n", i+1, strings.ReplaceAll(next, "?", fmt.Sprint("U", i)))
		}
		return b.String()
	}
	interfaces := "interface I0 { a: 1 }"
	for i := range 60 {
		interfaces += fmt.Sprintf("interface I%d extends I%d, I%d {}", i+1, i, i)
	}
	object := "{" + repeat("k%d: T;", 20_000) + "}"
	name := strings.Repeat("x", 300_000)
	for name, src := range map[string]string{
		"union":            doubled("'a' | 'b'", "? | ?") + "type R = Exclude<U40, 'c'>",
		"union in place":   doubled("'a' | 'b'", "Readonly<?> | Readonly<?>"),
		"template":         doubled("'a' | 'b'", "`${?}${?}`"),
		"tuple":            doubled("'a' | 'b'", "[Readonly<?>, Readonly<?>]"),
		"interface":        interfaces,
		"intersection":     "type U = " + repeat("| { a%d: 1 }", 900) + "; type R = U & U",
		"long one":         "type R = {}" + repeat("& { k%d: 1 }", 40_000),
		"mapped":           "type R = { [T in " + repeat("| 'k%d'", 20_000) + "]: " + object + "}",
		"record":           "type B = " + strings.ReplaceAll(object, "T", "1") + "; type R = Record<" + repeat("| 'k%d'", 20_000) + ", Readonly<B>>",
		"pattern keys":     "type R = { [k: K]: " + strings.ReplaceAll(object, "T", "1") + "}; type K = " + repeat("| `k%d`", 20_000) + "; type S = R",
		"comment":          "type P<T> = { /** " + strings.Repeat(" @x", 150_000) + " */ a: T }; type R = [" + repeat("P<%d>,", 1000) + "]",
		"parameters":       "type P<" + repeat("T%d = 1,", 40_000) + "Z = 1> = { a: Z }; type R = [" + repeat("P<%d>,", 1000) + "]",
		"absent members":   "type U = 1" + strings.Repeat("| 2", 50_000) + "; type R = {" + repeat("k%d: U;", 40_000) + "}",
		"accesses":         "type O = " + strings.ReplaceAll(object, "T", "1") + "; type R = [" + repeat("Partial<O>['k%d'],", 20_000) + "]",
		"equal long texts": "type L = '" + name + "'; type M = '" + name + "'; type R = " + strings.Repeat("L & M &", 30_000) + "L",
		"long name":        "enum " + name + "{ a = 1 } type R = Record<" + repeat("| 'k%d'", 20_000) + "," + name + ".a>",
	} {
		wantLimit(t, name, src, manySteps)
	}
	wantLimit(t, "source", "type A = 1"+strings.Repeat(" ", maxSource), "1:1: the source has more than 1048576 bytes")
	wantLimit(t, "name", "type A = { '"+strings.Repeat("x", 5000)+"': 1 }", "1:12: the name of the property has more than 4096 bytes")
	wantLimit(t, "key", "type A = Record<'"+strings.Repeat("x", 5000)+"', 1>", "1:17: the name of the property has more than 4096 bytes")
	large := "type P<T> = { a: T, b: '" + strings.Repeat("x", 900_000) + "' }; type A = [" + repeat("P<%d>,", 10) + "]"
	wantLimit(t, "schema", large, "the schema has more than 8388608 bytes")
}

// TestLongTypes converts long types that are within the limits.
func TestLongTypes(t *testing.T) {
	keys := repeat("| 'k%d'", 60_000)
	members := repeat("k%d: 1;", 40_000)
	for _, c := range []struct{ src, want string }{
		{"type R = Record<" + keys + ", 1>", `"k59999":{"const":1}`},
		{"type R = " + keys, `,"k59999"]`},
		{"type R = {" + members + "}", `"k39999":{"const":1}`},
		{"type R = Exclude<" + repeat("| 'k%d'", 40_001) + "," + repeat("| 'k%d'", 40_000) + ">", `"const":"k40000"`},
		{"interface A {" + members + "} interface B extends A {" + repeat("k%d: 2;", 20_000) + "}", `"k19999":{"const":2},"k20000":{"const":1}`},
		{"type R = {" + repeat("k%d: 1;", 20_000) + "} & {" + repeat("k%d: 1;", 20_001) + "}", `"k20000":{"const":1}`},
		{"type R = { [k: " + repeat("| `k%d`", 20_000) + "]: 1 }", `"^k19999$":{"const":1}`},
		{"type R = [" + repeat("O['k%d'],", 20_000) + "]; type O = {" + repeat("k%d: 1;", 20_000) + "}", `"k19999":{"const":1}`},
		{"type R = string" + strings.Repeat("[]", 150), strings.Repeat("}", 150)},
	} {
		out, err := Convert([]byte(c.src), "")
		if err != nil || !json.Valid(out) || !strings.Contains(string(out), c.want) {
			t.Errorf("%.60s: %d bytes, %v", c.src, len(out), err)
		}
	}
}

// wantLimit converts a source that exceeds a limit.
func wantLimit(t *testing.T, name, src, want string) {
	t.Helper()
	_, err := Convert([]byte(src), "")
	var at *Error
	if !errors.As(err, &at) || !strings.Contains(err.Error(), want) {
		t.Errorf("%.60s: got %.100v, want %s", name, err, want)
	}
}

// repeat formats the numbers from 0 to n-1.
func repeat(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
