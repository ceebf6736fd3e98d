// Package access decides which requests are permitted: with API keys configured, those that carry one; without, those
// of programs that can reach the server, but not of arbitrary web pages.
//
// A browser sends a page's requests to every address that it can reach, including this server's: without asking first
// if they look like a form's, and to a name of the page's own that resolves to this machine (DNS rebinding). So a
// server without keys checks the headers in which browsers describe a request: Host, Origin, Sec-Fetch-Site and
// Content-Type. Programs other than browsers are not affected.
package access
