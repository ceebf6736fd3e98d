package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
)

// pipes is a listener whose connections are pipes, of which there may be more than files.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// dial returns the client's end of a new connection.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// servePipes serves a scripted model until the returned function is called.
func servePipes(t *testing.T) (*pipes, func()) {
	t.Helper()
	e, err := engine.New(scripted.New(loadVocab(t), scripted.Random(11), scripted.Options{}), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	if err := srv.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l, 0) }()
	return l, func() {
		stop()
		<-served // clients that send nothing more are cut off
		e.Close()
	}
}

// askPipe asks for a text over a connection of its own.
func askPipe(l *pipes) (status int, err error) {
	c := l.dial()
	defer c.Close()
	const body = `{"prompt": "x", "max_tokens": 3}`
	if _, err := fmt.Fprintf(c, "POST /generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// Ten thousand connections that say nothing, or break off in their headers or bodies, keep nobody from an answer, and nothing
// is left of them.
func TestManyConnections(t *testing.T) {
	l, stop := servePipes(t)
	defer stop()
	if status, err := askPipe(l); status != http.StatusOK || err != nil {
		t.Fatal(status, err)
	}
	now := func() held { return heldNow(http.DefaultClient) }
	before := now()
	const n = 10_000
	conns := make([]net.Conn, n)
	for i := range conns {
		conns[i] = l.dial()
		begun := []string{"", "POST /generate HTT", "POST /generate HTTP/1.1\r\nHost: localhost\r\nX: ", "POST /generate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{\"prompt\": \""}[i%4]
		if _, err := io.WriteString(conns[i], begun); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	for range 20 {
		if status, err := askPipe(l); status != http.StatusOK || err != nil {
			t.Errorf("a request beside %d connections: %d, %v", n, status, err)
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	each := int(m.HeapAlloc+m.StackInuse-before.bytes) / n
	t.Logf("%d bytes for each connection", each)
	if each > 64<<10 {
		t.Errorf("a connection takes %d bytes", each)
	}
	for _, c := range conns {
		c.Close()
	}
	clear(conns)
	if after := now(); after.goroutines > before.goroutines+20 || after.bytes > before.bytes+64<<20 {
		t.Errorf("afterwards %d goroutines and %d bytes, before %d and %d", after.goroutines, after.bytes, before.goroutines, before.bytes)
	}
	if status, err := askPipe(l); status != http.StatusOK || err != nil {
		t.Error(status, err)
	}
}

// Who sends a byte now and then is cut off, in the headers after 10 s and in the body after a minute.
func TestSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, stop := servePipes(t)
		defer stop()
		for _, c := range []struct {
			begun, answer string
			within        time.Duration
		}{
			{"POST /generate HTTP/1.1\r\nX: ", "", headerTimeout},
			{"POST /generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n", "408 Request Timeout", bodyTimeout},
		} {
			conn, begun := l.dial(), time.Now()
			var writer sync.WaitGroup
			writer.Go(func() {
				_, err := io.WriteString(conn, c.begun)
				for ; err == nil; _, err = io.WriteString(conn, "x") {
					time.Sleep(time.Second)
				}
			})
			answer, err := io.ReadAll(conn)
			if took := time.Since(begun); err != nil || !strings.Contains(string(answer), c.answer) || took < c.within || took > c.within+2*time.Second {
				t.Errorf("%q: ended after %v with %q, %v", c.begun, took, answer, err)
			}
			conn.Close()
			writer.Wait()
			if status, err := askPipe(l); status != http.StatusOK || err != nil {
				t.Errorf("afterwards: %d, %v", status, err)
			}
		}
	})
}

// TestHalfClosed checks that a client that closes its side of the connection before the answer learns that this ended the
// request, in each dialect, and that an answer that was complete arrives.
func TestHalfClosed(t *testing.T) {
	_, url := start(t, setup{opt: scripted.Options{Delay: 20 * time.Millisecond}})
	host := strings.TrimPrefix(url, "http://")
	ask := func(path, body string) string {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	for path, body := range map[string]string{
		"/generate":            `{"prompt": "a", "max_tokens": 200}`,
		"/v1/chat/completions": `{"messages": [{"role": "user", "content": "a"}], "max_tokens": 200}`,
		"/v1/responses":        `{"input": "a", "max_output_tokens": 200}`,
		"/v1/messages":         `{"model": "tiny", "messages": [{"role": "user", "content": "a"}], "max_tokens": 200}`,
		"/api/generate":        `{"model": "tiny", "prompt": "a", "stream": false}`,
		"/completion":          `{"prompt": "a", "n_predict": 200}`,
	} {
		if got := ask(path, body); !strings.HasPrefix(got, "HTTP/1.1 499 ") || !strings.Contains(got, "must stay open until the answer is complete") {
			t.Errorf("%s: %s", path, got)
		}
	}
}
