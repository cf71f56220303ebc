package ack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// recordFormat is the number of the form that this release writes, and the highest that it reads. It changes when a position
// means something else: with another canonical order of files, for instance.
const recordFormat = 1

const (
	maxRecord   = 1 << 20 // bytes; a record has one path and is far smaller
	maxSequence = 1 << 53 // what every JSON parser reads exactly
)

// Record is a position as it is stored. Of two records the one with the higher sequence was written later.
//
// The text is one JSON object, {"format":1,"sequence":7,"position":{…},"reading":"…","checksum":"…"}. The checksum is the
// first 16 hex digits of the SHA-256 of all that stands before its comma. Every format keeps format, sequence and checksum in
// this form, so that a record of a later release is told from a damaged one.
type Record struct {
	Sequence int64 // from 1
	Position feed.Position
	Reading  string // what of the table was read, for people; "": not known, as in records of releases before it
}

// envelope is what a record holds before its checksum.
type envelope struct {
	Format   int64          `json:"format"`
	Sequence int64          `json:"sequence"`
	Position jsontext.Value `json:"position"`
	Reading  string         `json:"reading,omitzero"`
}

const (
	checksumDigits = 16
	checksumStart  = `,"checksum":"`
	checksumEnd    = `"}`
)

// Encode returns the text of the record.
func (r Record) Encode() ([]byte, error) {
	if r.Sequence > maxSequence { // nobody saves that often: it was made up
		return nil, deltaerr.New(deltaerr.Unresumable, "there is no sequence after that of the stored position",
			deltaerr.Hint("delete both keys"))
	}
	position, err := json.Marshal(r.Position)
	if err != nil {
		return nil, unencodable(r, err)
	}
	text, err := json.Marshal(envelope{Format: recordFormat, Sequence: r.Sequence, Position: position, Reading: r.Reading})
	if err != nil {
		return nil, unencodable(r, err)
	}
	body := bytes.TrimSuffix(text, []byte("}"))
	return append(body, checksumStart+checksum(body)+checksumEnd...), nil
}

func unencodable(r Record, err error) error {
	return deltaerr.New(deltaerr.Internal, "the position has no JSON form", deltaerr.Cause(err),
		deltaerr.Phase("storing a position of version %d", r.Position.Version))
}

// DecodeRecord reads the text of a record. What is torn or changed is a deltaerr Corrupt; what a later release wrote is an
// Unresumable, and then the sequence is returned all the same.
func DecodeRecord(text []byte) (Record, error) {
	body, ok := verified(text)
	if !ok {
		return Record{}, damaged("the record is torn or was changed")
	}
	var e envelope
	if err := json.Unmarshal(append(bytes.Clone(body), '}'), &e); err != nil {
		return Record{}, damaged("the record is not what its checksum says: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if e.Format < 1 || e.Sequence < 1 || e.Sequence > maxSequence {
		return Record{}, damaged("the record has no format or no sequence")
	}
	if e.Format > recordFormat {
		return Record{Sequence: e.Sequence}, deltaerr.New(deltaerr.Unresumable,
			fmt.Sprintf("the record has format %d; this release reads up to %d", e.Format, recordFormat),
			deltaerr.Hint("use the release that wrote it, or a later one"))
	}
	position, err := feed.ParsePosition(e.Position)
	return Record{Sequence: e.Sequence, Position: position, Reading: e.Reading}, err
}

// verified returns what stands before the checksum, if that is right.
func verified(text []byte) ([]byte, bool) {
	n := len(text) - len(checksumStart) - checksumDigits - len(checksumEnd)
	if n < 0 || len(text) > maxRecord {
		return nil, false
	}
	body := text[:n]
	return body, string(text[n:]) == checksumStart+checksum(body)+checksumEnd
}

func checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:checksumDigits/2])
}

func damaged(why string) error { return deltaerr.New(deltaerr.Corrupt, why) }
