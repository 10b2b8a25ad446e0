// Package certreg is libcertreg for Go. Names and meanings are those of certreg.h, which is the
// manual. The library draws the noisy inputs and takes the outputs, so nothing of Go is called from
// C, and no pointer into Go's memory stays there.
package certreg

/*
#cgo pkg-config: certreg
#include <certreg/sampling.h>

// A struct of C may not hold Go's pointer to the scale.
static certreg_status create(certreg_model model, const float *scale, const certreg_plan *plan,
                             certreg_error *why, certreg_estimator **out)
{
	model.scale = scale;
	return certreg_estimator_create(NULL, &model, plan, why, out);
}
*/
import "C"

import (
	"fmt"
	"math"
)

// A statistic, beside the median, 0; and the outcome where nothing was proved.
const Huber, Abstained = C.CERTREG_STATISTIC_HUBER, C.CERTREG_OUTCOME_ABSTAINED

// Error is a status that is not 0, CERTREG_E_..., and the library's sentence.
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

func invalid(format string, a ...any) error {
	return &Error{C.CERTREG_E_INVALID, fmt.Sprintf(format, a...)}
}

// Model is a function and its shape. Eval reads Batch rows of Inputs numbers, and writes Outputs
// numbers for each. Where it writes nothing, y is NaN, which Certify refuses.
type Model struct {
	Inputs, Outputs, Batch int       // Batch 0: 256
	Scale                  []float32 // nil: all 1
	Eval                   func(x, y []float32) error
}

// Plan fixes the noise and the number of samples of each input.
type Plan struct {
	Seed       uint64
	MaxSamples int
}

// Question is about the record: by default about the median.
type Question struct {
	Tolerance, Alpha, HuberWidth float64
	Output, Statistic            int32
}

// Certificate is the answer to one question.
type Certificate struct {
	Radius, Prediction, Estimate, OutputLo, OutputHi float64
	Outcome, Status                                  int
}

// Estimator samples a model. It serves any number of inputs, one after the other, and one goroutine
// at a time.
type Estimator struct {
	handle       *C.certreg_estimator
	model        Model
	total, taken int
}

// New makes an estimator. Close it.
func New(m Model, p Plan) (*Estimator, error) {
	if m.Batch == 0 {
		m.Batch = 256
	}
	var scale *C.float
	if len(m.Scale) != 0 && len(m.Scale) != m.Inputs {
		return nil, invalid("Scale has %d numbers, not %d", len(m.Scale), m.Inputs)
	} else if len(m.Scale) != 0 {
		scale = (*C.float)(&m.Scale[0])
	}
	shape := C.certreg_model{struct_size: C.sizeof_certreg_model, inputs: C.size_t(m.Inputs),
		outputs: C.size_t(m.Outputs), batch: C.size_t(m.Batch)}
	plan := C.certreg_plan{struct_size: C.sizeof_certreg_plan, seed: C.uint64_t(p.Seed),
		max_samples: C.size_t(p.MaxSamples)}
	why := C.certreg_error{struct_size: C.sizeof_certreg_error}
	e := &Estimator{model: m, total: p.MaxSamples}
	return e, check(C.create(shape, scale, &plan, &why, &e.handle), &why)
}

// Close frees it.
func (e *Estimator) Close() {
	C.certreg_estimator_destroy(e.handle)
	e.handle = nil
}

func (e *Estimator) check(status C.certreg_status) error {
	if e.handle == nil {
		return invalid("the estimator is closed")
	}
	return check(status, C.certreg_estimator_error(e.handle))
}

// Begin starts a new input.
func (e *Estimator) Begin(z []float32, sigma float64, noiseID uint64) error {
	if len(z) != e.model.Inputs {
		return invalid("z has %d numbers, not %d", len(z), e.model.Inputs)
	}
	e.taken = 0
	return e.check(C.certreg_estimator_begin(e.handle, (*C.float)(&z[0]), C.double(sigma),
		C.uint64_t(noiseID)))
}

// Certify takes the samples that are missing of MaxSamples, and answers. If Eval fails, it returns
// the error; the samples before it stay, and the next call goes on from there.
func (e *Estimator) Certify(q Question) (Certificate, error) {
	for e.taken < e.total {
		if err := e.sample(); err != nil {
			return Certificate{}, err
		}
	}
	ask := C.certreg_question{struct_size: C.sizeof_certreg_question,
		tolerance: C.double(q.Tolerance), alpha: C.double(q.Alpha),
		huber_width: C.double(q.HuberWidth), output: C.int32_t(q.Output),
		statistic: C.int32_t(q.Statistic)}
	c := C.certreg_certificate{struct_size: C.sizeof_certreg_certificate}
	err := e.check(C.certreg_certify(e.handle, 0, &ask, 1, &c)) // 0: only answer
	return Certificate{float64(c.radius), float64(c.prediction), float64(c.estimate),
		float64(c.output_lo), float64(c.output_hi), int(c.outcome), int(c.status)}, err
}

// The next batch: noisy inputs out, outputs in.
func (e *Estimator) sample() error {
	rows := e.model.Batch
	x, y := make([]float32, rows*e.model.Inputs), make([]float32, rows*e.model.Outputs)
	for i := range y {
		y[i] = float32(math.NaN())
	}
	first := C.uint64_t(e.taken)
	err := e.check(C.certreg_estimator_draw(e.handle, first, C.size_t(rows), (*C.float)(&x[0])))
	if err == nil {
		err = e.model.Eval(x, y)
	}
	if rows > e.total-e.taken {
		rows = e.total - e.taken
	}
	if err == nil {
		err = e.check(C.certreg_estimator_record(e.handle, first, C.size_t(rows), (*C.float)(&y[0])))
	}
	if err == nil {
		e.taken += rows
	}
	return err
}
