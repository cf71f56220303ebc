package limits

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

const (
	membershipFile = "/proc/self/cgroup"
	mountsFile     = "/proc/self/mountinfo"
)

// version is the version of control groups that has a controller.
type version int

const (
	none version = iota
	v1
	v2
)

// group is where the process is in the hierarchy of a controller.
type group struct {
	version    version
	controller string
	path       string // in the hierarchy: absolute and clean
}

// directory is one in which limits may stand that apply to the process.
type directory struct {
	path string
	leaf bool // the group of the process itself, not one above it
}

// groups are what is known about the control groups of the process.
type groups struct {
	membership string
	mounts     []mount
}

// groups reads where the process is. On systems without control groups both files are missing.
func (p *probe) groups() groups {
	var g groups
	var err error
	if g.membership, err = p.read(membershipFile); err != nil {
		p.absent(membershipFile, "%v", err)
		return groups{}
	}
	text, err := p.read(mountsFile)
	if err != nil {
		p.absent(mountsFile, "%v", err)
		return groups{}
	}
	g.mounts = parseMounts(text)
	return g
}

// directories finds where the limits of a controller stand, from the process's own group up, for each mount of the hierarchy.
func (p *probe) directories(g groups, controller string) (version, []directory) {
	if g.membership == "" {
		return none, nil
	}
	of, err := parseMembership(g.membership, controller)
	if err != nil {
		p.absent(membershipFile, "%v", err)
		return none, nil
	}
	var all []directory
	for _, m := range g.mounts {
		if m.holds(of) {
			all = append(all, m.directories(of.path)...)
		}
	}
	if len(all) == 0 {
		p.absent(mountsFile, "has no mount that shows the group %s of %s", quote(of.path), controller)
	}
	return of.version, distinct(all)
}

// distinct leaves out what several mounts share. A group's own directory stays that where it is also one above.
func distinct(all []directory) []directory {
	at := map[string]int{}
	var out []directory
	for _, d := range all {
		i, seen := at[d.path]
		if !seen {
			at[d.path] = len(out)
			out = append(out, d)
			continue
		}
		out[i].leaf = out[i].leaf || d.leaf
	}
	return out
}

// parseMembership finds the group of the process: in the first version where a hierarchy of it has the controller, on hybrid
// hosts too, else in the second.
func parseMembership(text, controller string) (group, error) {
	var second *group
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch id, controllers := parts[0], parts[1]; {
		case id != "0" && listed(controllers, controller):
			return checkedGroup(group{v1, controller, parts[2]})
		case id == "0" && controllers == "" && second == nil:
			second = &group{v2, controller, parts[2]}
		}
	}
	if second == nil {
		return group{}, fmt.Errorf("has no group for %s", controller)
	}
	return checkedGroup(*second)
}

func checkedGroup(g group) (group, error) {
	clean, err := cleanPath(g.path)
	if err != nil {
		return group{}, fmt.Errorf("the group of %s: %w", g.controller, err)
	}
	g.path = clean
	return g, nil
}

// longestPath is that of Linux: it bounds how many directories one line can name.
const longestPath = 4096

// cleanPath refuses paths that are not absolute or that lead out of what they are in.
func cleanPath(text string) (string, error) {
	switch {
	case len(text) > longestPath:
		return "", errors.New("the path is too long")
	case !strings.HasPrefix(text, "/"):
		return "", fmt.Errorf("%s is not an absolute path", quote(text))
	case listedBy(text, "/", ".."):
		return "", fmt.Errorf("%s leads out of what is visible", quote(text))
	}
	return path.Clean(text), nil
}

func listed(list, element string) bool { return listedBy(list, ",", element) }

func listedBy(list, separator, element string) bool {
	for e := range strings.SplitSeq(list, separator) {
		if e == element {
			return true
		}
	}
	return false
}
