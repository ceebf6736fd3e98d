package agent

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/repair"
	"github.com/stencil-json/stencil/schema"
)

// Parse reads an envelope from unconstrained text. It accepts any text:
//
//   - a byte-order mark, reasoning, a code fence and text around the object are
//     removed, broken JSON is repaired if it is unambiguous, and emphasis is
//     taken away from strings and keys;
//   - a missing or unknown next action is finalize;
//   - a missing or non-numeric confidence is DefaultConfidence; one out of range is
//     clamped; "85%" and "0.85" are numbers;
//   - a sub-task without a priority comes after all others;
//   - a member of the wrong type is converted if possible, otherwise omitted, and so
//     are unknown members;
//   - text without an object is the conclusion, with RawConfidence and the
//     error invalid_json; so is an object without a conclusion, with the error
//     no_conclusion, unless it has an error of its own or asks for sub-tasks.
func Parse(text string) Envelope {
	raw := Envelope{Conclusion: strings.TrimSpace(text), Confidence: RawConfidence, NextAction: Finalize, Error: ErrorInvalidJSON}
	read := repair.Read(text, repair.Options{Check: isObject, Repair: true, Markdown: true})
	if !read.Fine() {
		return raw
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(read.Text), &members) != nil {
		return raw
	}
	e := Envelope{
		Reasoning: asText(members["reasoning"]), Conclusion: asText(members["conclusion"]), Confidence: asConfidence(members["confidence"]),
		Files: asTexts(members["files"]), SubTasks: asSubTasks(members["sub_tasks"]), NeedsMoreInfo: asTruth(members["needs_more_info"]),
		NextAction: Action(strings.ToLower(strings.TrimSpace(asText(members["next_action"])))), Error: asText(members["error"]),
	}
	if !known(e.NextAction) {
		e.NextAction = Finalize
	}
	if strings.TrimSpace(e.Conclusion) == "" && e.Error == "" && !e.ShouldContinue() {
		raw.Error = ErrorNoConclusion
		return raw
	}
	return e
}

// Unusable reports why Parse finds no envelope in a text, only the text itself: [ErrorInvalidJSON]
// or [ErrorNoConclusion]; "" if it finds one.
func Unusable(text string) string {
	if e := Parse(text); e.Error == ErrorInvalidJSON || e.Error == ErrorNoConclusion && e.Confidence == RawConfidence {
		return e.Error
	}
	return ""
}

var errNoObject = errors.New("agent: not an object")

func isObject(document []byte) ([]schema.Issue, error) {
	if d := strings.TrimSpace(string(document)); !strings.HasPrefix(d, "{") {
		return []schema.Issue{{Keyword: "type", Reason: errNoObject.Error()}}, nil
	}
	return nil, nil
}

// asText returns a string, or the JSON text of another value; "" for null.
func asText(raw json.RawMessage) string {
	var s string
	if raw == nil || string(raw) == "null" || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// asTexts returns a list of strings; a single string is a list of one.
func asTexts(raw json.RawMessage) []string {
	list := []json.RawMessage{raw}
	if many := []json.RawMessage(nil); json.Unmarshal(raw, &many) == nil {
		list = many
	}
	var out []string
	for _, one := range list {
		if s := strings.TrimSpace(asText(one)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// asNumber returns a number that is written as a JSON number or as a string, with or
// without a percent sign.
func asNumber(raw json.RawMessage) (float64, bool) {
	var n float64
	if json.Unmarshal(raw, &n) == nil && string(raw) != "null" {
		return n, true
	}
	s, percent := strings.CutSuffix(strings.TrimSpace(asText(raw)), "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	if percent {
		n /= 100
	}
	return n, true
}

func asConfidence(raw json.RawMessage) float64 {
	n, ok := asNumber(raw)
	if !ok {
		return DefaultConfidence
	}
	return min(max(n, 0), 1)
}

// LastPriority is the lowest priority in [Schema], and that of a sub-task without one, unless
// others have a lower one.
const LastPriority = 9

// asSubTasks returns the sub-tasks of a list of objects or of query strings. Those without a
// priority come last.
func asSubTasks(raw json.RawMessage) []SubTask {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []SubTask
	var without []int // a priority
	last := LastPriority
	for _, one := range list {
		t, given := SubTask{}, false
		var members map[string]json.RawMessage
		if json.Unmarshal(one, &members) == nil {
			t.Query = asText(members["query"])
			var n float64
			if n, given = asNumber(members["priority"]); given {
				t.Priority = int(min(max(n, math.MinInt32), math.MaxInt32-1))
			}
		} else {
			t.Query = asText(one)
		}
		if t.Query = strings.TrimSpace(t.Query); t.Query == "" {
			continue
		}
		if out = append(out, t); !given {
			without = append(without, len(out)-1)
		} else if t.Priority >= last {
			last = t.Priority + 1
		}
	}
	for _, i := range without {
		out[i].Priority = last
	}
	return out
}

func asTruth(raw json.RawMessage) bool {
	switch strings.ToLower(asText(raw)) {
	case "true", "yes", "1":
		return true
	}
	return false
}
