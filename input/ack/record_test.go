package ack

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// at is a complete position in a version.
func at(version int64) feed.Position {
	return feed.Position{
		TableID: "t", Version: version, Phase: feed.PhaseTail, Part: feed.PartAdd,
		File: scanplan.Key{ModificationTime: version, Path: "a=é\"/b.parquet"}, Row: 7, SchemaHash: "h",
	}
}

func encoded(t *testing.T, sequence, version int64) []byte {
	t.Helper()
	text, err := Record{Sequence: sequence, Position: at(version)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sealed completes the beginning of a record with its checksum.
func sealed(body string) []byte {
	return []byte(body + checksumStart + checksum([]byte(body)) + checksumEnd)
}

func TestRecordReadsBackFromItsText(t *testing.T) {
	const start = `{"format":1,"sequence":3,"position":{"table_id":"t","version":5,`
	text := encoded(t, 3, 5)
	if !strings.HasPrefix(string(text), start) {
		t.Errorf("want text that begins with %s, got %s", start, text)
	}
	got, err := DecodeRecord(text)
	if want := (Record{Sequence: 3, Position: at(5)}); err != nil || got != want {
		t.Fatalf("want %v, got %v and %v", want, got, err)
	}
}

// TestRecordSaysWhatWasRead, which those of older releases do not. They read one that does: they take no notice of it.
func TestRecordSaysWhatWasRead(t *testing.T) {
	want := Record{Sequence: 3, Position: at(5), Reading: `all columns where "é" = 'x'`}
	text, err := want.Encode()
	if got, decodeErr := DecodeRecord(text); err != nil || decodeErr != nil || got != want {
		t.Errorf("want %v, got %v and %v", want, got, decodeErr)
	}
	var older struct {
		Format   int64          `json:"format"`
		Sequence int64          `json:"sequence"`
		Position jsontext.Value `json:"position"`
	}
	body, ok := verified(text)
	if err := json.Unmarshal(append(body, '}'), &older); !ok || err != nil || older.Format != 1 || older.Sequence != 3 {
		t.Errorf("want format 1 for older releases, too, got %+v, %v", older, err)
	}
	if text := encoded(t, 3, 5); strings.Contains(string(text), "reading") {
		t.Errorf("want nothing said of what is not known, got %s", text)
	}
}

func TestRecordTornOrChangedAnywhereIsDamaged(t *testing.T) {
	text := encoded(t, 3, 5)
	for i := range text {
		changed := append([]byte{}, text...)
		changed[i] ^= 0x20
		for name, damaged := range map[string][]byte{"torn": text[:i], "changed": changed, "beginning lost": text[i+1:]} {
			if r, err := DecodeRecord(damaged); deltaerr.KindOf(err) != deltaerr.Corrupt || r != (Record{}) {
				t.Fatalf("%s at byte %d: want a damaged record, got %v and %v", name, i, r, err)
			}
		}
	}
}

func TestRecordsThatCannotBeUsed(t *testing.T) {
	const position = `,"position":{"table_id":"t","version":1,"phase":"tail","part":"add"}`
	for name, c := range map[string]struct {
		body     string
		kind     deltaerr.Kind
		sequence int64
		want     string
	}{
		"of a later format":            {`{"format":2,"sequence":8,"place":[1]`, deltaerr.Unresumable, 8, "has format 2; this release reads up to 1"},
		"with a position of later use": {`{"format":1,"sequence":8,"position":{"table_id":"t","color":1}`, deltaerr.Unresumable, 8, "color"},
		"without a position":           {`{"format":1,"sequence":8`, deltaerr.Unresumable, 8, "reading a position"},
		"without a format":             {`{"sequence":8` + position, deltaerr.Corrupt, 0, "no format"},
		"without a sequence":           {`{"format":1` + position, deltaerr.Corrupt, 0, "no sequence"},
		"with too large a sequence":    {`{"format":1,"sequence":9007199254740993` + position, deltaerr.Corrupt, 0, "no sequence"},
		"that is no object":            {`[1`, deltaerr.Corrupt, 0, "not what its checksum says"},
		"with a key twice":             {`{"format":1,"format":1,"sequence":8` + position, deltaerr.Corrupt, 0, "duplicate"},
		"that is too long":             {`{"format":1,"sequence":8` + position + strings.Repeat(" ", maxRecord), deltaerr.Corrupt, 0, "torn"},
	} {
		r, err := DecodeRecord(sealed(c.body))
		if deltaerr.KindOf(err) != c.kind || r.Sequence != c.sequence || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %v with %q and sequence %d, got %v and %v", name, c.kind, c.want, c.sequence, r, err)
		}
	}
}

func TestAnyPositionReadsBackFromARecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := at(rapid.Int64Range(0, 1<<40).Draw(t, "version"))
		p.File.Path = strings.ToValidUTF8(rapid.String().Draw(t, "path"), "")
		want := Record{Sequence: rapid.Int64Range(1, maxSequence).Draw(t, "sequence"), Position: p}
		want.Reading = strings.ToValidUTF8(rapid.String().Draw(t, "reading"), "")
		text, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeRecord(text); err != nil || got != want {
			t.Fatalf("want %v, got %v and %v", want, got, err)
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"format":1,"sequence":3,"position":{"table_id":"t","version":1,"phase":"tail","part":"add"}`), true)
	f.Add([]byte(`{"format":1,"sequence":3,"position":{"table_id":"t","version":1,"phase":"tail","part":"add"},"reading":"a where b"`), true)
	f.Add([]byte(`{"format":2,"sequence":3`), true)
	f.Add([]byte(`{}`), false)
	f.Fuzz(func(t *testing.T, text []byte, whole bool) {
		if whole {
			text = sealed(string(text))
		}
		r, err := DecodeRecord(text)
		if err != nil {
			if k := deltaerr.KindOf(err); k != deltaerr.Corrupt && k != deltaerr.Unresumable {
				t.Fatalf("want a damaged or an unresumable record, got %v", err)
			}
			return
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeRecord(again); err != nil || got != r {
			t.Fatalf("want %v to read back, got %v and %v", r, got, err)
		}
	})
}
