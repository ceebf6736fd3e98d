package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// A clientTool is a tool that Anthropic's clients run and whose input is not in the request, since Anthropic's models know
// it. Its commands are those of Anthropic's documentation and client libraries.
type clientTool struct {
	name        string
	description string
	by          string // the member that names the command; "": there is one command of several forms
	commands    []command
	members     []string // of the tool in the request, beside those of every tool
}

// A command is a form of a tool's input: its members, those that may be left out with a question mark.
type command struct{ name, members string }

// memberSchemas are the schemas of members, by name.
var memberSchemas = map[string]string{
	"command": `{"type": "string", "minLength": 1, "description": "the command line"}`,
	"restart": `{"const": true, "description": "starts the shell anew"}`,

	"path":        `{"type": "string", "minLength": 1, "description": "of a file or a folder"}`,
	"old_path":    `{"type": "string", "minLength": 1}`,
	"new_path":    `{"type": "string", "minLength": 1}`,
	"view_range":  `{"type": "array", "prefixItems": [{"type": "integer", "minimum": 1}, {"type": "integer", "minimum": -1}], "items": false, "minItems": 2, "description": "the first line and the last; -1: to the end"}`,
	"file_text":   `{"type": "string", "description": "the whole text of the file"}`,
	"old_str":     `{"type": "string", "minLength": 1, "description": "the text to replace, which must occur once"}`,
	"new_str":     `{"type": "string"}`,
	"insert_line": `{"type": "integer", "minimum": 0, "description": "the line behind which the text goes"}`,
	"insert_text": `{"type": "string"}`,

	"coordinate":       pointSchema,
	"start_coordinate": pointSchema,
	"text":             `{"type": "string"}`,
	"scroll_direction": `{"enum": ["up", "down", "left", "right"]}`,
	"scroll_amount":    `{"type": "integer", "minimum": 0}`,
	"duration":         `{"type": "number", "minimum": 0, "maximum": 100, "description": "in seconds"}`,
	"region":           `{"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 4, "maxItems": 4, "description": "left, top, right and bottom in pixels"}`,
}

const pointSchema = `{"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2, "description": "x and y in pixels"}`

func editorTool(name, inserted string, undo bool, members ...string) clientTool {
	t := clientTool{name, "Views and edits text files.", "command", []command{
		{"view", "path view_range?"}, {"create", "path file_text"}, {"str_replace", "path old_str new_str?"}, {"insert", "path insert_line " + inserted},
	}, members}
	if undo {
		t.commands = append(t.commands, command{"undo_edit", "path"})
	}
	return t
}

func computerTool(later, zoom bool) clientTool {
	t := clientTool{"computer", "Uses the mouse and the keyboard of a computer, and looks at its screen.", "action", []command{
		{"screenshot", ""}, {"cursor_position", ""}, {"mouse_move", "coordinate"}, {"left_click", ""}, {"right_click", ""}, {"middle_click", ""},
		{"double_click", ""}, {"left_click_drag", "coordinate"}, {"type", "text"}, {"key", "text"},
	}, []string{"display_width_px", "display_height_px", "display_number"}}
	if later {
		for i, c := range t.commands {
			if strings.HasSuffix(c.name, "_click") {
				t.commands[i].members = "coordinate? text?"
			}
		}
		t.commands[7].members = "start_coordinate coordinate"
		t.commands = append(t.commands, command{"triple_click", "coordinate? text?"}, command{"left_mouse_down", ""}, command{"left_mouse_up", ""},
			command{"scroll", "coordinate scroll_direction scroll_amount text?"}, command{"hold_key", "text duration"}, command{"wait", "duration"})
	}
	if zoom {
		t.commands, t.members = append(t.commands, command{"zoom", "region"}), append(t.members, "enable_zoom")
	}
	return t
}

var bashTool = clientTool{"bash", "Runs a command line in a shell that stays open.", "", []command{{"", "command"}, {"", "restart"}}, nil}

