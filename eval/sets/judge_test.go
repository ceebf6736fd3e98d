package sets

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
)

func ptr(s string) *string { return &s }

func TestFields(t *testing.T) {
	f := fields{map[string]*string{"company": ptr("BOOK TA .K SDN BHD"), "total": ptr("9.00"), "date": nil}, "Book Ta.K Sdn\nBhd  RM 9.00, 12 eggs"}
	for _, c := range []struct {
		document string
		want     Score
	}{
		// Punctuation, case and white space are ignored; numbers are compared as written.
		{`{"company": "book ta k, sdn bhd", "total": 9.00, "date": null}`, Score{Fields: 3, Right: 3, Wanted: 2, Given: 2, Hits: 2, Checked: 2, Standing: 2}},
		{`{"company": "book ta k, sdn bhd", "total": "9", "date": ""}`, Score{Fields: 3, Right: 2, Wanted: 2, Given: 2, Hits: 1, Checked: 2, Standing: 2}},
		// A value where none is wanted is wrong and reduces precision.
		{`{"company": "Acme", "total": "RM 9.00", "date": "12 eggs"}`, Score{Fields: 3, Wanted: 2, Given: 3, Checked: 3, Standing: 2}},
		// Missing, null and blank values are empty.
		{`{"company": null, "total": " - "}`, Score{Fields: 3, Right: 1, Wanted: 2}},
		// Without an object with one of the keys, nothing is right, not even fields that should be
		// empty.
		{``, Score{Fields: 3, Wanted: 2}},
		{`[]`, Score{Fields: 3, Wanted: 2}},
		{`null`, Score{Fields: 3, Wanted: 2}},
		{`{}`, Score{Fields: 3, Wanted: 2}},
		{`{"Company": "book ta k sdn bhd"}`, Score{Fields: 3, Wanted: 2}},
	} {
		if got := f.judge(Answer{Document: json.RawMessage(c.document)}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.document, got, c.want)
		}
	}
	if got := normal("Ørsted & Co.\t№ 5½"); got != "ørstedco5" {
		t.Errorf("%q", got)
	}
}

func TestNumber(t *testing.T) {
	n := number{"answer", big.NewRat(1200, 1)}
	for document, want := range map[string][2]int{ // given, right
		`{"answer": 1200}`: {1, 1}, `{"answer": 1200.0}`: {1, 1}, `{"answer": "$1,200"}`: {1, 1}, `{"answer": 1.2e3}`: {1, 1}, `{"answer": "1200 km"}`: {1, 1},
		`{"answer": 12000}`: {1, 0}, `{"answer": -1200}`: {1, 0}, `{"answer": "12 of 1200"}`: {1, 0}, `{"answer": 1e999999999}`: {1, 0}, `{"answer": null}`: {0, 0}, `{}`: {0, 0}, ``: {0, 0},
	} {
		s := n.judge(Answer{Document: json.RawMessage(document)})
		if s.Fields != 1 || s.Wanted != 1 || s.Given != want[0] || s.Right != want[1] || s.Hits != want[1] {
			t.Errorf("%s: %+v", document, s)
		}
	}
}

func TestFacts(t *testing.T) {
	f := facts{want: []fact{{Keys: []string{"name", "full_name"}, Values: []string{"Bob"}}, {Keys: []string{"age"}, Values: []string{"5", "five"}}, {Keys: []string{"likes"}, Items: []string{"milk", "eggs"}}}}
	for document, want := range map[string][2]int{ // given, right
		`{"name": "bob", "age": 5, "likes": ["2 eggs", "milk"]}`:                     {3, 3},
		`{"person": {"Full Name": "Bob", "AGE": "five"}, "likes": "eggs and milk"}`:  {3, 3},
		`{"name": "Bob", "nameAge": 5, "likes": []}`:                                 {2, 1},
		`{"type": "object", "properties": {"name": {"type": "string"}}}`:             {1, 0},
		`{"people": [{"name": "Ann"}, {"name": "Bob"}], "age": 5.0, "likes": null}`:  {2, 2},
		`{"likes": [{"item": "milk"}, {"item": "eggs"}], "name": "Rob", "age": "6"}`: {3, 1},
		`"Bob"`: {0, 0},
		``:      {0, 0},
	} {
		if s := f.judge(Answer{Document: json.RawMessage(document)}); s.Fields != 3 || s.Given != want[0] || s.Right != want[1] || s.Hits != want[1] {
			t.Errorf("%s: %+v", document, s)
		}
	}
}

