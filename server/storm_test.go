package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
)

// recordedPosts returns the requests in testdata/recorded.txt that have a body, with their paths.
func recordedPosts(t *testing.T) (paths []string, bodies [][]byte) {
	text, err := os.ReadFile("testdata/recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n=== ")[1:] {
		head, rest, _ := strings.Cut(part, "\n")
		body, _, ok := strings.Cut(rest, "\n--- ")
		if _, path, post := strings.Cut(head, " POST "); ok && post && json.Valid([]byte(body)) {
			paths, bodies = append(paths, path), append(bodies, []byte(body))
		}
	}
	return paths, bodies
}

// strange are values that a field may get.
var strange = []string{
	`null`, `true`, `""`, `0`, `-1`, `1`, `1e-45`, `1e308`, `-1e308`, `1e999`, `9007199254740993`, `2147483648`, `0.5`, `[]`, `{}`, `[[]]`, `[null]`, `{"":null}`,
	`"\u0000"`, `"\ud800"`, `"a\u001b[31mb"`, `"😀"`, `"none"`, `"auto"`, `"json_object"`, `["a","a"]`, `[1,2,3,4,5,6,7,8,9]`, `{"type":"object"}`, `{"type":"string","pattern":"(a+)+$"}`,
	`"root ::= [a-z]{1,1000000}"`, `{"oneOf":[{"multipleOf":3},{"multipleOf":5}]}`, `{"$ref":"#"}`, `{"type":"array","uniqueItems":true,"minItems":50,"items":{"enum":[1,2,3]}}`,
}

// A storm mutates requests.
type storm struct {
	*rand.Rand
	bodies [][]byte
}

func (s storm) mutate(body []byte) []byte {
	var v any
	if s.IntN(12) == 0 || json.Unmarshal(body, &v) != nil {
		body = bytes.Clone(body)
		for range 1 + s.IntN(4) {
			switch i := s.IntN(len(body) + 1); {
			case i == len(body):
				body = append(body, byte(s.IntN(256)))
			case s.IntN(3) == 0:
				body = body[:i]
			default:
				body[i] = byte(s.IntN(256))
			}
			if len(body) == 0 {
				break
			}
		}
		return body
	}
	for range 1 + s.IntN(3) {
		v = s.change(v)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return out
}

// change makes one change somewhere in a value.
func (s storm) change(v any) any {
	if s.IntN(4) > 0 {
		switch v := v.(type) {
		case map[string]any:
			if keys := slices.Sorted(maps.Keys(v)); len(keys) > 0 {
				key := keys[s.IntN(len(keys))]
				switch s.IntN(8) {
				case 0:
					delete(v, key)
				case 1:
					v[key+string("sx_"[s.IntN(3)])] = v[key]
				case 2:
					var other map[string]any
					if json.Unmarshal(s.bodies[s.IntN(len(s.bodies))], &other) == nil {
						if names := slices.Sorted(maps.Keys(other)); len(names) > 0 {
							name := names[s.IntN(len(names))]
							v[name] = other[name]
						}
					}
				default:
					v[key] = s.change(v[key])
				}
				return v
			}
		case []any:
			if len(v) > 0 {
				i := s.IntN(len(v))
				switch s.IntN(5) {
				case 0:
					return append(v, v[i])
				case 1:
					return append(v[:i:i], v[i+1:]...)
				}
				v[i] = s.change(v[i])
				return v
			}
		}
	}
	if x, ok := v.(string); ok && len(x) < 1000 && s.IntN(3) == 0 {
		return strings.Repeat(x, 1+s.IntN(2000))
	}
	if x, ok := v.(float64); ok && s.IntN(2) == 0 {
		return x * []float64{-1, 2, 10, 1e6, 1e-40}[s.IntN(5)]
	}
	return json.RawMessage(strange[s.IntN(len(strange))])
}

// TestStorm sends mutated recorded requests of four clients to a running server. None gets an internal error, none hangs, and
// nothing is left over. STENCIL_STORM sets the duration.
func TestStorm(t *testing.T) {
	paths, bodies := recordedPosts(t)
	if len(bodies) < 200 {
		t.Fatalf("%d recorded requests", len(bodies))
	}
	long, _ := time.ParseDuration(os.Getenv("STENCIL_STORM"))
	_, url := start(t, setup{
		eng: engine.Config{Parallel: 4},
		cfg: Config{
			SchemaLimits: schema.Limits{Time: 500 * time.Millisecond}, RequestTimeout: 3 * time.Second, Access: neighbourKeys,
			MemoryLimit: 1 << 30, // a quarter of it for caches, which a long storm fills
		},
	})
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	var sent atomic.Int64
	var count sync.Map // by status
	var running sync.Map
	stop := make(chan struct{})
	defer close(stop)
	go watchMemory(4<<30, stop, &running)
	begun := time.Now()
	send := func(from uint64, most int) {
		var clients sync.WaitGroup
		for i, key := range neighbourKeys.Keys {
			clients.Go(func() {
				s := storm{rand.New(rand.NewPCG(from, uint64(i))), bodies}
				for n := 0; n < most || most == 0 && time.Since(begun) < long; n++ {
					i := s.IntN(len(bodies))
					body := s.mutate(bodies[i])
					running.Store(s.Rand, fmt.Sprintf("POST %s %s", paths[i], body))
					status, answer, err := stormOne(client, url+paths[i], key, body)
					running.Delete(s.Rand)
					sent.Add(1)
					old, _ := count.LoadOrStore(status, new(atomic.Int64))
					old.(*atomic.Int64).Add(1)
					if err != nil || status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout {
						t.Errorf("POST %s %.2000s: status %d, %v: %.500s", paths[i], body, status, err, answer)
					}
				}
			})
		}
		clients.Wait()
	}
	send(1, 40)
	before := heldNow(client)
	if long > 0 {
		send(2, 0)
	} else {
		send(2, 40)
	}
	after := heldNow(client)
	count.Range(func(status, n any) bool { t.Logf("%v: %d", status, n.(*atomic.Int64).Load()); return true })
	t.Logf("%d requests; %d MB, %d goroutines, before %d MB, %d", sent.Load(), after.bytes>>20, after.goroutines, before.bytes>>20, before.goroutines)
	if after.goroutines > before.goroutines+20 {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines of %d before are left: %s", after.goroutines, before.goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if after.bytes > before.bytes+512<<20 {
		t.Errorf("%d bytes are held, %d before", after.bytes, before.bytes)
	}
}

// watchMemory ends the process, reporting the running requests, before it exhausts the machine's memory.
func watchMemory(most uint64, stop <-chan struct{}, running *sync.Map) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc < most {
			continue
		}
		running.Range(func(_, what any) bool { fmt.Fprintf(os.Stderr, "%.20000s\n", what); return true })
		stacks := make([]byte, 1<<20)
		panic(fmt.Sprintf("%d MB are held: %s", m.HeapAlloc>>20, stacks[:runtime.Stack(stacks, true)]))
	}
}

// stormOne sends one request and reads the whole answer.
func stormOne(client *http.Client, url, key string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		err = fmt.Errorf("the answer breaks off: %w", err)
	}
	return resp.StatusCode, answer, err
}

type held struct {
	bytes      uint64
	goroutines int
}

// heldNow returns the resources in use while no request runs.
func heldNow(client *http.Client) held {
	client.CloseIdleConnections()
	least := held{goroutines: 1 << 30}
	for range 20 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		least = held{m.HeapAlloc, min(least.goroutines, runtime.NumGoroutine())}
		time.Sleep(50 * time.Millisecond)
	}
	return least
}
