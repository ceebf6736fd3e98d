// Package download downloads files, verifies them, and resumes interrupted downloads.
package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stencil-json/stencil/cmd/stencil/console"
)

// A File is a file to download to Path.
//
// Downloaded bytes are stored in Path+".part", and the state of the download in Path+".part.json". Both survive an
// interruption: the next run resumes the download if the server still has the same file. The part file is renamed to
// Path only when it is complete and verified.
type File struct {
	Source Source
	Path   string
	Sum    string // SHA-256 in hex, "" if the user gave none
	Token  string // token for the hub, sent to no other server
	Force  bool   // download even if Path exists
	Model  bool   // it must be a complete model
	Agent  string // the name of the program
	Log    io.Writer

	magic  string                  // expected first bytes of the file; "": any
	check  func(path string) error // final check of the complete file; may be nil
	client *http.Client
	state  partState
	hash   hash.Hash
	have   int64 // bytes in the part file, all of them hashed
	anew   int   // how often they were discarded
	bar    *console.Progress
}

// partState describes a part file.
type partState struct {
	URL  string `json:"url"`
	ETag string `json:"etag,omitempty"` // a strong entity tag, or the Last-Modified time; "" if the server sends neither
	Size int64  `json:"size"`           // of the whole file, -1 if not known
	Sum  string `json:"sha256,omitempty"`
}

// Done reports how a download ended.
type Done struct {
	Already  bool // Path existed already
	Size     int64
	Sum      string
	Verified string // whether and how Sum was verified
}

// Limits on retries and pauses.
const (
	pullTries   = 6                      // consecutive attempts without progress
	pullAnew    = 5                      // times that downloaded bytes are discarded
	pullPause   = 500 * time.Millisecond // before the second attempt, doubled each time
	pullLongest = 30 * time.Second       // maximum pause
	stallLimit  = 45 * time.Second       // time without data after which a connection counts as dead
)

// Variables, so that tests need not wait.
var (
	pausePull = pullPause
	stallPull = stallLimit
)

// errChanged means that the file on the server is not the one that the part file was started from.
var errChanged = errors.New("the file on the server has changed")

