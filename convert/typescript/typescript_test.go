package typescript

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/validator"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden converts testdata/*.ts and compares the results with the .json files
// next to them.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ts")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Convert(src, "")
			if err != nil {
				t.Fatal(err)
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, out, "", "  "); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			pretty.WriteByte('\n')
			golden := strings.TrimSuffix(name, ".ts") + ".json"
			if *update {
				if err := os.WriteFile(golden, pretty.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(pretty.Bytes(), want) {
				t.Errorf("got\n%s", pretty.String())
			}
		})
	}
}

// TestTagsInLine has several tags in a line, and tags behind words.
func TestTagsInLine(t *testing.T) {
	for _, c := range []struct{ comment, want string }{
		{"@minimum 1 @maximum 9", `{"type":"number","minimum":1,"maximum":9}`},
		{"@minimum 1 @maximum 9 @multipleOf 2 @integer", `{"type":"integer","minimum":1,"maximum":9,"multipleOf":2}`},
		{"the age @minimum 0 @maximum 150", `{"type":"number","description":"the age","minimum":0,"maximum":150}`},
		{"\n * the age\n * @minimum 0  @integer\n", `{"type":"integer","description":"the age","minimum":0}`},
		{"see @minimum, {@link maximum 5} and a@default.org", `{"type":"number","description":"see @minimum, {@link maximum 5} and a@default.org"}`},
	} {
		out, err := Convert([]byte("interface A { /** "+c.comment+" */ a: number }"), "")
		if want := `"properties":{"a":` + c.want + `},`; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %s %v, want %s", c.comment, out, err, want)
		}
	}
}

