package number

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// reads reports whether the automaton accepts a text.
func reads(a *Automaton, text string) bool {
	q := a.Start()
	for i := range len(text) {
		q = a.Step(q, text[i])
	}
	return a.Accepting(q)
}

func mustCompile(t testing.TB, s Spec, sp Spelling) *Automaton {
	t.Helper()
	a, err := Compile(s, sp, Limits{})
	if err != nil {
		t.Fatalf("%s: %v", describe(s, sp), err)
	}
	return a
}

func TestTexts(t *testing.T) {
	const large = "98249283749234923498293171823948729348710298301928331"
	for _, c := range []struct {
		spec              Spec
		sp                Spelling
		accepted, refused string
	}{
		{Spec{}, AnySpelling, "0 -0 1e400 1E-00400 -0.00e+9 123456789012345678901234567890.5", "01 1. .5 +1 1e -"},
		{Spec{}, Canonical, "0 -1 1.50 -0.5 1e5 1.5E-07 9.99e307 12345678901234567 0.00001 12e3 -12.57e10 0.5e-3 12345678901234567e289",
			"-0 -0.0 0e1 0.05e3 0.0e1 12e290 123456789012345678e1 1e308 1e-308 123456789012345678 1e0001"},
		{Spec{Integer: true}, AnySpelling, "1.0 10e-1 1.5e1 -0.0 100e-2 1e400 1.50e1 0e-9", "1.5 15e-1 1e-1 1.05e1"},
		{Spec{Integer: true}, Canonical, "0 -1 12345678901234567", "-0 1.0 1e2 123456789012345678"},
		{Spec{Integer: true, Max: pointerTo("18446744073709551615")}, AnySpelling,
			"18446744073709551600 1844674407370955161.5e1 18446744073709551615.000", "18446744073709551616 1844674407370955162e1"},
		{Spec{Max: pointerTo("972783798187987123879878123.18878137"), MaxExclusive: true}, AnySpelling,
			"972783798187987123879878123.188781369999", "972783798187987123879878123.188781371 972783798187987123879878123.18878137000"},
		{Spec{Min: pointerTo("1e400")}, AnySpelling, "1e400 1" + strings.Repeat("0", 400) + " 0.01e402", "9.99e399 0 -1e500"},
		{Spec{MultipleOf: decimals("0.0001")}, AnySpelling, "0.0075 75e-4 0.00750 7.5E-3", "0.00751 75e-5"},
		{Spec{MultipleOf: decimals("1e-10")}, AnySpelling, "1e-10 0.0000000001 5 12391239123", "1e-11 0.00000000011"},
		{Spec{MultipleOf: decimals("0.123456789")}, AnySpelling, "0.123456789 0.246913578 123456789e300", "1e308 0.1234567891"},
		{Spec{Integer: true, MultipleOf: decimals("0.123456789")}, AnySpelling, "123456789", "1e308 0.123456789"},
		{Spec{MultipleOf: decimals("0.5"), Integer: true}, AnySpelling, "1e308 1.0", "0.5"},
		{Spec{HasIn: true, In: decimals(large)}, AnySpelling, large + " " + large + ".0 9.8249283749234923498293171823948729348710298301928331e52",
			large + "1 98249283749234923498293171823948729348710298301928330"},
		{Spec{HasIn: true, In: decimals("0.1", "1e-1", "10e1", "-0.0", "5e-324")}, Canonical,
			"0.1 1e-1 10e1 100 0 5e-324", "0.10 1e2 -0.0 -0 1"},
		{Spec{HasIn: true, Integer: true, In: decimals("1.0", "2.5", "1e2")}, Canonical, "1 100", "1.0 1e2 2.5 10"},
		{Spec{Min: pointerTo("1.50"), Max: pointerTo("1.5")}, Canonical, "1.5 1.50", "1.500 15e-1 1"},
		{Spec{Min: pointerTo("0")}, Canonical, "12.57e10 0.5e-3", "-12e1"},
		{Spec{Max: pointerTo("1e9")}, Canonical, "-12.57e10 1.5e3", "12.57e1 0.5e1 15e2"},
		{Spec{Min: pointerTo("0"), Max: pointerTo("1")}, Canonical, "0 1 0.5 1.00 5e-5 1e0 0.00000000000000001", "-0 2 1.01 -0.5 1e1 0.000000000000000000"},
		{Spec{Min: pointerTo("1"), Max: pointerTo("65535"), Integer: true}, Canonical, "1 65535 9999", "0 65536 66000 100000 -1"},
		{Spec{MultipleOf: decimals("0.01"), Min: pointerTo("0")}, Canonical, "0 0.5 19.99 19.990 123456789012345.67", "0.001 1e2 -1 19.991"},
		{Spec{MultipleOf: decimals("7")}, Canonical, "0 7 -14 700", "8 7.0 7e2"},
		{Spec{Integer: true, Min: pointerTo("1e20"), Max: pointerTo("1e21")}, Canonical,
			"100000000000000000000 123456789012345670000 1000000000000000000000", "123456789012345678000 99999999999999999999 1e20"},
		{Spec{Integer: true, MultipleOf: decimals(large), Min: pointerTo("1")}, Canonical, large, large + "1 0 1 -" + large},
		{Spec{Min: pointerTo("1.5e308")}, Canonical, "1.5e308 1.7976931348623157e308", "1.7976931348623158e308 1e308 1.8e308"},
		{Spec{Min: pointerTo("0"), MinExclusive: true, Max: pointerTo("1e-300")}, Canonical, "1e-300 9.9e-301 1e-307", "0 1 1.1e-300 0.1"},
	} {
		a := mustCompile(t, c.spec, c.sp)
		for _, text := range strings.Fields(c.accepted) {
			if !reads(a, text) {
				t.Errorf("%s: %s is refused", describe(c.spec, c.sp), text)
			}
		}
		for _, text := range strings.Fields(c.refused) {
			if reads(a, text) {
				t.Errorf("%s: %s is accepted", describe(c.spec, c.sp), text)
			}
		}
		if text := string(a.Shortest(a.Start())); !reads(a, text) {
			t.Errorf("%s: Shortest is %q", describe(c.spec, c.sp), text)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, s := range []Spec{
		{Min: pointerTo("0"), Max: pointerTo("1"), MinExclusive: true, MaxExclusive: true, Integer: true},
		{Min: pointerTo("2"), Max: pointerTo("1")},
		{Min: pointerTo("1"), Max: pointerTo("1"), MaxExclusive: true},
		{Min: pointerTo("8"), Max: pointerTo("13"), MultipleOf: decimals("7")},
		{Integer: true, NotInteger: true},
		{MultipleOf: decimals("6"), NotMultipleOf: decimals("3")},
		{MultipleOf: decimals("0.5"), NotMultipleOf: decimals("0.25")},
		{HasIn: true},
		{HasIn: true, In: decimals("1", "2.5"), Integer: true, NotIn: decimals("1.0")},
		{HasIn: true, In: decimals("7"), Max: pointerTo("6.9")},
		{Integer: true, Min: pointerTo("1"), Max: pointerTo("3"), NotIn: decimals("1", "2.0", "30e-1")},
		{Integer: true, Min: pointerTo("2"), Max: pointerTo("4"), NotMultipleOf: decimals("2", "3")},
		{Min: pointerTo("1e-3"), Max: pointerTo("0.0075"), MinExclusive: true, MaxExclusive: true, MultipleOf: decimals("0.0075")},
	} {
		for _, sp := range []Spelling{AnySpelling, Canonical} {
			_, err := Compile(s, sp, Limits{})
			if empty := (*EmptyError)(nil); !errors.As(err, &empty) {
				t.Errorf("%s: error %v, want an EmptyError", describe(s, sp), err)
			}
		}
	}
	// Values that float64 cannot hold, or cannot tell from an excluded bound.
	for _, s := range []Spec{
		{Min: pointerTo("1e400")},
		{Max: pointerTo("1e-400"), Min: pointerTo("0"), MinExclusive: true},
		{Min: pointerTo("0.1"), Max: pointerTo("0.100000000000000004"), MinExclusive: true},
	} {
		mustCompile(t, s, AnySpelling)
		_, err := Compile(s, Canonical, Limits{})
		if empty := (*EmptyError)(nil); !errors.As(err, &empty) {
			t.Errorf("%s: error %v, want an EmptyError", describe(s, Canonical), err)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		spec   Spec
		limits Limits
	}{
		{Spec{MultipleOf: decimals("1e-700", "1e700")}, Limits{}},
		{Spec{MultipleOf: decimals("0.01"), Max: pointerTo("1e5000")}, Limits{}},
		{Spec{MultipleOf: decimals("0.01"), Max: pointerTo("1e50")}, Limits{Digits: 40}},
		{Spec{NotIn: decimals("1", "2", "3")}, Limits{Values: 2}},
		{Spec{HasIn: true, In: decimals("1234567", "2")}, Limits{States: 5}},
		{Spec{NotMultipleOf: decimals("2", "3", "5", "7", "11", "13", "17", "19", "23", "29", "31", "37", "41")}, Limits{}},
	} {
		_, err := Compile(c.spec, Canonical, c.limits)
		if limit := (*LimitError)(nil); !errors.As(err, &limit) {
			t.Errorf("%s: error %v, want a LimitError", describe(c.spec, Canonical), err)
		}
	}
	if _, err := Compile(Spec{MultipleOf: decimals("0")}, Canonical, Limits{}); err == nil {
		t.Error("multiples of 0 are compiled")
	}

	// A text that would need endlessly many states leads to an error, and
	// existing states remain valid.
	a, err := Compile(Spec{Integer: true}, AnySpelling, Limits{States: 50})
	if err != nil {
		t.Fatal(err)
	}
	if reads(a, "1."+strings.Repeat("0", 100)) || a.Err() == nil || a.States() > 50 {
		t.Errorf("error %v with %d states", a.Err(), a.States())
	}
	if !reads(a, "1.00") {
		t.Error("a known text is refused")
	}
	var limit *LimitError
	if !errors.As(a.Err(), &limit) || limit.Max != 50 {
		t.Errorf("error %v", a.Err())
	}
}

// TestStates checks the sizes that make masks cheap: the number of states that
// texts of up to 40 bytes reach.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		sp   Spelling
		most int
	}{
		{Spec{}, AnySpelling, 12},
		{Spec{}, Canonical, 140},
		{Spec{Integer: true}, Canonical, 20},
		{Spec{Min: pointerTo("0")}, AnySpelling, 15},
		{Spec{Min: pointerTo("0"), MinExclusive: true}, AnySpelling, 12},
		{Spec{Min: pointerTo("0")}, Canonical, 120},
		{Spec{Min: pointerTo("0"), Max: pointerTo("100")}, Canonical, 120},
		{Spec{Min: pointerTo("0"), Max: pointerTo("100"), Integer: true}, Canonical, 8},
		{Spec{Min: pointerTo("-90"), Max: pointerTo("90")}, Canonical, 160},
		{Spec{Min: pointerTo("1"), Max: pointerTo("65535"), Integer: true}, Canonical, 12},
		{Spec{Min: pointerTo("0"), Max: pointerTo("1e9")}, Canonical, 130},
		{Spec{MultipleOf: decimals("0.01"), Min: pointerTo("0")}, Canonical, 100},
		{Spec{MultipleOf: decimals("5"), Min: pointerTo("0")}, Canonical, 40},
		{Spec{MultipleOf: decimals("7"), Max: pointerTo("1000000"), Min: pointerTo("0")}, Canonical, 70},
		{Spec{NotIn: decimals("0")}, AnySpelling, 12},
		{Spec{Plain: true}, AnySpelling, 5},
		{Spec{Plain: true, Min: pointerTo("1"), Max: pointerTo("65535")}, AnySpelling, 24},
		{Spec{Plain: true, MultipleOf: decimals("7")}, AnySpelling, 16},
		{Spec{NotPlain: true}, AnySpelling, 12},
	} {
		a := mustCompile(t, c.spec, c.sp)
		if n := explore(a, 40); n > c.most {
			t.Errorf("%s: %d states, want at most %d", describe(c.spec, c.sp), n, c.most)
		}
	}
}

// TestLongLists compares the time of long lists and long numbers with that of
// sorting them; a quadratic algorithm would run for minutes.
func TestLongLists(t *testing.T) {
	list := make([]Decimal, 100000)
	for i := range list {
		list[i] = FromInt(int64(i + 1))
	}
	s := Spec{Integer: true, Min: pointerTo("1"), Max: pointerTo("100000"), NotIn: list}
	if _, err := Compile(s, AnySpelling, Limits{}); err == nil {
		t.Error("all are excluded, and yet there is one")
	}
	s.Max = pointerTo("100001")
	a := mustCompile(t, s, Canonical)
	if text := string(a.Shortest(a.Start())); text != "100001" || a.Count(5) != 1 {
		t.Errorf("Shortest is %s, Count %d", text, a.Count(5))
	}
	long := strings.Repeat("7", 50000)
	a = mustCompile(t, Spec{HasIn: true, In: decimals(long)}, AnySpelling)
	if text := string(a.Shortest(a.Start())); text != long {
		t.Errorf("Shortest has %d bytes", len(text))
	}
}

// TestFloats checks that bounds hold for canonical texts read as float64, above
// all near the bounds.
func TestFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	accepted := 0
	for range 3000 {
		low := math.Round(r.NormFloat64()*1000) / 1000 * math.Pow(10, float64(r.IntN(20)-10))
		high := low
		for range 1 + r.IntN(40) {
			high = math.Nextafter(high, math.Inf(1))
		}
		if r.IntN(2) == 0 {
			high += math.Abs(low) * r.Float64()
		}
		s := Spec{
			Min: pointerTo(strconv.FormatFloat(low, 'g', -1, 64)), MinExclusive: r.IntN(2) == 0,
			Max: pointerTo(strconv.FormatFloat(high, 'g', -1, 64)), MaxExclusive: r.IntN(2) == 0,
			Integer: r.IntN(5) == 0,
		}
		a, err := Compile(s, Canonical, Limits{})
		if err != nil {
			continue
		}
		for range 20 {
			text := randomWalk(r, a)
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("%s: %s: %v", describe(s, Canonical), text, err)
			}
			if f < low || f > high || f == low && s.MinExclusive || f == high && s.MaxExclusive {
				t.Fatalf("%s: %s is read as %v", describe(s, Canonical), text, f)
			}
			if !a.Contains(mustParse(text)) {
				t.Fatalf("%s: %s is accepted", describe(s, Canonical), text)
			}
			accepted++
		}
	}
	if accepted < 20000 {
		t.Errorf("only %d texts were tried", accepted)
	}
}

