package gbnf

import (
	"fmt"
	"os"
	"testing"
)

func TestDbg2(t *testing.T) {
	src, _ := os.ReadFile("testdata/c.gbnf")
	v := realVocab(t, "llama3.gguf")
	g, _ := Compile(string(src), Options{})
	sr, _ := g.source(v)
	s := sr.(*source)
	dg := bound(t, g, v)
	_ = dg
	q := s.auto.start()
	// run chars
	run := func(text string) {
		// follow single alternatives, tracking path
		path := []int32{q}
		for _, r := range text {
			for {
				top := path[len(path)-1]
				found := false
				for _, e := range s.auto.edges(top) {
					if e.lo <= r && r <= e.hi {
						a := s.out.list[e.out][0]
						if len(s.out.list[e.out]) > 1 {
							fmt.Println("ambiguous", string(r), s.out.list[e.out])
						}
						path = append(path[:len(path)-1], a.states[:a.n]...)
						found = true
					}
				}
				if found {
					break
				}
				path = path[:len(path)-1]
			}
		}
		top := path[len(path)-1]
		k := s.sketch(s.auto.loosen(top, 128))
		sp := tablesOf(v).split(k)
		fmt.Printf("%q path %v states %d inside %d bytes %d: %s\n", text, path, len(k.states), sp.inside.Count(), sp.bytes(), s.auto.describe(top))
		for i, l := range sp.leave {
			if len(l.tokens) > 100 {
				fmt.Println("   ", i, k.states[i].path, len(l.tokens), len(l.trie.Nodes), s.auto.describe(k.states[i].path[len(k.states[i].path)-1]))
			}
		}
	}
	run("int main(){")
	run("int main(){ int x = 1;\n")
	run("int main(){ while")
	run("int main(){ f(a, -b")
	fmt.Println(len(tablesOf(v).splits), tablesOf(v).bytes)
}
