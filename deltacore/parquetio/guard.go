package parquetio

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// guard runs a call into arrow-go. Broken bytes make arrow-go panic in many places; that is the file's fault.
func guard(call func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		cause, ok := p.(error)
		if !ok {
			cause = fmt.Errorf("%v", p)
		}
		msg := "the bytes cannot be decoded"
		var bug runtime.Error
		if errors.As(cause, &bug) {
			msg = "the bytes cannot be decoded: the decoder stopped in the middle"
		}
		err = corrupt(msg, cause)
	}()
	return call()
}

// corrupt makes an error of arrow-go one of ours. What is ours already, and the end of a context, stay what they are.
func corrupt(msg string, cause error) error {
	var ours *deltaerr.Error
	if errors.As(cause, &ours) || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return deltaerr.New(deltaerr.Corrupt, msg, deltaerr.Cause(cause))
}
