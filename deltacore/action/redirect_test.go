package action

import (
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// TestRedirectedTableIsRefused covers the redirect row of section 10: the error names the destination.
func TestRedirectedTableIsRefused(t *testing.T) {
	p := Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{redirectFeature, "vacuumProtocolCheck"}}
	const spec = `"spec":{"tablePath":"s3://user:secret@new/lake/orders"}`
	for setting, want := range map[string]string{
		"": "",
		`{"type":"PathBasedRedirect","state":"NO-REDIRECT",` + spec + `}`:                                                         "",
		`{"type":"PathBasedRedirect","state":"ENABLE-REDIRECT-IN-PROGRESS",` + spec + `}`:                                         "",
		`{"type":"PathBasedRedirect","state":"DROP-REDIRECT-IN-PROGRESS",` + spec + `}`:                                           "",
		`{"type":"PathBasedRedirect","state":"REDIRECT-READY",` + spec + `}`:                                                      "has moved to s3://new/lake/orders",
		`{"type":"PathBasedRedirect","state":"REDIRECT-READY","spec":"{\"tablePath\":\"s3://new/orders\"}","noRedirectRules":[]}`: "has moved to s3://new/orders",
		`{"type":"PathBasedRedirect","state":"REDIRECT-READY","spec":"elsewhere"}`:                                                "has moved to a place that its redirect does not name",
		`{"type":"PathBasedRedirect","state":"REDIRECT-READY"}`:                                                                   "has moved to a place that its redirect does not name",
		`{"type":"CatalogRedirect","state":"REDIRECT-READY",` + spec + `}`:                                                        `of the unknown type "CatalogRedirect"`,
		`{"type":"PathBasedRedirect","state":"SOON",` + spec + `}`:                                                                `in the unknown state "SOON"`,
		`{"type":`: "is not the JSON of a redirect",
	} {
		m := Metadata{Configuration: map[string]string{redirectProperty: setting}}
		err := CheckReadable(p, m)
		if names := UnsupportedFeatures(p, m); (want == "") != (err == nil) || (want == "") == slices.Contains(names, redirectFeature) {
			t.Errorf("%s: want %q, got %v, %v", setting, want, err, names)
		}
		if err != nil && (!strings.Contains(err.Error(), want) || deltaerr.KindOf(err) != deltaerr.Unsupported || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: want %q, got %v", setting, want, err)
		}
	}
}

// TestRedirectIsNamedBesideOtherFeatures covers F2, and that a redirect of writers alone does not concern a reader.
func TestRedirectIsNamedBesideOtherFeatures(t *testing.T) {
	m := Metadata{Configuration: map[string]string{redirectProperty: `{"type":"PathBasedRedirect","state":"REDIRECT-READY"}`}}
	p := Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{redirectFeature, "newFeature"}}
	err := CheckReadable(p, m)
	if err == nil || !strings.Contains(err.Error(), `reader features "newFeature", "redirectReaderWriter-preview" are not supported`) {
		t.Errorf("got %v", err)
	}
	p = Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"redirectWriterOnly-preview"}}
	m = Metadata{Configuration: map[string]string{"delta.redirectWriterOnly-preview": `{"state":"REDIRECT-READY"}`}}
	if err := CheckReadable(p, m); err != nil {
		t.Errorf("got %v", err)
	}
}
