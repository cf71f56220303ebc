package action

import (
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

func features(names ...string) Protocol {
	if names == nil {
		names = []string{}
	}
	return Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: names, WriterFeatures: names}
}

func mapping(mode string) Metadata {
	return Metadata{Configuration: map[string]string{"delta.columnMapping.mode": mode}}
}

func TestCheckReadable(t *testing.T) {
	const phase = "checking the protocol: "
	cases := []struct {
		name string
		p    Protocol
		m    Metadata
		want string // "" is readable
	}{
		{"reader 1", Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, Metadata{}, ""},
		{"reader 1 ignores a mapping mode", Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, mapping("name"), ""},
		{"reader 2 without mapping", Protocol{MinReaderVersion: 2, MinWriterVersion: 5}, Metadata{}, ""},
		{"reader 2 with mode none", Protocol{MinReaderVersion: 2, MinWriterVersion: 5}, mapping("none"), ""},
		{"reader 2 with mode name", Protocol{MinReaderVersion: 2, MinWriterVersion: 5}, mapping("name"), ""},
		{"reader 3 without features", features(), Metadata{}, ""},
		{"reader 3 ignores a mapping mode without the feature", features(), mapping("id"), ""},
		{"reader 3 with supported features", features("timestampNtz", "vacuumProtocolCheck", "timestampWithoutTimezone"), Metadata{}, ""},
		{"one unsupported", features("timestampNtz", "geospatial"), Metadata{}, phase + `reader feature "geospatial" is not supported`},
		{
			"all unsupported are named", features("timeCrystals", "geospatial", "quantumPages", "geospatial"),
			Metadata{},
			phase + `reader features "geospatial", "quantumPages", "timeCrystals" are not supported`,
		},
		{
			"catalog-managed", features("vacuumProtocolCheck", "catalogManaged"),
			Metadata{},
			phase + `reader feature "catalogManaged" is not supported; the table is catalog-managed and path-based access is refused: only its catalog knows the latest version`,
		},
		{
			"writer features do not matter",
			Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{}, WriterFeatures: []string{"liquid", "deletionVectors"}},
			Metadata{},
			"",
		},
		{"reader 3 without a list", Protocol{MinReaderVersion: 3, MinWriterVersion: 7}, Metadata{}, phase + "reader version 3 needs a list of readerFeatures, but the protocol has none"},
		{
			"reader 3 with another writer",
			Protocol{MinReaderVersion: 3, MinWriterVersion: 5, ReaderFeatures: []string{}},
			Metadata{},
			phase + "reader version 3 goes with writer version 7, but the protocol has 5",
		},
		{"reader 0", Protocol{MinWriterVersion: 2}, Metadata{}, phase + "reader version 0 is not supported, only 1 to 3 are"},
		{"reader 99", Protocol{MinReaderVersion: 99, MinWriterVersion: 99}, Metadata{}, phase + "reader version 99 is not supported, only 1 to 3 are"},
		{"features of a version without features count", Protocol{MinReaderVersion: 1, ReaderFeatures: []string{"x"}}, Metadata{}, phase + `reader feature "x" is not supported`},
		{"provider in another case", Protocol{MinReaderVersion: 1}, Metadata{Format: Format{Provider: "PARQUET"}}, ""},
		{"other provider", Protocol{MinReaderVersion: 1}, Metadata{Format: Format{Provider: "orc"}}, phase + `data files of format "orc" are not supported, only parquet is`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := CheckReadable(c.p, c.m)
			got := ""
			if err != nil {
				got = strings.TrimSuffix(err.Error(), " (read the table with an engine that supports it)")
			}
			if c.want != got {
				t.Errorf("want %q\ngot  %q", c.want, got)
			}
			if err != nil && deltaerr.KindOf(err) != deltaerr.Unsupported {
				t.Errorf("want kind unsupported, got %s", deltaerr.KindOf(err))
			}
		})
	}
}

func TestUnsupportedFeaturesAreSortedAndLeaveTheProtocolAlone(t *testing.T) {
	p := features("z", "a", "timestampNtz", "z")
	if want, got := []string{"a", "z"}, UnsupportedFeatures(p, Metadata{}); !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
	if want := []string{"z", "a", "timestampNtz", "z"}; !slices.Equal(want, p.ReaderFeatures) {
		t.Errorf("want the protocol unchanged, got %q", p.ReaderFeatures)
	}
}
