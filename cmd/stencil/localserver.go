package main

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/stencil-json/stencil/server"
)

// serveHere serves the model of f, local or upstream, on a free local port until
// stop is called. It is for commands that are clients. It returns the URL of the
// server and the name of the model.
func (f *serveFlags) serveHere(ctx context.Context) (url, model string, stop func() error, err error) {
	log, err := f.log.logger(os.Stderr)
	if err != nil {
		return "", "", nil, err
	}
	f.server.Version, f.server.Log, f.engine.Log = version(), log, log
	srv := server.New(f.server)
	free := func() error { return nil }
	if f.upstream.given() {
		if model, err = f.upstream.add(ctx, srv, log); err != nil {
			return "", "", nil, err
		}
	} else {
		if f.engine.Context, err = f.model.params(); err != nil {
			return "", "", nil, err
		}
		m, err := f.start(ctx, log)
		if err != nil {
			return "", "", nil, err
		}
		free, model = m.close, f.name(m.model)
		if err := srv.SetEngines(model, m.Engines); err != nil {
			return "", "", nil, errors.Join(err, free())
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", nil, errors.Join(err, free())
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- srv.Serve(serving, l, 0) }()
	return urlOf(l.Addr(), false), model, func() error {
		cancel()
		err := <-served
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil // from requests that were cancelled with the run
		}
		return errors.Join(err, free())
	}, nil
}
