package server

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/stored"
)

// conversation creates a conversation and returns its id.
func conversation(t *testing.T, url, key, body string) string {
	t.Helper()
	status, got := sendAs(t, "POST", url+"/v1/conversations", key, body)
	if status != 200 || got["object"] != "conversation" || got["created_at"].(float64) < 1e9 || got["metadata"] == nil {
		t.Fatalf("%d %v", status, got)
	}
	return got["id"].(string)
}

// itemsOf returns the texts of a conversation's items, in order.
func itemsOf(t *testing.T, url, key, id string) (texts []string) {
	t.Helper()
	after := ""
	for {
		status, got := sendAs(t, "GET", url+"/v1/conversations/"+id+"/items?order=asc&limit=100"+after, key, "")
		if status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		for _, item := range got["data"].([]any) {
			text, _ := at(item, "content", 0, "text").(string)
			texts = append(texts, strings.TrimSpace(fmt.Sprint(at(item, "role"), " ", text)))
		}
		if got["has_more"] != true {
			return texts
		}
		after = "&after=" + got["last_id"].(string)
	}
}

func TestConversations(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	id := conversation(t, url, "ann", `{"metadata": {"topic": "tea"}, "items": [{"role": "user", "content": "My name is Ann."}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "fine"}]}]}`)
	one := url + "/v1/conversations/" + id
	if status, got := sendAs(t, "GET", one, "ann", ""); status != 200 || got["id"] != id || at(got, "metadata", "topic") != "tea" {
		t.Errorf("%d %v", status, got)
	}
	status, got := sendAs(t, "POST", one, "ann", `{"metadata": {"mood": "calm"}}`)
	if status != 200 || at(got, "metadata", "mood") != "calm" || at(got, "metadata", "topic") != nil {
		t.Errorf("%d %v", status, got)
	}
	status, added := sendAs(t, "POST", one+"/items", "ann", `{"items": [{"role": "user", "content": "b"}, {"role": "user", "content": "c"}]}`)
	if status != 200 || added["object"] != "list" || added["has_more"] != false || at(added, "data", 1, "content", 0, "text") != "c" || added["first_id"] != at(added, "data", 0, "id") {
		t.Errorf("%d %v", status, added)
	}
	if got := itemsOf(t, url, "ann", id); strings.Join(got, ", ") != "user My name is Ann., assistant fine, user b, user c" {
		t.Errorf("%q", got)
	}
	if _, got := sendAs(t, "GET", one+"/items?limit=1", "ann", ""); at(got, "data", 0, "content", 0, "text") != "c" || got["has_more"] != true || len(got["data"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	first := added["first_id"].(string)
	if status, got := sendAs(t, "GET", one+"/items/"+first, "ann", ""); status != 200 || at(got, "content", 0, "text") != "b" || got["id"] != first {
		t.Errorf("%d %v", status, got)
	}
	if status, got := sendAs(t, "DELETE", one+"/items/"+first, "ann", ""); status != 200 || got["id"] != id || got["object"] != "conversation" {
		t.Errorf("%d %v", status, got)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if status, got := sendAs(t, method, one+"/items/"+first, "ann", ""); status != 404 || at(got, "error", "code") != "item_not_found" {
			t.Errorf("%d %v", status, got)
		}
	}
	if got := itemsOf(t, url, "ann", id); len(got) != 3 {
		t.Errorf("%q", got)
	}
	// An item may be referred to; another one with its id gets a new one.
	status, got = sendAs(t, "POST", one+"/items", "ann", fmt.Sprintf(`{"items": [{"type": "item_reference", "id": %q}]}`, added["last_id"]))
	if status != 200 || at(got, "data", 0, "content", 0, "text") != "c" || got["first_id"] == added["last_id"] {
		t.Errorf("%d %v", status, got)
	}
	// Nobody else can use it, by any path.
	for _, key := range []string{"bob", ""} {
		for _, c := range [][3]string{{"GET", "", ""}, {"POST", "", `{"metadata": {}}`}, {"DELETE", "", ""}, {"GET", "/items", ""}, {"POST", "/items", `{"items": []}`}, {"GET", "/items/" + added["last_id"].(string), ""}, {"DELETE", "/items/" + added["last_id"].(string), ""}} {
			if status, got := sendAs(t, c[0], one+c[1], key, c[2]); status != 404 || at(got, "error", "code") != "conversation_not_found" {
				t.Errorf("%s %s with the key %q: %d %v", c[0], c[1], key, status, got)
			}
		}
		if status, got := sendAs(t, "POST", url+"/v1/responses", key, responsesBody(fmt.Sprintf(`"input": "x", "conversation": %q`, id))); status != 404 || at(got, "error", "code") != "conversation_not_found" || at(got, "error", "param") != "conversation" {
			t.Errorf("%d %v", status, got)
		}
	}
	if status, got := sendAs(t, "GET", url+"/v1/responses/"+id, "ann", ""); status != 404 {
		t.Errorf("a conversation as a response: %d %v", status, got)
	}
	if status, got := sendAs(t, "DELETE", one, "ann", ""); status != 200 || got["deleted"] != true || got["object"] != "conversation.deleted" || got["id"] != id {
		t.Errorf("%d %v", status, got)
	}
	if status, _ := sendAs(t, "GET", one, "ann", ""); status != 404 {
		t.Error(status)
	}
	if got := itemsOf(t, url, "", conversation(t, url, "", "")); len(got) != 0 {
		t.Errorf("an empty one: %q", got)
	}
}

func TestBadConversations(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	id := conversation(t, url, "", `{}`)
	long := strings.Repeat("x", 600)
	var items, pairs []string
	for i := range 21 {
		items = append(items, `{"role": "user", "content": "a"}`)
		pairs = append(pairs, fmt.Sprintf(`"%d": "a"`, i))
	}
	for _, c := range []struct{ path, body, code, param string }{
		{"", `{"items": [` + strings.Join(items, ",") + `]}`, "invalid_value", "items"},
		{"", `{"items": [{"type": "function_call_output", "call_id": "c"}]}`, "invalid_value", "items[0].output"},
		{"", `{"items": [{"role": "nobody", "content": "a"}]}`, "invalid_value", "items[0].role"},
		{"", `{"items": 5}`, "invalid_value", "items"},
		{"", `{"item": []}`, "unknown_field", "item"},
		{"", `{"metadata": {` + strings.Join(pairs, ",") + `}}`, "invalid_value", "metadata"},
		{"", `{"metadata": {"a": 5}}`, "invalid_value", "metadata"},
		{"", `{"metadata": {"a": null}}`, "invalid_value", "metadata"},
		{"", `{"metadata": {"a": "` + long + `"}}`, "invalid_value", "metadata"},
		{"", `{"metadata": {"` + long + `": "a"}}`, "invalid_value", "metadata"},
		{"/" + id, `{}`, "invalid_value", "metadata"},
		{"/" + id + "/items", `{}`, "invalid_value", "items"},
	} {
		if status, got := sendAs(t, "POST", url+"/v1/conversations"+c.path, "", c.body); status != 400 || at(got, "error", "code") != c.code || at(got, "error", "param") != c.param {
			t.Errorf("%.80s: %d %v", c.body, status, got)
		}
	}
	_, first := sendAs(t, "POST", url+"/v1/responses", "", responsesBody(`"input": "a"`))
	for _, c := range []struct{ field, code string }{
		{fmt.Sprintf(`"conversation": %q, "previous_response_id": %q`, id, first["id"]), "mutually_exclusive_fields"},
		{`"conversation": ""`, "invalid_value"},
		{`"conversation": {}`, "invalid_value"},
		{`"conversation": 5`, "invalid_value"},
		{`"conversation": {"id": "` + id + `", "more": 1}`, "unknown_field"},
	} {
		if status, got := sendAs(t, "POST", url+"/v1/responses", "", responsesBody(`"input": "x", `+c.field)); status != 400 || at(got, "error", "code") != c.code {
			t.Errorf("%s: %d %v", c.field, status, got)
		}
	}
}

// TestConversationOfResponses checks that responses go on in a conversation and add to it, whole, streamed and in the
// background, stored or not; and that a later one sees what they added.
func TestConversationOfResponses(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	id := conversation(t, url, "ann", `{"items": [{"role": "user", "content": "My name is Ann."}, {"role": "assistant", "content": "fine"}]}`)
	status, got := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "What is my name?", "conversation": %q`, id)))
	_, whole := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(`"store": false, "input": [{"role": "user", "content": "My name is Ann."}, {"role": "assistant", "content": "fine"}, {"role": "user", "content": "What is my name?"}]`))
	if status != 200 || at(got, "conversation", "id") != id || at(got, "usage", "input_tokens") != at(whole, "usage", "input_tokens") || at(got, "usage", "input_tokens") == nil {
		t.Fatalf("%d %v, whole: %v", status, got, whole)
	}
	if _, there := whole["conversation"]; there {
		t.Errorf("%v", whole["conversation"])
	}
	sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "b", "store": false, "conversation": {"id": %q}`, id)))
	resp := postAs(t, "ann", url+"/v1/responses", strings.NewReader(responsesBody(fmt.Sprintf(`"input": "c", "stream": true, "conversation": %q`, id))))
	events := readEvents(t, resp.Body)
	resp.Body.Close()
	if at(events[len(events)-1].data, "response", "conversation", "id") != id {
		t.Errorf("%+v", events[len(events)-1])
	}
	for _, more := range []string{"", `"stream": true, `} {
		body := backgroundBody(more + fmt.Sprintf(`"max_output_tokens": 60, "conversation": %q`, id))
		if more == "" {
			reached(t, url, "ann", queue(t, url, "ann", body), "completed")
			continue
		}
		resp := postAs(t, "ann", url+"/v1/responses", strings.NewReader(body))
		readEvents(t, resp.Body)
		resp.Body.Close()
	}
	want := "user My name is Ann., assistant fine, user What is my name?, assistant fine, user b, assistant fine, user c, assistant fine, user a, assistant fine, user a, assistant fine"
	if got := strings.Join(itemsOf(t, url, "ann", id), ", "); got != want {
		t.Errorf("%s", got)
	}
	if _, list := sendAs(t, "GET", url+"/v1/responses/"+got["id"].(string)+"/input_items?order=asc", "ann", ""); len(list["data"].([]any)) != 3 {
		t.Errorf("what the first was made of: %v", list)
	}
	// Going on after the first response, apart from the conversation.
	_, next := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "d", "previous_response_id": %q`, got["id"])))
	_, same := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(`"store": false, "input": [{"role": "user", "content": "My name is Ann."}, {"role": "assistant", "content": "fine"}, {"role": "user", "content": "What is my name?"}, {"role": "assistant", "content": "fine"}, {"role": "user", "content": "d"}]`))
	if at(next, "usage", "input_tokens") != at(same, "usage", "input_tokens") || at(next, "usage", "input_tokens") == nil {
		t.Errorf("%v, %v", next, same)
	}
	// Without its conversation, a response is not whole.
	sendAs(t, "DELETE", url+"/v1/conversations/"+id, "ann", "")
	if status, got := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "d", "previous_response_id": %q`, got["id"]))); status != 400 || at(got, "error", "code") != "previous_response_not_found" {
		t.Errorf("%d %v", status, got)
	}
	if status, list := sendAs(t, "GET", url+"/v1/responses/"+got["id"].(string)+"/input_items", "ann", ""); status != 200 || len(list["data"].([]any)) != 1 {
		t.Errorf("%d %v", status, list)
	}
}

