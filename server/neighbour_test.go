package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stencil/engine"
	"stencil/schema"
	"stencil/server/access"
)

// hostile returns requests that took minutes, gigabytes or all others' time, by name.
func hostile() map[string]map[string]any {
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
	out := map[string]map[string]any{}
	for name, schema := range all {
		out[name] = o{"prompt": "x", "max_tokens": 200, "temperature": 1, "schema": schema, "property_order": "any"}
	}
	for name, with := range map[string]o{
		"counted grammar":  {"grammar": `root ::= (([a-z ]{1,1000000}){1,1000000} ",?"){1,1000000}`, "temperature": 1},
		"counted regex":    {"regex": `((([a-z ]{1,1000}){1,1000},?){1,1000}\.?){1,1000}`, "temperature": 1},
		"ambiguous":        {"grammar": `root ::= [a-z0-9 ] | root root | root root root`, "temperature": 1},
		"tiny temperature": {"temperature": 1e-45},
		"many choices":     {"n": 16, "temperature": 1, "ignore_eos": true},
		"long prompt":      {"prompt": strings.Repeat("x", 4<<20)},
	} {
		r := o{"prompt": "x", "max_tokens": 300}
		for k, v := range with {
			r[k] = v
		}
		out[name] = r
	}
	return out
}

// hostilePath is where a hostile request goes.
func hostilePath(r map[string]any) string {
	if r["schema"] != nil {
		return "/generate_json"
	}
	return "/generate"
}

// neighbours run honest requests, each constrained in another way, until done is closed or each client has made so
// many of them, and returns how long each took.
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

// TestNeighbours has honest clients answered beside one that sends hostile requests, again and again. The short run
// asks for answers alone; with STENCIL_NEIGHBOURS, such as 20s for each kind of hostile request, it prints how much
// longer they took than without it.
func TestNeighbours(t *testing.T) {
	long, _ := time.ParseDuration(os.Getenv("STENCIL_NEIGHBOURS"))
	_, url := start(t, setup{
		eng: engine.Config{Parallel: 4}, cfg: Config{
			SchemaLimits: schema.Limits{Time: 500 * time.Millisecond},
			Access:       access.Config{Keys: []string{"honest0", "honest1", "honest2", "hostile"}},
		},
	})
	var alone []time.Duration
	if alone = neighbours(t, url, 20, nil); len(alone) == 0 {
		t.Fatal("no honest request was answered")
	}
	for name, request := range hostile() {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var attack sync.WaitGroup
			for range 2 {
				attack.Go(func() {
					for ctx.Err() == nil {
						status, _ := askAs(ctx, url+hostilePath(request), "hostile", body)
						if status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout {
							t.Errorf("the hostile request: status %d", status)
							return
						}
					}
				})
			}
			most, done := 3, make(chan struct{})
			if long > 0 {
				most = 0
				time.AfterFunc(long, func() { close(done) })
			}
			times := neighbours(t, url, most, done)
			cancel()
			attack.Wait()
			if long > 0 {
				t.Logf("p99 %v, alone %v; the longest %v, alone %v; %d requests", quantile(times, 0.99), quantile(alone, 0.99), quantile(times, 1), quantile(alone, 1), len(times))
			}
		})
	}
}

// askAs posts a request of the client that has a key. The status is 0 if it hung up.
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
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Round(time.Millisecond)
}
