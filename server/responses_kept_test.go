package server

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/server/stored"
)

// sendAs sends a request with a key and returns its status and answer.
func sendAs(t *testing.T, method, url, key, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, decoded(t, resp)
}

func TestPreviousResponse(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	url += "/v1/responses"
	_, first := sendAs(t, "POST", url, "ann", responsesBody(`"instructions": "Be brief.", "input": "My name is Ann."`))
	id := first["id"].(string)
	if first["store"] != true {
		t.Errorf("store: %v", first["store"])
	}
	_, second := sendAs(t, "POST", url, "ann", responsesBody(fmt.Sprintf(`"input": "What is my name?", "previous_response_id": %q`, id)))
	_, whole := sendAs(t, "POST", url, "ann", responsesBody(`"store": false, "input": [{"role": "user", "content": "My name is Ann."}, {"role": "assistant", "content": "fine"}, {"role": "user", "content": "What is my name?"}]`))
	if second["previous_response_id"] != id || at(second, "usage", "input_tokens") != at(whole, "usage", "input_tokens") || at(second, "usage", "input_tokens") == nil {
		t.Errorf("%v, whole: %v", second, whole)
	}
	_, third := sendAs(t, "POST", url, "ann", responsesBody(fmt.Sprintf(`"input": "And now?", "previous_response_id": %q`, second["id"])))
	if at(third, "usage", "input_tokens").(float64) <= at(second, "usage", "input_tokens").(float64) {
		t.Errorf("the third turn doesn't hold the second: %v", third)
	}
	if whole["store"] != false {
		t.Errorf("store: %v", whole["store"])
	}
	// References, alone and among other items.
	item := at(first, "output", 0, "id")
	_, referring := sendAs(t, "POST", url, "ann", responsesBody(fmt.Sprintf(`"input": [{"role": "user", "content": "My name is Ann."}, {"type": "item_reference", "id": %q}, {"role": "user", "content": "What is my name?"}]`, item)))
	if at(referring, "usage", "input_tokens") != at(whole, "usage", "input_tokens") {
		t.Errorf("%v", referring)
	}
	// Other clients can't use them.
	for _, key := range []string{"bob", ""} {
		status, got := sendAs(t, "POST", url, key, responsesBody(fmt.Sprintf(`"input": "x", "previous_response_id": %q`, id)))
		if status != 400 || at(got, "error", "code") != "previous_response_not_found" || at(got, "error", "param") != "previous_response_id" {
			t.Errorf("%d %v", status, got)
		}
		if status, got := sendAs(t, "POST", url, key, responsesBody(fmt.Sprintf(`"input": [{"type": "item_reference", "id": %q}]`, item))); status != 404 || at(got, "error", "param") != "input[0].id" {
			t.Errorf("%d %v", status, got)
		}
		for _, one := range [][2]string{{"GET", ""}, {"GET", "/input_items"}, {"DELETE", ""}, {"POST", "/cancel"}} {
			if status, got := sendAs(t, one[0], url+"/"+id+one[1], key, ""); status != 404 {
				t.Errorf("%s %s with the key %q: %d %v", one[0], one[1], key, status, got)
			}
		}
	}
	if status, got := sendAs(t, "GET", url+"/"+whole["id"].(string), "ann", ""); status != 404 {
		t.Errorf("a response that was not to be stored: %d %v", status, got)
	}
	status, got := sendAs(t, "GET", url+"/"+id, "ann", "")
	if status != 200 || got["id"] != id || at(got, "output", 0, "content", 0, "text") != "fine" || got["status"] != "completed" {
		t.Errorf("%d %v", status, got)
	}
	if status, got := sendAs(t, "POST", url+"/"+id+"/cancel", "ann", ""); status != 400 {
		t.Errorf("%d %v", status, got)
	}
	if status, got := sendAs(t, "DELETE", url+"/"+id, "ann", ""); status != 200 || got["deleted"] != true || got["id"] != id {
		t.Errorf("%d %v", status, got)
	}
	if status, _ := sendAs(t, "GET", url+"/"+id, "ann", ""); status != 404 {
		t.Error(status)
	}
}

