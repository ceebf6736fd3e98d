package lessons

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// many generates lessons of every task.
func many(t *testing.T, n int, seed uint64, unseen Unseen) []Lesson {
	t.Helper()
	g := New(seed, unseen)
	var out []Lesson
	for _, task := range Tasks() {
		for range n {
			l, ok := g.Of(task)
			if !ok || l.Task != task {
				t.Fatalf("no lesson of the task %s", task)
			}
			out = append(out, l)
		}
	}
	return out
}

// text returns the visible text of a lesson.
func (l *Lesson) text() string {
	s := l.Prompt
	for _, m := range l.Chat {
		s += m.Content
	}
	return s
}

func TestSameSeedSameLessons(t *testing.T) {
	a, b := many(t, 20, 7, Unseen{}), many(t, 20, 7, Unseen{})
	if !reflect.DeepEqual(a, b) {
		t.Error("two generators of one seed differ")
	}
	if reflect.DeepEqual(a, many(t, 20, 8, Unseen{})) {
		t.Error("two generators of different seeds do not differ")
	}
	g, h := New(3, Unseen{}), New(3, Unseen{})
	for range 200 {
		if !reflect.DeepEqual(g.Next(), h.Next()) {
			t.Fatal("Next of two generators of one seed differs")
		}
	}
	if _, ok := g.Of("juggling"); ok || g.Only("people", "juggling") {
		t.Error("there is a lesson in juggling")
	}
	if !g.Only("orders", "logs") {
		t.Fatal("no lessons about orders and logs")
	}
	count := map[string]int{}
	for range 200 {
		count[g.Next().Task]++
	}
	if len(count) != 2 || count["orders"] < 100 || count["logs"] < 5 {
		t.Errorf("asked for orders and logs only, got %v", count)
	}
}

// requires reports whether all objects of a schema require all their
// properties.
func requires(schema []byte) bool {
	var s struct {
		Properties map[string]json.RawMessage
		Required   []string
		Items      json.RawMessage
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Required) != len(s.Properties) {
		return false
	}
	for _, p := range s.Properties {
		if !requires(p) {
			return false
		}
	}
	return s.Items == nil || requires(s.Items)
}

// TestAnswers checks properties of all lessons: the documents are JSON without
// whitespace, Keys are correct, and the text contains the requested
// information.
func TestAnswers(t *testing.T) {
	for _, unseen := range []Unseen{{}, {Words: true}, {true, true, true}} {
		for _, l := range many(t, 150, 1, unseen) {
			for _, doc := range []string{l.Schema, l.Answer} {
				if !json.Valid([]byte(doc)) {
					t.Fatalf("%s: no JSON: %s", l.Task, doc)
				}
			}
			if (l.Chat == nil) == (l.Prompt == "") {
				t.Fatalf("%s: both or neither of a prompt and messages", l.Task)
			}
			if l.Prompt != "" && !requires([]byte(l.Schema)) {
				t.Errorf("%s: nobody can know what a prompt asks for: %s", l.Task, l.Schema)
			}
			if strings.ContainsAny(l.text(), "{}") {
				t.Errorf("%s: a slot was left open: %s", l.Task, l.text())
			}
			for _, a := range append(l.More, Answer{l.Answer, l.Keys}) {
				if !json.Valid([]byte(a.Answer)) {
					t.Fatalf("%s: no JSON: %s", l.Task, a.Answer)
				}
				last := 0
				for _, k := range a.Keys {
					if k[0] < last || k[1] <= k[0] || a.Answer[k[0]] != '"' || a.Answer[k[1]-2:k[1]] != `":` {
						t.Fatalf("%s: %q is no key of %s", l.Task, a.Answer[k[0]:k[1]], a.Answer)
					}
					last = k[1]
				}
				if len(a.Keys) == 0 {
					t.Errorf("%s: an answer without keys: %s", l.Task, a.Answer)
				}
			}
		}
	}
}

// TestCopied checks that the answers of lessons about people occur in their
// text.
func TestCopied(t *testing.T) {
	g := New(5, Unseen{})
	strings_, missing := 0, 0
	for range 400 {
		l, _ := g.Of("contacts")
		var values map[string]any
		if err := json.Unmarshal([]byte(l.Answer), &values); err != nil {
			t.Fatal(err)
		}
		if len(values) == 1 { // perhaps nested
			for _, v := range values {
				if inner, ok := v.(map[string]any); ok {
					values = inner
				}
			}
		}
		for key, v := range values {
			switch v := v.(type) {
			case string:
				strings_++
				if !strings.Contains(l.text(), v) {
					t.Errorf("%s: %q is not in %q", key, v, l.text())
				}
			case nil:
				missing++
			}
		}
	}
	if strings_ < 1000 || missing < 20 {
		t.Errorf("only %d strings and %d missing values", strings_, missing)
	}
}

