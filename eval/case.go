package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// A Case is a prompt with the expected answer.
type Case struct {
	ID       string          `json:"id"`
	Task     string          `json:"task"`
	Prompt   string          `json:"prompt,omitempty"`
	System   string          `json:"system,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"` // instead of Prompt, as in /generate_json
	Schema   json.RawMessage `json:"schema,omitempty"`   // missing: free text
	// Expected is the expected document, or a string for free text. Without it,
	// only the validity of the answer is measured.
	Expected  json.RawMessage `json:"expected,omitempty"`
	MaxTokens int             `json:"max_tokens,omitempty"`
}

// maxLine is the maximum length of a line of cases or results in bytes.
const maxLine = 16 << 20

// ReadCases reads cases, one per line. Blank lines and lines that begin with # are
// skipped. Errors name the line.
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
			return nil, fmt.Errorf("eval: line %d: duplicate id %q, first on line %d", n, c.ID, seen[c.ID])
		case given == (c.Prompt != ""):
			return nil, fmt.Errorf("eval: line %d: exactly one of prompt and messages is required", n)
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
