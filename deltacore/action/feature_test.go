package action

import (
	"reflect"
	"testing"
)

func TestFeaturesSayWhatIsSupportedAndWhyNot(t *testing.T) {
	for name, c := range map[string]struct {
		protocol Protocol
		metadata Metadata
		want     []Feature
	}{
		"none": {Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, Metadata{}, nil},
		"a reader feature is named once": {
			Protocol{MinReaderVersion: 3, ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: []string{"invariants", "deletionVectors", "appendOnly"}},
			Metadata{},
			[]Feature{
				{Name: "deletionVectors", Reader: true, Supported: true},
				{Name: "appendOnly", Supported: true},
				{Name: "invariants", Supported: true},
			},
		},
		"what is known and what is not": {
			Protocol{MinReaderVersion: 3, ReaderFeatures: []string{"nobodyKnows", "catalogManaged"}},
			Metadata{},
			[]Feature{
				{Name: "catalogManaged", Reader: true, Reason: catalogNote},
				{Name: "nobodyKnows", Reader: true, Reason: "this release cannot read tables with it"},
			},
		},
		"the mapping that reader version 2 implies": {
			Protocol{MinReaderVersion: 2, MinWriterVersion: 5},
			Metadata{Configuration: map[string]string{columnMappingMode: "name"}},
			[]Feature{{Name: columnMappingFeature, Reader: true, Supported: true}},
		},
		"a redirect that has moved the table": {
			Protocol{MinReaderVersion: 3, ReaderFeatures: []string{redirectFeature}},
			Metadata{Configuration: map[string]string{
				redirectProperty: `{"type":"PathBasedRedirect","state":"REDIRECT-READY","spec":{"tablePath":"/new"}}`,
			}},
			[]Feature{{Name: redirectFeature, Reader: true, Reason: "the table has moved to /new"}},
		},
		"a redirect that is gone": {
			Protocol{MinReaderVersion: 3, ReaderFeatures: []string{redirectFeature}},
			Metadata{},
			[]Feature{{Name: redirectFeature, Reader: true, Supported: true}},
		},
	} {
		if got := Features(c.protocol, c.metadata); !reflect.DeepEqual(c.want, got) {
			t.Errorf("%s: want %+v, got %+v", name, c.want, got)
		}
	}
}