func TestFlatFacts(t *testing.T) {
	f := facts{[]fact{{Keys: []string{"name"}, Values: []string{"Bob"}}}, true}
	for document, want := range map[string]int{
		`{"name": "Bob"}`: 1, `{"name": ["Bob"]}`: 1, `{"type": "object", "properties": {"name": "Bob"}}`: 0, `[{"name": "Bob"}]`: 0,
	} {
		if s := f.judge(Answer{Document: json.RawMessage(document)}); s.Right != want {
			t.Errorf("%s: %+v", document, s)
		}
	}
}

// TestCalls covers cases that the leaderboard's check decides in its own way.
func TestCalls(t *testing.T) {
	const tools = `{"properties": {
		"city": {"type": "string"}, "days": {"type": "integer"}, "ratio": {"type": "float"}, "tags": {"type": "array", "items": {"type": "string"}},
		"points": {"type": "array", "items": {"type": "float"}}, "box": {"type": "dict"}, "rows": {"type": "array", "items": {"type": "dict"}}, "sure": {"type": "boolean"}}, "required": ["city"]}`
	var s signature
	if err := json.Unmarshal([]byte(tools), &s); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		possible  string // besides city
		arguments string
		want      bool
	}{
		{`"days": [3, ""]`, `{"city": "New-York, N.Y."}`, true},            // spelling; optional
		{`"days": [3]`, `{"city": "new york ny"}`, false},                  // not optional
		{`"days": [3]`, `{"days": 3}`, false},                              // required
		{`"days": [3]`, `{"city": "NewYorkNY", "days": 4}`, false},         // value
		{`"days": [3]`, `{"city": "NewYorkNY", "days": "3"}`, false},       // type
		{`"days": [3]`, `{"city": "NewYorkNY", "days": 3.0}`, false},       // a float is no int
		{`"days": [3]`, `{"city": "NewYorkNY", "days": 3, "x": 1}`, false}, // unexpected
		{`"days": ["n"]`, `{"city": "NewYorkNY", "days": "n"}`, true},      // a variable, compared verbatim
		{`"days": ["n"]`, `{"city": "NewYorkNY", "days": "N"}`, false},     // without normalisation
		{`"ratio": [2]`, `{"city": "NewYorkNY", "ratio": 2}`, true},        // int for float
		{`"ratio": [0.50]`, `{"city": "NewYorkNY", "ratio": 5e-1}`, true},  // by value
		{`"sure": [true]`, `{"city": "NewYorkNY", "sure": true}`, true},    //
		{`"sure": [true]`, `{"city": "NewYorkNY", "sure": 1}`, false},      // Python's True == 1, but types differ
		{`"tags": [["a b", "c"]]`, `{"city": "NewYorkNY", "tags": ["A-B", "c"]}`, true},
		{`"tags": [["a b", "c"]]`, `{"city": "NewYorkNY", "tags": ["c", "a b"]}`, false}, // order
		{`"tags": [["a b", "c"]]`, `{"city": "NewYorkNY", "tags": "a b"}`, false},
		{`"tags": [["a"], ["b"]]`, `{"city": "NewYorkNY", "tags": [1]}`, false},
		{`"tags": [["a"], ""]`, `{"city": "NewYorkNY", "tags": []}`, true},           // "" counts as an empty list
		{`"points": [[1, 2]]`, `{"city": "NewYorkNY", "points": [1, 2]}`, true},      // ints as variables
		{`"points": [[1.0, 2.0]]`, `{"city": "NewYorkNY", "points": [1, 2]}`, false}, // no conversion within lists
		{`"points": [[1.0, 2.0]]`, `{"city": "NewYorkNY", "points": [1.0, 2.00]}`, true},
		{`"box": [{"w": [5, 6], "u": ["cm", ""]}]`, `{"city": "NewYorkNY", "box": {"w": 6}}`, true},
		{`"box": [{"w": [5], "u": ["cm"]}]`, `{"city": "NewYorkNY", "box": {"w": 5}}`, false},
		{`"box": [{"w": [5]}]`, `{"city": "NewYorkNY", "box": {"w": 5, "h": 1}}`, false},
		{`"box": [{"u": ["C M"]}]`, `{"city": "NewYorkNY", "box": {"u": "cm"}}`, true},
		{`"rows": [[{"a": [1]}, {"a": [2]}]]`, `{"city": "NewYorkNY", "rows": [{"a": 1}, {"a": 2}]}`, true},
		{`"rows": [[{"a": [1]}, {"a": [2]}]]`, `{"city": "NewYorkNY", "rows": [{"a": 2}, {"a": 1}]}`, false},
		{`"rows": [[{"a": [1]}]]`, `{"city": "NewYorkNY", "rows": [{"a": 1}, {"a": 2}]}`, false},
		{`"days": [3]`, `{"city": "NewYorkNY", "days": 3`, false},
		{`"days": [3]`, `{"city": "NewYorkNY", "days": 3e999999999}`, false},
		{`"days": [3]`, `[]`, false},
	} {
		var values map[string][]any
		if err := eachLine([]byte(`{"city": ["New York, NY"], `+c.possible+`}`), func(v map[string][]any) error { values = v; return nil }); err != nil {
			t.Fatal(err)
		}
		check := calls{map[string]signature{"f": s}, []wantedCall{{"f", values}}}
		if got := check.judge(Answer{Calls: []Call{{"f", c.arguments}}}); (got.Right == 1) != c.want || got.Fields != 1 || got.Given != 1 {
			t.Errorf("%s for %s: %+v", c.arguments, c.possible, got)
		}
		if got := check.judge(Answer{Calls: []Call{{"g", c.arguments}}}); got.Right != 0 {
			t.Errorf("%s of another function is right", c.arguments)
		}
	}
}

