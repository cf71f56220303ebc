package deltaerr

import "strings"

// RedactURI returns a URI without user information and query, which may hold credentials. A text without "://" is a
// local path and stays as it is. It needs no valid URI: what a user mistyped must not be printed either.
func RedactURI(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + "://" + withoutUserInfo(rest)
}

// withoutUserInfo removes what stands before the bucket or host. A secret may hold slashes: when the first segment looks
// like the beginning of "key:secret@…", everything up to the last @ goes.
func withoutUserInfo(rest string) string {
	authority, _, _ := strings.Cut(rest, "/")
	if strings.Contains(authority, ":") {
		return rest[strings.LastIndex(rest, "@")+1:]
	}
	return rest[strings.LastIndex(authority, "@")+1:]
}