// TestTypes converts single types.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ typ, want string }{
		{`string`, `{"type":"string"}`},
		{`bigint`, `{"type":"integer"}`},
		{`Date`, `{"type":"string","format":"date-time"}`},
		{`any`, `{}`},
		{`never`, `{"not":{}}`},
		{`object`, `{"type":"object"}`},
		{`"a" | 'b'`, `{"enum":["a","b"]}`},
		{`"a" | null`, `{"enum":["a",null]}`},
		{`| "a" | 1 | "a"`, `{"enum":["a",1]}`},
		{`-1.50`, `{"const":-1.50}`},
		{`0x1F | 1_000 | .5 | 2e3`, `{"enum":[31,1000,0.5,2e3]}`},
		{`true | false`, `{"type":"boolean"}`},
		{`string | null`, `{"type":["string","null"]}`},
		{`string | 5`, `{"anyOf":[{"type":"string"},{"const":5}]}`},
		{`string | number[]`, `{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"number"}}]}`},
		{`never | string`, `{"type":"string"}`},
		{`unknown | string`, `{}`},
		{`string[][]`, `{"type":"array","items":{"type":"array","items":{"type":"string"}}}`},
		{`readonly (string | null)[]`, `{"type":"array","items":{"type":["string","null"]}}`},
		{`Set<number>`, `{"type":"array","items":{"type":"number"},"uniqueItems":true}`},
		{`[]`, `{"type":"array","items":false}`},
		{`[number, b?: string]`, `{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"items":false,"minItems":1}`},
		{`[x: 1, ...rest: string[]]`, `{"type":"array","prefixItems":[{"const":1}],"items":{"type":"string"},"minItems":1}`},
		{`{}`, `{"type":"object","additionalProperties":false}`},
		{`{ b: 1, "a-b"?: 2; 3: 3 }`, `{"type":"object","properties":{"b":{"const":1},"a-b":{"const":2},"3":{"const":3}},"required":["b","3"],"additionalProperties":false}`},
		{`{ a: string | undefined, b: undefined }`, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`},
		{`{ [k: string]: number }`, `{"type":"object","additionalProperties":{"type":"number"}}`},
		{"{ [k: `x-${string}`]: 1 }", `{"type":"object","patternProperties":{"^x-(?:[\\s\\S]*)$":{"const":1}},"additionalProperties":false}`},
		{`Record<"a" | "b", boolean>`, `{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"required":["a","b"],"additionalProperties":false}`},
		{`{ [K in "a" | "b"]?: K }`, `{"type":"object","properties":{"a":{"const":"a"},"b":{"const":"b"}},"additionalProperties":false}`},
		{"`v${number}.${'x' | 'y'}`", `{"type":"string","pattern":"^v(?:-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\\.(?:(?:x|y))$"}`},
		{`{ a: 1 } & { b?: 2 }`, `{"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"required":["a"],"additionalProperties":false}`},
		{`{ a: string } & { a: "x" }`, `{"type":"object","properties":{"a":{"const":"x"}},"required":["a"],"additionalProperties":false}`},
		{`({ a: 1 } | { b: 2 }) & { c: 3 }`, `{"anyOf":[{"type":"object","properties":{"a":{"const":1},"c":{"const":3}},"required":["a","c"],"additionalProperties":false},{"type":"object","properties":{"b":{"const":2},"c":{"const":3}},"required":["b","c"],"additionalProperties":false}]}`},
		{`string & { brand: "id" }`, `{"type":"string"}`},
		{`"a" & "b"`, `{"not":{}}`},
		{`keyof { a: 1; b: 2 }`, `{"enum":["a","b"]}`},
		{`{ a: 1; b: string }["b"]`, `{"type":"string"}`},
		{`{ a: 1; b: 2 }["a" | "b"]`, `{"enum":[1,2]}`},
		{`string[][number]`, `{"type":"string"}`},
		{`Exclude<"a" | "b" | 1, string>`, `{"const":1}`},
		{`Extract<"a" | 1, string>`, `{"const":"a"}`},
		{`NonNullable<string | null>`, `{"type":"string"}`},
		{`"\u00e9\n\x41\u{1F600}\'"`, `{"const":"é\nA😀'"}`},
		{`"<&>"`, `{"const":"<&>"}`},
	} {
		out, err := Convert([]byte("type T = "+c.typ+";"), "")
		if err != nil {
			t.Errorf("%s: %v", c.typ, err)
			continue
		}
		got := strings.Replace(string(out), `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"T"`, "{", 1)
		if got = strings.Replace(got, "{,", "{", 1); got != c.want {
			t.Errorf("%s: got  %s\n\twant %s", c.typ, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{``, "1:1: no type is declared"},
		{"interface A {\n  run(): void\n}", "2:3: method run has no JSON form"},
		{"type A = {\n\tf: (x: number) => string }", "2:5: functions have no JSON form"},
		{"type A = () => string", "1:10: functions have no JSON form"},
		{"type A = B", "1:10: type B is not declared"},
		{"type A = A", "refers to itself"},
		{"type A = B | B; type B = A['x']; ", "1:27: only object types have properties"},
		{"type A = { x: A['x'] }", "refers to itself"},
		{"type A = B; type B = A;", "refers to itself"},
		{"type A<T> = T; type B = A", "1:25: A takes 1 type arguments, not 0"},
		{"type A<T> = T", "1:1: no type is declared"},
		{"type A = string extends number ? 1 : 2", "1:17: conditional types are not supported"},
		{"type A = typeof x", "1:10: typeof is not supported"},
		{"import x from 'y'", "1:1: expected interface, type or enum, got import"},
		{"class A {}", "1:1: expected interface, type or enum, got class"},
		{"type A = 'x", "1:10: string without an end"},
		{"type A = `x${string", "1:20: expected the end of the hole, got the end of the file"},
		{"/* x", "1:1: comment without an end"},
		{"interface A { a: 1; a: 2 }", `1:21: property "a" is declared twice`},
		{"type A = 1; type A = 2", "1:18: type A is declared twice"},
		{"type Array = 1", "1:6: Array is a built-in type"},
		{"type A = symbol", "1:10: symbol has no JSON form"},
		{"type A = string | undefined", "1:19: undefined has no JSON form"},
		{"interface A { a: }", "1:18: expected a type, got }"},
		{"interface A { a 1 }", `1:17: expected ":", got 1`},
		{"type A = [a?: 1, b: 2]", "1:18: an element after an optional one must be optional"},
		{"type A = [...B[], 1]; type B = 1", "1:19: only the last element may be a rest element"},
		{"interface A {\n  /**\n   * @minimum five\n   */\n  a: number }", `3:6: @minimum needs a number, not "five"`},
		{"interface A { /** @minimum */ a: number }", `1:19: @minimum needs a number`},
		{"interface A { /** @minimum 1 @maximum nine */ a: number }", `1:30: @maximum needs a number, not "nine"`},
		{"interface A {\n  /** the age @minimum 0 @maximum old */\n a: number }", `2:26: @maximum needs a number, not "old"`},
		{"interface A { /** @integer */ a: string }", `1:15: @integer is for a number`},
		{"enum E { A = 'x', B }", "1:19: enum member B needs a value"},
		{"enum E { A } type T = E.B", "1:23: enum member E.B is not declared"},
		{"type A = Pick<string, 'a'>", "Pick needs an object type"},
		{"type A = 08", `1:10: "08" is not a number`},
		{"type A = '\\ud800'", "1:11: surrogate escape"},
		{"type A<T> = { x: A<T[]> }; type B = A<1>", "1:18: the type has no end"},
		{"type A = " + strings.Repeat("(", 300), "nested deeper than"},
		{"type A = { a: 1 } b", "1:19: expected the end of type A, got b"},
	} {
		_, err := Convert([]byte(c.src), "")
		var at *Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.src[:min(len(c.src), 60)], err, c.want)
		}
	}
	if _, err := Convert([]byte("type A = 1"), "B"); err == nil || !strings.Contains(err.Error(), "type B is not declared") {
		t.Errorf("absent root: %v", err)
	}
}