var clientTools = map[string]clientTool{
	"bash_20241022": bashTool, "bash_20250124": bashTool,
	"text_editor_20241022": editorTool("str_replace_editor", "new_str", true),
	"text_editor_20250124": editorTool("str_replace_editor", "new_str", true),
	"text_editor_20250429": editorTool("str_replace_based_edit_tool", "new_str", false),
	"text_editor_20250728": editorTool("str_replace_based_edit_tool", "insert_text", false, "max_characters"),
	"memory_20250818": {"memory", "Keeps notes in files below /memories, which are there in later conversations.", "command", []command{
		{"view", "path view_range?"}, {"create", "path file_text"}, {"str_replace", "path old_str new_str"}, {"insert", "path insert_line insert_text"},
		{"delete", "path"}, {"rename", "old_path new_path"},
	}, nil},
	"computer_20241022": computerTool(false, false), "computer_20250124": computerTool(true, false), "computer_20251124": computerTool(true, true),
}

// schema returns the JSON Schema of a tool's input: an alternative for each command, which comes first. without is a
// command that is left out.
func (t clientTool) schema(without string) string {
	var forms []string
	for _, c := range t.commands {
		if c.name == without && without != "" {
			continue
		}
		var props, required []string
		if t.by != "" {
			props, required = append(props, fmt.Sprintf(`%q: {"const": %q}`, t.by, c.name)), append(required, fmt.Sprintf("%q", t.by))
		}
		for _, name := range strings.Fields(c.members) {
			name, optional := strings.CutSuffix(name, "?")
			props = append(props, fmt.Sprintf("%q: %s", name, memberSchemas[name]))
			if !optional {
				required = append(required, fmt.Sprintf("%q", name))
			}
		}
		forms = append(forms, fmt.Sprintf(`{"type": "object", "properties": {%s}, "required": [%s], "additionalProperties": false}`,
			strings.Join(props, ", "), strings.Join(required, ", ")))
	}
	return `{"type": "object", "oneOf": [` + strings.Join(forms, ", ") + `]}`
}

// readBuiltin reads a tool without a schema, by its type, and reports whether it is one that this server knows.
func (q *messagesRequest) readBuiltin(t *wire.Object, kind string) (known bool, err error) {
	if search := strings.HasPrefix(kind, "tool_search_tool_"); search {
		q.Warnings = append(q.Warnings, fmt.Sprintf("%stype: Anthropic's servers run %s; here the model sees all tools at once, those with defer_loading too", t.Path, kind))
		return true, nil
	}
	tool, ok := clientTools[kind]
	if !ok {
		return false, nil
	}
	members := slices.Concat([]string{"type", "name", "cache_control", "strict", "input_examples", "defer_loading", "allowed_callers"}, tool.members)
	if err := t.Only(members...); err != nil {
		return true, err
	}
	name, zoom, width, height := "", false, 0, 0
	for _, err := range []error{
		t.Str("name", &name), t.Boolean("enable_zoom", &zoom),
		t.Integer("display_width_px", &width, 1, 1<<16), t.Integer("display_height_px", &height, 1, 1<<16),
	} {
		if err != nil {
			return true, err
		}
	}
	if name != tool.name {
		return true, wire.Invalid(t.Path+"name", "%sname of a tool of type %q must be %q", t.Path, kind, tool.name)
	}
	description, without := tool.description, ""
	if tool.name == "computer" {
		if !zoom {
			without = "zoom"
		}
		if width == 0 || height == 0 {
			return true, wire.Invalid(t.Path+"display_width_px", "%sdisplay_width_px and display_height_px are missing", t.Path)
		}
		description += fmt.Sprintf(" It has %d by %d pixels.", width, height)
		q.Warnings = append(q.Warnings, fmt.Sprintf("%stype: pictures are not read here, so the model can't see what the tool shows of the screen", t.Path))
	}
	set := func(name, value string) {
		if !t.Given(name) {
			t.Names = append(t.Names, name)
		}
		t.Members[name] = json.RawMessage(value)
	}
	set("description", fmt.Sprintf("%q", description))
	set("input_schema", tool.schema(without))
	return true, request.ReadFunction(q.Tools, t, "input_schema")
}
