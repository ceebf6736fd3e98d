// Package access decides who may ask: callers with a key where keys are needed, and where none are, programs on
// machines that can reach the server, but not any web page that somebody looks at.
//
// A browser sends a page's requests to every address that the browser can reach, this server's among them: as they are if
// they look like a form's, and to a name of the page's own that has come to mean this machine (DNS rebinding). So
// a server without keys looks at what browsers say of a request: Host, Origin, Sec-Fetch-Site and
// Content-Type. Programs that are no browsers notice nothing of this.
package access
