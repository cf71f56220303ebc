package storage

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Schemes of a [URI].
const (
	SchemeFile = "file"
	SchemeS3   = "s3" // s3a and s3n mean the same
)

// URI is the parsed location of a table.
type URI struct {
	Scheme string // SchemeFile or SchemeS3
	Bucket string // s3 only
	Path   string // file: absolute, cleaned path in the OS's form; s3: key prefix without slashes at either end
}

// ParseURI reads a local path (relative ones are made absolute), a file: URI or an s3://, s3a://, s3n:// URI. The path of
// a file: URI is percent-decoded once; a local path and the key of an s3 URI are taken as they are, as other S3 tools do.
// Errors are deltaerr Config and hold no credentials.
func ParseURI(text string) (URI, error) {
	scheme, rest, isURI := splitScheme(text)
	switch {
	case text == "":
		return URI{}, configError("the table URI is empty", "give a path, or a URI like s3://bucket/path")
	case !isURI:
		return parseLocal(text)
	case scheme == SchemeFile:
		return parseFile(text, rest)
	case scheme == SchemeS3:
		return parseS3(text, rest)
	default:
		return URI{}, configError("tables cannot be read from "+scheme+":// URIs",
			"use a local path, file:///path or s3://bucket/path")
	}
}

// String returns the URI without credentials or query, fit for messages: "file:///…", percent-encoded, or "s3://…".
// ParseURI reads it back.
func (u URI) String() string {
	return u.at(u.slashPath())
}

// slashPath is the path, absolute, cleaned and with '/'.
func (u URI) slashPath() string {
	return path.Clean("/" + filepath.ToSlash(u.Path))
}

// at is the URI of the absolute path abs in u's file system or bucket.
func (u URI) at(abs string) string {
	if u.Scheme == SchemeS3 {
		return "s3://" + u.Bucket + strings.TrimSuffix(abs, "/")
	}
	return "file://" + EncodePath(abs)
}

// splitScheme cuts a URI after "scheme:". Only file and the s3 schemes may do without "//" after the colon, since a
// local or relative path may hold a colon as well. s3a and s3n become s3.
func splitScheme(text string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(text, ":")
	if !ok || !isScheme(scheme) {
		return "", text, false
	}
	scheme = strings.ToLower(scheme)
	if scheme == "s3a" || scheme == "s3n" {
		scheme = SchemeS3
	}
	known := scheme == SchemeFile || scheme == SchemeS3
	if strings.HasPrefix(rest, "//") || known && strings.HasPrefix(rest, "/") {
		return scheme, rest, true
	}
	return "", text, false
}

func isScheme(s string) bool {
	for i := range len(s) {
		lower := s[i] | 0x20
		letter := 'a' <= lower && lower <= 'z'
		if !letter && (i == 0 || strings.IndexByte("0123456789+-.", s[i]) < 0) {
			return false
		}
	}
	return s != ""
}

// splitAuthority cuts "//authority/path" into authority and path; without "//" all is path.
func splitAuthority(rest string) (authority, path string) {
	after, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return "", rest
	}
	if i := strings.IndexByte(after, '/'); i >= 0 {
		return after[:i], after[i:]
	}
	return after, ""
}

func parseLocal(text string) (URI, error) {
	abs, err := filepath.Abs(text)
	if err != nil {
		return URI{}, deltaerr.New(deltaerr.Config, "a relative path needs a working directory",
			deltaerr.Cause(err), deltaerr.Hint("give an absolute path"))
	}
	return URI{Scheme: SchemeFile, Path: abs}, nil
}

func parseFile(text, rest string) (URI, error) {
	host, p := splitAuthority(rest)
	switch {
	case host != "" && host != "localhost", p == "":
		return URI{}, uriError(text, "names a host", "write file:///path with three slashes")
	case strings.Contains(p, "?"):
		return URI{}, uriError(text, "has a query", "write a question mark of the path as %3F")
	}
	return URI{Scheme: SchemeFile, Path: filepath.FromSlash(path.Clean(DecodePath(p)))}, nil
}

func parseS3(text, rest string) (URI, error) {
	bucket, key := splitAuthority(rest)
	key = strings.Trim(key, "/")
	switch {
	case strings.ContainsAny(bucket, ":@"):
		return URI{}, uriError(text, "holds credentials or a port", "write s3://bucket/path and use the fields aws.credentials and aws.endpoint")
	case bucket == "":
		return URI{}, uriError(text, "names no bucket", "write s3://bucket/path")
	case strings.Contains(rest, "?"):
		return URI{}, uriError(text, "has a query", "write s3://bucket/path alone")
	case key != "" && path.Clean("/"+key) != "/"+key:
		return URI{}, uriError(text, "has an empty, . or .. segment", "write the path without it")
	}
	return URI{Scheme: SchemeS3, Bucket: bucket, Path: key}, nil
}

func uriError(text, fault, hint string) error {
	return configError("the table URI "+deltaerr.RedactURI(text)+" "+fault, hint)
}

func configError(msg, hint string) error {
	return deltaerr.New(deltaerr.Config, msg, deltaerr.Hint("%s", hint))
}
