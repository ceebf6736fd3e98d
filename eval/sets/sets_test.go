package sets

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/eval"
)

// folder writes files to a folder for a test.
func folder(t *testing.T, files map[string]string) Folders {
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return Folders{t.TempDir(), dir}
}

func answer(text string) Answer { return Answer{Document: json.RawMessage(text)} }

func TestOwnData(t *testing.T) {
	in := folder(t, map[string]string{
		"receipts.jsonl": `{"id": "a", "text": "ACME 9.00 1 Road 5/5/2020", "want": {"company": "ACME", "date": "5/5/2020", "address": "1 Road", "total": "9.00"}}` + "\n\n",
		"requests.jsonl": `{"id": "r", "intent": "Play", "text": "play jazz", "slots": ["genre", "artist"], "want": {"artist": null, "genre": "jazz"}}`,
	})
	list, err := receipts.Cases(in)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if got := list[0].Judge(answer(`{"company": "Acme", "date": "5/5/2020", "address": "Road 1", "total": "9.00"}`)); got != (Score{Valid: true, Fields: 4, Right: 3, Wanted: 4, Given: 4, Hits: 3, Checked: 4, Standing: 3}) || got.Exact() {
		t.Errorf("%+v", got)
	}
	if got := list[0].Judge(answer(`{"company": "Acme"}`)); got.Valid || got.Right != 1 {
		t.Errorf("%+v", got)
	}
	list, err = requests.Cases(in)
	if err != nil || len(list) != 1 || !strings.Contains(string(list[0].Schema), `{"genre":{"type":["string","null"]},"artist"`) {
		t.Fatalf("%s %v", list[0].Schema, err) // properties must be in the order of the slots
	}
	if got := list[0].Judge(answer(`{"genre": "jazz", "artist": null}`)); got != (Score{Valid: true, Fields: 2, Right: 2, Wanted: 1, Given: 1, Hits: 1, Checked: 1, Standing: 1}) || !got.Exact() {
		t.Errorf("%+v", got)
	}
	if got := list[0].Judge(answer(`{"type": "object", "properties": {"genre": "jazz"}}`)); got.Right != 0 || got.Valid {
		t.Errorf("a copy of the schema: %+v", got)
	}
	bare, err := requestsUnnamed.Cases(in)
	if err != nil || len(bare) != 1 || strings.Contains(bare[0].Messages[0].Content, "genre") || !bytes.Equal(bare[0].Schema, list[0].Schema) {
		t.Errorf("%v %v", bare, err)
	}
	for name, text := range map[string]string{
		"line 1: want has no total":   `{"id": "a", "text": "x", "want": {"company": "", "date": "", "address": ""}}`,
		"line 2: unexpected EOF":      "\n{",
		"line 1: more than one value": `{} {}`,
		"the files have no cases":     "",
	} {
		if _, err := receipts.Cases(folder(t, map[string]string{"receipts.jsonl": text})); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := `{"id": "r", "text": "x", "slots": ["a"], "want": {"a": null}}` + "\n"
	if _, err := requests.Cases(folder(t, map[string]string{"requests.jsonl": twice + twice})); err == nil || !strings.Contains(err.Error(), `"r"`) {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	if _, err := news.Cases(folder(t, nil)); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "mhjabreel/CharCnn_Keras") {
		t.Error(err)
	}
	if _, err := news.Cases(folder(t, map[string]string{"ag_news/test.csv": "1,a,b"})); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Error(err)
	}
	file := File{Name: "f", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("x")))}
	if text, err := folder(t, map[string]string{"f": "x"}).Read(file); err != nil || string(text) != "x" {
		t.Error(err)
	}
	if _, err := Named("recipes"); err == nil || !strings.Contains(err.Error(), "receipts") {
		t.Error(err)
	}
}