// randomWalk returns the text of a random number that the automaton accepts.
func randomWalk(r *rand.Rand, a *Automaton) string {
	var text []byte
	q := a.Start()
	for len(text) < 60 {
		if a.Accepting(q) && r.IntN(12) == 0 {
			return string(text)
		}
		b := byteOf[r.IntN(symbols)]
		if next := a.Step(q, b); next != Dead {
			text, q = append(text, b), next
		} else if r.IntN(100) == 0 {
			break
		}
	}
	return string(append(text, a.Shortest(q)...))
}

// TestKeys checks that different automata have different keys.
func TestKeys(t *testing.T) {
	keys := map[string]string{}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := randomSpec(r)
		var list [2]string
		for _, sp := range []Spelling{AnySpelling, Canonical} {
			a, err := Compile(s, sp, Limits{})
			if err != nil {
				continue
			}
			again := mustCompile(t, s, sp)
			if a.Key() != again.Key() {
				t.Fatalf("%s: keys %s and %s", describe(s, sp), a.Key(), again.Key())
			}
			// A fingerprint of the language: its texts over a small alphabet.
			var b strings.Builder
			var walk func(q State, text string)
			walk = func(q State, text string) {
				if a.Accepting(q) {
					b.WriteString(text + " ")
				}
				for i := range "-.e0125" {
					if next := a.Step(q, "-.e0125"[i]); next != Dead && len(text) < 4 {
						walk(next, text+"-.e0125"[i:i+1])
					}
				}
			}
			walk(a.Start(), "")
			list[sp] = fmt.Sprint(sp, b.String())
			if known, ok := keys[a.Key()]; ok && known != list[sp] {
				t.Fatalf("%s: another automaton has the key %s", describe(s, sp), a.Key())
			}
			keys[a.Key()] = list[sp]
		}
	}
	if len(keys) < 500 {
		t.Errorf("only %d keys", len(keys))
	}
}

