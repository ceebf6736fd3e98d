package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/access"
)

// hostile returns requests that once took minutes, gigabytes or all of the other clients' time, by name.
func hostile(t *testing.T) map[string]map[string]any {
	list := func(n int, one func(i int) any) []any {
		out := make([]any, n)
		for i := range out {
			out[i] = one(i)
		}
		return out
	}
	type o = map[string]any
	all := o{
		"ladder of references": func() any {
			defs := o{"a0": o{"type": "integer"}}
			for i := 1; i < 40; i++ {
				ref := o{"$ref": fmt.Sprintf("#/$defs/a%d", i-1)}
				defs[fmt.Sprintf("a%d", i)] = o{"allOf": []any{ref, ref}}
			}
			return o{"$defs": defs, "$ref": "#/$defs/a39"}
		}(),
		"backtracking pattern": o{"type": "array", "minItems": 20, "maxItems": 20, "items": o{"const": strings.Repeat("a", 29) + "c", "pattern": "^(?:(a+)+b|a+c)$"}},
		"contains with bounds": o{"type": "array", "items": o{"type": "integer"}, "maxItems": 20, "minItems": 1, "allOf": list(3, func(i int) any {
			return o{"contains": o{"multipleOf": 2 + i}, "minContains": 3, "maxContains": 5}
		})},
		"unique and contains": o{"type": "array", "uniqueItems": true, "allOf": []any{
			o{"contains": o{"multipleOf": 7}}, o{"contains": o{"type": "string", "minLength": 3}, "minContains": 5}, o{"contains": o{"multipleOf": 5}}}},
		"contains of constants": o{"type": "array", "allOf": list(30, func(i int) any { return o{"contains": o{"const": i}} })},
		"oneOf of multiples": func() any {
			s := o{"type": "integer"}
			for i := range 11 {
				s = o{"oneOf": []any{s, o{"type": "integer", "minimum": i, "multipleOf": 2 + i%5}}}
			}
			return s
		}(),
		"oneOf of open objects": o{"oneOf": list(120, func(i int) any {
			name := fmt.Sprintf("f%d", i)
			return o{"type": "object", "properties": o{name: o{"type": "string"}}, "required": []any{name}}
		})},
		"unique values of an enum": o{"type": "array", "uniqueItems": true, "minItems": 200, "items": o{"enum": list(250, func(i int) any { return i })}},
		"long prefix":              o{"type": "array", "minItems": 1500, "prefixItems": list(1500, func(i int) any { return o{"type": "integer", "minimum": i} })},
		"primes": o{"type": "string", "allOf": list(10, func(i int) any {
			return o{"pattern": fmt.Sprintf("^(?:.{%d})*$", []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}[i])}
		})},
		"many properties": o{"type": "object", "properties": func() any {
			p := o{}
			for i := range 3000 {
				p[fmt.Sprint("p", i)] = o{"type": "integer"}
			}
			return p
		}(), "required": list(300, func(i int) any { return fmt.Sprint("p", 10*i) })},
	}
	object := func(more o) o { return o{"type": "object", "properties": more} }
	for name, schema := range map[string]any{
		"oneOf of pairs": o{"oneOf": list(40, func(i int) any {
			return o{"type": "object", "required": []any{fmt.Sprint("a", i), fmt.Sprint("a", (i+1)%40)}, "properties": o{fmt.Sprint("a", i): o{"type": "integer"}}}
		})},
		"anyOf of open objects": o{"anyOf": list(120, func(i int) any {
			return o{"type": "object", "required": []any{fmt.Sprint("f", i)}, "properties": o{fmt.Sprint("f", i): o{"type": []any{"string", "integer"}[i%2]}}}
		})},
		"conditions side by side": o{"type": "object", "allOf": list(24, func(i int) any {
			return o{"if": o{"properties": o{fmt.Sprint("k", i): o{"const": 1}}, "required": []any{fmt.Sprint("k", i)}}, "then": o{"required": []any{fmt.Sprint("m", i)}}}
		})},
		"unevaluated after conditions": o{"type": "object", "unevaluatedProperties": false, "allOf": list(24, func(i int) any {
			return o{"if": o{"required": []any{fmt.Sprint("k", i)}}, "then": o{"properties": o{fmt.Sprint("m", i): true}}}
		})},
		"patterns for keys": o{"type": "object", "minProperties": 3, "patternProperties": func() any {
			p := o{}
			for i := range 60 {
				p[fmt.Sprintf("^.*%c.*%c", 'a'+i%26, 'a'+(i*7+1)%26)] = o{"type": "integer", "minimum": i}
			}
			return p
		}()},
		"dependent schemas": o{"type": "object", "required": []any{"d0"}, "dependentSchemas": func() any {
			p := o{}
			for i := range 60 {
				p[fmt.Sprint("d", i)] = o{"required": []any{fmt.Sprint("d", i+1)}}
			}
			return p
		}()},
		"satisfiability": o{"type": "object", "allOf": list(200, func(i int) any {
			return o{"anyOf": list(3, func(j int) any {
				n := (i*31 + j*17) % 50
				if (i+j)%2 == 0 {
					return o{"required": []any{fmt.Sprint("v", n)}}
				}
				return o{"not": o{"required": []any{fmt.Sprint("v", n)}}}
			})}
		})},
		"counted pattern":  o{"type": "string", "minLength": 300, "pattern": "^((([a-z ]{1,1000}){1,1000},?){1,1000}x?){1,1000}$"},
		"late characters":  o{"type": "string", "pattern": "^(?=.*a.{14}b)(?=.*c.{13}d)(?=.*e.{12}f)(?!.*g.{11}h).*$"},
		"negated patterns": o{"type": "string", "allOf": list(12, func(i int) any { return o{"not": o{"pattern": fmt.Sprintf("^.*a.{%d}b", i+3)}} })},
		"large enum":       o{"enum": list(60000, func(i int) any { return fmt.Sprint("value", i*7919) })},
		"divisors": o{"type": "number", "allOf": list(12, func(i int) any {
			return o{"not": o{"multipleOf": []float64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}[i]}}
		})},
		"fine divisor": o{"type": "number", "multipleOf": json.Number("1.0000000001"), "not": o{"multipleOf": json.Number("0.37")}},
		"long divisor": o{"multipleOf": json.Number(strings.Repeat("7", 390))},
		"deep": func() any {
			s := any(o{"type": "integer"})
			for range 400 {
				s = o{"type": "array", "minItems": 1, "items": s}
			}
			return s
		}(),
		"wide and deep":        o{"$defs": o{"n": object(o{"a": o{"$ref": "#/$defs/n"}, "b": o{"$ref": "#/$defs/n"}, "c": o{"oneOf": []any{o{"$ref": "#/$defs/n"}, o{"type": "null"}}}})}, "$ref": "#/$defs/n"},
		"cyclic references":    o{"$defs": o{"a": o{"anyOf": []any{o{"$ref": "#/$defs/b"}, o{"type": "array", "items": o{"$ref": "#/$defs/a"}, "minItems": 2}}}, "b": o{"anyOf": []any{o{"type": "array", "contains": o{"$ref": "#/$defs/a"}, "minContains": 3}, o{"const": 1}}}}, "$ref": "#/$defs/a"},
		"not unique":           o{"type": "array", "minItems": 30, "items": o{"enum": list(40, func(i int) any { return i })}, "not": o{"uniqueItems": true}},
		"many items":           o{"type": "array", "minItems": 65536, "items": o{"type": "array", "minItems": 100}},
		"many kinds of items":  o{"type": "array", "allOf": list(14, func(i int) any { return o{"contains": o{"multipleOf": i + 2}, "minContains": 2, "maxContains": 3} })},
		"items beside another": o{"type": "array", "prefixItems": list(60, func(i int) any { return o{"oneOf": []any{o{"multipleOf": i + 2}, o{"minimum": i}}} }), "minItems": 60},
		"no items":             o{"type": "array", "maxItems": 39, "allOf": list(40, func(i int) any { return o{"contains": o{"const": i}} })},
		"chained definitions": func() any {
			d := o{"d3000": o{"type": "integer"}}
			for i := range 3000 {
				d[fmt.Sprint("d", i)] = o{"$ref": fmt.Sprintf("#/$defs/d%d", i+1)}
			}
			return o{"$defs": d, "$ref": "#/$defs/d0"}
		}(),
	} {
		all[name] = schema
	}
	_, bodies := recordedPosts(t)
	for i, n := uint64(0), 0; n < 8; i++ {
		// Random cases.
		s := storm{rand.New(rand.NewPCG(i, 7)), bodies}
		schema := any(o{"type": "object", "properties": o{"a": o{"type": "array", "items": o{"type": "integer"}, "contains": o{"minimum": 3}}, "b": o{"oneOf": []any{o{"pattern": "^a+"}, o{"minLength": 3}}}}, "required": []any{"a", "b"}})
		text, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			text = s.mutate(text)
		}
		if json.Valid(text) {
			all[fmt.Sprint("random ", n)] = json.RawMessage(text)
			n++
		}
	}
	out := map[string]map[string]any{}
	for name, schema := range all {
		out[name] = o{"prompt": "x", "max_tokens": 200, "temperature": 1, "schema": schema, "property_order": "any"}
	}
	rules := func(n int, body, last string) string {
		var b strings.Builder
		b.WriteString("root ::= r0\n")
		for i := range n {
			fmt.Fprintf(&b, "r%d ::= %s\n", i, strings.ReplaceAll(body, "NEXT", fmt.Sprintf("r%d", i+1)))
		}
		return fmt.Sprintf("%sr%d ::= %s\n", b.String(), n, last)
	}
	for name, with := range map[string]o{
		"counted grammar":      {"grammar": `root ::= (([a-z ]{1,1000000}){1,1000000} ",?"){1,1000000}`, "temperature": 1},
		"counted regex":        {"regex": `((([a-z ]{1,1000}){1,1000},?){1,1000}\.?){1,1000}`, "temperature": 1},
		"ambiguous":            {"grammar": `root ::= [a-z0-9 ] | root root | root root root`, "temperature": 1},
		"tiny temperature":     {"temperature": 1e-45},
		"many choices":         {"n": 16, "temperature": 1, "ignore_eos": true},
		"long prompt":          {"prompt": strings.Repeat("x", 4<<20)},
		"counts of counts":     {"grammar": `root ::= ((("a"?){1,1000000}){1,1000000}){1,1000000}`},
		"large counts of a b":  {"grammar": `root ::= ("a" | "aa" | "b"{1,2147483647}){5,1000000} "c"`},
		"nested counts":        {"grammar": "root ::= " + strings.Repeat("(", 3000) + "\"a\"?" + strings.Repeat("){0,9}", 3000)},
		"many optionals":       {"grammar": "root ::= " + strings.Repeat(`"a"? `, 20000)},
		"doubling rules":       {"grammar": rules(60, "NEXT NEXT", `"a"`)},
		"doubling choices":     {"grammar": rules(60, `NEXT | NEXT "x" | NEXT NEXT?`, `"a"`)},
		"doubling empty rules": {"grammar": rules(60, `NEXT? NEXT?`, `"a"?`)},
		"long left recursion":  {"grammar": rules(50000, `NEXT "x" | "y"`, `r0 "z"`)},
		"ambiguous nest":       {"grammar": `root ::= "a" root "a" | "a" root | "a" root root | ""`, "temperature": 1},
		"many alternatives":    {"grammar": `root ::= "b"` + strings.Repeat(`|"ab"`, 200000)},
		"alternation of words": {"regex": "(" + strings.Repeat("[a-z]{1,9}|", 500) + "x){1,500}", "temperature": 1},
		"many stops":           {"temperature": 1, "stop": list(16, func(i int) any { return strings.Repeat("ab", 100*i+1) })},
		"most logprobs":        {"temperature": 1, "logprobs": true, "top_logprobs": 20, "n": 8},
		"long choice":          {"choice": list(5000, func(i int) any { return strings.Repeat("x", i%50) + fmt.Sprint(i) })},
		"token ids":            {"prompt": list(200000, func(int) any { return 1 })},
		"long set":             {"grammar": "root ::= " + strings.Repeat("c|", 200_000) + "c\nc ::= [" + strings.Repeat("a-cx-z", 40_000) + "]"},
		"groups around a list": {"grammar": "root ::= " + strings.Repeat("(", 9000) + strings.Repeat(`"a"|`, 400_000) + `"b"` + strings.Repeat(`|"x")`, 9000)},
	} {
		r := o{"prompt": "x", "max_tokens": 300}
		for k, v := range with {
			r[k] = v
		}
		out[name] = r
	}
	out["many messages"] = o{"messages": list(100_000, func(int) any { return o{"role": "user", "content": "x"} })}
	out["values to convert"] = o{"text": "[" + strings.Repeat("1234567,", 20_000) + "1]", "schema": o{"items": o{"type": "string", "minLength": 9}}}
	out["long pattern to check"] = o{"document": strings.Repeat("(", 8<<20), "schema": o{"format": "regex"}}
	return out
}