func TestParallelCalls(t *testing.T) {
	one := func(n int) wantedCall {
		return wantedCall{"f", map[string][]any{"n": {json.Number(fmt.Sprint(n))}}}
	}
	var s signature
	if err := json.Unmarshal([]byte(`{"properties": {"n": {"type": "integer"}}, "required": ["n"]}`), &s); err != nil {
		t.Fatal(err)
	}
	check := calls{map[string]signature{"f": s}, []wantedCall{one(1), one(2)}}
	for _, c := range []struct {
		calls []Call
		want  int
	}{
		{[]Call{{"f", `{"n": 2}`}, {"f", `{"n": 1}`}}, 1},
		{[]Call{{"f", `{"n": 1}`}, {"f", `{"n": 1}`}}, 0},
		{[]Call{{"f", `{"n": 1}`}}, 0},
		{[]Call{{"f", `{"n": 1}`}, {"f", `{"n": 2}`}, {"f", `{"n": 2}`}}, 0},
		{nil, 0},
	} {
		if got := check.judge(Answer{Calls: c.calls}); got.Right != c.want || got.Given != min(1, len(c.calls)) {
			t.Errorf("%v: %+v", c.calls, got)
		}
	}
}

// TestJudgeIrrelevance checks that calling nothing is right if no function fits the question.
func TestJudgeIrrelevance(t *testing.T) {
	question := []byte(`{"id": "i_0", "question": [[{"role": "user", "content": "q"}]], "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"x": {"type": "integer", "description": "x"}}, "required": ["x"]}}]}
{"id": "i_1", "question": [[{"role": "user", "content": "q"}]], "function": []}`)
	cases, err := buildBFCL(nil, [][]byte{question})
	if err != nil || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	if s := cases[0].judge.judge(Answer{}); s.Right != 1 || s.Fields != 1 {
		t.Errorf("no call: %+v", s)
	}
	if s := cases[0].judge.judge(Answer{Calls: []Call{{Name: "f", Arguments: `{"x": 1}`}}}); s.Right != 0 || s.Fields != 1 {
		t.Errorf("a call: %+v", s)
	}
	if _, err := buildBFCL(nil, [][]byte{question, nil}); err == nil {
		t.Error("a question without an answer is taken where there are answers")
	}
}

