package server

import (
	"net/http"
)

// generateJSON is POST /generate_json: a JSON document that fits a schema, or
// any JSON document.
func (s *nativeAPI) generateJSON(r *http.Request) (answer, error) { return s.native(r, true) }
