package assess

import (
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
)

// A Holdback holds back the end of an answer that may turn out to be signals. It never releases text that
// the final reading would remove.
type Holdback struct {
	Text  strings.Builder // the answer so far, including signals
	Shown int             // bytes of Text that were released
	held  bool            // all further text is held, up to the end
	Exact bool            // a mask produced the answer: only a last line of signals is looked for
	Asked bool            // a document was requested, which is not itself an object of signals
	Inner *wrapped        // the answer is a member of an object; nil: it is the whole text
}

// Add appends text and returns what can be released now.
func (v *Holdback) Add(text string) string {
	v.Text.WriteString(text)
	if v.held {
		return ""
	}
	all := v.Text.String()
	if v.Inner != nil {
		v.Inner.Read(all)
		out := v.Inner.Shown(all)[v.Shown:]
		v.Shown += len(out)
		return out
	}
	pending := all[v.Shown:]
	end := len(strings.TrimRight(pending, " \t\r\n"))
	for at := 0; at >= 0 && at < len(pending); {
		if at > 0 || v.Shown == 0 {
			may, sure := v.begins(pending[at:], strings.TrimSpace(all[:v.Shown+at]) != "")
			if may || sure {
				v.held = sure
				end = min(end, len(strings.TrimRight(pending[:at], " \t\r\n")))
				break
			}
		}
		next := strings.IndexByte(pending[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	v.Shown += end
	return pending[:end]
}

// Flush returns text held only for what might follow it, once something else follows.
func (v *Holdback) Flush() string {
	if v.held || v.Inner != nil {
		return ""
	}
	out := v.Text.String()[v.Shown:]
	v.Shown += len(out)
	return out
}

// begins reports whether lines may be, or certainly are, the start of signals. after means that part of
// the answer precedes them.
func (v *Holdback) begins(lines string, after bool) (may, sure bool) {
	s := strings.TrimLeft(lines, " \t")
	if s == "" {
		return true, false
	}
	if v.Exact {
		const object = `{"confidence":`
		return strings.HasPrefix(object, s), strings.HasPrefix(s, object)
	}
	if s[0] == '{' {
		if v.Asked && !after {
			return false, false
		}
		return beginsObject(s)
	}
	if s[0] != '`' && s[0] != '~' {
		return false, false
	}
	rest := strings.TrimLeft(s, s[:1])
	if n := len(s) - len(rest); n < 3 {
		return rest == "", false
	}
	info, body, ended := strings.Cut(rest, "\n")
	info = strings.ToLower(strings.TrimSpace(info))
	switch {
	case !ended:
		return strings.HasPrefix(signals.Info, info) || strings.HasPrefix("json", info), false
	case info == signals.Info:
		return true, true
	case (info == "" || info == "json") && (after || !v.Asked):
		return beginsObject(strings.TrimLeft(body, " \t\r\n"))
	}
	return false, false
}

// beginsObject reports whether text may be, or is, the start of an object whose first member is
// confidence.
func beginsObject(text string) (may, sure bool) {
	const name = `"confidence"`
	if text == "" {
		return true, false
	}
	if text[0] != '{' {
		return false, false
	}
	s := strings.TrimLeft(text[1:], " \t\r\n")
	return strings.HasPrefix(name, s), strings.HasPrefix(s, name)
}
