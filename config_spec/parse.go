package configspec

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// parse checks a value that a user wrote and returns it as string, int64, bool, time.Duration, time.Time,
// Interval, *pruning.Predicate or []string; a child input as true.
func (f Field) parse(raw any) (any, error) {
	switch f.Kind {
	case Int:
		return f.parseInt(raw)
	case Size:
		return f.parseSize(raw)
	case Bool:
		return parseBool(raw)
	case Duration:
		return f.parseDuration(raw)
	case Timestamp:
		return parseTimestamp(raw)
	case Schedule:
		return parseInterval(raw)
	case ChildInput:
		return parseInput(raw)
	case Predicate:
		return parsePredicate(raw)
	case Enum:
		return f.parseEnum(raw)
	case StringList:
		return parseStrings(raw)
	case EnumList:
		return f.parseEnums(raw)
	default:
		return parseString(raw)
	}
}

func parseString(raw any) (string, error) {
	s, ok := raw.(string)
	if !ok {
		return "", fmt.Errorf("must be text, got %s (quote what is not meant as a number or boolean)", describe(raw))
	}
	if s == "" {
		return "", errors.New("must not be empty")
	}
	return s, nil
}

func (f Field) parseInt(raw any) (int64, error) {
	n, ok := wholeNumber(raw)
	if s, text := raw.(string); text {
		parsed, err := strconv.ParseInt(s, 10, 64)
		n, ok = parsed, err == nil
	}
	if !ok {
		return 0, fmt.Errorf("must be a whole number, got %s", describe(raw))
	}
	return n, f.inRange(n)
}

func (f Field) parseSize(raw any) (int64, error) {
	n, ok := wholeNumber(raw)
	if s, text := raw.(string); text {
		parsed, err := ParseSize(s)
		n, ok = parsed, err == nil
	}
	if !ok {
		return 0, fmt.Errorf("must be a number of bytes, or text such as 64KiB or 8MiB, got %s", describe(raw))
	}
	return n, f.inRange(n)
}

func (f Field) inRange(n int64) error {
	if n < f.Min {
		return fmt.Errorf("must be at least %d, got %d", f.Min, n)
	}
	if n > f.Max {
		return fmt.Errorf("must be at most %d, got %d", f.Max, n)
	}
	return nil
}

func parseBool(raw any) (bool, error) {
	switch raw {
	case true, "true":
		return true, nil
	case false, "false":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false, got %s", describe(raw))
}

func (f Field) parseDuration(raw any) (time.Duration, error) {
	s, _ := raw.(string)
	if n, ok := wholeNumber(raw); ok && n == 0 { // the one number that needs no unit
		s = "0s"
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("must be a duration such as 30s or 5m, got %s", describe(raw))
	}
	if d < 0 && f.Zero {
		return 0, fmt.Errorf("must be 0s or longer, got %s", d)
	}
	if d <= 0 && !f.Zero {
		return 0, fmt.Errorf("must be longer than 0s, got %s", d)
	}
	return d, nil
}

// parseTimestamp also takes what YAML makes of a timestamp that is not quoted.
func parseTimestamp(raw any) (time.Time, error) {
	if t, ok := raw.(time.Time); ok {
		return t.UTC(), nil
	}
	text, ok := raw.(string)
	if !ok {
		return time.Time{}, fmt.Errorf("must be a point in time such as 2024-05-01T12:00:00Z, got %s", describe(raw))
	}
	return ParseTimestamp(text)
}

func parseInterval(raw any) (Interval, error) {
	text, ok := raw.(string)
	if !ok {
		return Interval{}, fmt.Errorf("must be a duration such as 30s, or a cron expression, got %s", describe(raw))
	}
	return ParseInterval(text)
}

// parsePredicate finds what is wrong with the text; whether its columns exist is found out at connect.
func parsePredicate(raw any) (*pruning.Predicate, error) {
	text, err := parseString(raw)
	if err != nil {
		return nil, err
	}
	return pruning.Parse(text)
}

// parseInput refuses only what cannot be an input: the engine judges it, and gives it in a form of its own.
func parseInput(raw any) (bool, error) {
	switch raw.(type) {
	case string, bool, int, int64, uint64, float64, stdjson.Number, []any:
		return false, fmt.Errorf("must be an input, got %s", describe(raw))
	}
	return true, nil
}

func (f Field) parseEnum(raw any) (string, error) {
	s, ok := raw.(string)
	if !ok || !slices.Contains(f.values(), s) {
		return "", fmt.Errorf("must be one of %s, got %s", strings.Join(f.values(), ", "), describe(raw))
	}
	return s, nil
}

// parseStrings also takes the text of a JSON array: the engine's command line sets fields to text alone.
func parseStrings(raw any) ([]string, error) {
	list, ok := raw.([]any)
	switch v := raw.(type) {
	case []string:
		list, ok = asAny(v), true
	case string:
		ok = strings.HasPrefix(v, "[") && json.Unmarshal([]byte(v), &list) == nil
	}
	if !ok {
		return nil, fmt.Errorf("must be a list, got %s", describe(raw))
	}
	out := make([]string, len(list))
	for i, e := range list {
		s, err := parseString(e)
		if err != nil {
			return nil, fmt.Errorf("element %d %w", i+1, err)
		}
		if slices.Contains(out[:i], s) {
			return nil, fmt.Errorf("%q is there twice", s)
		}
		out[i] = s
	}
	return out, nil
}

func (f Field) parseEnums(raw any) ([]string, error) {
	list, err := parseStrings(raw)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		if _, err := f.parseEnum(s); err != nil {
			return nil, fmt.Errorf("element %d %w", i+1, err)
		}
	}
	return list, nil
}

func asAny(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

// ParseSize reads a number of bytes: digits, or digits with a unit (KiB, MiB, … of 1024; KB, MB, … of 1000). Fractions
// and separators are refused, since they could be read in more than one way.
func ParseSize(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || strings.ContainsAny(text, ".,") || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size: write bytes, or a whole number with a unit such as 64KiB or 8MiB", text)
	}
	return int64(n), nil
}

// wholeNumber converts the number types of YAML and JSON decoders, if nothing is lost.
func wholeNumber(raw any) (int64, bool) {
	switch v := raw.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case float64:
		const exact = 1 << 53 // beyond it a float64 no longer holds every integer
		return int64(v), v == math.Trunc(v) && math.Abs(v) <= exact
	case stdjson.Number:
		n, err := v.Int64()
		return n, err == nil
	}
	return 0, false
}

// describe names a value in a message without quoting a whole document.
func describe(raw any) string {
	switch v := raw.(type) {
	case nil:
		return "nothing"
	case string:
		return strconv.Quote(v)
	case []any, []string:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprint(v)
	}
}
