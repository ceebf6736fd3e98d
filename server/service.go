package server

import (
	"log/slog"
	"time"
)

// A service runs the generating requests of all dialects.
type service struct {
	models *registry
	assess *assessor
	settings
	counts textCounts
}

// settings are what a service is made with.
type settings struct {
	log     *slog.Logger
	timeout time.Duration // of one generation, its time in the queue included
	tokens  int           // max_tokens of requests that give none
	retries int           // further tries for an answer that won't do
}

// newService returns a service for the models of a registry.
func newService(models *registry, assess *assessor, s settings) *service {
	return &service{models: models, assess: assess, settings: s, counts: newTextCounts()}
}
