package files

import (
	"bufio"
	"errors"
	"io"
)

// lines reads a file line by line, however long lines are, as far as the call
// may read.
type lines struct {
	w *work
	r *bufio.Reader

	number int    // of the line, from 1
	size   int    // its length without the line feed
	line   []byte // what was asked for of it; valid until the next one is read
	err    error  // why reading failed; the file's end is no failure
}

// block is how much is read from a file at once.
const block = 64 << 10

func (w *work) lines(f io.Reader) *lines { return &lines{w: w, r: bufio.NewReaderSize(f, block)} }

// binary tells whether the file is not text, by its beginning. It is asked before
// the first line.
func (l *lines) binary() bool {
	start, _ := l.r.Peek(sample) // an error comes back with the next line
	return binary(start)
}

// next reads a line and keeps at most most bytes of it, from the given one on. It
// returns false at the end of the file, after an error, and when the call has
// nothing left to spend, which ends the search.
func (l *lines) next(from, most int) bool {
	l.line, l.size = l.line[:0], 0
	for some := false; ; some = true {
		if l.err != nil || !l.w.goOn() {
			return false
		}
		if l.w.bytes <= 0 {
			l.w.stop = "there is too much to read"
			return false
		}
		piece, err := l.r.ReadSlice('\n')
		l.w.bytes -= int64(len(piece))
		if err == nil {
			piece = piece[:len(piece)-1]
		}
		begin := min(max(from-l.size, 0), len(piece))
		end := begin + min(len(piece)-begin, most-len(l.line))
		l.line = append(l.line, piece[begin:end]...)
		l.size += len(piece)
		switch {
		case err == nil:
			l.number++
			return true
		case errors.Is(err, bufio.ErrBufferFull):
		case !errors.Is(err, io.EOF):
			l.err = err
		case len(piece) > 0 || some:
			l.number++
			return true
		default:
			return false
		}
	}
}
