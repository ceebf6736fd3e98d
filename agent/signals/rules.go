package signals

import (
	"fmt"
	"slices"
	"strings"
)

// A Recommendation is the recommended treatment of an answer.
type Recommendation string

// The recommendations, from the lightest.
const (
	ProceedConfident Recommendation = "proceed_confident"
	Proceed          Recommendation = "proceed"
	VerifyOutput     Recommendation = "verify_output"             // check the answer before using it
	RetryStronger    Recommendation = "retry_with_stronger_model" // the answer is probably wrong; a better model may be right
	System2          Recommendation = "escalate_to_system2"       // more deliberate reasoning: more steps, more samples, tools
	ToHuman          Recommendation = "escalate_to_human"
)

// Recommendations lists them, from the lightest.
func Recommendations() []Recommendation {
	return []Recommendation{ProceedConfident, Proceed, VerifyOutput, RetryStronger, System2, ToHuman}
}

// A Rule gives its recommendation if all its conditions hold. A zero field is no
// condition.
type Rule struct {
	Recommendation Recommendation
	Escalation     Escalation // the model asks for it
	Composite      float64    // the composite confidence is below this
	Agreement      float64    // agreement was measured and is below this
	Surprise       float64    // surprise was measured and is above this
	Difficulty     Difficulty // the model rates the task at least this hard
	NoEvidence     bool       // there are no signals, samples or surprise
}

// Rules is the decision table: the first rule that applies gives the recommendation, and
// the last rule always applies. Rules are ordered by the severity of their
// recommendation, the most severe first, so that a higher composite confidence never
// leads to a more severe recommendation.
//
// The thresholds are a choice: below 0.20, four of five answers are wrong, so a retry
// is not worthwhile; below 0.40, an answer is probably wrong even if the confidence is
// too low by 0.1; below 0.60, it is close to a coin toss; from 0.85 on, at most about
// one in seven is wrong.
var Rules = []Rule{
	{Recommendation: ToHuman, Escalation: Human},
	{Recommendation: ToHuman, Composite: 0.20},
	{Recommendation: System2, Agreement: 0.40, Composite: 0.60},
	{Recommendation: System2, Difficulty: Hard, Composite: 0.60},
	{Recommendation: RetryStronger, Escalation: StrongerModel},
	{Recommendation: RetryStronger, Composite: 0.40},
	{Recommendation: VerifyOutput, NoEvidence: true},
	{Recommendation: VerifyOutput, Escalation: Verify},
	{Recommendation: VerifyOutput, Composite: 0.60},
	{Recommendation: VerifyOutput, Agreement: 0.50},
	{Recommendation: VerifyOutput, Surprise: 0.70},
	{Recommendation: Proceed, Composite: 0.85},
	{Recommendation: ProceedConfident},
}

// facts are the inputs of the rules.
type facts struct {
	composite  float64
	agreement  *float64
	surprise   *float64
	difficulty Difficulty
	escalation Escalation
	evidence   bool
}

// decide returns the first rule that applies.
func (f *facts) decide() *Rule {
	return &Rules[slices.IndexFunc(Rules, f.applies)]
}

func (f *facts) applies(r Rule) bool {
	difficulty := func(d Difficulty) int { return slices.Index(Difficulties(), d) }
	return (r.Escalation == "" || f.escalation == r.Escalation) &&
		(r.Composite == 0 || f.composite < r.Composite) &&
		(r.Agreement == 0 || f.agreement != nil && *f.agreement < r.Agreement) &&
		(r.Surprise == 0 || f.surprise != nil && *f.surprise > r.Surprise) &&
		(r.Difficulty == "" || difficulty(f.difficulty) >= difficulty(r.Difficulty)) &&
		(!r.NoEvidence || !f.evidence)
}

// askedFor are the descriptions of escalations.
var askedFor = map[Escalation]string{Verify: "verification", StrongerModel: "a stronger model", Human: "a human"}

// conditions are the descriptions of the conditions of a rule.
type conditions []string

// add adds the description of a condition.
func (c *conditions) add(given bool, format string, args ...any) {
	if given {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

// Words describes the conditions of a rule.
func (r Rule) Words() string {
	var all conditions
	all.add(r.NoEvidence, "nothing was said or measured")
	all.add(r.Escalation != "", "the model asks for %s", askedFor[r.Escalation])
	all.add(r.Difficulty != "", "the model calls the task %s or harder", r.Difficulty)
	all.add(r.Agreement > 0, "agreement below %.2f", r.Agreement)
	all.add(r.Surprise > 0, "surprise above %.2f", r.Surprise)
	all.add(r.Composite > 0, "composite confidence below %.2f", r.Composite)
	if len(all) == 0 {
		return "otherwise"
	}
	return strings.Join(all, " and ")
}

// words describes why a rule applied, with the numbers.
func (f *facts) words(r *Rule) string {
	var all conditions
	all.add(r.NoEvidence, "nothing was said or measured about this answer")
	all.add(r.Escalation != "", "the model asks for %s", askedFor[r.Escalation])
	all.add(r.Difficulty != "", "the model calls the task %s", f.difficulty)
	if r.Agreement > 0 {
		all.add(true, "the samples' agreement of %.4g is below %.2f", *f.agreement, r.Agreement)
	}
	if r.Surprise > 0 {
		all.add(true, "the surprise of %.4g is above %.2f", *f.surprise, r.Surprise)
	}
	all.add(r.Composite > 0, "the composite confidence of %.4g is below %.2f", f.composite, r.Composite)
	if len(all) == 0 {
		return fmt.Sprintf("the composite confidence of %.4g is at least %.2f and nothing speaks against the answer", f.composite, surely())
	}
	return strings.Join(all, " and ")
}

// surely is the composite confidence from which the last rule applies.
func surely() (c float64) {
	for _, r := range Rules {
		if r.Words() == (Rule{Composite: r.Composite}).Words() {
			c = max(c, r.Composite)
		}
	}
	return c
}

// Table returns the rules as a table in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("| recommendation | where |\n| --- | --- |\n")
	for _, r := range Rules {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Recommendation, r.Words())
	}
	return b.String()
}
