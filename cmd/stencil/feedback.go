package main

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"stencil/server"
)

// feedbackFlags say where assessments and their outcomes are kept.
type feedbackFlags struct {
	path  string
	given bool
}

// feedbackOff is the path that switches feedback off.
const feedbackOff = "off"

func (f *feedbackFlags) register(flags *pflag.FlagSet) {
	flags.Var((*feedbackPath)(f), "feedback", `file for assessments of answers and what became of them, for POST /feedback; "off": none (default: feedback.db in the user's cache folder)`)
}

// feedbackPath remembers that a path was given.
type feedbackPath feedbackFlags

func (f *feedbackPath) String() string { return f.path }

func (f *feedbackPath) Set(path string) error {
	f.path, f.given = path, true
	return nil
}

func (f *feedbackPath) Type() string { return "file" }

// open returns a server that keeps outcomes where the flags say, and what closes
// the file. A file that was asked for must open. The one that is used without
// being asked for may belong to another server on this machine: then the log says
// so, and so does /feedback.
func (f *feedbackFlags) open(cfg server.Config, log *slog.Logger) (*server.Server, func(), error) {
	cfg.Feedback = f.path
	if !f.given {
		folder, err := os.UserCacheDir()
		if err != nil {
			log.Warn("outcomes are not kept: there is no folder for them", "error", err)
		} else {
			cfg.Feedback = filepath.Join(folder, "stencil", "feedback.db")
		}
	}
	if cfg.Feedback == feedbackOff {
		cfg.Feedback = ""
	}
	srv := server.New(cfg)
	if err := srv.OpenFeedback(); err != nil {
		if f.given {
			return nil, nil, err
		}
		log.Warn("outcomes are not kept (another file: --feedback)", "error", err)
	}
	return srv, func() {
		if err := srv.CloseFeedback(); err != nil {
			log.Error("the file of outcomes can't be closed", "error", err)
		}
	}, nil
}
