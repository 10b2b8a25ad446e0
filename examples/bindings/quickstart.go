// One certificate from Go. The library draws the noisy inputs and takes the outputs, so nothing of
// Go is called from C, and no pointer into Go's memory stays there.
package main

// #cgo pkg-config: certreg
// #include <certreg/certreg.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
)

// Error is a status that is not 0, and the library's sentence.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

func check(status C.certreg_status, why *C.certreg_error) error {
	if status == C.CERTREG_OK {
		return nil
	}
	return &Error{int(status), C.GoString(&why.text[0])}
}

const batch = 256 // rows at a time

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// Estimator samples a model, from one row of inputs to one number.
type Estimator struct {
	handle          *C.certreg_estimator
	model           func(x []float32) float32
	inputs, samples int
}

// New makes an estimator that takes so many samples of each input. Close it. One goroutine at a
// time may use it.
func New(model func(x []float32) float32, inputs, samples int, seed uint64) (*Estimator, error) {
	shape := C.certreg_model{struct_size: C.sizeof_certreg_model,
		inputs: C.size_t(inputs), outputs: 1}
	plan := C.certreg_plan{struct_size: C.sizeof_certreg_plan,
		max_samples: C.size_t(samples), seed: C.uint64_t(seed)}
	why := C.certreg_error{struct_size: C.sizeof_certreg_error}
	e := &Estimator{model: model, inputs: inputs, samples: samples}
	err := check(C.certreg_estimator_create(nil, &shape, &plan, &why, &e.handle), &why)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Close frees it.
func (e *Estimator) Close() {
	C.certreg_estimator_destroy(e.handle)
	e.handle = nil
}

func (e *Estimator) check(status C.certreg_status) error {
	return check(status, C.certreg_estimator_error(e.handle))
}

// Certify begins the input z, samples, and says within which radius the median of the outputs
// stays within the tolerance.
func (e *Estimator) Certify(z []float32, sigma float64, noiseID uint64,
	tolerance float64) (c C.certreg_certificate, err error) {
	c.struct_size = C.sizeof_certreg_certificate
	if e.handle == nil {
		return c, errors.New("the estimator is closed")
	}
	if len(z) != e.inputs {
		return c, errors.New("z has another number of inputs")
	}
	err = e.check(C.certreg_estimator_begin(e.handle, (*C.float)(&z[0]), C.double(sigma),
		C.uint64_t(noiseID)))
	for first := 0; err == nil && first < e.samples; first += batch {
		err = e.sample(first, min(batch, e.samples-first))
	}
	if err != nil {
		return c, err
	}
	q := C.certreg_question{struct_size: C.sizeof_certreg_question, tolerance: C.double(tolerance)}
	return c, e.check(C.certreg_certify(e.handle, 0, &q, 1, &c)) // 0: only answer
}

// The samples first to first+rows-1: noisy inputs out, outputs in.
func (e *Estimator) sample(first, rows int) error {
	x, y := make([]float32, rows*e.inputs), make([]float32, rows)
	err := e.check(C.certreg_estimator_draw(e.handle, C.uint64_t(first), C.size_t(rows),
		(*C.float)(&x[0])))
	if err != nil {
		return err
	}
	for i := range y {
		y[i] = e.model(x[i*e.inputs : (i+1)*e.inputs])
	}
	return e.check(C.certreg_estimator_record(e.handle, C.uint64_t(first), C.size_t(rows),
		(*C.float)(&y[0])))
}

func run() error {
	e, err := New(func(x []float32) float32 { return x[0] + x[1]*x[2] }, 3, 10000, 42)
	if err != nil {
		return err
	}
	defer e.Close()
	c, err := e.Certify([]float32{1, 0.5, -0.25}, 0.25, 0, 0.5)
	if err != nil {
		return err
	}
	fmt.Printf("within %g of %.6f for every shift below %.6f\n", c.tolerance, c.prediction, c.radius)
	_, err = e.Certify([]float32{1, 0.5, -0.25}, -1, 1, 0.5)
	var why *Error
	if errors.As(err, &why) {
		fmt.Printf("status %d: %s\n", why.Status, why.Text)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
