package input

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

const longestReading = 1000 // bytes of what a record says

// readingOf says, for people, which columns and rows of its table an input reads. Two that read others have other texts.
func readingOf(c configspec.Config) string {
	text := columnsRead(c)
	if c.Where != nil {
		text += " where " + c.Where.String()
	}
	if len(text) <= longestReading {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return strings.ToValidUTF8(text[:longestReading-60], "") + "… (SHA-256 " + hex.EncodeToString(sum[:8]) + ")"
}

func columnsRead(c configspec.Config) string {
	if len(c.Columns) == 0 {
		return "all columns"
	}
	return "the columns " + strings.Join(c.Columns, ", ")
}

// readsOtherColumns says whether a text of readingOf, "" where it is not known, is surely one of other columns.
func readsOtherColumns(stored string, c configspec.Config) bool {
	now := columnsRead(c)
	if stored == "" || len(stored) > longestReading-100 || len(now) > longestReading-100 { // cut, maybe
		return false
	}
	return stored != now && !strings.HasPrefix(stored, now+" where ")
}

// noticeReading tells when a position was stored by an input that read something else. It is valid all the same: what comes
// behind it is read as it is configured now.
func (p *positions) noticeReading(stored string) {
	p.otherColumns = readsOtherColumns(stored, p.config)
	if now := readingOf(p.config); stored != "" && stored != now {
		p.log.Infof("The position was stored with %s; it goes on with %s, for the rows behind it", stored, now)
	}
}
