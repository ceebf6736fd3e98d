package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// A Case is a prompt with what the answer should be.
type Case struct {
	ID       string          `json:"id"`
	Task     string          `json:"task"`
	Prompt   string          `json:"prompt,omitempty"`
	System   string          `json:"system,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"` // instead of Prompt, as /generate_json takes them
	Schema   json.RawMessage `json:"schema,omitempty"`   // without: free text
	// Expected is the document, or with free text a string. Without it only
	// whether the answer is valid counts.
	Expected  json.RawMessage `json:"expected,omitempty"`
	MaxTokens int             `json:"max_tokens,omitempty"`
}

// maxLine bounds one line of cases or results.
const maxLine = 16 << 20

// ReadCases reads cases, one a line. Blank lines and those that begin with # are
// passed over. Errors name the line.
func ReadCases(r io.Reader) ([]Case, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var out []Case
	seen := map[string]int{}
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		var c Case
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("eval: line %d: %w", n, err)
		}
		switch given := len(c.Messages) > 0; {
		case c.ID == "":
			return nil, fmt.Errorf("eval: line %d: id is missing", n)
		case seen[c.ID] > 0:
			return nil, fmt.Errorf("eval: line %d: the id %q stands on line %d already", n, c.ID, seen[c.ID])
		case given == (c.Prompt != ""):
			return nil, fmt.Errorf("eval: line %d: one of prompt and messages is needed", n)
		}
		seen[c.ID] = n
		if string(c.Schema) == "null" {
			c.Schema = nil
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return out, nil
}
