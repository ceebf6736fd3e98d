package server

import (
	"errors"
	"net"
	"strconv"
	"sync"
)

// Listen listens on one port of several hosts, given as names or addresses. With port 0 it takes a port free on the
// first host.
func Listen(hosts []string, port int) (net.Listener, error) {
	if len(hosts) == 0 {
		return nil, errors.New("no address to listen on")
	}
	all := &listeners{accepted: make(chan accepted), closed: make(chan struct{})}
	for _, host := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			port = a.Port
		}
		all.list = append(all.list, l)
	}
	if len(hosts) == 1 {
		return all.list[0], nil
	}
	for _, l := range all.list {
		go all.accept(l)
	}
	return all, nil
}

// listeners combines several listeners into one.
type listeners struct {
	list     []net.Listener
	accepted chan accepted
	closed   chan struct{}
	once     sync.Once
}

type accepted struct {
	conn net.Conn
	err  error
}

func (l *listeners) accept(one net.Listener) {
	for {
		conn, err := one.Accept()
		select {
		case l.accepted <- accepted{conn, err}:
		case <-l.closed:
			if err == nil {
				conn.Close()
			}
			return
		}
	}
}

// Accept implements net.Listener.
func (l *listeners) Accept() (net.Conn, error) {
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listeners) Close() error {
	l.once.Do(func() { close(l.closed) })
	var all error
	for _, one := range l.list {
		all = errors.Join(all, one.Close())
	}
	return all
}

// Addr implements net.Listener. It returns the address of the first listener.
func (l *listeners) Addr() net.Addr { return l.list[0].Addr() }
