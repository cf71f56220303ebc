package storage

import (
	"path"
	"strings"
)

// Location is where a path of the log leads.
type Location struct {
	Path     string // decoded, relative to the table root; "" when the file lies elsewhere
	External string // canonical absolute URI when it lies outside the root (or contains ".." that leaves it)
}

// Key is the canonical form under which two spellings of one file are equal (R4): relative path or absolute URI.
func (l Location) Key() string {
	if l.Path != "" {
		return l.Path
	}
	return l.External
}

// ResolvePath decodes a path of the log once (H1, H4) and places it relative to the table root (H2): absolute paths and
// file:, s3, s3a, s3n URIs that lie under the root become relative. "." and ".." segments and repeated slashes are
// resolved after decoding, as Spark does, so an encoded ".." does not leave the root unseen. A path that leads to the root
// itself is ".", at which no store has an object.
func ResolvePath(root URI, logPath string) Location {
	scheme, rest, isURI := splitScheme(logPath)
	if !isURI {
		decoded := DecodePath(logPath)
		if isClean(decoded) { // nearly all: nothing to resolve, nothing to allocate
			return Location{Path: decoded}
		}
		return root.locate(resolveSlash(root.slashPath(), decoded))
	}
	authority, p := splitAuthority(rest)
	p = path.Clean("/" + DecodePath(p))
	switch scheme {
	case SchemeFile:
		if authority == "" || authority == "localhost" {
			return URI{Scheme: SchemeFile}.under(root, p)
		}
		return Location{External: "file://" + authority + EncodePath(p)}
	case SchemeS3:
		bucket := authority[strings.LastIndexByte(authority, '@')+1:] // credentials are no part of a place
		return URI{Scheme: SchemeS3, Bucket: bucket}.under(root, p)
	default:
		return Location{External: scheme + "://" + withoutPassword(authority) + EncodePath(p)}
	}
}

// resolveSlash finds a path with '/' from the directory base: an absolute one starts anew.
func resolveSlash(base, p string) string {
	if strings.HasPrefix(p, "/") {
		return path.Clean(p)
	}
	return path.Join(base, p)
}

// under places the absolute path abs of the file system or bucket u.
func (u URI) under(root URI, abs string) Location {
	if u.Scheme == root.Scheme && u.Bucket == root.Bucket {
		return root.locate(abs)
	}
	return Location{External: u.at(abs)}
}

// locate places the absolute path abs of the root's own file system or bucket.
func (u URI) locate(abs string) Location {
	dir := u.slashPath()
	if abs == dir {
		return Location{Path: "."}
	}
	if rel, ok := strings.CutPrefix(abs, strings.TrimSuffix(dir, "/")+"/"); ok {
		return Location{Path: rel}
	}
	return Location{External: u.at(abs)}
}

// withoutPassword keeps the user of "user:password@host", which names a container in some schemes.
func withoutPassword(authority string) string {
	at := strings.LastIndexByte(authority, '@')
	colon := strings.IndexByte(authority, ':')
	if at < 0 || colon < 0 || colon > at {
		return authority
	}
	return authority[:colon] + authority[at:]
}
