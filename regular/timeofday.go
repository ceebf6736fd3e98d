package regular

// clock is the automaton of a time of day with its offset (RFC 3339). A leap
// second occurs at the end of a day in UTC, which ties hour and minute to the
// offset, so that up to the seconds each of the 1440 minutes of a day has its
// own state. States are computed numbers, without a table.
type clock struct{}

// The phases of reading, each with the information that its states hold.
const (
	hourTens    = iota
	hourOnes    // tens
	afterHour   // hour
	minuteTens  // hour
	minuteOnes  // hour and tens
	afterMinute // minute of the day, from here on
	secondTens
	secondOnes // after 6
	// After the seconds: for a leap second with the minute of the day, for
	// others with noLeap.
	afterSecond
	firstDecimal
	moreDecimals
	inOffset  // the number of characters read, and the required offset
	anySecond // after 0 to 5
	done
)

const (
	dayMinutes = 24 * 60
	noLeap     = dayMinutes
	phaseShift = 20
)

func clockState(phase, memory int32) int32 { return phase<<phaseShift | memory }

// offsetState returns a state within an offset of which read characters were
// read. Either a certain offset is required, or any; then first holds the first
// digit of the hour.
func offsetState(phase, minutes, read, first int32) int32 {
	return clockState(phase, (minutes*8+read)*4+first)
}

func (clock) successors(q int32, to func(lo, hi rune, q int32)) {
	phase, memory := q>>phaseShift, q&(1<<phaseShift-1)
	digits := func(most int32, phase int32, memory func(d int32) int32) {
		for d := range most + 1 {
			to('0'+d, '0'+d, clockState(phase, memory(d)))
		}
	}
	one := func(r rune, phase, memory int32) { to(r, r, clockState(phase, memory)) }
	switch phase {
	case hourTens:
		digits(2, hourOnes, func(d int32) int32 { return d })
	case hourOnes:
		most := int32(9)
		if memory == 2 {
			most = 3
		}
		digits(most, afterHour, func(d int32) int32 { return memory*10 + d })
	case afterHour:
		one(':', minuteTens, memory)
	case minuteTens:
		digits(5, minuteOnes, func(d int32) int32 { return memory*6 + d })
	case minuteOnes:
		digits(9, afterMinute, func(d int32) int32 { return memory*10 + d })
	case afterMinute:
		one(':', secondTens, memory)
	case secondTens:
		to('0', '5', clockState(anySecond, 0))
		one('6', secondOnes, memory)
	case anySecond:
		to('0', '9', clockState(afterSecond, noLeap))
	case secondOnes:
		one('0', afterSecond, memory)
	case firstDecimal:
		to('0', '9', clockState(moreDecimals, memory))
	case afterSecond, moreDecimals:
		plus, minus := int32(noLeap), int32(noLeap)
		if memory != noLeap {
			plus, minus = (memory+1)%dayMinutes, dayMinutes-1-memory
		}
		to('+', '+', offsetState(inOffset, plus, 0, 0))
		to('-', '-', offsetState(inOffset, minus, 0, 0))
		if phase == afterSecond {
			one('.', firstDecimal, memory)
		} else {
			to('0', '9', q)
		}
		if memory == noLeap || memory == dayMinutes-1 {
			one('Z', done, 0)
			one('z', done, 0)
		}
	case inOffset:
		minutes, read, first := memory/32, memory/4%8, memory%4
		next := func(lo, hi rune, first int32) {
			if read == 4 {
				to(lo, hi, clockState(done, 0))
			} else {
				to(lo, hi, offsetState(inOffset, minutes, read+1, first))
			}
		}
		if read == 2 {
			next(':', ':', 0)
			return
		}
		if minutes != noLeap {
			hour, minute := minutes/60, minutes%60
			r := '0' + [...]int32{hour / 10, hour % 10, 0, minute / 10, minute % 10}[read]
			next(r, r, 0)
			return
		}
		switch read {
		case 0:
			next('0', '1', 0)
			next('2', '2', 2)
		case 1:
			next('0', '9'-6*(first/2), 0)
		case 3:
			next('0', '5', 0)
		case 4:
			next('0', '9', 0)
		}
	}
}

func (clock) about(q int32) (final bool, l lengths) {
	phase, memory := q>>phaseShift, q&(1<<phaseShift-1)
	l = lengths{hi: infinite}
	// With Z after the seconds.
	l.lo = [...]int32{9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 1, 0, 2, 0}[phase]
	switch phase {
	case inOffset:
		l.lo = 5 - memory/4%8
		l.hi = l.lo
	case done:
		l.hi = 0
		final = true
	case secondOnes, afterSecond, firstDecimal, moreDecimals:
		if memory != noLeap && memory != dayMinutes-1 {
			l.lo += 5
		}
	}
	l.inLo, l.inHi = l.lo, l.lo
	if phase == firstDecimal || phase == moreDecimals {
		l.inHi = infinite
	}
	return final, l
}

func (clock) obligation() int32 { return 9 }

func (clock) letters() letters {
	var out letters
	for _, r := range "0123456789+-.:Zz" {
		out.add(r, r)
	}
	return out
}