// hostilePath returns the path of a hostile request.
func hostilePath(r map[string]any) string {
	switch {
	case r["text"] != nil:
		return "/repair"
	case r["document"] != nil:
		return "/validate"
	case r["messages"] != nil:
		return "/v1/chat/completions"
	case r["schema"] != nil:
		return "/generate_json"
	}
	return "/generate"
}

// neighbours runs honest requests, each with a different constraint, until done is closed or each client has made
// most of them (0: no limit), and returns how long each took.
func neighbours(t *testing.T, url string, most int, done <-chan struct{}) []time.Duration {
	t.Helper()
	requests := []struct{ path, body string }{
		{"/generate_json", `{"prompt": "a", "max_tokens": 40, "schema": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "n": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["name", "n"], "additionalProperties": false}}`},
		{"/generate", `{"prompt": "b", "max_tokens": 20, "regex": "[a-f]{4,9}-[0-9]+"}`},
		{"/generate", `{"prompt": "c", "max_tokens": 20, "grammar": "root ::= \"yes\" | \"no\" [a-z]*"}`},
	}
	var mu sync.Mutex
	var times []time.Duration
	var clients sync.WaitGroup
	for i, r := range requests {
		key := fmt.Sprint("honest", i)
		clients.Go(func() {
			for i := 0; most == 0 || i < most; i++ {
				select {
				case <-done:
					return
				default:
				}
				begun := time.Now()
				status, answer := askAs(t.Context(), url+r.path, key, []byte(r.body))
				if status != http.StatusOK {
					t.Errorf("an honest request: status %d: %s", status, answer)
					return
				}
				mu.Lock()
				times = append(times, time.Since(begun))
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return times
}

// TestNeighbours checks that honest clients are answered beside one that keeps sending hostile requests. The short
// run takes a sample of the requests; with STENCIL_NEIGHBOURS, such as 20s for each kind of hostile request, it takes all
// and prints how much longer the answers took than without it, and how large the heap became. Both check that no honest
// request fails, that the heap stays within the limit, and that nothing works on or is held once the hostile client has
// hung up. STENCIL_NEIGHBOURS_STEP, such as 1ms, is how long a step of the scripted model takes; by default it takes no time.
func TestNeighbours(t *testing.T) {
	step, _ := time.ParseDuration(os.Getenv("STENCIL_NEIGHBOURS_STEP"))
	srv, url := start(t, setup{
		opt: scripted.Options{Delay: step},
		eng: engine.Config{Parallel: 4}, cfg: Config{
			SchemaLimits: schema.Limits{Time: 500 * time.Millisecond}, Access: neighbourKeys, MemoryLimit: neighbourMemory,
		},
	})
	testNeighbours(t, srv, url)
}

// neighbourKeys tell the clients apart.
var neighbourKeys = access.Config{Keys: []string{"honest0", "honest1", "honest2", "hostile"}}

// neighbourMemory is the limit of the server's memory.
const neighbourMemory = 2 << 30

// sampled is one of how many kinds of hostile requests the short run takes.
const sampled = 4

func testNeighbours(t *testing.T, srv *Server, url string) {
	long, _ := time.ParseDuration(os.Getenv("STENCIL_NEIGHBOURS"))
	only := os.Getenv("STENCIL_NEIGHBOURS_KINDS") // a list of names, with commas
	if len(neighbours(t, url, 20, nil)) == 0 {
		t.Fatal("no honest request was answered")
	}
	SpareThreads() // as serve does
	kinds := hostile(t)
	if len(kinds) < 60 {
		t.Fatalf("%d kinds of hostile requests", len(kinds))
	}
	http.DefaultClient.CloseIdleConnections()
	resting := heldNow(http.DefaultClient)
	var rows []beside
	for i, name := range slices.Sorted(maps.Keys(kinds)) {
		if long == 0 && i%sampled != 0 || only != "" && !slices.Contains(strings.Split(only, ","), name) {
			continue
		}
		request := kinds[name]
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			during := func(d time.Duration) []time.Duration {
				done := make(chan struct{})
				time.AfterFunc(d, func() { close(done) })
				return neighbours(t, url, 0, done)
			}
			row := beside{kind: name}
			if long > 0 {
				row.alone = during(long / 2) // again for each: other programs of the machine come and go
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var attack sync.WaitGroup
			var last atomic.Int64
			for range 2 {
				attack.Go(func() {
					for ctx.Err() == nil {
						status, answer := askAs(ctx, url+hostilePath(request), "hostile", body)
						if status > 0 {
							last.Store(int64(status))
						}
						if status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout {
							t.Errorf("the hostile request: status %d: %.500s", status, answer)
							return
						}
					}
				})
			}
			most := largestHeap()
			if long > 0 {
				row.times = during(long)
			} else {
				neighbours(t, url, 3, nil)
			}
			row.heap = most()
			if row.heap > resting.bytes+neighbourMemory {
				t.Errorf("the heap has become %d MiB large, from %d", row.heap>>20, resting.bytes>>20)
			}
			cancel()
			attack.Wait()
			hungUp := time.Now()
			poll.Until(func() bool { return working() == "" && unused(srv) }) // what goes on working for nobody
			row.idle, row.status = time.Since(hungUp), int(last.Load())
			rows = append(rows, row)
		})
	}
	http.DefaultClient.CloseIdleConnections()
	poll.Until(func() bool { return runtime.NumGoroutine() <= resting.goroutines+2 }) // those of timers and of the test itself
	if long > 0 {
		slices.SortFunc(rows, func(a, b beside) int { return cmp.Compare(b.ratio(), a.ratio()) })
		for _, r := range rows {
			t.Log(r)
		}
	}
}

// unused reports whether a server works on no request: none has a turn, memory for its body, or a place in the engine.
func unused(srv *Server) bool {
	srv.turns.mu.Lock()
	defer srv.turns.mu.Unlock()
	for _, c := range srv.turns.clients {
		if c.under > 0 || c.busy > 0 || len(c.waiting) > 0 {
			return false
		}
	}
	srv.memory.mu.Lock()
	defer srv.memory.mu.Unlock()
	s := srv.models.SomeServed().Text.Stats()
	return srv.memory.held == 0 && len(srv.memory.clients) == 0 && s.Active == 0 && s.Queued == 0
}

// beside is what honest clients noticed of a kind of hostile request.
type beside struct {
	kind         string
	alone, times []time.Duration
	idle         time.Duration // until nobody worked any more
	status       int           // of the last hostile answer, 0 if there was none
	heap         uint64        // the largest meanwhile, with what the clients hold
}

// largestHeap watches the bytes of objects on the heap, with those not collected yet, until the result is called.
func largestHeap() func() uint64 {
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		sample := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for largest := uint64(0); ; {
			runtimemetrics.Read(sample)
			largest = max(largest, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-done:
				most <- largest
				return
			}
		}
	}()
	return func() uint64 { close(done); return <-most }
}

func (b beside) ratio() float64 {
	return float64(quantile(b.times, 0.99)) / float64(max(1, quantile(b.alone, 0.99)))
}

func (b beside) String() string {
	return fmt.Sprintf("%4.1f × p99 %v of %v alone; longest %v of %v; %d requests of %d; idle after %v; heap %d MiB; %d %s", b.ratio(), quantile(b.times, 0.99), quantile(b.alone, 0.99),
		quantile(b.times, 1), quantile(b.alone, 1), len(b.times), 2*len(b.alone), b.idle.Round(time.Millisecond), b.heap>>20, b.status, b.kind)
}

// working returns the stack of a goroutine that compiles, follows or checks a constraint, "" if none does.
func working() string {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
		for _, in := range []string{"schema.", "decoder.(*Grammar)", "decoder.(*Matcher)", "regular.", "gbnf.", "validator.", "constraint.(*cache"} {
			if strings.Contains(one, "/stencil/"+in) {
				return one
			}
		}
	}
	return ""
}

// askAs posts a request with a client's key. The status is 0 if the request failed or was cancelled.
func askAs(ctx context.Context, url, key string, body []byte) (status int, answer []byte) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()
	answer, _ = io.ReadAll(resp.Body)
	return resp.StatusCode, answer
}

func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Round(100 * time.Microsecond)
}
