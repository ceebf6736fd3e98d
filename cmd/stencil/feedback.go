package main

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"stencil/server"
)

// feedbackFlags name the file for assessments and their outcomes.
type feedbackFlags struct {
	path  string
	given bool
}

// feedbackOff is the path that switches feedback off.
const feedbackOff = "off"

func (f *feedbackFlags) register(flags *pflag.FlagSet) {
	flags.Var((*feedbackPath)(f), "feedback", `file for assessments and reported outcomes; "off": none (default: ~/.cache/stencil/feedback.db)`)
	group(flags, "Signals")
}

// feedbackPath remembers that a path was given.
type feedbackPath feedbackFlags

func (f *feedbackPath) String() string { return f.path }

func (f *feedbackPath) Set(path string) error {
	f.path, f.given = path, true
	return nil
}

func (f *feedbackPath) Type() string { return "file" }

// open returns a server that stores outcomes in the file of the flags, and a
// function that closes the file. A file that was named must open. The default file
// may be in use by another server on this machine: that is logged, and /feedback
// reports it.
func (f *feedbackFlags) open(cfg server.Config, log *slog.Logger) (*server.Server, func(), error) {
	cfg.Feedback = f.path
	if !f.given {
		folder, err := os.UserCacheDir()
		if err != nil {
			log.Warn("outcomes are not stored: the user has no cache folder", "error", err)
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
		log.Warn("outcomes are not stored; choose another file with --feedback", "error", err)
	}
	return srv, func() {
		if err := srv.CloseFeedback(); err != nil {
			log.Error("closing the outcomes file failed", "error", err)
		}
	}, nil
}
