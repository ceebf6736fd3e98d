package signals

import (
	"regexp"
	"slices"
	"strconv"
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

// What is said in more ways than can be listed, in prose of single blanks between words. Of calls for a human, those with a no
// shortly before them don't count.
var (
	people = `(?:human|person|expert|specialist|professional|supervisor|manager|operator|representative|doctor|physician|lawyer|attorney|accountant|colleague|support team)s?`
	review = `(?:review|judge?ment|oversight|attention|intervention|approval|decision|check|verification|input|involvement|confirmation|supervision|assistance|help)`

	callsForHuman = []*regexp.Regexp{
		regexp.MustCompile(` escalat(?:e|ed|es|ing)(?: \S+){0,4} to (?:(?:an?|the|your|our|some) )?(?:\S+ ){0,2}` + people + ` `),
		regexp.MustCompile(` (?:needs?|requires?|warrants?|deserves?|recommend|suggest|request|requesting|awaits?|awaiting|pending|for|seek) (?:(?:an?|some|further|additional|your) )?(?:human|manual|expert|professional) ` + review + ` `),
		regexp.MustCompile(` (?:human|manual|expert) ` + review + ` (?:is|would be) (?:\S+ )?(?:needed|required|recommended|necessary|advised|advisable|warranted) `),
		regexp.MustCompile(` (?:an?|some) (?:\S+ )?` + people + ` (?:should|must|(?:has|needs|ought|will have|would have) to) (?:\S+ )?(?:review|check|decide|verify|confirm|look|handle|approve|judge|assess|answer|take) `),
		regexp.MustCompile(` (?:ask|consult|contact|involve|(?:speak|talk) (?:to|with)|(?:hand|pass) (?:this|it) (?:on |over )?to|refer (?:this|it) to) (?:an?|your) (?:\S+ )?` + people + ` `),
	}

	shareSaid = `(\d+(?:\.\d+)?|\.\d+)\s*(%|percent|per cent|(?:/|out of)\s*\d+)?`
	levelSaid = `very low|low|medium|moderate|high|very high`
	// label is where a name stands at the beginning of a line, a sentence or brackets, so that it isn't consumer confidence.
	label = `(?:^|[\n.!?;,(|>*_-]\s*|\b(?:my|overall|answer|final|estimated|task|question)\s+)[*_]*`

	confidenceSaid = []*regexp.Regexp{
		regexp.MustCompile(label + `confidence(?:\s+(?:level|score|rating))?(?:\s+in\s+(?:this|my|the)\s+\w+)?[*_]*\s*[:=][*_]*\s*[*_]*(?:about |around |~\s*)?(?:` + shareSaid + `|(` + levelSaid + `)\b)`),
		regexp.MustCompile(`\bmy (?:overall )?(?:confidence|certainty)(?:\s+(?:level|score))?(?:\s+(?:in|about|of)\s+\w+(?:\s+\w+)?)? is (?:about |around |roughly |only |quite |rather )?(?:` + shareSaid + `|(` + levelSaid + `)\b)`),
		regexp.MustCompile(`\bwith (?:an? )?(?:confidence|certainty) (?:level )?of (?:about |around )?(?:` + shareSaid + `)()`),
		regexp.MustCompile(`(?:\bi am |\bi'm |^|[\n.!?;,(]\s*|\bwith )(?:about |around |only |roughly |approximately |at least |maybe )?(\d+(?:\.\d+)?)\s*(%|percent|per cent)() (?:sure|certain|confident|confidence|certainty)\b`),
	}
	interval = regexp.MustCompile(`^\s*(?:intervals?|limits?|bounds?|levels?)\b`) // of statistics

	difficultySaid = []*regexp.Regexp{
		regexp.MustCompile(label + `difficulty(?:\s+(?:level|rating))?[*_]*\s*[:=]()[*_]*\s*[*_]*(very |extremely )?(` + hardness + `)\b`),
		regexp.MustCompile(`\b(?:this|that|it|here)(?: is|'s)( not|n't)? an? (very |extremely |really |quite |fairly |rather |moderately )?(` + hardness + `) (?:question|problem|task|request|one|case)\b`),
		regexp.MustCompile(`\b(?:this|that|the|your) (?:question|problem|task|request) is( not|n't)? (very |extremely |really |quite |fairly |rather |moderately )?(` + hardness + `)\b`),
	}
	escalationSaid = regexp.MustCompile(label + `escalation[*_]*\s*[:=][*_]*\s*[*_]*(none|verify|stronger[ _-]model|human)\b`)
)

// hardness are the words for a difficulty.
const hardness = `trivial|easy|simple|straightforward|moderate|medium|hard|difficult|tough|tricky|challenging|complex|expert`

// difficult returns the difficulty that words express.
func difficult(not bool, degree, word string) Difficulty {
	d := Hard
	switch word {
	case "trivial":
		d = Trivial
	case "easy", "simple", "straightforward":
		d = Easy
	case "moderate", "medium":
		d = Moderate
	case "expert":
		d = Expert
	}
	switch degree = strings.TrimSpace(degree); {
	case not && (d == Trivial || d == Easy):
		return Hard
	case not:
		return Easy
	case d == Hard && (degree == "very" || degree == "extremely"):
		return Expert
	case d == Hard && degree == "moderately":
		return Moderate
	}
	return d
}

// stated returns the lowest confidence that a text states as a number or a level.
func stated(prose string) (lowest *float64) {
	for _, r := range confidenceSaid {
		for _, at := range r.FindAllStringSubmatchIndex(prose, -1) {
			group := func(i int) string {
				if at[2*i] < 0 {
					return ""
				}
				return prose[at[2*i]:at[2*i+1]]
			}
			if interval.MatchString(prose[at[1]:]) {
				continue
			}
			c, ok := levels[strings.ReplaceAll(group(3), " ", "_")]
			if number, err := strconv.ParseFloat(group(1), 64); err == nil {
				c, ok = shareOf(number, group(2))
			}
			if ok && (lowest == nil || c < *lowest) {
				lowest = &c
			}
		}
	}
	return lowest
}

// shareOf returns the share that a number with a unit is. A number above 1 without one may be of 5, 10 or 100.
func shareOf(n float64, unit string) (float64, bool) {
	switch _, of, found := strings.Cut(strings.ReplaceAll(unit, "out of", "/"), "/"); {
	case found:
		whole, err := strconv.ParseFloat(strings.TrimSpace(of), 64)
		return n / whole, err == nil && whole > 0 && n <= whole
	case unit != "" || n > 10:
		return n / 100, n <= 100
	}
	return n, n <= 1
}

// denied reports whether a no stands shortly before a place in prose of single blanks.
func denied(before string) bool {
	words := strings.Fields(before)
	for _, w := range words[max(0, len(words)-4):] {
		if saysNo[w] || w == "without" || strings.HasSuffix(w, "n't") {
			return true
		}
	}
	return false
}

// readPhrases derives signals from the words of a text. A stated confidence counts more than one that phrases express.
func readPhrases(text string) (s Signals, ok bool) {
	prose := strings.ToLower(strings.ReplaceAll(codeBlock.ReplaceAllString(text, " "), "\u2019", "'"))
	words := strings.Fields(notWord.ReplaceAllString(prose, " "))
	gravest := 0
	heard := func(confidence float64, escalation Escalation) {
		if s.Confidence == nil || confidence < *s.Confidence {
			s.Confidence = &confidence
		}
		if i := slices.Index(Escalations(), escalation); i > gravest {
			gravest, s.Escalation = i, escalation
		}
	}
	for _, p := range Phrases {
		if stands(words, p) {
			heard(p.Confidence, p.Escalation)
		}
	}
	spaced := " " + strings.Join(words, " ") + " "
	for _, r := range callsForHuman {
		for _, at := range r.FindAllStringIndex(spaced, -1) {
			if s.Escalation != Human && !denied(spaced[:at[0]]) {
				heard(askHuman, Human)
				break
			}
		}
	}
	if m := escalationSaid.FindStringSubmatch(prose); m != nil {
		if e := Escalation(strings.NewReplacer(" ", "_", "-", "_").Replace(m[1])); s.Escalation == "" || slices.Index(Escalations(), e) > gravest {
			s.Escalation = e
		}
	}
	for _, r := range difficultySaid {
		if m := r.FindStringSubmatch(prose); m != nil && s.Difficulty == "" {
			s.Difficulty = difficult(m[1] != "", m[2], m[3])
		}
	}
	if c := stated(prose); c != nil {
		s.Confidence = c
	}
	return s, s.Confidence != nil || s.Difficulty != "" || s.Escalation != ""
}

// askHuman is the confidence that a call for a human expresses.
const askHuman = 0.3

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