// TestCauses checks that each way in which calls can be wrong has its cause, and right calls have none.
func TestCauses(t *testing.T) {
	var s signature
	if err := json.Unmarshal([]byte(`{"properties": {"n": {"type": "integer"}, "m": {"type": "integer"}, "o": {"type": "integer"}}, "required": ["n"]}`), &s); err != nil {
		t.Fatal(err)
	}
	one := func(n int) wantedCall {
		return wantedCall{"f", map[string][]any{"n": {json.Number(fmt.Sprint(n))}, "m": {json.Number("5")}}}
	}
	tools := map[string]signature{"f": s, "g": s}
	for _, c := range []struct {
		want  []wantedCall
		calls []Call
		stray []Call
		cause Cause
	}{
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": 1, "m": 5}`}}, nil, ""},
		{[]wantedCall{one(1)}, []Call{{"g", `{"n": 1, "m": 5}`}}, nil, WrongFunction},
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": 2, "m": 5}`}}, nil, WrongValue},
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": "1", "m": 5}`}}, nil, WrongValue},
		{[]wantedCall{one(1)}, []Call{{"f", `{"m": 5}`}}, nil, MissingArgument},
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": 1}`}}, nil, MissingArgument},
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": 1, "m": 5, "x": 1}`}}, nil, ExtraArgument},
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": 1, "m": 5, "o": 1}`}}, nil, ExtraArgument},
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": 1, "m": 5}`}, {"f", `{"n": 1, "m": 5}`}}, nil, WrongCount},
		{[]wantedCall{one(1), one(2)}, []Call{{"f", `{"n": 1, "m": 5}`}}, nil, WrongCount},
		{[]wantedCall{one(1)}, nil, nil, NoCall},
		{[]wantedCall{one(1)}, nil, []Call{{"h", `{}`}}, NoCall},
		{[]wantedCall{one(1)}, nil, []Call{{"f", `{}`}}, InText},
		{[]wantedCall{one(1)}, []Call{{"f", `{"n": 1, "m": `}}, nil, Unparsed},
		{[]wantedCall{one(1)}, []Call{{"f", `[]`}}, nil, Unparsed},
		{nil, []Call{{"f", `{"n": 1}`}}, nil, UnwantedCall},
		{nil, []Call{{"f", `{`}}, nil, UnwantedCall},
		{nil, nil, []Call{{"f", `{}`}}, ""},
		// Of several calls, the one that comes closest tells the cause.
		{[]wantedCall{one(1), one(2)}, []Call{{"g", `{"n": 1, "m": 5}`}, {"f", `{"n": 2, "m": 5}`}}, nil, WrongFunction},
		{[]wantedCall{one(1), one(2)}, []Call{{"f", `{"n": 3, "m": 5}`}, {"f", `{"n": 2, "m": 5}`}}, nil, WrongValue},
		{[]wantedCall{one(1), one(2)}, []Call{{"g", `{}`}, {"f", `{"n": 1, "m": 4}`}}, nil, WrongValue},
		{[]wantedCall{one(1), one(1)}, []Call{{"f", `{"n": 1, "m": 5}`}, {"f", `{"n": 1}`}}, nil, MissingArgument},
	} {
		got := calls{tools, c.want}.judge(Answer{Calls: c.calls, Stray: c.stray})
		if got.Cause != c.cause || (got.Right == 1) != (c.cause == "") {
			t.Errorf("%v %v for %v: %+v, want %q", c.calls, c.stray, c.want, got, c.cause)
		}
	}
}
