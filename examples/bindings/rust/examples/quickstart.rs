use certreg::{Error, Estimator, Model, Plan, Question};

fn main() -> Result<(), Error> {
    let model = Model::new(3, |x, y| {
        for (x, y) in x.chunks(3).zip(y) {
            *y = x[0] + x[1] * x[2];
        }
    });
    let mut plan = Plan::new(10_000);
    plan.seed = 42; // repeats what is printed; without it a secret one is drawn
    let mut e = Estimator::new(model, &plan)?;
    e.begin(&[1.0, 0.5, -0.25], 0.25, 0)?;
    let c = e.certify(10_000, &Question::new(0.5))?;
    println!("within {} of {:.6} for every shift below {:.6}", c.tolerance, c.prediction, c.radius);
    Ok(())
}
