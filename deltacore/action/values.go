package action

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The values that members of actions have. Each leaves dst alone when the value is null.

// text reads a string or null.
func (d *decoder) text(dst *string, name string) error {
	if d.absent() {
		return nil
	}
	if d.json.PeekKind() != jsontext.KindString {
		return d.unexpected(name, "a text")
	}
	b, err := d.raw()
	*dst = string(b)
	return err
}

// integer reads a number or null. It is exact over the whole range of an int64 (A7).
func (d *decoder) integer(dst *int64, name string) error {
	if d.absent() {
		return nil
	}
	if d.json.PeekKind() != jsontext.KindNumber {
		return d.unexpected(name, "a number")
	}
	digits, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return d.wrong(name, digits, "an integer of 64 bits")
	}
	*dst = n
	return nil
}

// optional reads a number or null, which leaves dst nil.
func (d *decoder) optional(dst **int64, name string) error {
	if d.absent() {
		return nil
	}
	*dst = new(int64)
	return d.integer(*dst, name)
}

// version reads a protocol version.
func (d *decoder) version(dst *int, name string) error {
	var n int64
	err := d.integer(&n, name)
	*dst = int(n)
	return err
}

// truth reads true, false or null.
func (d *decoder) truth(dst *bool, name string) error {
	if d.absent() {
		return nil
	}
	if k := d.json.PeekKind(); k != jsontext.KindTrue && k != jsontext.KindFalse {
		return d.unexpected(name, "true or false")
	}
	tok, err := d.json.ReadToken()
	if err == nil {
		*dst = tok.Bool()
	}
	return err
}

// texts reads a list of strings. The result is nil for null only.
func (d *decoder) texts(dst *[]string, name string) error {
	if d.absent() {
		return nil
	}
	if d.json.PeekKind() != jsontext.KindBeginArray {
		return d.unexpected(name, "a list")
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	list := []string{}
	for d.json.PeekKind() == jsontext.KindString {
		b, err := d.raw()
		if err != nil {
			return err
		}
		list = append(list, string(b))
	}
	if d.json.PeekKind() != jsontext.KindEndArray {
		return d.unexpected(name, "a list of texts")
	}
	*dst = list
	_, err := d.json.ReadToken()
	return err
}

// scalar reads the value of a map of texts. Numbers and truth values, which some writers leave unquoted, are taken as
// the text they are written with. isNull says that there is no value.
func (d *decoder) scalar(name string) (text []byte, isNull bool, err error) {
	switch d.json.PeekKind() {
	case jsontext.KindNull:
		return nil, true, d.skip()
	case jsontext.KindString:
		text, err = d.raw()
		return text, false, err
	case jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
		text, err = d.json.ReadValue()
		return text, false, err
	}
	return nil, false, d.unexpected(name, "a map of texts")
}

// settings reads a map of texts. Null values are left out.
func (d *decoder) settings(dst *map[string]string, name string) error {
	if d.absent() {
		return nil
	}
	return d.object(func(key []byte) error {
		k := string(key)
		text, isNull, err := d.scalar(name)
		if err != nil || isNull {
			return err
		}
		if *dst == nil {
			*dst = map[string]string{}
		}
		(*dst)[k] = string(text)
		return nil
	})
}

// partitionValues reads a map of texts and nulls. An empty map stays nil.
func (d *decoder) partitionValues(dst *map[string]*string) error {
	if d.absent() {
		return nil
	}
	return d.object(func(key []byte) error {
		k := *d.shared.of(key)
		text, isNull, err := d.scalar("partitionValues")
		if err != nil {
			return err
		}
		if *dst == nil {
			*dst = map[string]*string{}
		}
		if (*dst)[k] = nil; !isNull {
			(*dst)[k] = d.shared.of(text)
		}
		return nil
	})
}

// interner holds short texts once. It stops taking in new ones when it is full.
type interner map[string]*string

// of returns a pointer to the text, which is shared with other callers.
func (i interner) of(text []byte) *string {
	if known, ok := i[string(text)]; ok {
		return known
	}
	s := string(text)
	if len(s) <= 64 && len(i) < 4096 {
		i[s] = &s
	}
	return &s
}
