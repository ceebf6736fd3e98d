package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// builtinInputs are the members that a command of a tool needs and those that it may have, by type, in the words of
// Anthropic's client libraries.
var builtinInputs = map[string]struct {
	name, more string
	by         string
	needs      map[string]string
}{
	"bash_20241022":        {"bash", "", "", nil},
	"bash_20250124":        {"bash", "", "", nil},
	"text_editor_20241022": {"str_replace_editor", "", "command", editorNeeds("new_str", true)},
	"text_editor_20250124": {"str_replace_editor", "", "command", editorNeeds("new_str", true)},
	"text_editor_20250429": {"str_replace_based_edit_tool", "", "command", editorNeeds("new_str", false)},
	"text_editor_20250728": {"str_replace_based_edit_tool", `, "max_characters": 1000`, "command", editorNeeds("insert_text", false)},
	"memory_20250818": {"memory", "", "command", map[string]string{
		"view": "path", "create": "path file_text", "str_replace": "path old_str new_str", "insert": "path insert_line insert_text", "delete": "path", "rename": "old_path new_path",
	}},
	"computer_20241022": {"computer", `, "display_width_px": 800, "display_height_px": 600`, "action", map[string]string{
		"key": "text", "type": "text", "mouse_move": "coordinate", "left_click": "", "left_click_drag": "coordinate", "right_click": "", "middle_click": "", "double_click": "",
		"screenshot": "", "cursor_position": "",
	}},
	"computer_20250124": {"computer", `, "display_width_px": 800, "display_height_px": 600, "display_number": 1`, "action", laterActions("")},
	"computer_20251124": {"computer", `, "display_width_px": 800, "display_height_px": 600, "enable_zoom": true`, "action", laterActions("zoom")},
}

func editorNeeds(inserted string, undo bool) map[string]string {
	out := map[string]string{"view": "path", "create": "path file_text", "str_replace": "path old_str", "insert": "path insert_line " + inserted}
	if undo {
		out["undo_edit"] = "path"
	}
	return out
}

func laterActions(zoom string) map[string]string {
	out := map[string]string{
		"key": "text", "type": "text", "mouse_move": "coordinate", "left_click": "", "left_click_drag": "start_coordinate coordinate", "right_click": "", "middle_click": "",
		"double_click": "", "triple_click": "", "screenshot": "", "cursor_position": "", "left_mouse_down": "", "left_mouse_up": "",
		"scroll": "coordinate scroll_direction scroll_amount", "hold_key": "text duration", "wait": "duration",
	}
	if zoom != "" {
		out[zoom] = "region"
	}
	return out
}

// TestClientTools asks for calls of the tools that Anthropic's clients run, which have no schema in the request.
func TestClientTools(t *testing.T) {
	_, url := start(t, setup{})
	for kind, c := range builtinInputs {
		tool := fmt.Sprintf(`{"type": %q, "name": %q%s}`, kind, c.name, c.more)
		seen := map[string]bool{}
		for seed := range 12 {
			status, _, got := post(t, url+"/v1/messages", fmt.Sprintf(
				`{"model": "tiny", "max_tokens": 300, "seed": %d, "messages": [{"role": "user", "content": "a%d"}], "tools": [%s], "tool_choice": {"type": "tool", "name": %q}}`, seed, seed, tool, c.name))
			input, _ := at(got, "content", 0, "input").(map[string]any)
			if status != 200 || at(got, "content", 0, "type") != "tool_use" || at(got, "content", 0, "name") != c.name || input == nil {
				t.Fatalf("%s: %d %v", kind, status, got)
			}
			if c.by == "" {
				if text, _ := input["command"].(string); (text == "") == (input["restart"] != true) || len(input) != 1 {
					t.Errorf("%s: %v", kind, input)
				}
				continue
			}
			what, _ := input[c.by].(string)
			needs, ok := c.needs[what]
			if seen[what] = true; !ok {
				t.Errorf("%s: %v", kind, input)
			}
			for _, name := range strings.Fields(needs) {
				if input[name] == nil {
					t.Errorf("%s: %s is missing in %v", kind, name, input)
				}
			}
		}
		if c.by != "" && len(seen) < 2 {
			t.Errorf("%s: only %v", kind, slices.Collect(maps.Keys(seen)))
		}
		// Its result comes back, and its tokens are counted.
		talk := fmt.Sprintf(`{"model": "tiny", "max_tokens": 5, "tools": [%s], "messages": [{"role": "user", "content": "a"},
			{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": %q, "input": {}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]}]}`, tool, c.name)
		if status, _, got := post(t, url+"/v1/messages", talk); status != 200 {
			t.Errorf("%s: %d %v", kind, status, got)
		}
		if status, _, got := post(t, url+"/v1/messages/count_tokens", talk); status != 200 || at(got, "input_tokens").(float64) < 50 {
			t.Errorf("%s: %d %v", kind, status, got)
		}
		wrong := strings.Replace(tool, fmt.Sprintf("%q", c.name), `"mine"`, 1)
		if status, _, got := post(t, url+"/v1/messages", fmt.Sprintf(`{"model": "tiny", "max_tokens": 5, "messages": [{"role": "user", "content": "a"}], "tools": [%s]}`, wrong)); status != 400 ||
			!strings.Contains(fmt.Sprint(at(got, "error", "message")), c.name) {
			t.Errorf("%s with another name: %d %v", kind, status, got)
		}
	}
}

// TestServerTools checks that tools that Anthropic's servers run are refused by name, and that a search for tools is left out.
func TestServerTools(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	ask := func(tools string) (int, map[string]any) {
		status, _, got := post(t, url+"/v1/messages", `{"model": "tiny", "max_tokens": 60, "messages": [{"role": "user", "content": "a"}], "tools": [`+tools+`]}`)
		return status, got
	}
	for _, kind := range []string{"web_search_20250305", "web_fetch_20250910", "code_execution_20250825", "advisor_20260301", "browser_toolset_20260801", "computer_toolset_20260801", "mcp_toolset"} {
		if status, got := ask(fmt.Sprintf(`{"type": %q, "name": "x"}`, kind)); status != 400 || !strings.Contains(fmt.Sprint(at(got, "error", "message")), kind) {
			t.Errorf("%s: %d %v", kind, status, got)
		}
	}
	own := `{"name": "look", "input_schema": {"type": "object"}, "defer_loading": true}`
	for _, kind := range []string{"tool_search_tool_regex_20251119", "tool_search_tool_bm25_20251119", "tool_search_tool_regex", "tool_search_tool_bm25"} {
		search := fmt.Sprintf(`{"type": %q, "name": "tool_search"}`, kind)
		for _, tools := range []string{search + ", " + own, search} {
			if status, got := ask(tools); status != 200 || !strings.Contains(fmt.Sprint(got["warnings"]), kind) {
				t.Errorf("%s: %d %v", tools, status, got)
			}
		}
	}
}
