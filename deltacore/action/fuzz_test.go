package action

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// FuzzScanner: any bytes give actions or a corrupt-file error, and what is accepted is JSON to others, too.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"add":{"path":"p=1/f","partitionValues":{"p":"1","q":null},"size":1,"stats":"{\"numRecords\":1}","deletionVector":{"storageType":"u","offset":1}}}`,
		`{"remove":{"path":"f","dataChange":true}}` + "\n\n" + `{"commitInfo":{"timestamp":1,"operation":"\u0041"}}`,
		`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["a"]}}`,
		`{"metaData":{"id":"i","format":{"provider":"parquet"},"schemaString":"{}","configuration":{"a":1}}}`,
		`{"txn":{"appId":"a","version":1}}` + "\r\n" + `{"domainMetadata":{"domain":"d"}}`,
		`{"sidecar":{"path":"s"}}` + "\n" + `{"checkpointMetadata":{"version":1}}` + "\n" + `{"cdc":{"path":"c"}}`,
		`{"add":{"path":"\ud83d\ude00\\\"` + "\x00", `{"add":{}}{}`, `{"add":[[[[`, "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := bytes.Split(data, []byte("\n"))
		s := NewScanner(bytes.NewReader(data))
		for range len(lines) + 1 {
			a, err := s.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.HasPrefix(err.Error(), "line ") {
					t.Fatalf("want a corrupt line by number, got %v", err)
				}
				return
			}
			if line := lines[s.line-1]; !json.Valid(line) {
				t.Fatalf("want %q refused, got %s", line, show(a))
			}
		}
		t.Fatal("want an end after the last line, got more actions than lines")
	})
}
