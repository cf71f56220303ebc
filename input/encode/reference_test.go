package encode

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

type valuesOption = configspec.Values

// reference writes model values as design says, plainly: no Arrow, no arena, numbers and strings through encoding/json,
// times through package time, decimals through package big. Non-finite floats under "fail" are written as failed.
type reference struct{ valuesOption }

const failed = "FAILED"

func (r reference) row(s *schema.Struct, row record) string {
	members := make([]string, len(row))
	for i, f := range s.Fields {
		members[i] = plainJSON(f.Name) + ":" + r.text(f.Type, row[i])
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (r reference) text(typ schema.Type, v any) string {
	if v == nil {
		return "null"
	}
	switch typ := typ.(type) {
	case *schema.Struct:
		return r.row(typ, v.(record))
	case *schema.Array:
		var elements []string
		for _, element := range v.([]any) {
			elements = append(elements, r.text(typ.Element, element))
		}
		return "[" + strings.Join(elements, ",") + "]"
	case *schema.Map:
		return r.entries(typ, v.([]pair))
	case schema.Decimal:
		return r.decimal(typ, v.(*big.Int))
	}
	return r.primitive(typ.(schema.Primitive), v)
}

func (r reference) entries(typ *schema.Map, entries []pair) string {
	var texts []string
	for _, e := range entries {
		key, value := r.text(typ.Key, e.key), r.text(typ.Value, e.value)
		if typ.Key == schema.String {
			texts = append(texts, key+":"+value)
		} else {
			texts = append(texts, `{"key":`+key+`,"value":`+value+`}`)
		}
	}
	if typ.Key == schema.String {
		return "{" + strings.Join(texts, ",") + "}"
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func (r reference) decimal(typ schema.Decimal, unscaled *big.Int) string {
	digits := new(big.Int).Abs(unscaled).String()
	for len(digits) <= typ.Scale {
		digits = "0" + digits
	}
	whole, fraction := digits[:len(digits)-typ.Scale], digits[len(digits)-typ.Scale:]
	text := whole
	if fraction != "" {
		text += "." + fraction
	}
	if unscaled.Sign() < 0 {
		text = "-" + text
	}
	if r.Decimal == "number" {
		return text
	}
	return `"` + text + `"`
}

func (r reference) primitive(typ schema.Primitive, v any) string {
	switch typ {
	case schema.Long:
		if r.Int64 == "string" {
			return fmt.Sprintf(`"%d"`, v)
		}
	case schema.Float:
		return r.float(float64(v.(float32)), v)
	case schema.Double:
		return r.float(v.(float64), v)
	case schema.Binary:
		if r.Binary == "hex" {
			return `"` + hex.EncodeToString(v.([]byte)) + `"`
		}
		return `"` + base64.StdEncoding.EncodeToString(v.([]byte)) + `"`
	case schema.Date:
		return `"` + dateText(time.Unix(v.(int64)*86400, 0).UTC()) + `"`
	case schema.Timestamp:
		return r.timestamp(v.(int64), "Z")
	case schema.TimestampNTZ:
		return r.timestamp(v.(int64), "")
	}
	return plainJSON(v)
}

func (r reference) float(x float64, v any) string {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		return plainJSON(v)
	}
	switch r.NonFinite {
	case "null":
		return "null"
	case "fail":
		return failed
	}
	return map[string]string{"NaN": `"NaN"`, "+Inf": `"Infinity"`, "-Inf": `"-Infinity"`}[fmt.Sprint(x)]
}

func (r reference) timestamp(micros int64, suffix string) string {
	if r.Timestamp == "unix_micros" {
		return fmt.Sprint(micros)
	}
	t := time.UnixMicro(micros).UTC()
	return fmt.Sprintf(`"%sT%s.%06d%s"`, dateText(t), t.Format("15:04:05"), t.Nanosecond()/1000, suffix)
}

func dateText(t time.Time) string {
	year, sign := t.Year(), ""
	if year < 0 {
		year, sign = -year, "-"
	}
	return fmt.Sprintf("%s%04d-%02d-%02d", sign, year, t.Month(), t.Day())
}

// plainJSON is encoding/json without HTML escaping.
func plainJSON(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}
