package signals

import (
	"fmt"
	"strings"
)

// Info is the info string of the fenced block of signals.
const Info = "cortex-signals"

// A Mode is the length of the instruction.
type Mode string

// The modes.
const (
	Full    Mode = "full"    // explains each signal and gives an example
	Compact Mode = "compact" // gives an example and the allowed values
)

// A Form is the format in which the model writes signals.
type Form uint8

// The forms.
const (
	Fenced   Form = iota // in a fenced block after the answer
	LastLine             // as JSON in a last line after the answer, which a mask enforces
	Beside               // as a member of an object, next to the member with the answer
)

// Instruction returns the prompt text that requests signals.
func Instruction(mode Mode, form Form, tools []string) string {
	where := "end with a code block with the info string " + Info + ", written exactly like this"
	switch form {
	case LastLine:
		where = "write in a line of its own"
	case Beside:
		where = "which is the member answer of an object, write as its member signals"
	}
	example := `{"confidence": 0.7, "difficulty": "moderate", "escalation": "none"`
	if len(tools) > 0 {
		var each []string
		for _, name := range tools {
			each = append(each, fmt.Sprintf("%q: 0.7", name))
		}
		example += `, "tools": {` + strings.Join(each, ", ") + "}"
	}
	if form != Beside {
		example += `, "reason": "a few words"`
	}
	example += "}"
	if form == Fenced {
		example = "```" + Info + "\n" + example + "\n```"
	}
	var b strings.Builder
	if mode == Compact {
		fmt.Fprintf(&b, "After your answer, %s:\n%s\n", where, example)
		fmt.Fprintf(&b, "with your own numbers from 0 to 1; difficulty: %s; escalation: %s.", words(Difficulties()), words(Escalations()))
		return b.String()
	}
	fmt.Fprintf(&b, "After your answer, %s, with your own honest values:\n%s\n", where, example)
	b.WriteString("confidence: how probable it is that your answer is right, from 0 to 1. Of answers with 0.7, seven in ten should be right.\n")
	fmt.Fprintf(&b, "difficulty: how hard the task was for you: %s.\n", words(Difficulties()))
	fmt.Fprintf(&b, "escalation: what should be done about your answer: %s. Say human where a mistake would do harm and you can't rule it out.\n", words(Escalations()))
	if len(tools) > 0 {
		b.WriteString("tools: for each function, how probable it is that you were right to call it as you did, or not to call it.\n")
	}
	if form != Beside {
		b.WriteString("reason: why, in a few words; may be left out.\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func words[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
