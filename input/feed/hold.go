package feed

// hold keeps the newest rows of a version that is loaded again until it is known whether others follow, so that the last
// ones can say so.
type hold struct {
	fresh bool // no rows of the version were handed out, nor a position inside it: behind one, rows are not the first
	rows  *Rows
	after *Progress // that came behind the rows
}

// take returns what can be handed out when e comes, which may be nil.
func (h *hold) take(e Event) []Event {
	switch e := e.(type) {
	case Rows:
		out := h.release()
		e.First, h.fresh = h.fresh, false
		h.rows = &e
		return out
	case Progress:
		switch {
		case h.fresh:
		case h.rows == nil:
			return []Event{e}
		default:
			h.after = &e
		}
	}
	return nil
}

// last returns what is held as the last of the version.
func (h *hold) last() []Event {
	if h.rows != nil {
		h.rows.Last = true
	}
	return h.release()
}

// release returns what is held.
func (h *hold) release() (out []Event) {
	if h.rows != nil {
		out = append(out, *h.rows)
	}
	if h.after != nil {
		out = append(out, *h.after)
	}
	h.rows, h.after = nil, nil
	return out
}
