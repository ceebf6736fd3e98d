package gbnf

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/decoder"
)

// hard returns grammars designed to need much time or memory.
func hard() map[string]func() string {
	rules := func(n int, root, body, last string) func() string {
		return func() string {
			var b strings.Builder
			b.WriteString("root ::= " + root + "\n")
			for i := range n {
				fmt.Fprintf(&b, "r%d ::= %s\n", i, strings.ReplaceAll(body, "NEXT", fmt.Sprintf("r%d", i+1)))
			}
			fmt.Fprintf(&b, "r%d ::= %s\n", n, last)
			return b.String()
		}
	}
	times := func(n int, before, each, after string) func() string {
		return func() string { return before + strings.Repeat(each, n) + after }
	}
	return map[string]func() string{
		"nested groups": func() string { return "root ::= " + strings.Repeat("(", 60000) + "\"a\"" + strings.Repeat(")", 60000) },
		"open groups":   times(10<<20, "root ::= ", "(", ""),
		"nested to the limit": func() string {
			return "root ::= " + strings.Repeat("(", 9999) + "\"a\"" + strings.Repeat(")*", 4999) + strings.Repeat(")", 5000)
		},
		"nested counts": func() string {
			return "root ::= " + strings.Repeat("(", 3000) + "\"a\"?" + strings.Repeat("){0,9}", 3000)
		},
		"stars in a row":       times(10<<20, "root ::= \"a\"", "*", ""),
		"large count":          func() string { return `root ::= "a"{1,1000000}` },
		"large counts of a b":  func() string { return `root ::= ("a" | "aa" | "b"{1,2147483647}){5,1000000} "c"` },
		"large least count":    func() string { return `root ::= "a"{1000000,1000000}` },
		"too large":            func() string { return `root ::= ("a"{1000}){1000000}` },
		"counts of counts":     func() string { return `root ::= ((("a"?){1,1000000}){1,1000000}){1,1000000}` },
		"stars of stars":       func() string { return `root ::= (("a"*)*)* ((("b"?)*)+)*` },
		"many optionals":       times(20000, "root ::= ", `"a"? `, ""),
		"doubling rules":       rules(60, "r0", "NEXT NEXT", `"a"`),
		"doubling choices":     rules(60, "r0", `NEXT | NEXT "x" | NEXT NEXT?`, `"a"`),
		"doubling empty rules": rules(60, "r0", `NEXT? NEXT?`, `"a"?`),
		"long chain":           rules(100000, "r0", "NEXT", `"a"`),
		"long left recursion":  rules(50000, "r0", `NEXT "x" | "y"`, `r0 "z"`),
		"ambiguous":            func() string { return `root ::= root root root | root root | "a"?` },
		"ambiguous nest":       func() string { return `root ::= "a" root "a" | "a" root | "a" root root | ""` },
		"many rules":           rules(300000, "r0", `"x" NEXT`, `"a"`),
		"many alternatives":    times(400000, "root ::= \"b\"", `|"ab"`, ""),
		"long text":            times(1<<20, "root ::= \"", "0123456789", "\""),
		"elements":             times(5<<20, "root ::= root ", "a ", ""),
		"long set":             times(2<<20, "root ::= [", "a-zé", "]"),
		"long lines":           times(1<<20, "root ::= \"a\"\n", "# comment\n", "?"),
		"source":               times(20<<20, "root ::= \"", "a", "\""),
	}
}

// TestHard checks that every such grammar yields masks or an error that names a
// limit, within 200 MB.
func TestHard(t *testing.T) {
	v := byteVocab(t)
	for name, make := range hard() {
		t.Run(name, func(t *testing.T) {
			src := make()
			var best cost
			for try := range 3 {
				var result string
				c := measure(func() {
					result = tryHard(t, src, v.Len(), func(g *Grammar) *decoder.Grammar { return bound(t, g, v) })
				})
				if try == 0 {
					t.Log(result)
					best = c
				}
				best.peak = min(best.peak, c.peak) // what is collected in time differs
				if best.within() {
					break
				}
			}
			t.Logf("%.0f ms, at most %.0f MB", best.ms(), best.mb())
			if !best.within() {
				t.Errorf("took %.0f ms and %.0f MB", best.ms(), best.mb())
			}
		})
	}
}

