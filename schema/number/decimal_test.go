package number

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, key, canonical string }{
		{"0", "0", "0"},
		{"-0", "0", "0"},
		{"-0.00e5", "0", "0"},
		{"0e999999999999999999999", "0", "0"},
		{"1", "1e1", "1"},
		{"1.0", "1e1", "1"},
		{"10e-1", "1e1", "1"},
		{"1E+0", "1e1", "1"},
		{"-120.50", "-1205e3", "-120.5"},
		{"0.001", "1e-2", "0.001"},
		{"0.00000123", "123e-5", "0.00000123"},
		{"0.000000123", "123e-6", "1.23e-7"},
		{"100000000000000000000", "1e21", "100000000000000000000"},
		{"1000000000000000000000", "1e22", "1e21"},
		{"-12.5e300", "-125e302", "-1.25e301"},
		{"1e400", "1e401", "1e400"},
		{"98249283749234923498293171823948729348710298301928331",
			"98249283749234923498293171823948729348710298301928331e53",
			"9.8249283749234923498293171823948729348710298301928331e52"},
	} {
		d, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := d.Key(); got != c.key {
			t.Errorf("%s: Key = %s, want %s", c.text, got, c.key)
		}
		if got := d.String(); got != c.canonical {
			t.Errorf("%s: String = %s, want %s", c.text, got, c.canonical)
		}
		if again, err := Parse(d.String()); err != nil || again.Cmp(d) != 0 {
			t.Errorf("%s: String %s reads as %v, %v", c.text, d, again, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"", "-", "+1", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "1e5.", "1 ", " 1",
		"0x10", "1_000", "Infinity", "NaN", "--1", "1e1e1", "1.2.3", "١"} {
		if d, err := Parse(text); err == nil {
			t.Errorf("%q: read as %v", text, d)
		}
	}
	for _, text := range []string{"1e100001", "1e-100001", "1e99999999999999999999999", "1" + strings.Repeat("0", MaxDigits)} {
		_, err := Parse(text)
		if limit := (*LimitError)(nil); !errors.As(err, &limit) || !strings.Contains(err.Error(), "100000") {
			t.Errorf("%.20q…: error %v, want a LimitError that names the limit", text, err)
		}
	}
}

// randomText writes a random number, with some favourite digits.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	digits := func(n int) {
		for range n {
			b.WriteByte("00123456789955"[r.IntN(14)])
		}
	}
	if r.IntN(3) == 0 {
		b.WriteByte('-')
	}
	if r.IntN(4) == 0 {
		b.WriteByte('0')
	} else {
		b.WriteByte(byte('1' + r.IntN(9)))
		digits(r.IntN([]int{1, 4, 25}[r.IntN(3)]))
	}
	if r.IntN(2) == 0 {
		b.WriteByte('.')
		digits(1 + r.IntN([]int{1, 4, 25}[r.IntN(3)]))
	}
	if r.IntN(3) == 0 {
		b.WriteString([]string{"e", "E+", "e-"}[r.IntN(3)])
		digits(1)
	}
	return b.String()
}

func TestArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	multiples := 0
	for range 20000 {
		s, u := randomText(r), randomText(r)
		d, e := mustParse(s), mustParse(u)
		x, y := rational(s), rational(u)
		if got, want := d.Cmp(e), x.Cmp(y); got != want {
			t.Fatalf("%s against %s: %d, want %d", s, u, got, want)
		}
		if got, want := d.IsInteger(), x.IsInt(); got != want {
			t.Fatalf("%s: IsInteger = %v", s, got)
		}
		if got, want := d.Key() == e.Key(), x.Cmp(y) == 0; got != want {
			t.Fatalf("%s, %s: keys %s, %s", s, u, d.Key(), e.Key())
		}
		if r.IntN(2) == 0 { // else hardly any is a multiple
			x = new(big.Rat).Mul(y, big.NewRat(r.Int64N(1e6), 1))
			s = x.FloatString(60)
			d = mustParse(s)
		}
		want := x.Sign() == 0
		if y.Sign() != 0 {
			want = new(big.Rat).Quo(x, y).IsInt()
		}
		if want {
			multiples++
		}
		if got := d.IsMultipleOf(e); got != want {
			t.Fatalf("%s multiple of %s: %v, want %v", s, u, got, want)
		}
	}
	if multiples < 5000 {
		t.Errorf("only %d multiples were tried", multiples)
	}
}

func TestFromInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 1200, -9223372036854775808} {
		if got, want := FromInt(n).plain(), big.NewInt(n).String(); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// FuzzParse checks that Parse reads the same values as package math/big, and
// that the canonical spelling keeps the value.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "-1.50e3", "1e-7", "00", "1.", "123456789012345678901234567890"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		is, _ := isNumber(text)
		if err != nil {
			if limit := (*LimitError)(nil); is && !errors.As(err, &limit) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if !is {
			t.Fatalf("%q: read as %v", text, d)
		}
		if e := mustParse(d.String()); e.Cmp(d) != 0 || e.Key() != d.Key() {
			t.Fatalf("%q: %v is not %v", text, e, d)
		}
		if len(text) < 50 && (d.IsZero() || d.pos < 1000 && d.pos > -1000) && !strings.Contains(text, "e") {
			if rational(text).Cmp(rational(d.String())) != 0 {
				t.Fatalf("%q: read as %v", text, d)
			}
		}
	})
}