// A permanentError is an error that a retry would not fix.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Run downloads the file, unless it exists.
func (d *File) Run(ctx context.Context) (Done, error) {
	if d.Sum != "" && !isSHA256(d.Sum) {
		return Done{}, fmt.Errorf("--sha256 must be 64 hexadecimal digits, not %q", d.Sum)
	}
	if d.Model {
		d.check, d.magic = CheckModel, "GGUF"
	}
	if done, err := d.present(); err != nil || done.Already {
		return done, err
	}
	part, unlock, err := d.open()
	if err != nil {
		return Done{}, err
	}
	defer unlock()
	defer d.leave(part)
	d.client = &http.Client{CheckRedirect: d.checkRedirect}
	d.bar = console.NewProgress(d.Log, d.Source.Name, d.state.Size, true)
	defer d.bar.Close()

	for tries := 0; ; {
		before := d.have
		err := d.attempt(ctx, part)
		if err == nil {
			break
		}
		var permanent permanentError
		switch {
		case ctx.Err() != nil:
			return Done{}, fmt.Errorf("pull: stopped after %d bytes; run the command again to resume", d.have)
		case errors.As(err, &permanent):
			return Done{}, fmt.Errorf("pull: %w", err)
		case errors.Is(err, errChanged):
			if err := d.restart(part); err != nil {
				return Done{}, err
			}
		}
		if d.anew > pullAnew {
			return Done{}, fmt.Errorf("pull: %w (restarted %d times: the server's responses are inconsistent, or it cannot resume)", err, pullAnew)
		}
		if d.have > before {
			tries = 0
		}
		if tries++; tries >= pullTries {
			return Done{}, fmt.Errorf("pull: %w (gave up after %d attempts; run the command again to resume at byte %d)", err, tries, d.have)
		}
		pause := min(pausePull<<(tries-1), pullLongest)
		var wait retryAfterError
		if errors.As(err, &wait) {
			pause = max(pause, min(wait.after, pullLongest))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return d.finish(part)
}

// leave closes the part file. If it is empty, there is nothing to resume, and leave deletes it.
func (d *File) leave(part *os.File) {
	info, err := part.Stat()
	if err == nil && info.Size() == 0 {
		_ = os.Remove(d.partPath())
		_ = os.Remove(d.statePath())
	}
	part.Close()
}

// present reports whether the target exists already. It is an error if its checksum is not the given one.
func (d *File) present() (Done, error) {
	info, err := os.Stat(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Done{}, nil
	case err != nil:
		return Done{}, err
	case !info.Mode().IsRegular():
		return Done{}, fmt.Errorf("pull: %s is no file that a model can be written to", d.Path)
	case d.Force:
		return Done{}, nil
	case d.Sum == "":
		return Done{Already: true, Size: info.Size()}, nil
	}
	f, err := os.Open(d.Path)
	if err != nil {
		return Done{}, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return Done{}, err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != d.Sum {
		return Done{}, fmt.Errorf("pull: %s exists, but its sha256 is %s; --force replaces it", d.Path, sum)
	}
	return Done{Already: true, Size: info.Size(), Sum: d.Sum}, nil
}

func (d *File) partPath() string  { return d.Path + ".part" }
func (d *File) statePath() string { return d.Path + ".part.json" }

// plain returns an error if there is something else than a regular file at a path: in a folder that others may write, a link may
// lead anywhere.
func plain(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("pull: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("pull: %s is a link or another special file; remove it first", path)
	}
	return nil
}

// stays returns an error if what is at the path of the part file isn't the file that was opened.
func (d *File) stays(part *os.File) error {
	at, err := os.Lstat(d.partPath())
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	is, err := part.Stat()
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	if !is.Mode().IsRegular() || !os.SameFile(at, is) {
		return fmt.Errorf("pull: %s was exchanged for something else", d.partPath())
	}
	return nil
}

// open opens and locks the part file, and hashes its content if it belongs to the same source.
func (d *File) open() (*os.File, func(), error) {
	if err := errors.Join(plain(d.partPath()), plain(d.statePath())); err != nil {
		return nil, nil, err
	}
	part, err := os.OpenFile(d.partPath(), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("pull: %w", err)
	}
	if err := d.stays(part); err != nil { // nothing has been written so far
		part.Close()
		return nil, nil, err
	}
	unlock, err := console.Lock(part)
	if err != nil {
		part.Close()
		return nil, nil, fmt.Errorf("pull: another process is writing %s", d.partPath())
	}
	if err := d.resume(part); err != nil {
		unlock()
		part.Close()
		return nil, nil, err
	}
	return part, unlock, nil
}

// resume reads the state of an earlier run. If state and part file don't match, the download starts over.
func (d *File) resume(part *os.File) error {
	raw, err := os.ReadFile(d.statePath())
	ok := err == nil && json.Unmarshal(raw, &d.state) == nil && d.state.URL == d.Source.url.String()
	info, err := part.Stat()
	if err != nil {
		return err
	}
	if ok && d.state.ETag == "" && d.state.Sum == "" && d.Sum == "" {
		ok = false // the parts could not be checked to belong to the same file
	}
	if !ok || d.state.Size >= 0 && info.Size() > d.state.Size {
		return d.restart(part)
	}
	d.hash = sha256.New()
	bar := console.NewProgress(d.Log, "checking "+d.partPath(), info.Size(), true)
	defer bar.Close()
	d.have, err = io.Copy(d.hash, &watchedReader{r: part, bar: bar})
	return err
}

// watchedReader updates a progress bar while it is read.
type watchedReader struct {
	r   io.Reader
	n   int64
	bar *console.Progress
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	w.bar.Set(w.n)
	return n, err
}

// restart discards the downloaded bytes.
func (d *File) restart(part *os.File) error {
	if d.have > 0 {
		d.anew++
	}
	d.state = partState{URL: d.Source.url.String(), Size: -1}
	d.hash, d.have = sha256.New(), 0
	if err := part.Truncate(0); err != nil {
		return err
	}
	_, err := part.Seek(0, io.SeekStart)
	return err
}

// checkRedirect applies the scheme rules to every redirection, and keeps what the hub reports about the file before it
// redirects to where the data is.
func (d *File) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return permanentError{errors.New("more than 10 redirections")}
	}
	if err := checkScheme(req.URL); err != nil {
		return permanentError{err}
	}
	if req.Response != nil {
		d.noteHub(req.Response.Header)
	}
	if req.URL.Host != via[0].URL.Host {
		req.Header.Del("Authorization") // the token is only for the hub
	}
	return nil
}

// noteHub stores the SHA-256 that the hub reports for large files.
func (d *File) noteHub(h http.Header) {
	if !d.Source.hub {
		return
	}
	if sum := strings.Trim(h.Get("X-Linked-Etag"), `"`); isSHA256(sum) {
		d.state.Sum = sum
	}
}

// attempt requests the rest of the file once and appends it to the part file. It returns nil when the file is
// complete.
func (d *File) attempt(ctx context.Context, part *os.File) error {
	if d.state.Size >= 0 && d.have == d.state.Size {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stallPull, func() { cancel(errors.New("the connection has stalled")) })
	defer stalled.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.Source.url.String(), nil)
	if err != nil {
		return permanentError{err}
	}
	req.Header.Set("User-Agent", d.Agent)
	req.Header.Set("Accept-Encoding", "identity") // ranges and lengths count bytes of the file itself
	if d.Token != "" && d.Source.hub {
		req.Header.Set("Authorization", "Bearer "+d.Token)
	}
	if d.have > 0 && d.state.ETag == "" && d.state.Sum == "" && d.Sum == "" {
		// The two parts could not be checked to belong to the same file.
		if err := d.restart(part); err != nil {
			return permanentError{err}
		}
	}
	if d.have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.have))
		if d.state.ETag != "" {
			req.Header.Set("If-Range", d.state.ETag)
		}
	}
	known := d.state
	resp, err := d.client.Do(req)
	if err != nil {
		return cause(ctx, err)
	}
	defer resp.Body.Close()
	d.noteHub(resp.Header)
	if known.Sum != "" && d.state.Sum != known.Sum && d.have > 0 {
		return errChanged
	}
	if err := d.accept(resp, part); err != nil {
		return err
	}
	if err := d.room(part, d.state.Size-d.have); err != nil {
		return permanentError{err}
	}
	if err := d.saveState(); err != nil {
		return permanentError{err}
	}
	d.bar.Resize(d.state.Size)
	n, err := d.copy(part, resp.Body, stalled)
	d.have += n
	switch {
	case err != nil:
		return cause(ctx, err)
	case d.state.Size < 0:
		d.state.Size = d.have // the server sent no length, and ended the body cleanly
		return nil
	case d.have < d.state.Size:
		return io.ErrUnexpectedEOF
	case d.have > d.state.Size:
		return errChanged // more than announced: none of it can be trusted
	}
	return nil
}

