package parquetio

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// guard runs a call into arrow-go, which decodes what. Broken bytes make arrow-go panic in many places; that is the file's
// fault. What the runtime says of such a panic is of no use to anybody who reads it.
func guard(what string, call func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		cause, ok := p.(error)
		if !ok {
			cause = fmt.Errorf("%v", p)
		}
		err = corrupt(what, cause)
	}()
	return call()
}

// corrupt makes an error of arrow-go one of ours. What is ours already, and the end of a context, stay what they are.
func corrupt(what string, cause error) error {
	var ours *deltaerr.Error
	if errors.As(cause, &ours) || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) ||
		errors.Is(cause, errWrongIndex) {
		return cause
	}
	msg := what + " cannot be decoded"
	var stopped runtime.Error
	if errors.As(cause, &stopped) {
		return deltaerr.New(deltaerr.Corrupt, msg+": damaged")
	}
	return deltaerr.New(deltaerr.Corrupt, msg, deltaerr.Cause(cause))
}