func TestBuilders(t *testing.T) {
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "\"%d\",\"Title %d\",\"One\\two\"\n", i%2*3+1, i)
	}
	list, err := buildNews(news, [][]byte{[]byte(rows.String())})
	if err != nil || len(list) != 60 || list[1].ID != "scitech-1" || !strings.Contains(list[1].Messages[1].Content, "One two") {
		t.Fatal(len(list), err)
	}
	if got := list[1].judge.judge(answer(`{"section": "sci/tech"}`)); got.Right != 1 || got.Checked != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := buildNews(news, [][]byte{[]byte(`"5","a","b"`)}); err == nil {
		t.Error("a fifth section")
	}
	csv := `mr,ref
"name[Sun], area[city centre], familyFriendly[no], eatType[pub]","A pub in the city."
"name[Sun], area[city centre], familyFriendly[no], eatType[pub]","The Sun, in the city-centre, is not for children."
"name[Sun], area[city centre], familyFriendly[no], eatType[pub]","Sun: city centre."
`
	list, err = buildRestaurants(restaurants, [][]byte{[]byte(csv)})
	if err != nil || len(list) != 1 || list[0].ID != "3" {
		t.Fatal(list, err) // the second sentence, which contains all facts
	}
	if got := list[0].judge.judge(answer(`{"name": "Sun", "area": "City centre", "familyFriendly": "no", "near": "X"}`)); got != (Score{Fields: 7, Right: 6, Wanted: 3, Given: 4, Hits: 3}) {
		t.Errorf("%+v", got)
	}
	if _, err := buildRestaurants(restaurants, [][]byte{[]byte("mr,ref\nname,x\n")}); err == nil {
		t.Error("a fact without a value")
	}
	list, err = buildSums(sums, [][]byte{[]byte(`{"question": "How many?", "answer": "6 * 200 = <<6*200=1200>>1200\n#### 1,200"}`)})
	if err != nil || list[0].judge.judge(answer(`{"reasoning": "6 times 200", "answer": 1200}`)).Right != 1 {
		t.Error(err)
	}
	if _, err := buildSums(sums, [][]byte{[]byte(`{"question": "How many?", "answer": "many"}`)}); err == nil {
		t.Error("an answer without a number")
	}

	question := `{"id": "q", "question": [[{"role": "user", "content": "Is it \"type\": \"dict\"?"}]], "function": [{"name": "a.b", "description": "d", "parameters": {"type": "dict", "properties": {"z": {"type": "float", "optional": true}, "type": {"type": "tuple", "items": {"type": "any"}}}, "required": ["z"]}}]}`
	list, err = buildBFCL(nil, [][]byte{[]byte(question), []byte(`{"id": "q", "ground_truth": [{"a.b": {"z": [1.50], "type": ["", ["x"]]}}]}`)})
	if err != nil || len(list) != 1 {
		t.Fatal(err)
	}
	if got, want := string(list[0].Tools[0].Parameters), `{"type":"object", "properties": {"z": {"type":"number"}, "type": {"type":"array", "items": {"type":"string"}}}, "required": ["z"]}`; got != want || list[0].Tools[0].Name != "a_b" {
		t.Errorf("%s\n%s", got, want)
	}
	if got := list[0].judge.judge(Answer{Calls: []Call{{"a_b", `{"z": 1.5}`}}}); got.Right != 1 {
		t.Errorf("%+v", got)
	}
	for _, truth := range []string{`[{"c": {}}]`, `[]`, `[{"a.b": {"z": 5}}]`} {
		if _, err := buildBFCL(nil, [][]byte{[]byte(question), []byte(`{"id": "q", "ground_truth": ` + truth + `}`)}); err == nil {
			t.Error(truth)
		}
	}
}

// TestFreeSets checks the number of questions in the sets for JSON mode, and that
// each has a right answer.
func TestFreeSets(t *testing.T) {
	for set, n := range map[*Set]int{jsonMode: 40, libraries: 7} {
		list, err := set.Cases(nil)
		if err != nil || len(list) != n {
			t.Fatal(len(list), err)
		}
		for _, c := range list {
			list := []map[string]any{} // several facts may have the same keys
			flat := map[string]any{}
			for _, f := range c.judge.(facts).want {
				value := any(f.Items)
				if len(f.Items) == 0 {
					value = f.Values[0]
				}
				list = append(list, map[string]any{f.Keys[0]: value})
				flat[f.Keys[0]] = value
			}
			document := any(flat)
			if !c.judge.(facts).flat {
				document = map[string]any{"all": list}
			}
			text, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Judge(Answer{Document: text}); !got.Valid || !got.Exact() {
				t.Errorf("%s: %s: %+v", c.ID, text, got)
			}
			if got := c.Judge(answer(`{"type": "object"}`)); !got.Valid || got.Right != 0 {
				t.Errorf("%s: %+v", c.ID, got)
			}
			if got := c.Judge(answer(`[]`)); got.Valid {
				t.Errorf("%s: a list is valid", c.ID)
			}
		}
	}
}

