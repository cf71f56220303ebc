package deltalog

import (
	"strconv"
	"strings"
	"time"
)

// File is one file of the log.
type File struct {
	Name    string // in _delta_log
	Version int64
	Size    int64
	ModTime time.Time
}

// path is the file's place relative to the table root.
func (f File) path() string { return logDir + "/" + f.Name }

type nameKind int

const (
	commitName nameKind = iota + 1
	classicName
	partName
	uuidName
	compactionName
	checksumName
)

// logName is what a file name of the log says.
type logName struct {
	kind        nameKind
	version     int64
	part, parts int64 // of a multi-part checkpoint, 1-based
	through     int64 // last version of a compaction
}

const (
	versionDigits = 20
	partDigits    = 10
)

// parseName reads a name of L1. ok is false for every other one: those are ignored without error (L2).
func parseName(name string) (n logName, ok bool) {
	if len(name) <= versionDigits || name[versionDigits] != '.' {
		return logName{}, false
	}
	n.version, ok = parseDigits(name[:versionDigits], versionDigits)
	if !ok {
		return logName{}, false
	}
	rest := name[versionDigits+1:]
	switch {
	case rest == "json":
		n.kind = commitName
	case rest == "crc":
		n.kind = checksumName
	case rest == "checkpoint.parquet":
		n.kind = classicName
	case strings.HasPrefix(rest, "checkpoint."):
		return parseCheckpointName(n, strings.TrimPrefix(rest, "checkpoint."))
	default:
		return parseCompactionName(n, rest)
	}
	return n, true
}

// parseCheckpointName reads what follows "V.checkpoint.": "O.P.parquet" or "<uuid>.json|parquet".
func parseCheckpointName(n logName, rest string) (logName, bool) {
	middle, isParquet := strings.CutSuffix(rest, ".parquet")
	middle, isJSON := strings.CutSuffix(middle, ".json")
	if isParquet == isJSON {
		return logName{}, false
	}
	if isUUID(middle) {
		n.kind = uuidName
		return n, true
	}
	part, parts, _ := strings.Cut(middle, ".")
	var partOK, partsOK bool
	n.kind = partName
	n.part, partOK = parseDigits(part, partDigits)
	n.parts, partsOK = parseDigits(parts, partDigits)
	return n, isParquet && partOK && partsOK && 1 <= n.part && n.part <= n.parts
}

func parseCompactionName(n logName, rest string) (logName, bool) {
	digits, compacted := strings.CutSuffix(rest, ".compacted.json")
	through, ok := parseDigits(digits, versionDigits)
	n.kind, n.through = compactionName, through
	return n, compacted && ok && n.version <= through
}

// parseDigits reads exactly width ASCII digits. A number beyond int64 is none of ours.
func parseDigits(s string, width int) (int64, bool) {
	if len(s) != width {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil
}

// isUUID accepts the 8-4-4-4-12 form in either case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
