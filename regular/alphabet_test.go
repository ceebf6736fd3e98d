package regular

import "testing"

// A time of day has thousands of states. The structure shows, without visiting
// them, that no text which requires a letter T is a time of day.
func TestClash(t *testing.T) {
	s := NewStore(Limits{Steps: 100})
	date, ok := s.Format("date-time")
	if !ok {
		t.Fatal("no format date-time")
	}
	wanted, err := s.Pattern(`\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Compile(s.And(date, wanted))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"2012-02-03T04:05:06Z": true, "2012-02-03t04:05:06Z": false, "2012-02-03T04:05:06z": false,
	} {
		if got := accepts(t, m, text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	if m.Step(follow(m, "2012-02-03"), 't') != Dead {
		t.Error("a small t leads on")
	}
	if err := m.Err(); err != nil {
		t.Error(err)
	}
}

func follow(m *Machine, text string) State {
	q := m.Start()
	for _, r := range text {
		q = m.Step(q, r)
	}
	return q
}
