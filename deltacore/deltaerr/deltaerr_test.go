package deltaerr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
)

func TestErrorTextSaysWhereWhatAndWhatToDo(t *testing.T) {
	tests := []struct {
		want string
		err  error
	}{
		{"", New(Internal, "")},
		{"the bucket is empty", New(NotFound, "the bucket is empty")},
		{
			"table s3://lake/orders, version 7, file a/b.parquet, column items.price: reading the footer: " +
				"the magic is wrong: unexpected EOF (restore the file)",
			New(Corrupt, "the magic is wrong", Table("s3://key:secret@lake/orders?sig=x"), Version(7), File("a/b.parquet"),
				Column("items.price"), Phase("reading the %s", "footer"), Cause(io.ErrUnexpectedEOF), Hint("restore the %s", "file")),
		},
		{"version 0: gone", New(NotFound, "gone", Version(0))},
		{"gone", New(NotFound, "gone", Version(-1))},
		{`file "a\nb": gone`, New(NotFound, "gone", File("a\nb"))},
		{`file "a\xff": gone`, New(NotFound, "gone", File("a\xff"))},
		{"file x=é \"1\": gone", New(NotFound, "gone", File("x=é \"1\""))},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("want %q\ngot  %q", tt.want, got)
		}
	}
}

func TestAnnotateKeepsWhatIsNearestToTheFailure(t *testing.T) {
	inner := New(Corrupt, "bad", File("inner"))
	err := Annotate(inner, File("outer"), Version(3), Phase("reading"))
	if want := "version 3, file inner: reading: bad"; err.Error() != want {
		t.Fatalf("want %q, got %q", want, err)
	}
	if inner.Error() != "file inner: bad" {
		t.Fatalf("the annotated error was changed: %q", inner)
	}
}

func TestAnnotateKeepsTextAndKindOfWrapper(t *testing.T) {
	err := Annotate(fmt.Errorf("part 2: %w", New(Denied, "no key")), File("f"))
	if want := "file f: part 2: no key"; err.Error() != want || KindOf(err) != Denied {
		t.Fatalf("want denied %q, got %v %q", want, KindOf(err), err)
	}
}

func TestAnnotateKeepsChain(t *testing.T) {
	if Annotate(nil, File("f")) != nil {
		t.Fatal("nil became an error")
	}
	for _, cause := range []error{context.Canceled, fs.ErrNotExist, io.EOF} {
		if err := Annotate(Annotate(cause, File("f")), Version(1)); !errors.Is(err, cause) {
			t.Fatalf("%v is lost in %v", cause, err)
		}
	}
}

func TestKindAndRetry(t *testing.T) {
	tests := []struct {
		err   error
		kind  Kind
		retry bool
	}{
		{fs.ErrNotExist, NotFound, false},
		{&fs.PathError{Err: fs.ErrPermission}, Denied, false},
		{context.DeadlineExceeded, Transient, true},
		{context.Canceled, Internal, false},
		{Annotate(context.Canceled, File("f")), Internal, false},
		{New(Transient, "stopped", Cause(context.Canceled)), Transient, false},
		{fmt.Errorf("wrapped: %w", New(Transient, "busy")), Transient, true},
		{New(Corrupt, "bad", Cause(New(Transient, "busy"))), Corrupt, false},
		{io.EOF, Internal, false},
	}
	for _, tt := range tests {
		if KindOf(tt.err) != tt.kind || Retryable(tt.err) != tt.retry {
			t.Errorf("%v: want %v, %v, got %v, %v", tt.err, tt.kind, tt.retry, KindOf(tt.err), Retryable(tt.err))
		}
	}
	if Retryable(nil) {
		t.Error("nil is retryable")
	}
}

func TestKindNames(t *testing.T) {
	for k := Internal; k <= Replaced; k++ {
		if k.String() == "" || strings.Contains(k.String(), "(") {
			t.Errorf("kind %d has no name", int(k))
		}
	}
	if got := Kind(99).String(); got != "kind(99)" {
		t.Errorf("got %q", got)
	}
}

func TestRedactURIRemovesCredentials(t *testing.T) {
	tests := map[string]string{
		"s3://bucket/a b":                       "s3://bucket/a b",
		"s3://bucket/a@b/c":                     "s3://bucket/a@b/c",
		"s3://AKIA:se/cr@et@bucket/a":           "s3://bucket/a",
		"s3://AKIA@bucket/a":                    "s3://bucket/a",
		"s3://bucket/a?X-Amz-Signature=1":       "s3://bucket/a",
		"https://u:p@host:9000/a?b":             "https://host:9000/a",
		"http://host:9000/a":                    "http://host:9000/a",
		"/data/what?/a@b":                       "/data/what?/a@b",
		"file:///data/a%20b":                    "file:///data/a%20b",
		"":                                      "",
		"://":                                   "://",
		"abfss://c@account.example.net/t?sig=1": "abfss://account.example.net/t",
	}
	for text, want := range tests {
		if got := RedactURI(text); got != want {
			t.Errorf("%s: want %s, got %s", text, want, got)
		}
		if again := RedactURI(want); again != want {
			t.Errorf("%s is redacted again to %s", want, again)
		}
	}
}
