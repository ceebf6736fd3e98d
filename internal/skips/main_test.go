package main

import (
	"strings"
	"testing"
)

const run = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestOne"}
{"Action":"output","Package":"m/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"output","Package":"m/a","Test":"TestOne","Output":"    one_test.go:9: a log\n"}
{"Action":"output","Package":"m/a","Test":"TestOne","Output":"--- PASS: TestOne (0.00s)\n"}
{"Action":"pass","Package":"m/a","Test":"TestOne","Elapsed":0}
{"Action":"output","Package":"m/a","Test":"TestTwo","Output":"=== RUN   TestTwo\n"}
{"Action":"output","Package":"m/a","Test":"TestTwo","Output":"    two_test.go:12: no data: stat x.go: gone\n"}
{"Action":"output","Package":"m/a","Test":"TestTwo","Output":"--- SKIP: TestTwo (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestTwo","Elapsed":0}
{"Action":"output","Package":"m/a","Test":"TestThree","Output":"--- SKIP: TestThree (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestThree","Elapsed":0}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.002s\n"}
{"Action":"pass","Package":"m/a","Elapsed":0.002}
{"Action":"output","Package":"m/b","Test":"TestGPU","Output":"    b_test.go:3: there is no lib/: run make cuda\n"}
{"Action":"skip","Package":"m/b","Test":"TestGPU"}
{"Action":"output","Package":"m/b","Test":"TestGPU/again","Output":"    b_test.go:3: there is no lib/: run make cuda\n"}
{"Action":"skip","Package":"m/b","Test":"TestGPU/again"}
{"Action":"output","Package":"m/b","Test":"TestWrong","Output":"    b_test.go:7: 1 and not 2\n"}
{"Action":"fail","Package":"m/b","Test":"TestWrong"}
{"Action":"output","Package":"m/b","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.002s\n"}
{"Action":"fail","Package":"m/b"}
{"Action":"skip","Package":"m/c"}
{"ImportPath":"m/d","Action":"build-output","Output":"d.go:1: syntax error\n"}
go: no event
`

func TestReport(t *testing.T) {
	var r report
	var out strings.Builder
	if err := r.read(strings.NewReader(run), &out); err != nil {
		t.Fatal(err)
	}
	const told = "ok  \tm/a\t0.002s\n" +
		"    b_test.go:7: 1 and not 2\n" +
		"FAIL\tm/b\t0.002s\n" +
		"panic: test timed out\n" +
		"d.go:1: syntax error\n" +
		"go: no event\n"
	if out.String() != told {
		t.Errorf("told:\n%swant:\n%s", out.String(), told)
	}

	const skips = `skipped tests: 4
  m/a
       1  no data: stat x.go: gone
       1  no reason given
  m/b
       2  there is no lib/: run make cuda
`
	out.Reset()
	if n := r.print(&out, false); out.String() != skips || n != 0 {
		t.Errorf("%d skips count, in:\n%s", n, out.String())
	}
	out.Reset()
	n := r.print(&out, true)
	const mark = " (must not be skipped where CI=true)\n"
	want := strings.NewReplacer("gone\n", "gone"+mark, "given\n", "given"+mark).Replace(skips)
	if out.String() != want || n != 2 {
		t.Errorf("%d skips count where CI=true, in:\n%s", n, out.String())
	}
}
