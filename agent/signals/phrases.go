package signals

import (
	"regexp"
	"strings"
)

// A Phrase is a phrase in prose that expresses a degree of confidence.
type Phrase struct {
	Text       string // in lower case, with plain apostrophes
	Confidence float64
	Escalation Escalation // the escalation that it asks for; "": none
}

// Phrases are the phrases that are searched for in a text, as whole words and outside
// of code blocks. Of several phrases found, the lowest confidence and the strongest
// escalation count. Phrases of 0.5 and more don't count after a negation, nor in the
// first three words of a text, where "Certainly!" is only polite.
var Phrases = []Phrase{
	{"i have no idea", 0.05, StrongerModel},
	{"i don't know", 0.1, StrongerModel},
	{"i do not know", 0.1, StrongerModel},
	{"i can't answer", 0.1, StrongerModel},
	{"i cannot answer", 0.1, StrongerModel},
	{"i can only guess", 0.2, Verify},
	{"this is a guess", 0.2, Verify},
	{"consult a doctor", 0.4, Human},
	{"consult a lawyer", 0.4, Human},
	{"seek professional advice", 0.4, Human},
	{"ask a human", 0.3, Human},
	{"i am not sure", 0.3, Verify},
	{"i'm not sure", 0.3, Verify},
	{"i am not certain", 0.3, Verify},
	{"i'm not certain", 0.3, Verify},
	{"i am unsure", 0.3, Verify},
	{"i'm unsure", 0.3, Verify},
	{"not entirely sure", 0.4, Verify},
	{"i may be wrong", 0.4, Verify},
	{"i might be wrong", 0.4, Verify},
	{"i could be wrong", 0.4, Verify},
	{"please verify", 0.5, Verify},
	{"please double-check", 0.5, Verify},
	{"i think", 0.6, ""},
	{"i believe", 0.6, ""},
	{"it seems", 0.6, ""},
	{"probably", 0.65, ""},
	{"most likely", 0.7, ""},
	{"i am fairly sure", 0.75, ""},
	{"i'm fairly sure", 0.75, ""},
	{"i am confident", 0.85, ""},
	{"i'm confident", 0.85, ""},
	{"i am sure", 0.9, ""},
	{"i'm sure", 0.9, ""},
	{"certainly", 0.9, ""},
	{"definitely", 0.9, ""},
	{"without a doubt", 0.95, ""},
	{"i am certain", 0.95, ""},
	{"i'm certain", 0.95, ""},
}

// politeWords is the number of words at the start of a text that may be mere
// politeness.
const politeWords = 3

var (
	codeBlock = regexp.MustCompile("(?ms)^[ \t]*(```|~~~).*?(^[ \t]*(```|~~~)[ \t]*$|\\z)")
	notWord   = regexp.MustCompile(`[^\p{L}\p{N}'-]+`)
	saysNo    = map[string]bool{"not": true, "no": true, "never": true, "hardly": true, "isn't": true, "don't": true, "can't": true, "cannot": true}
)

// readPhrases derives signals from the words of a text.
func readPhrases(text string) (s Signals, ok bool) {
	prose := strings.ToLower(strings.ReplaceAll(codeBlock.ReplaceAllString(text, " "), "\u2019", "'"))
	words := strings.Fields(notWord.ReplaceAllString(prose, " "))
	gravest := 0
	for _, p := range Phrases {
		if !stands(words, p) {
			continue
		}
		if s.Confidence == nil || p.Confidence < *s.Confidence {
			c := p.Confidence
			s.Confidence = &c
		}
		for i, e := range Escalations() {
			if e == p.Escalation && i > gravest {
				gravest, s.Escalation = i, e
			}
		}
	}
	return s, s.Confidence != nil
}

// stands reports whether a phrase occurs among words where it counts.
func stands(words []string, p Phrase) bool {
	want := strings.Fields(p.Text)
	for i := 0; i+len(want) <= len(words); i++ {
		match := true
		for k := range want {
			match = match && words[i+k] == want[k]
		}
		switch {
		case !match:
		case p.Confidence < 0.5:
			return true
		case i < politeWords && p.Escalation == "" && want[0] == words[0] && len(want) == 1: // "Certainly! …"
		case i > 0 && saysNo[words[i-1]]:
		default:
			return true
		}
	}
	return false
}
