package gbnf

import (
	"fmt"
	"os"
	"sort"
	"testing"
	"time"
)

func TestDbg(t *testing.T) {
	src, _ := os.ReadFile("testdata/c.gbnf")
	v := realVocab(t, "llama3.gguf")
	doc := "int main(int a, float b) {\n  int x = 1;\n// done? yes it is\nwhile (a < 10) { a = a + 1; }\n\t/* ** comment here / **/ f(a, -b * 2.5);\n return foo(\"hello %d\\n\", 'x');}\n"
	type slow struct {
		d  time.Duration
		at string
		n  int
	}
	var all []slow
	toks := v.TokenizeText(nil, []byte(doc))
	for range 3 {
		m := bind(t, string(src), v).NewMatcher()
		all = all[:0]
		for _, tok := range toks {
			s := time.Now()
			mk, err := m.Mask()
			d := time.Since(s)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, slow{d, string(m.Text()), mk.Len()})
			if err := m.Accept(tok); err != nil {
				t.Fatal(err)
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].d > all[j].d })
	for _, s := range all[:25] {
		fmt.Printf("%v %d %q\n", s.d, s.n, s.at[max(0, len(s.at)-30):])
	}
}
