package sets

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// bfclSums are the SHA-256 of the files of questions and possible answers.
var bfclSums = map[string][2]string{
	"simple_python":     {"82dd63ba502eb2520c6b5d1d9a5c4b590e03ff261565175561f6228a367d1991", "90cd5bc653690ee8e459b5b3f3fc9458606f7f3fcbf795bb51b7dc581f8c86dc"},
	"multiple":          {"aef168155ebd74b7ac2401198b201343bc7d16d7a3d7e0d4e6d8ee82c6969b2a", "244e00ce9395df948bcafc7bee64e8f9c87ef70887587d83cae45b13699f3047"},
	"parallel_multiple": {"8863ea8433239f55c5f016154cf0830853c89f693c6ea270396a2fa121960579", "5ebf24f458c1f16300c05505d83d6f0a1b68b79be273a033febd0d4f840507e3"},
	"irrelevance":       {"2b6ed4c2e992cdcf5f1678a701851f944bef7550ee026ed1ddb89efed5be01a6"},
	"live_simple":       {"1af2ac87dca47556db7b7e37e51e28b459a38b594e3c7b3c792b4903598ca0c4", "fec9cfa9744a936f9126981e85a2023da1e63e273eafebc81923a1162fad70ce"},
	"live_multiple":     {"fd8ccfad4d911420d0e3341dbe2fff77d1d341da934248b9bb2bda24ab3a10c8", "97e90d59c5bd76c55a2920ce93e5566e9046307d3f558578f085f9d3a56c3084"},
	"live_irrelevance":  {"6559fda2beaceb609a2cd2e504c65b4a56cb448e1ef88fddfd199e163d163349"},
	"parallel":          {"19f51a82eff42e5d62541aa500115a056eb78f437c2ba1f10415fd7c8e5dda84", "8a6aa19c1adddc6a5a2f7e40f9dbf30cc7e95815e7b830c90589ab318229e0f0"},
}

// bfcl returns the set of a category of the leaderboard.
func bfcl(name, category string, count int) *Set {
	file := "BFCL_v4_" + category + ".json"
	const there = "ShishirPatil/gorilla, berkeley-function-call-leaderboard/bfcl_eval/data/"
	sums := bfclSums[category]
	files := []File{{Name: "bfcl/" + file, SHA256: sums[0], Source: there + file}}
	if sums[1] != "" { // in categories where no call is right, there are no possible answers
		files = append(files, File{Name: "bfcl/possible_answer/" + file, SHA256: sums[1], Source: there + "possible_answer/" + file})
	}
	return &Set{
		Name: "bfcl-" + name, About: fmt.Sprintf("calls of functions, category %s of BFCL v4 (%d questions)", category, count),
		Files: files, build: buildBFCL,
	}
}

// BFCL returns the cases of questions in the leaderboard's format, with their possible answers; without any, where no call is
// right.
func BFCL(name string, questions, answers []byte) ([]Case, error) {
	texts := [][]byte{questions}
	if answers != nil {
		texts = append(texts, answers)
	}
	return (&Set{Name: name, build: buildBFCL}).of(texts)
}

// function is a function in the format of the leaderboard's questions.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func buildBFCL(_ *Set, texts [][]byte) (out []Case, err error) {
	type answer struct {
		ID    string                      `json:"id"`
		Truth []map[string]map[string]any `json:"ground_truth"`
	}
	answers := map[string]answer{}
	if len(texts) > 1 {
		if err = eachLine(texts[1], func(a answer) error { answers[a.ID] = a; return nil }); err != nil {
			return nil, fmt.Errorf("possible answers: %w", err)
		}
	}
	type question struct {
		ID        string      `json:"id"`
		Question  [][]Message `json:"question"`
		Functions []function  `json:"function"`
	}
	err = eachLine(texts[0], func(q question) error {
		if len(q.Functions) == 0 && len(texts) == 1 {
			return nil // there is nothing to call
		}
		if len(q.Question) != 1 || len(q.Functions) == 0 {
			return fmt.Errorf("%s: one turn and some functions are needed", q.ID)
		}
		check := calls{tools: map[string]signature{}}
		c := Case{ID: q.ID, Messages: q.Question[0], MaxTokens: 400}
		for _, f := range q.Functions {
			tool, s, err := f.tool()
			if err != nil {
				return fmt.Errorf("%s: %s: %w", q.ID, f.Name, err)
			}
			c.Tools = append(c.Tools, tool)
			check.tools[tool.Name] = s
		}
		for _, call := range answers[q.ID].Truth {
			for name, values := range call {
				w := wantedCall{toolName(name), map[string][]any{}}
				if _, ok := check.tools[w.name]; !ok {
					return fmt.Errorf("%s: the answer calls %s, which is not among the functions", q.ID, name)
				}
				for argument, list := range values {
					possible, ok := list.([]any)
					if !ok {
						return fmt.Errorf("%s: %s: %s has no list of possible values", q.ID, name, argument)
					}
					w.values[argument] = possible
				}
				check.want = append(check.want, w)
			}
		}
		if len(check.want) == 0 && len(texts) > 1 {
			return fmt.Errorf("%s has no possible answers", q.ID)
		}
		c.judge = check
		out = append(out, c)
		return nil
	})
	return out, err
}

// toolName replaces the dots in a function's name, which OpenAI's API does not
// allow.
func toolName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// tool returns the function in OpenAI's format.
func (f function) tool() (Tool, signature, error) {
	var s signature
	if err := json.Unmarshal(f.Parameters, &s); err != nil {
		return Tool{}, s, err
	}
	for name, p := range s.Properties {
		if pythonTypes[p.Type] == "" {
			return Tool{}, s, fmt.Errorf("%s has the type %q, which is not known", name, p.Type)
		}
	}
	return Tool{toolName(f.Name), f.Description, standardSchema(f.Parameters)}, s, nil
}

// schemaTypes maps the leaderboard's types to those of JSON Schema, as the
// leaderboard does.
var schemaTypes = map[string]string{"dict": "object", "float": "number", "tuple": "array", "any": "string"}

// In JSON text these patterns match only members: within strings, the quotes would
// be escaped.
var (
	typeMember     = regexp.MustCompile(`"type"\s*:\s*"(dict|float|tuple|any)"`)
	optionalMember = regexp.MustCompile(`,\s*"optional"\s*:\s*(?:true|false)|"optional"\s*:\s*(?:true|false)\s*,`)
)

// standardSchema converts a description of arguments to JSON Schema. It edits the
// text instead of decoding it, to keep the order of properties.
func standardSchema(s json.RawMessage) json.RawMessage {
	s = optionalMember.ReplaceAll(s, nil) // "required" says the same
	return typeMember.ReplaceAllFunc(s, func(member []byte) []byte {
		return []byte(`"type":"` + schemaTypes[string(typeMember.FindSubmatch(member)[1])] + `"`)
	})
}