// TestConcurrent steps a new automaton from several goroutines.
func TestConcurrent(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := randomSpec(r)
		s.HasIn, s.In = false, nil
		a, err := Compile(s, AnySpelling, Limits{})
		if err != nil {
			continue
		}
		alone := mustCompile(t, s, AnySpelling)
		var wg sync.WaitGroup
		for g := range uint64(4) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewPCG(seed, g))
				for range 100 {
					text := randomWalk(r, a)
					if !reads(a, text) || !reads(alone, text) {
						t.Errorf("%s: %q is refused", describe(s, AnySpelling), text)
					}
					a.Count(3)
					a.Key()
				}
			}()
		}
		wg.Wait()
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	a := mustCompile(t, Spec{Min: pointerTo("0"), Max: pointerTo("100")}, Canonical)
	reads(a, "12.5")
	if n := testing.AllocsPerRun(100, func() { reads(a, "12.5") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDeadStays(t *testing.T) {
	a := mustCompile(t, Spec{}, Canonical)
	if a.Step(Dead, '1') != Dead || a.Accepting(Dead) || a.Shortest(Dead) != nil {
		t.Error("Dead comes to life")
	}
	for b := range 256 {
		if strings.IndexByte(byteOf, byte(b)) < 0 && a.Step(a.Start(), byte(b)) != Dead {
			t.Errorf("byte %#x begins a number", b)
		}
	}
}

// FuzzAutomaton compares automata of all kinds with arithmetic on whole texts.
func FuzzAutomaton(f *testing.F) {
	f.Add(uint64(1), "-1.5e3", false)
	f.Add(uint64(2), "100", true)
	f.Fuzz(func(t *testing.T, seed uint64, text string, canonical bool) {
		if is, _ := isNumber(text); len(text) > 60 || !is {
			return
		}
		if d, err := Parse(text); err != nil || d.pos > 2000 || d.pos < -2000 ||
			d.IsZero() && strings.ContainsAny(text, "eE") {
			return // too much for the oracle
		}
		s := randomSpec(rand.New(rand.NewPCG(seed, 1)))
		sp := AnySpelling
		if canonical {
			sp = Canonical
		}
		a, err := Compile(s, sp, Limits{})
		accepted := err == nil && reads(a, text)
		want := newOracle(s, AnySpelling).accepts(text)
		if accepted != want && (sp == AnySpelling || accepted) {
			t.Fatalf("%s: %s: accepted = %v", describe(s, sp), text, accepted)
		}
		if err == nil && a.Contains(mustParse(text)) != want {
			t.Fatalf("%s: %s: Contains = %v", describe(s, sp), text, !want)
		}
	})
}