// A cost is the time that something took and the growth of the heap meanwhile,
// including uncollected garbage.
type cost struct {
	took time.Duration
	peak uint64
}

func (c cost) ms() float64 { return float64(c.took) / 1e6 }

func (c cost) mb() float64 { return float64(c.peak) / 1e6 }

// within reports whether the cost is below 200 MB. The time depends on other
// load on the machine; go test stops grammars whose masks never end.
func (c cost) within() bool { return c.peak < 200e6*slowness }

// measure runs f and samples the heap every millisecond.
func measure(f func()) cost {
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before := heap()
	peak := before
	end, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				peak = max(peak, heap())
			}
		}
	}()
	start := time.Now()
	f()
	took := time.Since(start)
	close(end)
	<-ended
	return cost{took, max(peak, heap()) - before}
}

// tryHard compiles a grammar and takes some steps.
func tryHard(t testing.TB, src string, tokens int, bind func(*Grammar) *decoder.Grammar) string {
	g, err := Compile(src, Options{})
	if err != nil {
		var limit *LimitError
		var invalid *InvalidError
		if !errors.As(err, &limit) && !errors.As(err, &invalid) {
			t.Errorf("error of type %T", err)
		}
		return err.Error()
	}
	m := bind(g).NewMatcher()
	for range 40 {
		mask, err := m.Mask()
		if err != nil {
			return "mask: " + err.Error()
		}
		list := mask.AppendTokens(nil)
		if len(list) == 0 {
			return "dead end"
		}
		tok := list[len(list)-1]
		if int(tok) == tokens-1 && len(list) > 1 {
			tok = list[len(list)-2]
		}
		if err := m.Accept(tok); err != nil {
			return "accept: " + err.Error()
		}
		if m.Done() {
			break
		}
	}
	return fmt.Sprintf("%d bytes read, %d to complete", len(m.Text()), len(m.ShortestCompletion()))
}

// TestManyCharacters checks that a long counted repetition stays within the
// memory limit, and that the count is exact.
func TestManyCharacters(t *testing.T) {
	const most = 20_000
	g, err := Compile(fmt.Sprintf("root ::= [ab]{3,%d}", most), Options{Limits: Limits{Memory: 6 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	d := bound(t, g, byteVocab(t))
	m := d.NewMatcher()
	block := []byte(strings.Repeat("ab", 2500))
	for range most / len(block) {
		if n, err := m.AcceptBytes(block); err != nil {
			t.Fatalf("after %d and %d: %v", len(m.Text()), n, err)
		}
		if _, err := m.Mask(); err != nil {
			t.Fatal(err)
		}
	}
	if d.Stats().Resets == 0 {
		t.Error("the memory limit was never reached")
	}
	if _, err := m.AcceptBytes([]byte("a")); err == nil {
		t.Error("a character too many is accepted")
	}
	if !m.Accepting() {
		t.Error("not accepting")
	}
}

// Each of these takes time linear in its length: a long set in a rule that is copied often, and groups around long lists.
func TestLongSetsAndGroups(t *testing.T) {
	for name, c := range map[string]struct {
		src   string
		limit bool
	}{
		"set":       {src: "root ::= " + strings.Repeat("c|", 200_000) + "c\nc ::= [" + strings.Repeat("a-cx-z", 40_000) + "]"},
		"groups":    {src: "root ::= " + strings.Repeat("(", 9000) + strings.Repeat(`"a"|`, 400_000) + `"b"` + strings.Repeat(")", 9000)},
		"choices":   {src: "root ::= " + strings.Repeat("(", 9000) + strings.Repeat(`"a"|`, 400_000) + `"b"` + strings.Repeat(`|"x")`, 9000), limit: true},
		"sequences": {src: "root ::= " + strings.Repeat("(", 9000) + strings.Repeat(`"a" `, 400_000) + `"b"` + strings.Repeat(` "x")`, 9000), limit: true},
	} {
		_, err := Compile(c.src, Options{})
		var limit *LimitError
		if is := errors.As(err, &limit); is != c.limit || !is && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
