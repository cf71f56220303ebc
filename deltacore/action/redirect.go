package action

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	redirectFeature  = "redirectReaderWriter-preview"
	redirectProperty = "delta." + redirectFeature
	redirectByPath   = "PathBasedRedirect"
	redirectReady    = "REDIRECT-READY"
)

// redirectStates are those in which the table is read where it is (section 10): the move has not happened yet, or is being
// taken back.
var redirectStates = []string{"NO-REDIRECT", "ENABLE-REDIRECT-IN-PROGRESS", "DROP-REDIRECT-IN-PROGRESS"}

// redirectProblem says why the rows of a table with the redirect feature are not to be read at this place; "" when they are.
func redirectProblem(m Metadata) string {
	setting := m.Configuration[redirectProperty]
	if setting == "" { // the feature stays in the protocol when the redirect is gone
		return ""
	}
	var r struct {
		Type  string         `json:"type"`
		State string         `json:"state"`
		Spec  jsontext.Value `json:"spec"`
	}
	switch err := json.Unmarshal([]byte(setting), &r); {
	case err != nil:
		return fmt.Sprintf("the table may have moved: %s is not the JSON of a redirect", redirectProperty)
	case r.Type != redirectByPath:
		return fmt.Sprintf("the table may have moved: its redirect is of the unknown type %q", r.Type)
	case r.State == redirectReady:
		return "the table has moved to " + redirectPath(r.Spec)
	case !slices.Contains(redirectStates, r.State):
		return fmt.Sprintf("the table may have moved: its redirect is in the unknown state %q", r.State)
	}
	return ""
}

// redirectPath is the new place, which a spec names as JSON or as JSON in a text.
func redirectPath(spec jsontext.Value) string {
	var text string
	if json.Unmarshal(spec, &text) == nil {
		spec = jsontext.Value(text)
	}
	var place struct {
		TablePath string `json:"tablePath"`
	}
	if json.Unmarshal(spec, &place) != nil || place.TablePath == "" {
		return "a place that its redirect does not name"
	}
	return deltaerr.RedactURI(place.TablePath)
}
