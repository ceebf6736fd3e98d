// Package eval measures how well a model fills in documents: it sends prompts
// with schemas to a stencil server and compares what comes back with what was
// expected.
//
// Cases are JSON, one a line ([ReadCases]). Each is run in one or more modes:
// with masks, without them, and without but repaired. What fails is counted and
// passed over. Results are written as they come, one a line, so that a run that
// was interrupted goes on where it stopped. A [Report] sums them up by task and
// mode, as a table, as JSON and as a page with a chart.
package eval
