package action

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// shapeError says that a line is JSON but not what the protocol asks for: a clause that follows "line 3".
type shapeError string

func (e shapeError) Error() string { return string(e) }

// decoder reads the JSON of one line after the other. Reading is by token and not by reflection: a log is mostly adds,
// and their decoding is what replaying costs.
type decoder struct {
	json      *jsontext.Decoder // rejects duplicate keys and invalid UTF-8 (A1)
	input     *bytes.Buffer
	scratch   []byte // the last text that had escapes
	shared    interner
	omitStats bool
	action    Kind // of the line at hand; 0 until it is known
}

func newDecoder() decoder {
	input := new(bytes.Buffer)
	return decoder{json: jsontext.NewDecoder(input), input: input, shared: interner{}}
}

// decodeLine reads a line. found is false when it holds no action of the wanted kinds.
func (d *decoder) decodeLine(line []byte, want Kind) (a Action, found bool, err error) {
	*d.input = *bytes.NewBuffer(line)
	d.json.Reset(d.input)
	if line[0] != '{' {
		return a, false, shapeError("is not a JSON object")
	}
	d.action = 0
	err = d.object(func(name []byte) error {
		kind := kindNamed(name)
		if kind == 0 || d.json.PeekKind() == jsontext.KindNull {
			return d.skip()
		}
		if d.action != 0 {
			return shapeError(fmt.Sprintf("holds two actions, %s and %s", d.action, kind))
		}
		d.action = kind
		if kind&want == 0 {
			return d.skip()
		}
		found = true
		return d.decodeAction(&a, kind)
	})
	if err != nil {
		return a, false, err
	}
	if _, err := d.json.ReadToken(); !errors.Is(err, io.EOF) {
		return a, false, shapeError("goes on after the end of its object")
	}
	return a, found, nil
}

func (d *decoder) decodeAction(a *Action, kind Kind) error {
	switch kind {
	case KindAdd:
		a.Add = new(Add)
		return d.add(a.Add)
	case KindRemove:
		a.Remove = new(Remove)
		return d.remove(a.Remove)
	case KindCDC:
		a.CDC = new(CDC)
		return d.cdc(a.CDC)
	case KindProtocol:
		a.Protocol = new(Protocol)
		return d.protocol(a.Protocol)
	case KindMetadata:
		a.Metadata = new(Metadata)
		return d.metadata(a.Metadata)
	case KindTxn:
		a.Txn = new(Txn)
		return d.txn(a.Txn)
	case KindDomainMetadata:
		a.DomainMetadata = new(DomainMetadata)
		return d.domainMetadata(a.DomainMetadata)
	case KindCommitInfo:
		a.CommitInfo = new(CommitInfo)
		return d.commitInfo(a.CommitInfo)
	case KindCheckpointMetadata:
		a.CheckpointMetadata = new(CheckpointMetadata)
		return d.checkpointMetadata(a.CheckpointMetadata)
	default:
		a.Sidecar = new(Sidecar)
		return d.sidecar(a.Sidecar)
	}
}

// object calls field with each key of the object that comes next; field reads the value. The key is valid until then.
func (d *decoder) object(field func(key []byte) error) error {
	if d.json.PeekKind() != jsontext.KindBeginObject {
		return d.unexpected("", "an object")
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	for d.json.PeekKind() == jsontext.KindString {
		key, err := d.raw()
		if err != nil {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
	}
	_, err := d.json.ReadToken()
	return err
}

// skip passes over a value. The line is in memory anyway, so the value is read as one piece, which is faster.
func (d *decoder) skip() error {
	_, err := d.json.ReadValue()
	return err
}

// absent passes over a null, which is the same as no key (A1).
func (d *decoder) absent() bool {
	if d.json.PeekKind() != jsontext.KindNull {
		return false
	}
	_, err := d.json.ReadToken()
	return err == nil
}

// raw reads a string. The bytes are valid until the next read.
func (d *decoder) raw() ([]byte, error) {
	quoted, err := d.json.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	d.scratch, err = unescape(slices.Grow(d.scratch[:0], len(quoted)), quoted)
	return d.scratch, err
}

// unescape appends the text of a quoted string that has been checked. Statistics are JSON in a string, full of escaped
// quotes; copying what lies between them is twice as fast as going by characters.
func unescape(dst, quoted []byte) ([]byte, error) {
	start := len(dst)
	rest := quoted[1 : len(quoted)-1]
	for {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return append(dst, rest...), nil
		}
		c := unescaped[rest[i+1]]
		if c == 0 { // \u: may be half of a pair
			return jsontext.AppendUnquote(dst[:start], quoted)
		}
		dst = append(append(dst, rest[:i]...), c)
		rest = rest[i+2:]
	}
}

// unescaped maps the character after a backslash to what both stand for.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unexpected says that the value that comes next is not of the type that belongs there, unless the JSON is broken.
func (d *decoder) unexpected(name, want string) error {
	v, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	return d.wrong(name, v, want)
}

func (d *decoder) wrong(name string, value []byte, want string) error {
	where := d.action.String()
	if name != "" {
		where += "." + name
	}
	if len(value) > 100 {
		value = append(bytes.ToValidUTF8(value[:100:100], nil), "…"...)
	}
	return shapeError(fmt.Sprintf("has %s in %s where %s belongs", value, where, want))
}
