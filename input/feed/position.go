package feed

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// Phase tells the first snapshot from the tail that follows it.
type Phase string

// The phases, in their order.
const (
	PhaseSnapshot Phase = "snapshot"
	PhaseTail     Phase = "tail"
)

// Part divides a version of the tail, in the order in which it is read: recorded changes, else what was removed, then what was
// added. A snapshot has added rows only.
type Part string

// The parts, in their order.
const (
	PartCDC    Part = "cdc"
	PartRemove Part = "remove"
	PartAdd    Part = "add"
)

// Position says how far a table was read: everything up to and including Row of File was handed out. It is ordered, JSON,
// readable, and valid after columns, predicate or partition target changed.
type Position struct {
	TableID    string       `json:"table_id"`
	Version    int64        `json:"version"`
	Phase      Phase        `json:"phase"`
	Part       Part         `json:"part"`
	File       scanplan.Key `json:"file"`      // zero before the first file
	Row        int64        `json:"row"`       // last physical row handed out; -1: none of this file; see FileDone
	FileDone   bool         `json:"file_done"` // the whole file was handed out
	Done       bool         `json:"done"`      // the whole version was handed out
	SchemaHash string       `json:"schema_hash"`
	// Commit is the hash of the version's commit, by which it is known again (deltalog.Commit.Hash). "": not known; any will do.
	Commit string `json:"commit,omitzero"`
}

// Compare orders positions of one table by version, phase, part, file and row. What is finished comes after all its parts.
func (p Position) Compare(other Position) int {
	return cmp.Or(
		cmp.Compare(p.Version, other.Version),
		cmp.Compare(p.Phase.order(), other.Phase.order()),
		compareBools(p.Done, other.Done),
		cmp.Compare(p.Part.order(), other.Part.order()),
		p.File.Compare(other.File),
		compareBools(p.FileDone, other.FileDone),
		cmp.Compare(p.Row, other.Row),
	)
}

func (p Phase) order() int {
	if p == PhaseTail {
		return 1
	}
	return 0
}

func (p Part) order() int {
	switch p {
	case PartCDC:
		return 0
	case PartRemove:
		return 1
	default:
		return 2
	}
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// String is the JSON form, for messages and logs.
func (p Position) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ParsePosition reads the JSON form. Anything that this release would not write is a deltaerr Unresumable.
func ParsePosition(text []byte) (Position, error) {
	var p Position
	if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
		return Position{}, unreadable(mismatch(err))
	}
	switch {
	case p.TableID == "":
		return Position{}, unreadable("table_id is missing")
	case p.Version < 0:
		return Position{}, unreadable("version is negative")
	case p.Phase != PhaseSnapshot && p.Phase != PhaseTail:
		return Position{}, unreadable("phase is neither snapshot nor tail")
	case p.Part != PartCDC && p.Part != PartRemove && p.Part != PartAdd:
		return Position{}, unreadable("part is none of cdc, remove, add")
	case p.Row < -1:
		return Position{}, unreadable("row is below -1")
	}
	return p, nil
}

// mismatch says what a decoder found wrong, in words that do not depend on the language.
func mismatch(err error) string {
	var e *json.SemanticError
	switch {
	case !errors.As(err, &e):
		return strings.TrimPrefix(err.Error(), "jsontext: ")
	case errors.Is(err, json.ErrUnknownName):
		return "there is no field " + strings.TrimPrefix(string(e.JSONPointer), "/")
	case e.JSONPointer == "":
		return fmt.Sprintf("it must be a JSON object, as delta position show prints it, not a %s", e.JSONKind)
	default:
		return fmt.Sprintf("%s cannot be a %s", strings.TrimPrefix(string(e.JSONPointer), "/"), e.JSONKind)
	}
}

func unreadable(why string) error {
	return deltaerr.New(deltaerr.Unresumable, why, deltaerr.Phase("reading a position"))
}

// untouched says that nothing was handed out, nor any schema accepted, before the position.
func (p Position) untouched() bool { return p.Phase == PhaseTail && p.SchemaHash == "" }

// awaited says that the position is before a version that need not exist.
func (p Position) awaited() bool { return p.untouched() && !p.Done && p.Commit == "" }

// next is the version that is read next, or that reading goes on with.
func (p Position) next() int64 {
	if p.Done {
		return p.Version + 1
	}
	return p.Version
}
