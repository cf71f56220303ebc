// Package deltaerr answers one question about a failure: what can the caller do about it?
//
// There is one error struct. Its kinds are one per reaction of a caller, so they survive being shown in a log, counted
// in a metric or carried over a process boundary. Packages create an [Error] where something went wrong and add what
// they know (table, version, file, column) with [Annotate] on its way up; the text is formed here and nowhere else.
// Errors are returned, never logged: the edge (the input, the command line) reports each one once.
package deltaerr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says how a caller should react. The order is stable: it is written to logs and other processes by name.
type Kind int

const (
	Internal    Kind = iota // our own bug: report it
	Config                  // the user asked for something that cannot be: change the configuration
	Unsupported             // a feature of the table this reader does not read: use another reader, or wait for a release
	Corrupt                 // bytes that break the format: repair or restore the table
	NotFound                // a table, version or file does not exist
	Denied                  // credentials are missing or not sufficient
	Transient               // may succeed when tried again
	Unresumable             // a stored position cannot be continued from
	Replaced                // the table is not the one that the position belongs to
)

var kindNames = [...]string{
	"internal", "config", "unsupported", "corrupt", "not_found", "denied", "transient", "unresumable", "replaced",
}

// String returns the kind's stable name, for example "not_found".
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", int(k))
	}
	return kindNames[k]
}

// Error is a failure with the place where it happened. Create one with [New].
type Error struct {
	Kind   Kind
	Phase  string // what was being done, gerund first: "reading the footer"
	Msg    string // what is wrong
	Table  string // redacted URI of the table
	File   string // path relative to the table root, decoded
	Column string // dotted path of a column
	Hint   string // what to do next, a clause or sentence without a full stop
	Cause  error

	version int64 // version + 1; 0 means unknown
}

// Attr adds one fact to an error.
type Attr func(*Error)

// Phase says what was being done, gerund first: "reading the footer".
func Phase(format string, args ...any) Attr {
	return func(e *Error) { fill(&e.Phase, fmt.Sprintf(format, args...)) }
}

// Table names the table by its URI, which is redacted.
func Table(uri string) Attr { return func(e *Error) { fill(&e.Table, RedactURI(uri)) } }

// Version names the table version that was being read.
func Version(v int64) Attr {
	return func(e *Error) {
		if e.version == 0 && v >= 0 {
			e.version = v + 1
		}
	}
}

// File names the file at fault, relative to the table root.
func File(path string) Attr { return func(e *Error) { fill(&e.File, path) } }

// Column names the column at fault.
func Column(path string) Attr { return func(e *Error) { fill(&e.Column, path) } }

// Hint says what to do next.
func Hint(format string, args ...any) Attr {
	return func(e *Error) { fill(&e.Hint, fmt.Sprintf(format, args...)) }
}

// Cause keeps the underlying error in the chain.
func Cause(err error) Attr {
	return func(e *Error) {
		if e.Cause == nil {
			e.Cause = err
		}
	}
}

func fill(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// New returns an error of a kind with what is wrong and what is known about it.
func New(kind Kind, msg string, attrs ...Attr) *Error {
	e := &Error{Kind: kind, Msg: msg}
	for _, a := range attrs {
		a(e)
	}
	return e
}

// Annotate returns err with the facts in attrs that it does not have yet: what is nearest to the failure wins. An error
// that is no [Error], or wraps one by hand, becomes the cause of one of the kind that [KindOf] finds. A nil error stays
// nil, and the end of a context stays recognisable by errors.Is.
func Annotate(err error, attrs ...Attr) error {
	if err == nil {
		return nil
	}
	e := Error{Kind: KindOf(err), Cause: err}
	if own, ok := err.(*Error); ok { //nolint:errorlint // a wrapper's text would be lost
		e = *own
	}
	for _, a := range attrs {
		a(&e)
	}
	return &e
}

// KnownVersion returns the version at fault, and whether it is known.
func (e *Error) KnownVersion() (int64, bool) { return e.version - 1, e.version > 0 }

// Error forms the message: where, what was being done, what is wrong, what to do.
func (e *Error) Error() string {
	var parts []string
	for _, p := range []string{e.where(), e.Phase, e.Msg} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if e.Cause != nil {
		parts = append(parts, e.Cause.Error())
	}
	text := strings.Join(parts, ": ")
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

func (e *Error) where() string {
	var parts []string
	add := func(noun, name string) {
		if name != "" {
			parts = append(parts, noun+" "+printable(name))
		}
	}
	add("table", e.Table)
	if v, ok := e.KnownVersion(); ok {
		add("version", strconv.FormatInt(v, 10))
	}
	add("file", e.File)
	add("column", e.Column)
	return strings.Join(parts, ", ")
}

// printable quotes a name that would break a line of a log or hide in it.
func printable(name string) string {
	if strings.ContainsFunc(name, hidden) {
		return strconv.Quote(name)
	}
	return name
}

func hidden(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of the nearest [Error] in the chain. Other errors are judged by what they are: a missing file
// is NotFound, a refused one Denied, a deadline Transient; everything else is Internal.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, fs.ErrNotExist):
		return NotFound
	case errors.Is(err, fs.ErrPermission):
		return Denied
	case errors.Is(err, context.DeadlineExceeded):
		return Transient
	default:
		return Internal
	}
}

// Retryable says whether doing the same again may succeed without anybody changing anything.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false // nobody is waiting for the answer
	}
	// Transient: the store was busy, unreachable or slow. Denied is none: the same credentials get the same answer, and an
	// expired token is renewed where it is used. All others repeat with the same bytes, configuration or bug.
	return KindOf(err) == Transient
}
