"""Repeats the experiments of Zhang and Frank, "Higher-Order Certified Robustness for Regression"
(ICML 2026), beside the best published methods and the library's own certificates. More parts
compare prediction intervals under attack, networks behind denoisers, and models of others.

    make reproduce            everything, with MNIST: about 70 minutes on two cores
    QUICK=1 make reproduce    fewer inputs and samples: about two minutes

Each part is a module with two functions: compute(settings) runs its experiments through the public
interface and writes CSV files and plots, and report(settings, beside) turns these files into the
tables of docs/reproduction.md and those beside it. Certificates are kept in resume files, so a run
that was interrupted goes on where it stopped. settings.py lists the environment variables."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the parts use processes instead
