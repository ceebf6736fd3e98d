package llamacpp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// A slotReply is a slot.
type slotReply struct {
	ID          int       `json:"id"`
	Context     int       `json:"n_ctx"`
	Speculative bool      `json:"speculative"`
	Processing  bool      `json:"is_processing"`
	Params      *settings `json:"params,omitempty"`
}

// Slots handles GET /slots: it lists a model's slots and which of them are in use. With ?fail_on_no_slot=1 it fails if
// all are.
func (s *Handlers) Slots(r *http.Request) (wire.Answer, error) {
	h, err := s.Models.Find(r.URL.Query().Get("model"))
	if err != nil {
		return nil, err
	}
	out := []slotReply{}
	free := 0
	if m := h.InMemory(); m != nil {
		busy := func(i int) bool { return i < m.Text.Stats().Active }
		if m.Engine != nil {
			places := m.Engine.Places()
			busy = func(i int) bool { return places[i].Busy }
		}
		for i := range m.Text.Parallel() {
			one := slotReply{ID: i, Context: contextOf(m), Processing: busy(i)}
			if out = append(out, one); !one.Processing {
				free++
			}
		}
	}
	if r.URL.Query().Get("fail_on_no_slot") != "" && free <= 0 {
		return nil, errNoSlot
	}
	return wire.JSON{Value: out}, nil
}

// savedReply, restoredReply and erasedReply report the result of a slot action.
type savedReply struct {
	ID       int       `json:"id_slot"`
	Filename string    `json:"filename"`
	Saved    int       `json:"n_saved"`   // tokens
	Written  int64     `json:"n_written"` // bytes
	Timings  slotTimes `json:"timings"`
}

type restoredReply struct {
	ID       int       `json:"id_slot"`
	Filename string    `json:"filename"`
	Restored int       `json:"n_restored"` // tokens
	Read     int64     `json:"n_read"`     // bytes
	Timings  slotTimes `json:"timings"`
}

type erasedReply struct {
	ID     int `json:"id_slot"`
	Erased int `json:"n_erased"` // tokens
}

type slotTimes struct {
	Save    float64 `json:"save_ms,omitempty"`
	Restore float64 `json:"restore_ms,omitempty"`
}

// SlotAction handles POST /slots/N?action=save, restore or erase: it writes a slot's state to a file in SlotFolder,
// reads it from one, or erases it.
func (s *Handlers) SlotAction(r *http.Request) (wire.Answer, error) {
	if s.SlotFolder == "" {
		return nil, notSupported("not_offered", "slots are not saved: the server's flag --slot-save-path names a folder for them; --prompt-cache keeps prompts on disk without being asked")
	}
	id, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/slots/"))
	if err != nil || id < 0 {
		return nil, wire.Invalid("id_slot", "the path must end in the number of a slot")
	}
	file, model, err := slotFile(r)
	if err != nil {
		return nil, err
	}
	m, err := s.Models.Named(r.Context(), model, nil)
	if err != nil {
		return nil, err
	}
	if m.Engine == nil {
		return nil, notSupported("not_offered", "the model %q has no slots", m.Name)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	// One at a time: each holds the state of a whole text, and stops the loop while it is copied.
	select {
	case s.slotTurn <- struct{}{}:
		defer func() { <-s.slotTurn }()
	case <-ctx.Done():
		if r.Context().Err() == nil {
			return nil, errNoSlot
		}
		return nil, context.Cause(r.Context())
	}
	action := r.URL.Query().Get("action")
	client := wire.ClientOf(r)
	if places := m.Engine.Places(); s.SlotOwners && id < len(places) && action != "restore" && places[id].Tokens > 0 && places[id].Client != client {
		return nil, problem.New(problem.Problem{Status: http.StatusForbidden, Kind: problem.Forbidden, Param: "id_slot", Code: "slot_of_another_key",
			Message: fmt.Sprintf("the slot %d holds a text of another API key", id)})
	}
	answer, err := s.act(ctx, action, m, id, client, file)
	var place *engine.PlaceError
	switch {
	case errors.As(err, &place):
		return nil, wire.Invalid("id_slot", "there is no slot %d; there are %d", id, place.Places)
	case errors.Is(err, backend.ErrState), errors.Is(err, backend.ErrNoSlot):
		return nil, wire.Invalid("filename", "the slot can't be restored: %v", err)
	case errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil:
		return nil, errNoSlot
	}
	return answer, err
}

func (s *Handlers) act(ctx context.Context, action string, m *registry.Model, id int, client, file string) (wire.Answer, error) {
	start := time.Now()
	since := func() float64 { return float64(time.Since(start).Microseconds()) / 1000 }
	if action == "erase" {
		n, err := m.Engine.Erase(ctx, id)
		return wire.JSON{Value: erasedReply{id, n}}, err
	}
	if action != "save" && action != "restore" {
		return nil, wire.Invalid("action", "action must be save, restore or erase, not %.40q", action)
	}
	if file == "" {
		return nil, wire.Invalid("filename", "filename is missing")
	}
	folder, err := s.slotFolder(client)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if action == "save" {
		state, err := m.Engine.Save(ctx, id)
		if err == nil {
			err = s.writeSlot(folder, client, file, &state)
		}
		return wire.JSON{Value: savedReply{id, file, len(state.Tokens), state.Size(), slotTimes{Save: since()}}}, err
	}
	state, release, err := s.readSlot(folder, client, file)
	if err == nil {
		defer release()
		err = m.Engine.Restore(ctx, id, client, *state)
	}
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: restoredReply{id, file, len(state.Tokens), state.Size(), slotTimes{Restore: since()}}}, nil
}

// slotFile returns the file and the model that a request names. The body may be absent.
func slotFile(r *http.Request) (file, model string, err error) {
	model = r.URL.Query().Get("model")
	if r.ContentLength == 0 {
		return "", model, nil
	}
	o, err := wire.ReadObject(r)
	if err != nil {
		return "", "", err
	}
	for _, err := range []error{o.Only("filename", "model"), o.Str("filename", &file), o.Str("model", &model)} {
		if err != nil {
			return "", "", err
		}
	}
	const longest = 200
	if file != "" && (len(file) > longest || strings.ContainsFunc(file, func(c rune) bool { return c < ' ' || c == '/' || c == '\\' || c == ':' }) || strings.HasPrefix(file, ".")) {
		return "", "", wire.Invalid("filename", "filename must be the name of a file, of at most %d bytes, without a folder and without a dot at its beginning", longest)
	}
	return file, model, nil
}
