package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// An answer is an answer of the test set: an envelope, and the same content as a good
// assistant would write it in Markdown.
type answer struct {
	ID       string          `json:"id"`
	Raw      json.RawMessage `json:"envelope"` // compact, its members in the schema's order
	Prose    string          `json:"prose"`
	envelope Envelope
}

func answers(t testing.TB) []answer {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []answer
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a answer
		strictly(t, lines.Bytes(), &a)
		strictly(t, a.Raw, &a.envelope)
		all = append(all, a)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func strictly(t testing.TB, src []byte, to any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s: %v", src, err)
	}
}

// compact writes an envelope as a constrained model does.
func compact(t testing.TB, e *Envelope) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestAnswers(t *testing.T) {
	all := answers(t)
	if len(all) != 30 {
		t.Errorf("%d answers", len(all))
	}
	src := Schema(SchemaOptions{})
	seen := map[string]bool{}
	actions := map[Action]int{}
	for _, a := range all {
		if a.ID == "" || seen[a.ID] {
			t.Errorf("the name %q is empty or there twice", a.ID)
		}
		seen[a.ID] = true
		actions[a.envelope.NextAction]++
		text := compact(t, &a.envelope)
		if text != string(a.Raw) {
			t.Errorf("%s: written as\n%s\nnot as\n%s", a.ID, a.Raw, text)
		}
		if !fits(t, src, text) {
			t.Errorf("%s does not fit the schema", a.ID)
		}
		if got := Parse(text); !reflect.DeepEqual(got, a.envelope) {
			t.Errorf("%s is read back as\n%+v\nnot as\n%+v", a.ID, got, a.envelope)
		}
		if reason := a.envelope.Invalid(); reason != a.envelope.Error {
			t.Errorf("%s is not valid: %s", a.ID, reason)
		}
		sameContent(t, &a)
	}
	for _, one := range []Action{Continue, Finalize, AskUser} {
		if actions[one] < 2 {
			t.Errorf("only %d answers have the next action %s", actions[one], one)
		}
	}
}

// detail matches text that can't be paraphrased: numbers and identifiers.
var detail = regexp.MustCompile("[A-Za-z_.]*[0-9][0-9.,:%]*[0-9%]|[0-9]|[A-Za-z]+[_./][A-Za-z_./0-9-]*[A-Za-z]|[a-z]+[A-Z][A-Za-z]+|[A-Z][a-z]+[A-Z][A-Za-z]*")

// sameContent checks mechanically that prose and envelope have the same content: each
// contains the details of the other.
func sameContent(t *testing.T, a *answer) {
	t.Helper()
	e := &a.envelope
	texts := append([]string{e.Reasoning, e.Conclusion, e.Error, fmt.Sprintf("%.0f%%", 100*e.Confidence)}, e.Files...)
	for _, s := range e.SubTasks {
		texts = append(texts, s.Query)
		if !strings.Contains(a.Prose, s.Query) {
			t.Errorf("%s: the prose lacks the sub-task %q", a.ID, s.Query)
		}
	}
	all := strings.Join(texts, "\n")
	for _, d := range detail.FindAllString(all, -1) {
		if !strings.Contains(a.Prose, d) {
			t.Errorf("%s: the prose lacks %q", a.ID, d)
		}
	}
	// Numbers of list items and priorities are not details.
	prose := regexp.MustCompile(`(?m)^(\d+\. )|\(priority \d\)`).ReplaceAllString(a.Prose, "")
	for _, d := range detail.FindAllString(prose, -1) {
		if !strings.Contains(all, d) {
			t.Errorf("%s: the envelope lacks %q", a.ID, d)
		}
	}
}

// BenchmarkSaving counts the tokens that the envelope costs and saves compared with
// prose, with a real vocabulary. The time is that of counting.
func BenchmarkSaving(b *testing.B) {
	v, err := vocab.Load(shared.File(b, "vocab", "llama3.gguf"))
	if err != nil {
		b.Fatal(err)
	}
	compiled, err := schema.Compile(Schema(SchemaOptions{}), schema.Options{})
	if err != nil {
		b.Fatal(err)
	}
	g := compiled.Grammar(v)
	all := answers(b)
	count := func(text string) int { return len(v.Tokenize(nil, text, false)) }
	var asJSON, written, rendered tally
	for b.Loop() {
		asJSON, written, rendered = nil, nil, nil
		for _, a := range all {
			asJSON = append(asJSON, count(string(a.Raw)))
			written = append(written, count(a.Prose))
			rendered = append(rendered, count(a.envelope.Prose()))
		}
	}
	var steps, taken tally
	for _, a := range all {
		sampled, forced := follow(b, g.NewMatcher(), v, a.Raw)
		steps, taken = append(steps, sampled), append(taken, sampled+forced)
	}
	b.Logf("%d answers: envelopes %d tokens (under the constraint %d, of which %d are forced), prose as written %d, as rendered %d",
		len(all), asJSON.sum(), taken.sum(), taken.sum()-steps.sum(), written.sum(), rendered.sum())
	for _, c := range []struct {
		what, against   string
		envelope, prose tally
	}{
		{"tokens", "written", asJSON, written}, {"tokens", "rendered", asJSON, rendered},
		{"steps", "written", steps, written}, {"steps", "rendered", steps, rendered},
	} {
		each := c.envelope.saved(c.prose)
		total := saved(c.envelope.sum(), c.prose.sum())
		b.Logf("%s saved against prose as %s: %.1f%% in all; by answer: median %.1f%%, from %.1f%% to %.1f%%",
			c.what, c.against, total, each[len(each)/2], each[0], each[len(each)-1])
		b.ReportMetric(total, "%-"+c.what+"-saved-"+c.against)
	}
}

// A tally holds a token count for each answer.
type tally []int

func (t tally) sum() (n int) {
	for _, c := range t {
		n += c
	}
	return n
}

// saved returns the saving of each answer in percent, in ascending order.
func (t tally) saved(against tally) (percent []float64) {
	for i := range t {
		percent = append(percent, saved(t[i], against[i]))
	}
	slices.Sort(percent)
	return percent
}

func saved(n, against int) float64 { return 100 * float64(against-n) / float64(against) }

// follow feeds a document to a matcher like the engine: forced tokens are appended
// without sampling; otherwise the next token of the document is sampled.
func follow(t testing.TB, m *decoder.Matcher, v *vocab.Vocab, document []byte) (sampled, forced int) {
	t.Helper()
	accept := func(token int32) {
		if err := m.Accept(token); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(document, m.Text()) {
			t.Fatalf("%q is forced, which is not the beginning of %s", m.Text(), document)
		}
	}
	for len(m.Text()) < len(document) {
		must := slices.Clone(m.ForcedTokens())
		for _, token := range must {
			accept(token)
		}
		forced += len(must)
		if rest := document[len(m.Text()):]; len(must) == 0 {
			accept(v.TokenizeText(nil, rest)[0])
			sampled++
		}
	}
	if !m.Accepting() {
		t.Fatalf("%s is not accepted", document)
	}
	return sampled, forced
}
