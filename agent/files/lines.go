package files

import (
	"bufio"
	"errors"
	"io"
)

// lines reads a file line by line, within the byte budget of the call. Lines may be
// of any length.
type lines struct {
	w *work
	r *bufio.Reader

	number int    // line number, from 1
	size   int    // length of the line without the line feed
	line   []byte // the requested part of the line; valid until the next call of next
	err    error  // why reading failed; nil at the end of the file
}

// block is the number of bytes that are read from a file at once.
const block = 64 << 10

func (w *work) lines(f io.Reader) *lines { return &lines{w: w, r: bufio.NewReaderSize(f, block)} }

// binary reports whether the file is not text, judging by its start. It must be
// called before next.
func (l *lines) binary() bool {
	start, _ := l.r.Peek(sample) // next returns the error
	return binary(start)
}

// next reads a line and keeps up to most bytes of it, starting at offset from. It
// returns false at the end of the file, after an error, and when the budget of the
// call is spent, which ends the search.
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