func TestInputItems(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	url += "/v1/responses"
	_, _, first := post(t, url, responsesBody(`"input": "a"`))
	_, _, second := post(t, url, responsesBody(fmt.Sprintf(`"previous_response_id": %q, "input": [{"role": "user", "content": "b"}, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c", "output": "d"}]`, first["id"])))
	list := url + "/" + second["id"].(string) + "/input_items"
	kinds := func(query string) string {
		status, got := sendAs(t, "GET", list+query, "", "")
		if status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		out := ""
		for _, item := range got["data"].([]any) {
			out += at(item, "type").(string) + " "
			if id, _ := at(item, "id").(string); id == "" {
				t.Errorf("no id: %v", item)
			}
		}
		if got["data"].([]any)[0].(map[string]any)["id"] != got["first_id"] {
			t.Errorf("%v", got)
		}
		return out + fmt.Sprint(got["has_more"])
	}
	for query, want := range map[string]string{
		"?order=asc":         "message message message function_call function_call_output false",
		"":                   "function_call_output function_call message message message false",
		"?limit=2":           "function_call_output function_call true",
		"?order=asc&limit=1": "message true",
	} {
		if got := kinds(query); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	_, page := sendAs(t, "GET", list+"?limit=2", "", "")
	if got := kinds("?limit=2&after=" + page["last_id"].(string)); got != "message message true" {
		t.Error(got)
	}
	for _, query := range []string{"?limit=0", "?limit=1000", "?order=up", "?after=none"} {
		if status, got := sendAs(t, "GET", list+query, "", ""); status != 400 {
			t.Errorf("%s: %d %v", query, status, got)
		}
	}
	_, first = sendAs(t, "GET", list+"?order=asc&limit=1", "", "")
	if at(first, "data", 0, "content", 0, "type") != "input_text" || at(first, "data", 0, "content", 0, "text") != "a" {
		t.Errorf("%v", first)
	}
}

// TestStreamIsStored checks that a stream is stored like a whole answer,
// before its last event is sent.
func TestStreamIsStored(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	_, events := postStream(t, url+"/v1/responses", responsesBody(`"input": "a", "stream": true`))
	last := events[len(events)-1].data
	status, got := sendAs(t, "GET", url+"/v1/responses/"+at(last, "response", "id").(string), "", "")
	if status != 200 || at(got, "output", 0, "id") != at(last, "response", "output", 0, "id") || at(got, "output", 0, "id") == nil {
		t.Errorf("%d %v", status, got)
	}
}

// TestResponsesOfOthers checks that a client who stores without end drops none of another's responses, in number and in bytes,
// in memory and in a file that was read again with lower limits.
func TestResponsesOfOthers(t *testing.T) {
	put := func(url, key, input string) (string, map[string]any) {
		status, got := sendAs(t, "POST", url+"/v1/responses", key, responsesBody(fmt.Sprintf(`"input": %q`, input)))
		if status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		return got["id"].(string), got
	}
	found := func(url, key string, ids ...string) (n int) {
		for _, id := range ids {
			if status, _ := sendAs(t, "GET", url+"/v1/responses/"+id, key, ""); status == 200 {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		name   string
		limits stored.Limits
		input  string
	}{
		{"number", stored.Limits{Number: 6}, "a"},
		{"bytes", stored.Limits{Bytes: 64 << 10}, strings.Repeat("many words ", 400)},
	} {
		file := filepath.Join(t.TempDir(), "responses")
		srv, url := start(t, setup{reply: "fine", cfg: Config{Responses: c.limits, ResponsesFile: file}})
		if err := srv.OpenResponses(); err != nil {
			t.Fatal(err)
		}
		ann, _ := put(url, "ann", "mine")
		next, _ := put(url, "ann", "mine too")
		var bob []string
		for range 20 {
			id, _ := put(url, "bob", c.input)
			bob = append(bob, id)
		}
		if a, b := found(url, "ann", ann, next), found(url, "bob", bob...); a != 2 || b < 2 || b == len(bob) {
			t.Errorf("%s: %d of 2 are left, %d of the other's", c.name, a, b)
		}
		if found(url, "bob", bob[len(bob)-1]) != 1 {
			t.Errorf("%s: the newest is not there", c.name)
		}
		if err := srv.CloseResponses(); err != nil {
			t.Fatal(err)
		}
		srv, url = start(t, setup{reply: "fine", cfg: Config{Responses: stored.Limits{Number: 3}, ResponsesFile: file}})
		if err := srv.OpenResponses(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { srv.CloseResponses() })
		if a, b := found(url, "ann", ann, next), found(url, "bob", bob...); a+b != 3 || a == 0 || b == 0 {
			t.Errorf("%s, read again: %d and %d", c.name, a, b)
		}
	}
	// What one adds may not cost those who have less.
	_, url := start(t, setup{reply: "fine", cfg: Config{Responses: stored.Limits{Bytes: 8 << 10}}})
	ann, _ := put(url, "ann", strings.Repeat("a", 3000))
	_, large := put(url, "bob", strings.Repeat("b", 3900))
	if w := fmt.Sprint(large["warnings"]); large["store"] != false || !strings.Contains(w, "beside those of other clients") || found(url, "ann", ann) != 1 {
		t.Errorf("store: %v, warnings: %s", large["store"], w)
	}
}

func TestResponsesBounds(t *testing.T) {
	_, url := start(t, setup{reply: "fine", cfg: Config{Responses: stored.Limits{Number: 2}}})
	var ids []string
	for range 3 {
		_, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "a"`))
		ids = append(ids, got["id"].(string))
	}
	for i, want := range []int{404, 200, 200} {
		if status, _ := sendAs(t, "GET", url+"/v1/responses/"+ids[i], "", ""); status != want {
			t.Errorf("%d: %d", i, status)
		}
	}
	_, url = start(t, setup{reply: "fine", cfg: Config{Responses: stored.Limits{Bytes: 100}}})
	_, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "a"`))
	if got["store"] != false || !strings.Contains(fmt.Sprint(got["warnings"]), "not stored") {
		t.Errorf("%v", got)
	}
}

// TestResponsesFile checks that stored responses survive a restart.
func TestResponsesFile(t *testing.T) {
	cfg := Config{ResponsesFile: filepath.Join(t.TempDir(), "responses.db")}
	id := ""
	for i := range 2 {
		srv, url := start(t, setup{reply: "fine", cfg: cfg})
		if err := srv.OpenResponses(); err != nil {
			t.Fatal(err)
		}
		more := ""
		if id != "" {
			more = fmt.Sprintf(`, "previous_response_id": %q`, id)
		}
		status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "a"`+more))
		if status != 200 {
			t.Fatalf("%d: %d %v", i, status, got)
		}
		id = got["id"].(string)
		if err := srv.CloseResponses(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCountInput(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	body := `{"model": "tiny", "instructions": "Be brief.", "input": "x", "tools": [{"type": "function", "name": "f"}]}`
	_, _, counted := post(t, url+"/v1/responses/input_tokens", body)
	_, _, got := post(t, url+"/v1/responses", body)
	if counted["object"] != "response.input_tokens" || counted["input_tokens"] != at(got, "usage", "input_tokens") || counted["input_tokens"] == nil {
		t.Errorf("%v, %v", counted, got["usage"])
	}
}

// TestTruncation checks that, with truncation auto, a conversation that is
// too long loses its start.
func TestTruncation(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	var turns []string
	for i := range 40 {
		turns = append(turns, fmt.Sprintf(`{"role": "user", "content": "%d %s"}, {"role": "assistant", "content": "fine"}`, i, strings.Repeat("word ", 60)))
	}
	body := func(truncation string) string {
		return responsesBody(`"instructions": "Be brief.", "truncation": "` + truncation + `", "input": [` + strings.Join(turns, ", ") + `, {"role": "user", "content": "the end"}]`)
	}
	if status, _, got := post(t, url+"/v1/responses", body("disabled")); status != 400 || at(got, "error", "code") != "context_length_exceeded" {
		t.Errorf("%d %v", status, got)
	}
	status, _, got := post(t, url+"/v1/responses", body("auto"))
	if n, _ := at(got, "usage", "input_tokens").(float64); status != 200 || n < 3500 || n > 4096-60 || got["truncation"] != "auto" || !strings.Contains(fmt.Sprint(got["warnings"]), "dropped") {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/v1/responses", responsesBody(`"truncation": "auto", "input": "`+strings.Repeat("word ", 5000)+`"`)); status != 400 {
		t.Errorf("one turn that is too long: %d %v", status, got)
	}
	if status, _, got := post(t, url+"/v1/responses", responsesBody(`"truncation": "auto", "input": "x"`)); status != 200 || got["warnings"] != nil {
		t.Errorf("%d %v", status, got)
	}
}