// FuzzConvert checks that every source gives JSON or an error with a position.
func FuzzConvert(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.ts")
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	f.Add("type A<T = 1> = { [K in keyof T]-?: T[K] }; export type B = Partial<A<{ a?: `x${bigint}` }>>")
	f.Fuzz(func(t *testing.T, src string) {
		out, err := Convert([]byte(src), "")
		var at *Error
		switch {
		case err == nil && !json.Valid(out):
			t.Fatalf("%q gives %s", src, out)
		case err != nil && (!errors.As(err, &at) || at.Line < 1 || at.Column < 1):
			t.Fatalf("%q: %v", src, err)
		}
	})
}

// TestInstances has types without names in generic ones, which differ by what the type
// parameters in them stand for.
func TestInstances(t *testing.T) {
	const generic = "type B<T> = {v: T}; type C<T> = {b: B<{x: T}>}; "
	for _, c := range []struct{ body, arg1, arg2, value1, value2 string }{
		{`B<{x: T}>`, "1", "'s'", `{"v":{"x":1}}`, `{"v":{"x":"s"}}`},
		{`B<{x: {y: T}, z?: T}>`, "1", "'s'", `{"v":{"x":{"y":1}}}`, `{"v":{"x":{"y":"s"}}}`},
		{`B<[T, 2]>`, "1", "'s'", `{"v":[1,2]}`, `{"v":["s",2]}`},
		{"B<`a${T}`>", "'1'", "'s'", `{"v":"a1"}`, `{"v":"as"}`},
		{`B<{[K in 'k']: T}>`, "1", "'s'", `{"v":{"k":1}}`, `{"v":{"k":"s"}}`},
		{`B<T['p']>`, "{p: 1}", "{p: 's'}", `{"v":1}`, `{"v":"s"}`},
		{`B<keyof T>`, "{p: 1}", "{q: 1}", `{"v":"p"}`, `{"v":"q"}`},
		{`C<{y: T}>`, "1", "'s'", `{"b":{"v":{"x":{"y":1}}}}`, `{"b":{"v":{"x":{"y":"s"}}}}`},
		{`B<T>`, "Set<1>", "Array<1>", `{"v":[1]}`, `{"v":[1,1]}`},
		{`B<1[] | T>`, "1", "'s'", `{"v":1}`, `{"v":"s"}`},
	} {
		src := generic + fmt.Sprintf("type A<T> = %s; type Root = {n: A<%s>, s: A<%s>, again: A<%[2]s>}", c.body, c.arg1, c.arg2)
		out, err := Convert([]byte(src), "Root")
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		s, err := validator.Compile(t.Context(), out, "2020-12")
		if err != nil {
			t.Errorf("%s: %v in %s", src, err, out)
			continue
		}
		valid := func(n, s2, again string) bool {
			return s.Validate(t.Context(), fmt.Appendf(nil, `{"n":%s,"s":%s,"again":%s}`, n, s2, again)) == nil
		}
		if !valid(c.value1, c.value2, c.value1) || valid(c.value2, c.value2, c.value1) || valid(c.value1, c.value2, c.value2) {
			t.Errorf("%s: %s", src, out)
		}
		if n := strings.Count(string(out), `"#/$defs/A`); n != 3 {
			t.Errorf("%s: %d references to A, want 3: %s", src, n, out)
		}
	}
}
