package access

import (
	"crypto/sha256"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/server/problem"
)

// Config configures access. The zero value admits programs on this machine.
type Config struct {
	Keys    []string // a request must carry one of them; empty: no key is required
	Listen  string   // the host that the server listens on, a name or an address; "": loopback
	Also    []string // further hosts that it listens on
	Hosts   []string // further permitted Host names; ".example.com": all subdomains; "*": any
	Origins []string // origins whose web pages are permitted; "*": any
}

// Check returns an error for an entry that is not valid.
func (c Config) Check() error {
	for _, host := range c.Hosts {
		if name := hostname(host); name == "" || strings.ContainsAny(host, "/ ,@") {
			return fmt.Errorf("allowed host %q is no host name, such as llm.example.com", host)
		}
	}
	for _, origin := range c.Origins {
		if origin == "*" || origin == "null" {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
			return fmt.Errorf("allowed origin %q is not an origin, such as https://example.com", origin)
		}
	}
	return nil
}

// A Guard checks requests. It is safe for concurrent use.
type Guard struct {
	keys       [][sha256.Size]byte
	hosts      []string // in lower case, without ports
	anyHost    bool
	local      bool // the server listens on loopback only
	origins    []string
	anyOrigins bool
}

// New returns a guard for a configuration.
func New(c Config) *Guard {
	g := &Guard{local: loopback(hostname(c.Listen)), anyHost: slices.Contains(c.Hosts, "*"), anyOrigins: slices.Contains(c.Origins, "*")}
	for _, k := range c.Keys {
		g.keys = append(g.keys, sha256.Sum256([]byte(k)))
	}
	for _, h := range c.Also {
		g.local = g.local && loopback(hostname(h))
	}
	for _, h := range slices.Concat([]string{c.Listen}, c.Also, c.Hosts) {
		if h = hostname(h); h != "" {
			g.hosts = append(g.hosts, h)
		}
	}
	if !g.local {
		if own, err := os.Hostname(); err == nil {
			g.hosts = append(g.hosts, hostname(own))
		}
	}
	for _, o := range c.Origins {
		g.origins = append(g.origins, strings.ToLower(strings.TrimSuffix(o, "/")))
	}
	return g
}

// Check returns nil if a request is permitted, or else the reason why not.
func (g *Guard) Check(r *http.Request) error {
	if len(g.keys) > 0 {
		if !openPaths[r.URL.Path] && !g.known(r) {
			return errNoKey
		}
	} else if r.URL.Path != "/healthz" && r.URL.Path != "/health" { // monitoring may use any name, and learns nothing here
		if !g.allowsHost(r.Host) {
			return errHost(r.Host)
		}
		if err := g.checkOrigin(r); err != nil {
			return err
		}
	}
	return checkType(r)
}

// checkOrigin refuses a browser's request for a page that is not permitted.
func (g *Guard) checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin != "" {
		if !g.allowsOrigin(origin, r.Host) {
			return errOrigin(origin)
		}
		return nil
	}
	// Browsers request images, scripts and the like without Origin.
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	if site == "cross-site" && mode != "navigate" && !g.anyOrigins {
		return errOrigin("another site")
	}
	return nil
}

// checkType refuses bodies that a page may send anywhere without a preflight request: those not declared as JSON.
func checkType(r *http.Request) error {
	if r.Header.Get("Origin") == "" || r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	given := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(given)
	if err == nil && (media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")) {
		return nil
	}
	return errType(given)
}

// allowsHost reports whether the name in a Host header is permitted. IP addresses and loopback names always are, since
// no page can claim them as its own name. Names of the local network are, unless the server listens on loopback only. A
// missing name is too, since browsers always send one.
func (g *Guard) allowsHost(host string) bool {
	name := hostname(host)
	switch {
	case g.anyHost, name == "", name == "localhost", strings.HasSuffix(name, ".localhost"), isAddress(name):
		return true
	case !g.local && (!strings.Contains(name, ".") || strings.HasSuffix(name, ".local") || strings.HasSuffix(name, ".internal")):
		return true
	}
	for _, h := range g.hosts {
		if name == h || h[0] == '.' && strings.HasSuffix(name, h) {
			return true
		}
	}
	return false
}

// allowsOrigin reports whether pages of an origin are permitted: the server's own, those of this machine, and the
// configured ones.
func (g *Guard) allowsOrigin(origin, host string) bool {
	origin = strings.ToLower(origin)
	if g.anyOrigins || slices.Contains(g.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	name := hostname(u.Host)
	return strings.EqualFold(u.Host, host) || loopback(name) || slices.Contains(g.hosts, name)
}

// CrossOrigin lets web pages of permitted origins read responses. Browsers send a preflight OPTIONS request; the
// response for other origins grants nothing.
func (g *Guard) CrossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		h := w.Header()
		if origin != "" || len(g.origins) > 0 {
			h.Add("Vary", "Origin")
		}
		asks := origin != "" && r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
		granted := origin != "" && g.allowsOrigin(origin, r.Host) && (len(g.keys) > 0 || g.allowsHost(r.Host))
		if granted {
			h.Set("Access-Control-Allow-Origin", origin)
		}
		switch {
		case !asks:
			if granted {
				h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, X-Should-Retry")
			}
			next.ServeHTTP(w, r)
			return
		case granted:
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS") // HEAD needs no permission
			h.Set("Access-Control-Allow-Headers", "*")
			if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
				h.Set("Access-Control-Allow-Headers", asked) // "*" does not cover Authorization
			}
			h.Set("Access-Control-Max-Age", "600")
			if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
				h.Set("Access-Control-Allow-Private-Network", "true") // a page of another network asks for an address of this one
			}
		}
		w.WriteHeader(http.StatusOK)
	})
}

// hostname returns the name or address in a Host header, in lower case and without the port.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// loopback reports whether a name refers to this machine.
func loopback(name string) bool {
	if name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}

// Errors for requests that are not permitted.
var errNoKey = problem.New(problem.Problem{Status: http.StatusUnauthorized, Kind: problem.Denied, Code: "invalid_api_key", Message: "missing or invalid API key"})

func errHost(host string) error {
	return problem.New(problem.Problem{Status: http.StatusForbidden, Kind: problem.Forbidden, Code: "host_not_allowed",
		Message: fmt.Sprintf("the server may not be called %q; the server's flag --allowed-host allows names", hostname(host))})
}

func errOrigin(origin string) error {
	return problem.New(problem.Problem{Status: http.StatusForbidden, Kind: problem.Forbidden, Code: "origin_not_allowed",
		Message: fmt.Sprintf("web pages of %q may not use this server; the server's flag --allowed-origin allows origins", origin)})
}

func errType(given string) error {
	return problem.New(problem.Problem{Status: http.StatusUnsupportedMediaType, Kind: problem.Invalid, Code: "unsupported_media_type",
		Message: fmt.Sprintf("a request from a web page must have the content type application/json, not %q", given)})
}
