package sets

import "errors"

// A State describes a data set and whether its files are available.
type State struct {
	Name  string      `json:"name"`
	About string      `json:"about"`
	Cases *int        `json:"cases"`           // nil: the set can't be read
	Error string      `json:"error,omitempty"` // the reason
	Files []FileState `json:"files"`
}

// A FileState describes a file of a data set.
type FileState struct {
	Name   string `json:"name"`
	State  string `json:"state"` // present, missing or other version
	Source string `json:"source"`
	SHA256 string `json:"sha256,omitempty"`
}

// States returns the states of all data sets.
func States(folders Folders) (list []State) {
	for _, s := range All() {
		one := State{Name: s.Name, About: s.About, Files: []FileState{}}
		cases, err := s.Cases(folders)
		switch n := len(cases); {
		case errors.Is(err, ErrMissing):
			one.Error = "missing"
		case err != nil:
			one.Error = err.Error()
		default:
			one.Cases = &n
		}
		for _, file := range s.Files {
			state := "present"
			if _, err := folders.Read(file); errors.Is(err, ErrMissing) {
				state = "missing"
			} else if err != nil {
				state = "other version"
			}
			one.Files = append(one.Files, FileState{file.Name, state, file.Source, file.SHA256})
		}
		list = append(list, one)
	}
	return list
}
