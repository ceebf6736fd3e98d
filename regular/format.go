package regular

// Format returns the language of a format of JSON Schema, false if this package
// has none for it.
func (s *Store) Format(name string) (Expr, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return exprEmpty, false
}
