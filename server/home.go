package server

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/stencil-json/stencil/server/wire"
)

// home serves a page to browsers at /, the address that serve prints. Other clients get Ollama's line "Ollama is running",
// by which Ollama's clients detect a server.
func (s *Server) home(hello wire.Handler) wire.Handler {
	return func(r *http.Request) (wire.Answer, error) {
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			return hello(r)
		}
		p := page{Version: s.cfg.Version, URL: "http://" + r.Host}
		if r.TLS != nil {
			p.URL = "https://" + r.Host
		}
		if hosts, err := s.models.List(); err == nil { // else the model is being loaded
			for _, h := range hosts {
				p.Models = append(p.Models, h.Name)
			}
		}
		return p, nil
	}
}

// page is the answer to a browser.
type page struct {
	Version string
	URL     string // of the server, as the browser has it
	Models  []string
}

// Write writes the page, which loads nothing else. The policy forbids scripts and foreign content.
func (p page) Write(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	return pageTemplate.Execute(w, p)
}

var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>stencil</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44em; margin: 3em auto; padding: 0 1em; color: #222; background: #fff }
pre { background: #f4f4f4; padding: 1em; overflow-x: auto; font-size: 13px }
li { margin: .2em 0 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } pre { background: #262626 } a { color: #8ab4f8 } }
</style>
<h1>stencil</h1>
<p>A local inference server for structured output{{with .Version}}, version {{.}}{{end}}. It is used by programs; there is no chat here.</p>
{{if .Models}}<p>Models:</p>
<ul>{{range .Models}}<li>{{.}}</li>{{end}}</ul>
<pre>curl -s {{.URL}}/generate_json -d '{
  "messages": [{"role": "user", "content": "Maria Lopez, 34, lives in Bergen."}],
  "schema": {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"], "additionalProperties": false
  }
}'</pre>{{else}}<p>The model is still being loaded.</p>{{end}}
<p>Clients of OpenAI's servers use <code>{{.URL}}/v1</code>, those of Anthropic's and Ollama's <code>{{.URL}}</code>.
See also <a href="/v1/models">models</a>, <a href="/readyz">what is running</a> and <a href="/metrics">metrics</a>;
the documentation is in <code>docs/</code> of the repository.</p>
</html>
`))
