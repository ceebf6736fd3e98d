package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/poll"
)

// The recorded answers are byte for byte what clients receive, in every dialect and at every path. What
// differs between runs of the same server is replaced before the comparison: ids, times, random seeds,
// how much of a prompt was still in a slot, and into how many events a stream is split, which depends on
// the reader's speed.
const recordedFile = "testdata/recorded.txt"

// A recording is a request to a site and its answer.
type recording struct {
	method, path string
	header       []string // names and values in turn
	body         string
}

// A recordedSite is a server and the requests that it gets, in order.
type recordedSite struct {
	name  string
	start func(t *testing.T) string // returns its URL
	asked func() []string           // what an upstream was asked since the last call; nil: no upstream
	list  []recording
}

func TestRecorded(t *testing.T) {
	want := map[string]string{}
	if !*update {
		text, err := os.ReadFile(recordedFile)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range strings.Split(string(text), "\n=== ")[1:] {
			title, rest, _ := strings.Cut(one, "\n")
			want[title] = rest
		}
	}
	var out strings.Builder
	n, sites := 0, recordedSites()
	for _, site := range sites {
		n += len(site.list)
	}
	if n < 500 || len(want) != n && !*update {
		t.Errorf("%d requests are made, %d answers are recorded", n, len(want))
	}
	for _, site := range sites {
		t.Run(site.name, func(t *testing.T) {
			url := site.start(t)
			for i, r := range site.list {
				title := fmt.Sprintf("%s %d %s %s", site.name, i+1, r.method, r.path)
				got := strings.ToValidUTF8(r.body, "?") + "\n" + r.send(t, url)
				if site.asked != nil {
					for _, body := range site.asked() {
						got += "\n> " + body
					}
				}
				got = shorthands.Replace(got)
				out.WriteString("\n=== " + title + "\n" + got)
				if w, there := want[title]; !*update && (!there || w != got) {
					at := 0
					for at < min(len(got), len(w)) && got[at] == w[at] {
						at++
					}
					t.Errorf("%s: %.200s\n… got %.600s\n…want %.600s", title, got, got[max(0, at-60):], w[max(0, at-60):])
				}
			}
		})
	}
	if *update {
		if made := strings.Count(out.String(), "\n=== "); made != n {
			t.Fatalf("nothing is written: %d of %d requests were made; vocabularies in ../shared are needed", made, n)
		}
		if err := os.WriteFile(recordedFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// recordedHeaders are the headers that a handler or the adapter sets.
var recordedHeaders = []string{
	"Content-Type", "Cache-Control", "X-Accel-Buffering", "X-Should-Retry", "Retry-After", "X-Request-Id", "Vary", "Allow",
	"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
}

// send sends a request and returns its answer as text.
func (r *recording) send(t *testing.T, url string) string {
	t.Helper()
	if r.path == "/metrics" {
		return recordedMetrics(t, url, r.body != "")
	}
	req, err := http.NewRequest(r.method, url+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(r.header); i += 2 {
		req.Header.Set(r.header[i], r.header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	for _, name := range recordedHeaders {
		if v := resp.Header.Get(name); v != "" {
			head = append(head, name+": "+steady(v))
		}
	}
	text := string(body)
	switch kind := resp.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "text/event-stream"):
		text = joinEvents(t, strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n"))
	case kind == "application/x-ndjson":
		text = joinEvents(t, strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	}
	return fmt.Sprintf("--- %d %s\n%s", resp.StatusCode, strings.Join(head, "; "), steady(text))
}

// volatile lists the parts of answers that differ between runs.
var volatile = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b(chatcmpl-|cmpl-|resp_|rs_|msg_|fc_|call_|asm_|run_|req-)[0-9a-f]{24}`), "${1}ID"},
	{regexp.MustCompile(`"(id|call_id)":"(?:[0-9a-f]{24}|[0-9A-Za-z]{9})"`), `"$1":"ID"`},
	{regexp.MustCompile(`"(created|created_at|queue_ms|prompt_ms|generate_ms|run_ms|time_ms|tokens_per_second|total_duration|load_duration|prompt_eval_duration|eval_duration|e2e_latency|mask_ns|cached_tokens|cache_n|prompt_n|tokens_cached|prompt_per_token_ms|prompt_per_second|predicted_ms|predicted_per_token_ms|predicted_per_second)":[-+0-9.e]+`), `"$1":0`},
	{regexp.MustCompile(`"(created_at|modified_at|expires_at|occurred_at)":"20[^"]*"`), `"$1":"TIME"`},
	{regexp.MustCompile(`"mask_us":\{[^}]*\}`), `"mask_us":{}`},
	{regexp.MustCompile(`"seed":[0-9]{9,}`), `"seed":0`},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), "HOST"},
}

// shorthands replace long texts that occur often.
var shorthands = strings.NewReplacer(
	personSchema, "PERSON", quotedInside(personSchema), "PERSON", weatherTool, "WEATHER", quotedInside(weatherTool), "WEATHER",
	"Answer with JSON that fits this JSON Schema, and nothing else:", "SCHEMA:",
	"Answer with raw JSON only: no code fences, no markdown, no text before or after it, no comments. Use double quotes, and write every value out: no arithmetic such as \\\"amount\\\": 100 * price, no placeholders, no ellipsis. Strings are plain text, without bold or italics, unless the task asks for markdown in them.", "RULES",
)

// quotedInside returns a text as written in a JSON string.
func quotedInside(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

func steady(text string) string {
	for _, v := range volatile {
		text = v.what.ReplaceAllString(text, v.as)
	}
	return text
}

// unsteadyMetrics match metrics that depend on time, or on how sequences share batches.
var unsteadyMetrics = regexp.MustCompile(`^stencil_(\w*seconds\w*(_bucket|_sum|_total)|decodes_total|cached_tokens|reused_tokens_total|prompt_tokens_total|checkpoint\w*|stored_tokens_total|agent_paused_bytes|embedding_batches_total)\b`)

// processMetrics match the metrics of the process and of Go's runtime.
var processMetrics = regexp.MustCompile(`^(# (HELP|TYPE) )?(go|process)_`)

// recordedMetrics returns the metrics that don't depend on time, once all earlier requests have been
// counted; whole includes their descriptions. Their order is irrelevant, and a metric without a sample
// need not be described.
func recordedMetrics(t *testing.T, url string, whole bool) string {
	t.Helper()
	last, looks := "", 0
	poll.Until(func() bool {
		_, header, text := send(t, "GET", url+"/metrics", "")
		var described, samples []string
		seen := map[string]bool{}
		for line := range strings.Lines(text) {
			name, _, _ := strings.Cut(line, " ")
			switch {
			case processMetrics.MatchString(line):
				continue
			case line[0] == '#':
				described = append(described, line)
				continue
			case strings.HasPrefix(line, "stencil_requests_total{path=\"/metrics\""), strings.HasPrefix(line, "stencil_request_seconds_count"):
			case unsteadyMetrics.MatchString(line):
				samples = append(samples, name+" …\n")
			default:
				samples = append(samples, line)
			}
			name, _, _ = strings.Cut(name, "{")
			for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
				seen[strings.TrimSuffix(name, suffix)] = true
			}
		}
		slices.Sort(samples)
		out := header.Get("Content-Type") + "\n"
		if whole {
			slices.Sort(described)
			for _, line := range described {
				if seen[strings.Fields(line)[2]] {
					out += line
				}
			}
		}
		out += strings.Join(samples, "")
		if out != last {
			last, looks = out, 0
		}
		looks++
		return looks > 20 // they have settled
	})
	return last
}

// A jsonNode is a JSON value with everything as it was written.
type jsonNode struct {
	raw  string // of a scalar
	open byte   // { or [, else 0
	keys []string
	kids []*jsonNode
}

func parseNode(s string) (*jsonNode, string) {
	switch s[0] {
	case '{', '[':
		n := &jsonNode{open: s[0]}
		closing := s[0] + 2
		for s = s[1:]; s[0] != closing; {
			if s[0] == ',' {
				s = s[1:]
			}
			if n.open == '{' {
				var key *jsonNode
				key, s = parseNode(s)
				n.keys, s = append(n.keys, key.raw), s[1:]
			}
			var kid *jsonNode
			kid, s = parseNode(s)
			n.kids = append(n.kids, kid)
		}
		return n, s[1:]
	case '"':
		i := 1
		for ; s[i] != '"'; i++ {
			if s[i] == '\\' {
				i++
			}
		}
		return &jsonNode{raw: s[:i+1]}, s[i+1:]
	}
	i := strings.IndexAny(s, ",]}")
	if i < 0 {
		i = len(s)
	}
	return &jsonNode{raw: s[:i]}, s[i:]
}

func (n *jsonNode) String() string {
	if n.open == 0 {
		return n.raw
	}
	var b strings.Builder
	b.WriteByte(n.open)
	for i, kid := range n.kids {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.open == '{' {
			b.WriteString(n.keys[i] + ":")
		}
		b.WriteString(kid.String())
	}
	b.WriteByte(n.open + 2)
	return b.String()
}

func (n *jsonNode) at(key string) *jsonNode {
	for i, k := range n.keys {
		if k == strconv.Quote(key) {
			return n.kids[i]
		}
	}
	return nil
}

// Members of events that continue those of the event before.
var (
	goingOn   = []string{"content", "text", "delta", "arguments", "partial_json", "thinking", "reasoning_content", "response"}
	goingOnAs = []string{"content", "logprobs", "tokens", "token_logprobs", "top_logprobs", "text_offset", "completion_probabilities"}
)

// join returns one event for two consecutive ones; nil if they can't be merged.
func (n *jsonNode) join(next *jsonNode, key string) *jsonNode {
	switch {
	case n.open != next.open:
		return nil
	case n.open == 0 && n.raw[0] == '"' && next.raw[0] == '"' && slices.Contains(goingOn, key):
		return &jsonNode{raw: n.raw[:len(n.raw)-1] + next.raw[1:]}
	case n.open == 0 && n.raw == next.raw:
		return n
	case n.open == 0:
		return nil
	case n.open == '[' && slices.Contains(goingOnAs, key):
		return &jsonNode{open: '[', kids: slices.Concat(n.kids, next.kids)}
	case n.at("token") != nil && next.at("token") != nil: // TGI: the last one has the whole text
		out := *next
		out.kids = slices.Clone(next.kids)
		out.kids[1] = n.kids[1].joinToken(next.kids[1])
		return &out
	case !slices.Equal(n.keys, next.keys) || len(n.kids) != len(next.kids):
		return nil
	case n.at("meta_info") != nil && n.at("meta_info").String() == next.at("meta_info").String():
		return next // SGLang: the whole text so far
	}
	out := &jsonNode{open: n.open, keys: n.keys}
	for i, kid := range n.kids {
		name := key
		if n.open == '{' {
			name = strings.Trim(n.keys[i], `"`)
		}
		one := kid.join(next.kids[i], name)
		if one == nil {
			return nil
		}
		out.kids = append(out.kids, one)
	}
	return out
}

// joinToken is join for the first token of TGI's events and the text of all.
func (n *jsonNode) joinToken(next *jsonNode) *jsonNode {
	out := *n
	out.kids = slices.Clone(n.kids)
	if text := n.at("text").join(next.at("text"), "text"); text != nil {
		out.kids[1] = text
	}
	return &out
}

// A streamEvent is an event, or a line of a stream of lines.
type streamEvent struct {
	name  string // with "event: " and "data: "
	data  *jsonNode
	plain string // if not JSON
}

// order returns the rank of an event among those of other choices and of completed values.
func (e *streamEvent) order() int {
	if e.data == nil {
		return 1 << 20
	}
	n := e.data.at("index")
	if choices := e.data.at("choices"); choices != nil {
		if n = nil; len(choices.kids) > 0 {
			n = choices.kids[0].at("index")
		} else {
			return 1 << 19
		}
	}
	switch strings.TrimSuffix(e.name, "\ndata: ") {
	case "event: reasoning", "event: token", "event: field", "event: done":
	case "data: ":
		if e.data.at("stop") != nil && n != nil { // llama.cpp's
			break
		}
		if e.data.at("choices") == nil {
			return 1 << 19
		}
	default:
		return 0
	}
	if n == nil {
		return 0
	}
	i, _ := strconv.Atoi(n.String())
	if strings.HasPrefix(e.name, "event: field") {
		return 2*i + 1
	}
	if strings.HasPrefix(e.name, "event: done") {
		return 2*i + 1
	}
	return 2 * i
}

// joinEvents merges the events of a stream as far as possible.
func joinEvents(t *testing.T, lines []string) string {
	t.Helper()
	var list []streamEvent
	sequence, index := 0, 1
	for _, line := range lines {
		if line == "" {
			continue
		}
		var e streamEvent
		at := strings.IndexByte(line, '{')
		if at < 0 {
			list = append(list, streamEvent{plain: line})
			continue
		}
		if !json.Valid([]byte(line[at:])) {
			t.Fatalf("%q is no JSON", line[at:])
		}
		e.name = line[:at]
		e.data, _ = parseNode(line[at:])
		// Event numbers are consecutive.
		if n := e.data.at("sequence_number"); n != nil {
			if n.raw != strconv.Itoa(sequence) {
				t.Errorf("event %d has the number %s", sequence, n.raw)
			}
			sequence++
			n.raw = "0"
		}
		if n := e.data.at("index"); n != nil && e.data.at("token") != nil {
			if n.raw != strconv.Itoa(index) {
				t.Errorf("token %d has the number %s", index, n.raw)
			}
			index++
			n.raw = "0"
		}
		if n := e.data.at("stop"); n != nil && n.raw == "false" && e.data.at("tokens") != nil {
			// Which tokens a llama.cpp event has depends on time.
			e.data.at("tokens").kids, e.data.at("tokens_predicted").raw = nil, "0"
			if timings := e.data.at("timings"); timings != nil {
				timings.keys, timings.kids = nil, nil
			}
		}
		e.data, _ = parseNode(steady(e.data.String()))
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b streamEvent) int { return cmp.Compare(a.order(), b.order()) })
	var out []streamEvent
	for _, e := range list {
		if n := len(out) - 1; n >= 0 && e.data != nil && out[n].data != nil && out[n].name == e.name {
			if one := out[n].data.join(e.data, ""); one != nil {
				out[n].data = one
				continue
			}
		}
		out = append(out, e)
	}
	var b bytes.Buffer
	for i, e := range out {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.ReplaceAll(e.name, "\n", " ") + e.plain)
		if e.data != nil {
			b.WriteString(e.data.String())
		}
	}
	return b.String()
}
