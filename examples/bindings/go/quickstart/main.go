package main

import (
	"certreg"
	"fmt"
	"log"
)

func model(x, y []float32) error {
	for i := range y {
		y[i] = x[3*i] + x[3*i+1]*x[3*i+2]
	}
	return nil
}

func main() {
	e, err := certreg.New(certreg.Model{Inputs: 3, Outputs: 1, Eval: model},
		certreg.Plan{MaxSamples: 10000, Seed: 42}) // without a seed a secret one is drawn
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	var c certreg.Certificate
	if err = e.Begin([]float32{1, 0.5, -0.25}, 0.25, 0); err == nil {
		c, err = e.Certify(certreg.Question{Tolerance: 0.5})
	}
	if err != nil {
		log.Panic(err)
	}
	fmt.Printf("within 0.5 of %.6f for every shift below %.6f\n", c.Prediction, c.Radius)
}