// TestHeldOut checks that held-out entries do not occur in training, and occur
// when requested.
func TestHeldOut(t *testing.T) {
	training := many(t, 400, 1, Unseen{})
	exam := many(t, 400, 2, Unseen{true, true, true})
	var seen, examined strings.Builder
	for _, l := range training {
		seen.WriteString(l.text() + "\n" + l.Schema + "\n")
	}
	for _, l := range exam {
		examined.WriteString(l.text() + "\n" + l.Schema + "\n")
	}
	check := func(kind string, all, held []string, least float64) {
		found := 0
		for _, h := range held {
			if strings.Contains(seen.String(), h) {
				t.Errorf("%s: %q is held out and was met in training", kind, h)
			}
			if strings.Contains(examined.String(), h) {
				found++
			}
		}
		if share := float64(len(held)) / float64(len(all)); share < 0.05 || share > 0.4 {
			t.Errorf("%s: %.0f%% are held out", kind, 100*share)
		}
		if float64(found) < least*float64(len(held)) {
			t.Errorf("%s: only %d of %d that are held out were met in the exam", kind, found, len(held))
		}
	}

	// Names that are too long to be composed by accident.
	_, names := Words()
	var long, heldNames []string
	for _, list := range [][]string{women, men, surnames} {
		for _, n := range list {
			if len(n) >= 9 {
				long = append(long, n)
			}
		}
	}
	for _, n := range long {
		unique := true
		for _, other := range names {
			unique = unique && (other == n || !strings.Contains(other, n))
		}
		if unique && heldOut(n) {
			heldNames = append(heldNames, n)
		}
	}
	check("names", long, heldNames, 0.9)

	// The longest part of each sentence without slots or alternatives that occurs
	// in no sentence of the training set.
	longest := func(s string) string {
		best := ""
		for part := range strings.SplitSeq(alternatives.ReplaceAllString(s, "{}"), "{") {
			if _, after, ok := strings.Cut(part, "}"); ok {
				part = after
			}
			if len(part) > len(best) {
				best = part
			}
		}
		return best
	}
	all := sentences()
	var held []string
	for _, s := range all {
		part := longest(s)
		if !heldOut(s) || len(part) < 12 {
			continue
		}
		shared := false
		for _, o := range all {
			shared = shared || !heldOut(o) && slices.ContainsFunc(spellings(o), func(o string) bool { return strings.Contains(o, part) })
		}
		if !shared {
			held = append(held, part)
		}
	}
	check("sentences", all, held, 0.9)

	var keys, heldKeys []string
	for _, d := range allDomains {
		for _, s := range d.slots {
			for _, k := range s.keys {
				keys = append(keys, k)
				if heldOut(k) && strings.Contains(k, "_") {
					heldKeys = append(heldKeys, quote(k))
				}
			}
		}
	}
	check("keys", keys, heldKeys, 0.9)
}