// TestConversationAtOnce checks that responses made at the same time lose no items, and that those of each stay together.
func TestConversationAtOnce(t *testing.T) {
	_, url := start(t, setup{reply: "fine", eng: engine.Config{Parallel: 4}})
	id := conversation(t, url, "", `{}`)
	const n = 12
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if status, got := sendAs(t, "POST", url+"/v1/responses", "", responsesBody(fmt.Sprintf(`"input": "%d", "conversation": %q`, i, id))); status != 200 || got["warnings"] != nil {
				t.Errorf("%d %v", status, got)
			}
		})
	}
	all.Wait()
	items, seen := itemsOf(t, url, "", id), map[string]bool{}
	if len(items) != 2*n {
		t.Fatalf("%q", items)
	}
	for i := 0; i < len(items); i += 2 {
		seen[items[i]] = true
		if !strings.HasPrefix(items[i], "user ") || items[i+1] != "assistant fine" {
			t.Errorf("%q", items[i:i+2])
		}
	}
	if len(seen) != n {
		t.Errorf("%q", items)
	}
}

// TestConversationGone checks that a response says so if its conversation was deleted meanwhile.
func TestConversationGone(t *testing.T) {
	opt, goOn := gated(t)
	_, url := start(t, setup{reply: "fine", opt: opt})
	id := conversation(t, url, "", `{}`)
	made := queue(t, url, "", backgroundBody(fmt.Sprintf(`"max_output_tokens": 60, "conversation": %q`, id)))
	sendAs(t, "DELETE", url+"/v1/conversations/"+id, "", "")
	goOn()
	if got := reached(t, url, "", made, "completed"); !strings.Contains(fmt.Sprint(got["warnings"]), "nothing was added") {
		t.Errorf("%v", got)
	}
}