// cause returns the reason why a context ended, if it has ended, and err otherwise.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return err
}

// accept checks the header of a response and positions the part file for its body.
func (d *File) accept(resp *http.Response, part *os.File) error {
	switch resp.StatusCode {
	case http.StatusOK:
		// The whole file, even if a range was requested.
		if d.have > 0 {
			sum := d.state.Sum
			if err := d.restart(part); err != nil {
				return permanentError{err}
			}
			d.state.Sum = sum
		}
		d.state.Size = resp.ContentLength
		d.state.ETag = strongETag(resp.Header)
		return nil
	case http.StatusPartialContent:
		from, total, ok := contentRange(resp.Header.Get("Content-Range"))
		tag := strongETag(resp.Header)
		if !ok || from != d.have || d.state.ETag != "" && tag != d.state.ETag || d.state.Size >= 0 && total != d.state.Size {
			return errChanged
		}
		d.state.Size, d.state.ETag = total, tag
		return nil
	case http.StatusRequestedRangeNotSatisfiable:
		return errChanged
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusTooEarly,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfterError{status: resp.Status, after: retryAfter(resp.Header)}
	case http.StatusUnauthorized, http.StatusForbidden:
		return permanentError{fmt.Errorf("the server answered %q: is a token needed (STENCIL_TOKEN), or the licence to be accepted first?", resp.Status)}
	case http.StatusNotFound:
		return permanentError{fmt.Errorf("there is no file at %s", d.Source.url.Redacted())}
	}
	return permanentError{fmt.Errorf("the server answered %q", resp.Status)}
}

// A retryAfterError is a response that asks the client to retry later.
type retryAfterError struct {
	status string
	after  time.Duration
}

func (e retryAfterError) Error() string { return fmt.Sprintf("the server answered %q", e.status) }

func retryAfter(h http.Header) time.Duration {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(s) * time.Second
}

