package regular

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkStart measures a new pattern, including the first twenty characters.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct{ name, pattern, text string }{
		{"identifier", `^[a-zA-Z0-9_-]{1,64}$`, "the_name_of_a_thing-42"},
		{"year-month", `^\d{4}-\d{2}$`, "2024-05"},
		{"search", `foo`, "is there a fool in here"},
		{"uuid", `^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, "123e4567-e89b-12d3-a456-426614174000"},
		{"words", `^(?:\S+\s+){0,99}\S+$`, "some words and more of"},
		{"path", `^/(([a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})+(/([a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})*)*)?$`, "/a/path/that/has/%20/in"},
		{"look-ahead", `^(?!mode)(?!Mode)[a-z]+$`, "modulation"},
		{"look-ahead-loop", `^((?!mode)(?!Mode).)*$`, "modulation and so on"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := NewStore(Limits{})
				e, err := s.Pattern(c.pattern)
				if err != nil {
					b.Fatal(err)
				}
				run(b, s, e, c.text)
			}
		})
	}
	for name, text := range map[string]string{
		"date-time": "2024-05-17T09:30:00Z", "date": "2024-05-17", "uri": "https://example.com/a/b", "email": "john.doe@example.com",
		"uuid": "123e4567-e89b-12d3-a456-426614174000", "hostname": "www.example.com", "ipv4": "192.168.0.1", "ipv6": "2001:db8::1", "time": "09:30:00Z", "duration": "P1DT2H",
		"uri-reference": "/a/b?c=d", "json-pointer": "/a/b",
	} {
		b.Run("format="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := NewStore(Limits{})
				e, _ := s.Format(name)
				run(b, s, e, text)
			}
		})
	}
}

func run(b *testing.B, s *Store, e Expr, text string) {
	m, err := s.Compile(e)
	if err != nil {
		b.Fatal(err)
	}
	q := m.Start()
	for i, r := range text {
		if i == 20 {
			break
		}
		if q = m.Step(q, r); q == Dead {
			b.Fatalf("dead after %q", text[:i])
		}
	}
}

// BenchmarkStep measures one step through existing states.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"ascii", strings.Repeat("abc-def_", 8)}, {"other", strings.Repeat("äöü€", 16)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := NewStore(Limits{})
			e, _ := s.Pattern(`^[\w\-ä-üß€]{1,100}$`)
			m, _ := s.Compile(e)
			runes := []rune(c.text)
			q, i := m.Start(), 0
			for b.Loop() {
				q = m.Step(q, runes[i])
				if i++; i == len(runes) {
					q, i = m.Start(), 0
				}
			}
		})
	}
}

// BenchmarkNewState measures one step to a new state.
func BenchmarkNewState(b *testing.B) {
	for _, pattern := range []string{`^[a-zA-Z0-9_-]*$`, `^.{0,1000000}$`, `^([a-z]+[0-9]){0,1000000}$`, `^x?(?!.*--)[a-z-]{0,1000000}$`} {
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			var m *Machine
			q := Dead
			text := "abc1"
			i := 0
			for b.Loop() {
				if i%2000 == 0 {
					s := NewStore(Limits{})
					e, _ := s.Pattern(pattern)
					m, _ = s.Compile(e)
					q = m.Start()
				}
				c := text[i%4]
				if i++; c == '1' && m.Step(q, '1') == Dead {
					c = 'a'
				}
				q = m.Step(q, rune(c))
			}
			_ = fmt.Sprint(q)
		})
	}
}

func BenchmarkStrings(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("name-%d-%x", i*7919%n, i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := NewStore(Limits{})
				s.Strings(list)
			}
		})
	}
}
