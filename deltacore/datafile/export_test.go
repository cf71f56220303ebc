package datafile

// LimitBatchValues lowers what the values of a batch may take, and returns what sets it back.
func LimitBatchValues(size int) (restore func()) {
	before := maxBatchValues
	maxBatchValues = size
	return func() { maxBatchValues = before }
}