func TestStyles(t *testing.T) {
	for spelling, want := range map[int]string{
		snake: "billing_zip_code", camel: "billingZipCode", kebab: "billing-zip-code",
		spaced: "Billing Zip Code", pascal: "BillingZipCode", upper: "BILLING_ZIP_CODE",
	} {
		if got := (style{spelling, "billing"}).key("zip_code"); got != want {
			t.Errorf("style %d: %s, want %s", spelling, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, s := range []string{`a "b" \c`, "line\nline", "\x01é漢🙂"} {
		var got string
		if err := json.Unmarshal([]byte(quote(s)), &got); err != nil || got != s {
			t.Errorf("%q became %q, %v", s, got, err)
		}
	}
}

// TestClasses checks lessons with a common schema: each is answered with values
// of its enumerations.
func TestClasses(t *testing.T) {
	g := New(9, Unseen{})
	others := 0
	for range 100 {
		l, _ := g.Of("classes")
		var schema struct {
			Properties map[string]struct{ Enum []string }
		}
		if err := json.Unmarshal([]byte(l.Schema), &schema); err != nil {
			t.Fatal(err)
		}
		for _, o := range append(l.Others, l) {
			var values map[string]string
			if err := json.Unmarshal([]byte(o.Answer), &values); err != nil {
				t.Fatal(err)
			}
			if o.Schema != l.Schema || len(values) != len(schema.Properties) || len(o.Chat) == 0 {
				t.Errorf("%s among lessons of %s", o.Answer, l.Schema)
			}
			for k, v := range values {
				if !slices.Contains(schema.Properties[k].Enum, v) {
					t.Errorf("%s is none of %v", v, schema.Properties[k].Enum)
				}
			}
		}
		others += len(l.Others)
	}
	if others < 300 {
		t.Errorf("%d further lessons with 100", others)
	}
}

func TestAlternatives(t *testing.T) {
	const s = `<{level}> {who} <is <odd|was|>{job} <a|b>.`
	got := spellings(s)
	want := []string{`<{level}> {who} <is odd{job} a.`, `<{level}> {who} <is was{job} b.`, `<{level}> {who} <is {job} a.`}
	if !slices.Equal(got, want) {
		t.Errorf("%q is spelt %q", s, got)
	}
	g := New(1, Unseen{}).g
	seen := map[string]bool{}
	for range 200 {
		seen[g.settle(s)] = true
	}
	if len(seen) != 6 || !seen[want[1]] {
		t.Errorf("%q is settled as %v", s, seen)
	}
	if s := "{name} <{email}> | <{level}>"; g.settle(s) != s || len(spellings(s)) != 1 {
		t.Errorf("%q has alternatives", s)
	}
}

// TestSlotsOfAlternatives checks that a sentence has the same slots for all its
// alternatives, each once.
func TestSlotsOfAlternatives(t *testing.T) {
	for _, s := range sentences() {
		var first []string
		for i, spelt := range spellings(s) {
			slots := slotsOf(spelt)
			slices.Sort(slots)
			if i == 0 {
				first = slots
			}
			if !slices.Equal(slots, first) {
				t.Errorf("%q has slots that depend on the alternative", s)
			}
		}
		first = slices.DeleteFunc(first, func(s string) bool { return s == "who" })
		if len(slices.Compact(slices.Clone(first))) != len(first) && strings.Contains(s, "<") {
			t.Errorf("%q names a slot twice", s)
		}
	}
}

// TestCompose checks that words of held-out names occur in training as parts of
// names, and that exams use only listed names.
func TestCompose(t *testing.T) {
	s := people.slots[slices.IndexFunc(people.slots, func(s slot) bool { return s.name == "salary" })]
	if !slices.ContainsFunc(s.keys, heldOut) {
		t.Fatal("no name of a salary is held out")
	}
	g := New(3, Unseen{}).g
	parts := map[string]bool{}
	for range 3000 {
		name := people.call(&g, s)
		if heldOut(name) {
			t.Fatalf("%s is held out", name)
		}
		for _, k := range s.keys {
			parts[k] = parts[k] || name != k && strings.Contains(name, k)
		}
	}
	for _, k := range s.keys {
		if !parts[k] && !vague[k] {
			t.Errorf("%s is not met within a name", k)
		}
	}
	for _, unseen := range []Unseen{{Words: true}, {true, true, true}} {
		g := New(4, unseen).g
		for range 300 {
			if name := people.call(&g, s); !slices.Contains(s.keys, name) || heldOut(name) != unseen.Keys {
				t.Errorf("%+v asks for %s", unseen, name)
			}
		}
	}
}

// TestLists checks that all lists are used and that all names exist.
func TestLists(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	name := regexp.MustCompile(`(embedded|embeddedWords|slotOf|factOf)\("([^"]+)"[,)]`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			list := []string{m[2]}
			switch m[1] {
			case "slotOf":
				list = []string{m[2] + ".keys", m[2] + ".desc"}
			case "factOf":
				list = []string{"facts." + m[2] + ".sentences", "facts." + m[2] + ".open", "facts." + m[2] + ".closed"}
			}
			for _, name := range list {
				used[name] = true
				if len(lines(sections[name])) == 0 {
					t.Errorf("%s: the list %s is empty or missing", f, name)
				}
			}
		}
	}
	for name := range sections {
		if name != "" && !used[name] {
			t.Errorf("the list %s is not used", name)
		}
	}
}
