package dv

import (
	"encoding/binary"
	"math"
	"strings"
)

const z85Alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// z85Decode decodes text of groups of 5 characters, each 4 bytes, most significant digit first (D2). Encoders pad a last
// group in two ways. Zero bytes are padded before the encoding: the caller cuts by the length it knows. Or n '#' stand
// before a group of 4-n bytes (D3); such a group exceeds 32 bits, which is how it is told from the other kind.
func z85Decode(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, corrupt("Z85 text of %d characters: not a multiple of 5", len(text))
	}
	out := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		group := text[i : i+5]
		value, err := z85Group(group)
		if err != nil {
			return nil, err
		}
		if value > math.MaxUint32 {
			if i+5 < len(text) {
				return nil, corrupt("Z85 group %q exceeds 32 bits", group)
			}
			return z85Tail(out, group)
		}
		out = binary.BigEndian.AppendUint32(out, uint32(value))
	}
	return out, nil
}

// z85Tail decodes a last group that starts with one to three '#'.
func z85Tail(out []byte, group string) ([]byte, error) {
	digits := strings.TrimLeft(group, "#")
	missing := len(group) - len(digits)
	value, err := z85Group(digits)
	if err != nil {
		return nil, err
	}
	size := 4 - missing
	if missing == 0 || size < 1 || value >= 1<<(8*size) {
		return nil, corrupt("Z85 group %q exceeds 32 bits", group)
	}
	var whole [4]byte
	binary.BigEndian.PutUint32(whole[:], uint32(value))
	return append(out, whole[missing:]...), nil
}

func z85Group(group string) (uint64, error) {
	var value uint64
	for _, c := range []byte(group) {
		digit := strings.IndexByte(z85Alphabet, c)
		if digit < 0 {
			return 0, corrupt("%q is no Z85 character", c)
		}
		value = value*85 + uint64(digit)
	}
	return value, nil
}
