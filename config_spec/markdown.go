package configspec

import (
	"fmt"
	"strings"
)

// Markdown renders the reference of all fields: an overview, then a section for each.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Fields of `" + Component + "`\n\n| field | type | default | what it is |\n| --- | --- | --- | --- |\n")
	Walk(Fields(), func(path string, f Field) {
		if f.Kind != Object {
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", path, anchor(path), f.Kind, f.defaultText(), f.Summary())
		}
	})
	Walk(Fields(), func(path string, f Field) { f.section(&b, path) })
	return b.String()
}

func (f Field) section(b *strings.Builder, path string) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", path, f.Description)
	fmt.Fprintf(b, "Type: %s", f.Kind)
	if f.Advanced {
		b.WriteString(", advanced")
	}
	if f.Kind != Object {
		fmt.Fprintf(b, "  \nDefault: %s", f.defaultText())
	}
	if len(f.Examples) > 0 {
		fmt.Fprintf(b, "  \nExample: %s", f.ExampleText())
	}
	b.WriteString("\n")
	if len(f.Options) > 0 {
		b.WriteString("\n| value | meaning |\n| --- | --- |\n")
	}
	for _, o := range f.Options {
		fmt.Fprintf(b, "| `%s` | %s |\n", o.Value, o.Description)
	}
}

// ExampleText lists the examples as Markdown code.
func (f Field) ExampleText() string {
	texts := make([]string, len(f.Examples))
	for i, example := range f.Examples {
		texts[i] = "`" + jsonText(example) + "`"
	}
	return strings.Join(texts, ", ")
}

func (f Field) defaultText() string {
	switch {
	case f.Required:
		return "required"
	case f.Default == nil:
		return "none"
	default:
		return "`" + jsonText(f.Default) + "`"
	}
}

// anchor is the fragment that renderers make of a heading.
func anchor(heading string) string { return strings.ReplaceAll(heading, ".", "") }