// strongETag returns the entity tag if it is strong, else the time of the last modification, if it is at least a
// minute before the date of the response.
func strongETag(h http.Header) string {
	tag := h.Get("ETag")
	if tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	changed, err := http.ParseTime(h.Get("Last-Modified"))
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil || now.Sub(changed) < time.Minute {
		return ""
	}
	return h.Get("Last-Modified")
}

// contentRange parses a range such as "bytes 10-99/100". The range must extend to the end of the file.
func contentRange(s string) (from, total int64, ok bool) {
	rest, ok := strings.CutPrefix(s, "bytes ")
	if !ok {
		return 0, 0, false
	}
	span, size, ok := strings.Cut(rest, "/")
	if !ok {
		return 0, 0, false
	}
	first, last, ok := strings.Cut(span, "-")
	if !ok {
		return 0, 0, false
	}
	from, err1 := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	total, err3 := strconv.ParseInt(size, 10, 64)
	return from, total, err1 == nil && err2 == nil && err3 == nil && from >= 0 && to >= from && to == total-1
}

// copy appends a body to the part file and hashes it. It returns the number of bytes written.
func (d *File) copy(part *os.File, body io.Reader, stalled *time.Timer) (int64, error) {
	var n, looked int64
	buf := make([]byte, 1<<20)
	for {
		stalled.Reset(stallPull)
		got, err := body.Read(buf)
		if at := d.have + n; at < int64(len(d.magic)) && got > 0 {
			if want := d.magic[at:]; string(buf[:min(got, len(want))]) != want[:min(got, len(want))] {
				return n, permanentError{fmt.Errorf("%s does not send a %s file", d.Source.url.Redacted(), d.magic)}
			}
		}
		if n-looked > lookAfter {
			looked = n
			if err := d.room(part, 0); err != nil {
				return n, permanentError{err}
			}
		}
		if got > 0 {
			if _, werr := part.Write(buf[:got]); werr != nil {
				return n, permanentError{werr}
			}
			d.hash.Write(buf[:got])
			n += int64(got)
			d.bar.Set(d.have + n)
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// lookAfter is the number of bytes after which the free space on the disk is checked again; spareRoom is the space
// that is left free.
const (
	lookAfter = 64 << 20
	spareRoom = 256 << 20
)

// room returns an error if the disk has no room for more bytes.
func (d *File) room(part *os.File, more int64) error {
	free, ok := console.FreeBytes(part)
	if !ok || free-spareRoom >= max(more, 0) {
		return nil
	}
	return fmt.Errorf("%s needs %d bytes more, and %d are free on the disk, of which %d are left alone", d.Path, max(more, 1), free, spareRoom)
}

// saveState writes the state file.
func (d *File) saveState() error {
	raw, err := json.Marshal(d.state)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(d.Path), filepath.Base(d.statePath())+".*") // no link is followed
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), d.statePath())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// finish verifies a complete file and renames it to its final name.
func (d *File) finish(part *os.File) (Done, error) {
	done := Done{Size: d.have, Sum: hex.EncodeToString(d.hash.Sum(nil)), Verified: "not verified: no checksum is known"}
	for _, known := range []struct{ sum, from string }{{d.Sum, "as given"}, {d.state.Sum, "as the hub says"}} {
		if known.sum == "" {
			continue
		}
		if known.sum != done.Sum {
			err := fmt.Errorf("pull: the sha256 is %s and should be %s, %s; the download has been deleted", done.Sum, known.sum, known.from)
			return Done{}, errors.Join(err, os.Remove(d.partPath()), os.Remove(d.statePath()))
		}
		done.Verified = "verified, " + known.from
	}
	if err := part.Sync(); err != nil {
		return Done{}, fmt.Errorf("pull: %w", err)
	}
	if d.check != nil {
		// A server that announces too short a length and keeps to it can't be recognised otherwise.
		if err := d.check(d.partPath()); err != nil {
			return Done{}, errors.Join(fmt.Errorf("pull: %w; the download has been deleted", err), os.Remove(d.partPath()), os.Remove(d.statePath()))
		}
	}
	if err := d.stays(part); err != nil {
		return Done{}, err
	}
	if err := part.Close(); err != nil { // some systems can't rename open files
		return Done{}, fmt.Errorf("pull: %w", err)
	}
	if err := os.Rename(d.partPath(), d.Path); err != nil {
		return Done{}, fmt.Errorf("pull: %w", err)
	}
	if err := os.Remove(d.statePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Done{}, fmt.Errorf("pull: %w", err)
	}
	return done, nil
}
