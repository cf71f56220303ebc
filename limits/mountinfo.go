package limits

import (
	"errors"
	"path"
	"strings"
)

// mount is a mounted hierarchy of control groups.
type mount struct {
	version version
	options string // of the hierarchy: the controllers of the first version
	root    string // the group that the mount point shows
	point   string
}

// parseMounts finds the mounts of control groups. Lines of anything else, and those that cannot be read, are passed over.
func parseMounts(text string) []mount {
	var all []mount
	for line := range strings.Lines(text) {
		if m, err := parseMount(line); err == nil && m.version != none {
			all = append(all, m)
		}
	}
	return all
}

var errMalformed = errors.New("the line is malformed")

// parseMount reads a line: identifiers, root, mount point, options, any number of optional fields, a dash, and what is
// mounted. The version is none where that is no hierarchy of control groups.
func parseMount(line string) (mount, error) {
	left, right, ok := strings.Cut(line, " - ")
	where, what := fields(left), fields(right)
	const leastLeft, leastRight = 6, 3
	if !ok || len(where) < leastLeft || len(what) < leastRight {
		return mount{}, errMalformed
	}
	m := mount{options: what[2]}
	switch what[0] {
	case "cgroup":
		m.version = v1
	case "cgroup2":
		m.version = v2
	default:
		return mount{}, nil
	}
	var err error
	if m.root, err = mountPath(where[3]); err != nil {
		return mount{}, err
	}
	m.point, err = mountPath(where[4])
	return m, err
}

// fields are divided by blanks alone: the kernel writes no other space but in escapes.
func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' })
}

func mountPath(field string) (string, error) {
	text, ok := unescape(field)
	if !ok {
		return "", errMalformed
	}
	return cleanPath(text)
}

// escapes are what the kernel writes for the bytes that would break a line into other fields.
var escapes = map[string]byte{`\040`: ' ', `\011`: '\t', `\012`: '\n', `\134`: '\\'}

func unescape(field string) (string, bool) {
	if !strings.Contains(field, `\`) {
		return field, true
	}
	const length = 4
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] != '\\' {
			b.WriteByte(field[i])
			continue
		}
		c, known := escapes[field[i:min(i+length, len(field))]]
		if !known {
			return "", false
		}
		b.WriteByte(c)
		i += length - 1
	}
	return b.String(), true
}

// holds says whether the mount is of the hierarchy that a group is in.
func (m mount) holds(g group) bool {
	return m.version == g.version && (m.version == v2 || listed(m.options, g.controller))
}

// directories lists what the mount shows of a group and of those above it, its own first; none if it shows another part of the
// hierarchy.
func (m mount) directories(of string) []directory {
	below, ok := cutRoot(of, m.root)
	if !ok {
		return nil
	}
	leaf := path.Join(m.point, below)
	all := []directory{{leaf, true}}
	for d := leaf; d != m.point; {
		d = path.Dir(d)
		all = append(all, directory{d, false})
	}
	return all
}

// cutRoot cuts root off a path, by whole components.
func cutRoot(of, root string) (string, bool) {
	if root == "/" {
		return of, true
	}
	below, ok := strings.CutPrefix(of, root)
	return below, ok && (below == "" || below[0] == '/')
}
