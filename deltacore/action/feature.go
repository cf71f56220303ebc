package action

import "slices"

// Feature is one table feature and what this reader makes of it.
type Feature struct {
	Name      string
	Reader    bool   // readers must support it; else writers alone
	Supported bool   // always, where it is for writers alone
	Reason    string // why it is not supported; "" when it is
}

// Features lists the features of a table, those for readers first, each kind sorted by name: what the protocol names, and
// column mapping where the reader version implies it (F3).
func Features(p Protocol, m Metadata) []Feature {
	reader := slices.Clone(p.ReaderFeatures)
	if p.MinReaderVersion == 2 && mapsColumns(m) {
		reader = append(reader, columnMappingFeature)
	}
	var writer []string
	for _, name := range p.WriterFeatures {
		if !slices.Contains(reader, name) {
			writer = append(writer, name)
		}
	}
	unsupported := UnsupportedFeatures(p, m)
	var all []Feature
	for _, name := range sorted(reader) {
		f := Feature{Name: name, Reader: true, Supported: !slices.Contains(unsupported, name)}
		if !f.Supported {
			f.Reason = unsupportedReason(name, m)
		}
		all = append(all, f)
	}
	for _, name := range sorted(writer) {
		all = append(all, Feature{Name: name, Supported: true})
	}
	return all
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func unsupportedReason(name string, m Metadata) string {
	note := featureNotes[name]
	if problem := redirectProblem(m); name == redirectFeature && problem != "" {
		note = problem
	}
	if note == "" {
		return "this release cannot read tables with it"
	}
	return note
}
