package server

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// acceptedEncodings are the encodings of bodies, as errors name them.
const acceptedEncodings = "gzip, deflate, zstd, br"

// The memory that a decoder takes at most, by encoding: mostly its window. RFC 9659 limits zstd's to 8 MB, RFC 7932 brotli's to 16 MB.
const zstdWindow = 8 << 20

var decoderMemory = map[string]int64{"gzip": 64 << 10, "deflate": 64 << 10, "zstd": zstdWindow + 4<<20, "br": 18 << 20}

// encodingsOf returns the encodings of a request's body, the outermost last; none for a body that is as it is. Names are those of RFC 9110,
// and x-gzip.
func encodingsOf(h http.Header) (list []string, err error) {
	for _, value := range h.Values("Content-Encoding") {
		for name := range strings.SplitSeq(value, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); {
			case name == "" || name == "identity":
			case name == "x-gzip":
				list = append(list, "gzip")
			case decoderMemory[name] == 0:
				return nil, errEncoding(name)
			default:
				list = append(list, name)
			}
		}
	}
	if len(list) > 1 {
		return nil, errEncoding(strings.Join(list, ", "))
	}
	return list, nil
}

func errEncoding(name string) error {
	return problem.New(problem.Problem{Status: http.StatusUnsupportedMediaType, Kind: problem.Invalid, Code: "unsupported_encoding",
		Message: fmt.Sprintf("the body's content encoding %q is not supported; there are, one at a time, %s", name[:min(len(name), wire.LongestName)], acceptedEncodings)})
}

// An encodedBody is read out of its encoding. Errors of the encoding are told from those of the body.
type encodedBody struct {
	name    string
	raw     *failing
	decoder io.Reader // nil until the first read, since making one may read the body
	close   func()
}

// failing remembers why a body could not be read.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// decode returns a body out of an encoding.
func decode(name string, body io.Reader) *encodedBody {
	return &encodedBody{name: name, raw: &failing{Reader: body}, close: func() {}}
}

// open makes the decoder.
func (d *encodedBody) open() (err error) {
	in := bufio.NewReader(d.raw)
	switch d.name {
	case "gzip":
		d.decoder, err = gzip.NewReader(in)
	case "deflate": // zlib's format by RFC 9110; some clients leave its header out
		if head, _ := in.Peek(2); len(head) == 2 && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			d.decoder, err = zlib.NewReader(in)
		} else {
			d.decoder = flate.NewReader(in)
		}
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err == nil {
			d.decoder, d.close = z, z.Close
		}
	default:
		d.decoder = brotli.NewReader(in)
	}
	return err
}

// Read implements io.Reader.
func (d *encodedBody) Read(p []byte) (n int, err error) {
	if d.decoder == nil {
		err = d.open()
	}
	if err == nil {
		n, err = d.decoder.Read(p)
	}
	switch {
	case err == nil, errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && d.decoder != nil:
		return n, err
	case d.raw.err != nil:
		return n, d.raw.err
	}
	return n, &wire.Error{Code: "invalid_encoding", Message: fmt.Sprintf("the body is not whole and valid %s: %v", d.name, err)}
}

// acceptEncoding tells which encodings a client may use, in the answer to one that isn't supported.
func acceptEncoding(h http.Header, p *problem.Problem) {
	if p.Code == "unsupported_encoding" {
		h.Set("Accept-Encoding", acceptedEncodings)
	}
}