func TestValid(t *testing.T) {
	f, err := callsOf([]Tool{{Name: "f", Parameters: json.RawMessage(`{"type": "object", "required": ["n"]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		calls []Call
		want  bool
	}{
		{[]Call{{"f", `{"n": 1}`}}, true}, {[]Call{{"f", `{}`}}, false}, {[]Call{{"g", `{"n": 1}`}}, false}, {[]Call{{"f", `{"n": 1}`}, {"f", ``}}, false},
		{nil, false}, {[]Call{{"f", `{"n": 1} x`}}, false}, {[]Call{{"f", `{"n": 1e999999999}`}}, false},
	} {
		if got := f(Answer{Calls: c.calls}); got != c.want {
			t.Errorf("%v: %v", c.calls, got)
		}
	}
	if _, err := documentOf(json.RawMessage(`{"$ref": "file:///etc/passwd"}`)); err == nil {
		t.Error("a schema out of a file")
	}
}

func TestSpread(t *testing.T) {
	list := make([]Case, 10)
	for i := range list {
		list[i].ID = fmt.Sprint(i)
	}
	var got []string
	for _, c := range Spread(list, 4) {
		got = append(got, c.ID)
	}
	if !slices.Equal(got, []string{"0", "2", "5", "7"}) || len(Spread(list, 0)) != 10 || len(Spread(list, 11)) != 10 {
		t.Error(got)
	}
}

func TestOwn(t *testing.T) {
	in, err := eval.ReadCases(strings.NewReader(`{"id": "1", "task": "t", "system": "s", "prompt": "p", "schema": {"type": "object"}, "expected": {"a": 5, "b": [1, 2]}}
{"id": "2", "messages": [{"role": "user", "content": "x"}], "schema": {}, "expected": 5}`))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Own(in)
	if err != nil || len(list) != 2 || list[0].Set != "t" || list[1].Set != "-" || len(list[0].Messages) != 2 || list[1].Messages[0].Content != "x" {
		t.Fatalf("%+v %v", list, err)
	}
	if got := list[0].Judge(answer(`{"a": 5.0, "b": [1, 3], "c": 1}`)); got != (Score{Valid: true, Fields: 3, Right: 2, Wanted: 3, Given: 4, Hits: 2}) {
		t.Errorf("%+v", got)
	}
	in[0].Schema = nil
	if _, err := Own(in); err == nil {
		t.Error("a case without a schema")
	}
}

// TestShapes checks that each shape names the fields where it says so, in the schema's order, and that the values of examples stand in
// their texts.
func TestShapes(t *testing.T) {
	receipt := `{"id": "r", "text": "ACME 9.00", "want": {"company": "ACME", "date": "1/1/2020", "address": "", "total": "9.00"}}` + "\n"
	var asked strings.Builder
	for intent := range requestExamples {
		names, wants := []string{}, []string{}
		for _, f := range slotWords {
			if slices.ContainsFunc(requestExamples[intent], func(e example) bool { return e.values[f.name] != nil }) {
				names, wants = append(names, fmt.Sprintf("%q", f.name)), append(wants, fmt.Sprintf("%q: null", f.name))
			}
		}
		fmt.Fprintf(&asked, `{"id": "%s-1", "intent": %q, "text": "go", "slots": [%s], "want": {%s}}`+"\n", intent, intent, strings.Join(names, ", "), strings.Join(wants, ", "))
	}
	in := folder(t, map[string]string{"receipts.jsonl": receipt, "requests.jsonl": asked.String()})
	for _, s := range shaped() {
		list, err := s.Cases(in)
		if err != nil {
			t.Fatal(s.Name, err)
		}
		_, shape, _ := strings.Cut(s.Name, "-")
		for _, c := range list {
			text := ""
			for _, m := range c.Messages {
				text += m.Content + "\n"
			}
			names, err := namesOf(c.Schema)
			if err != nil {
				t.Fatal(err)
			}
			named := true
			for _, name := range names {
				named = named && strings.Contains(text, name)
			}
			if want := !slices.Contains([]string{"paraphrased", "german", "described"}, shape); named != want {
				t.Errorf("%s %s: %v is named: %v\n%s", s.Name, c.ID, names, named, text)
			}
			if described := strings.Contains(string(c.Schema), `"description":"`); described != (shape == "described") {
				t.Errorf("%s: %s", s.Name, c.Schema)
			}
			if shape == "examples" && len(c.Messages) != 6 {
				t.Errorf("%s %s: %d messages", s.Name, c.ID, len(c.Messages))
			}
		}
	}
	for _, list := range append(slices.Collect(maps.Values(requestExamples)), receiptTask.example) {
		for _, e := range list {
			for name, value := range e.values {
				if !strings.Contains(normal(e.text), normal(value.(string))) {
					t.Errorf("%s of %q: %v", name, e.text, value)
				}
			}
		}
	}
	unknown := `{"id": "X-1", "intent": "X", "text": "go", "slots": ["xyz"], "want": {"xyz": null}}`
	for _, s := range shaped() {
		if _, err := s.Cases(folder(t, map[string]string{"receipts.jsonl": receipt, "requests.jsonl": unknown})); strings.HasPrefix(s.Name, "requests") != (err != nil) {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}