// TestConversationCancelled checks that a response that was cancelled, or has failed, adds nothing to its conversation.
func TestConversationCancelled(t *testing.T) {
	opt, more := slow(t)
	_, url := start(t, setup{opt: opt})
	id := conversation(t, url, "", `{}`)
	made := queue(t, url, "", backgroundBody(fmt.Sprintf(`"conversation": %q, `, id)+more))
	reached(t, url, "", made, "in_progress")
	if status, got := sendAs(t, "POST", url+"/v1/responses/"+made+"/cancel", "", ""); status != 200 || at(got, "conversation", "id") != id {
		t.Errorf("%d %v", status, got)
	}
	made = queue(t, url, "", backgroundBody(fmt.Sprintf(`"conversation": %q, "instructions": %q`, id, strings.Repeat("word ", 5000))))
	reached(t, url, "", made, "failed")
	if got := itemsOf(t, url, "", id); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// TestConversationsFile checks that conversations survive a restart, with what responses added, and that they count among
// what is stored.
func TestConversationsFile(t *testing.T) {
	cfg := Config{ResponsesFile: filepath.Join(t.TempDir(), "file")}
	id := ""
	for i := range 2 {
		srv, url := start(t, setup{reply: "fine", cfg: cfg})
		if err := srv.OpenResponses(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			id = conversation(t, url, "ann", `{"metadata": {"a": "b"}}`)
		}
		sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "a", "conversation": %q`, id)))
		if got := itemsOf(t, url, "ann", id); len(got) != 2*(i+1) {
			t.Errorf("%q", got)
		}
		if _, got := sendAs(t, "GET", url+"/v1/conversations/"+id, "ann", ""); at(got, "metadata", "a") != "b" {
			t.Errorf("%v", got)
		}
		if err := srv.CloseResponses(); err != nil {
			t.Fatal(err)
		}
	}
	_, url := start(t, setup{reply: "fine", cfg: Config{Responses: stored.Limits{Number: 2}}})
	var ids []string
	for range 3 {
		ids = append(ids, conversation(t, url, "", ""))
	}
	for i, want := range []int{404, 200, 200} {
		if status, _ := sendAs(t, "GET", url+"/v1/conversations/"+ids[i], "", ""); status != want {
			t.Errorf("%d: %d", i, status)
		}
	}
	_, url = start(t, setup{reply: "fine", cfg: Config{Responses: stored.Limits{Bytes: 2000}}})
	id = conversation(t, url, "", "")
	text := strings.Repeat("x", 2000)
	if status, got := sendAs(t, "POST", url+"/v1/conversations/"+id+"/items", "", `{"items": [{"role": "user", "content": "`+text+`"}]}`); status != 413 || at(got, "error", "code") != "no_room_to_store" {
		t.Errorf("%d %v", status, got)
	}
	if got := itemsOf(t, url, "", id); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if status, got := sendAs(t, "POST", url+"/v1/responses", "", backgroundBody(`"instructions": "`+text+`"`)); status != 413 || at(got, "error", "code") != "no_room_to_store" {
		t.Errorf("%d %v", status, got)
	}
	_, got := sendAs(t, "POST", url+"/v1/responses", "", responsesBody(fmt.Sprintf(`"input": %q, "conversation": %q`, text, id)))
	if w := fmt.Sprint(got["warnings"]); !strings.Contains(w, "nothing was added to the conversation") {
		t.Errorf("%s", w)
	}
}
