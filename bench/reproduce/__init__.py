"""Repeats the experiments of Zhang and Frank, "Higher-Order Certified Robustness for Regression"
(ICML 2026), beside the best published methods and the library's own certificates.

    make reproduce            everything, with MNIST: about 48 minutes on two cores
    QUICK=1 make reproduce    fewer inputs and samples: about a minute

Each part is a module with two functions: compute(settings) runs its experiments through the public
interface and writes CSV files and plots, and report(settings) turns these files into a section of
docs/reproduction.md. Certificates are kept in resume files, so a run that was interrupted goes on
where it stopped. settings.py lists the environment variables."""
