package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// supportedFeatures are the reader features that this reader reads exactly (section 10).
var supportedFeatures = map[string]bool{
	// Timestamps without a zone: a type of its own, read by schema and parquetio.
	"timestampNtz": true,
	// The name that early writers gave it (F4).
	"timestampWithoutTimezone": true,
	// Tells those who delete files to look at the protocol first; a reader has nothing to do.
	"vacuumProtocolCheck": true,
	// How columns are found in files: datafile matches by physical name or id (section 15).
	columnMappingFeature: true,
	// Rows that are deleted without rewriting their file (section 14).
	DeletionVectorsFeature: true,
	// Old files may hold narrower types; decided by each file (section 16).
	"typeWidening":         true,
	"typeWidening-preview": true,
	// The form of checkpoints: deltalog reads all of them (section 5).
	"v2Checkpoint": true,
	// A type of its own, shredded in the data files or not: files say so, not the feature (F3, V3, V6).
	"variantType":              true,
	"variantType-preview":      true,
	"variantShredding":         true,
	"variantShredding-preview": true,
}

// featureNotes say what an unsupported feature means for whoever wanted to read the table.
var featureNotes = map[string]string{
	"catalogManaged":           catalogNote,
	"catalogOwned":             catalogNote,
	"catalogOwned-preview":     catalogNote,
	"adaptiveMetadata-preview": "the table's file list is not in its Delta checkpoints",
	redirectFeature:            "the table has moved",
}

const (
	// catalogNote is rule M1: published commits alone may be behind what the catalog has accepted.
	catalogNote = "the table is catalog-managed and path-based access is refused: only its catalog knows the latest version"

	columnMappingFeature = "columnMapping"
)

// DeletionVectorsFeature must be on in a table that has deletion vectors (D10).
const DeletionVectorsFeature = "deletionVectors"

// CheckReadable says whether this reader can read a table of protocol p and metadata m: nil, or a deltaerr Unsupported
// that names the protocol version, every feature that is in the way (F1, F2), or the data files' format (A8).
func CheckReadable(p Protocol, m Metadata) error {
	if wrong := versionProblem(p); wrong != "" {
		return unsupported(wrong)
	}
	names := UnsupportedFeatures(p, m)
	if slices.Equal(names, []string{redirectFeature}) {
		return deltaerr.New(deltaerr.Unsupported, redirectProblem(m), deltaerr.Phase("checking the protocol"),
			deltaerr.Hint("read the table at its new place"))
	}
	if len(names) > 0 {
		return unsupported(describe(names))
	}
	if f := m.Format.Provider; f != "" && !strings.EqualFold(f, "parquet") {
		return unsupported(fmt.Sprintf("data files of format %q are not supported, only parquet is", f))
	}
	return nil
}

// UnsupportedFeatures lists the reader features that the table needs and this reader does not support, sorted. A table
// of reader version 2 needs columnMapping when its metadata turns that on; one of version 1 ignores the setting (F3).
func UnsupportedFeatures(p Protocol, m Metadata) []string {
	var names []string
	for _, name := range p.ReaderFeatures {
		if !supportedFeatures[name] && (name != redirectFeature || redirectProblem(m) != "") {
			names = append(names, name)
		}
	}
	if p.MinReaderVersion == 2 && mapsColumns(m) && !supportedFeatures[columnMappingFeature] {
		names = append(names, columnMappingFeature)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func mapsColumns(m Metadata) bool {
	mode := m.Configuration[columnMappingMode]
	return mode != "" && !strings.EqualFold(mode, "none")
}

// versionProblem judges the versions alone (F1).
func versionProblem(p Protocol) string {
	switch {
	case p.MinReaderVersion < 1 || p.MinReaderVersion > 3:
		return fmt.Sprintf("reader version %d is not supported, only 1 to 3 are", p.MinReaderVersion)
	case p.MinReaderVersion == 3 && p.MinWriterVersion != 7:
		return fmt.Sprintf("reader version 3 goes with writer version 7, but the protocol has %d", p.MinWriterVersion)
	case p.MinReaderVersion == 3 && p.ReaderFeatures == nil:
		return "reader version 3 needs a list of readerFeatures, but the protocol has none"
	}
	return ""
}

// describe says that features are not supported, and what that means where there is more to say.
func describe(names []string) string {
	quoted := make([]string, len(names))
	var notes []string
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
		if note := featureNotes[name]; note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	text := "reader feature " + quoted[0] + " is not supported"
	if len(names) > 1 {
		text = "reader features " + strings.Join(quoted, ", ") + " are not supported"
	}
	return strings.Join(append([]string{text}, notes...), "; ")
}

func unsupported(msg string) error {
	return deltaerr.New(deltaerr.Unsupported, msg, deltaerr.Phase("checking the protocol"),
		deltaerr.Hint("read the table with an engine that supports it"))
}
