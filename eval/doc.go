// Package eval measures the accuracy of structured output: it sends prompts with
// schemas to a stencil server and compares the answers with the expected documents.
//
// Cases are JSON lines ([ReadCases]). Each runs in one or more modes: with masks,
// without masks, and without masks but with repair. Failures are counted, not fatal.
// Results are written as JSON lines as they are obtained, so that an interrupted run
// can be continued. A [Report] summarises them by task and mode, as a table, as JSON
// and as an HTML page with a chart.
package eval
