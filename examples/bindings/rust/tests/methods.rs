use certreg::{c, Cancel, Error, Estimator, Model, Plan, Question, Serving, Target};

const Z: [f32; 2] = [1.0, 0.5];

fn plan() -> Plan {
    Plan { seed: 42, audit: 0, ..Plan::new(1000) }
}
/// Two outputs of each row, between -9 and 9.
fn two(x: &[f32], y: &mut [f32]) {
    for (x, y) in x.chunks(2).zip(y.chunks_mut(2)) {
        y[0] = (x[0] + x[1]).clamp(-9.0, 9.0);
        y[1] = (x[0] - x[1]).clamp(-9.0, 9.0);
    }
}
fn begun<F: FnMut(&[f32], &mut [f32])>(mut model: Model<F>) -> Result<Estimator<F>, Error> {
    model.outputs = 2;
    let mut e = Estimator::new(model, &plan())?;
    e.begin(&Z, 0.25, 7).map(|()| e)
}
fn status<T>(of: Result<T, Error>) -> i32 {
    of.err().map_or(0, |why| why.status)
}

#[test]
fn a_record_by_hand_or_by_bytes_answers_as_the_closure() -> Result<(), Error> {
    let (mut e, mut hand) = (begun(Model::new(2, two))?, begun(Model::by_hand(2))?);
    let (mut x, mut y) = ([0.0; 2000], [0.0; 2000]);
    hand.draw(0, &mut x)?;
    two(&x, &mut y);
    hand.record(0, &y)?;
    assert_eq!(status(hand.record(0, &y[..3])), c::CERTREG_E_INVALID);
    let wanted = e.certify(1000, &Question::new(0.5))?;
    assert!(wanted.radius > 0.0);
    let mut copy = begun(Model::new(2, |_, _| unreachable!()))?;
    copy.import(&hand.export()?)?;
    for found in [hand.certify(0, &Question::new(0.5))?, copy.certify(0, &Question::new(0.5))?] {
        assert_eq!((found.radius, found.prediction), (wanted.radius, wanted.prediction));
    }
    assert_eq!(copy.info()?.samples, 1000);
    assert_eq!(status(copy.import(&[])), c::CERTREG_E_CORRUPT);
    unsafe { e.call(|e| c::certreg_estimator_begin_level(e, Z.as_ptr(), 0.25, 0, 1)) }?;
    assert_eq!(e.info()?.level, 1);
    Ok(())
}

#[test]
fn vectors_ranges_and_angles() -> Result<(), Error> {
    let mut e = begun(Model { lo: &[-9.0; 2], hi: &[9.0; 2], ..Model::new(2, two) })?;
    assert_eq!(e.model_check(0)?, c::CERTREG_DEPENDENCE_NONE);
    let mean = c::CERTREG_STATISTIC_MEAN;
    let ask = [0, 1].map(|output| Question { output, statistic: mean, ..Question::new(2.0) });
    let (each, all) = e.certify_outputs(1000, &ask)?;
    assert!(all.radius > 0.0 && all.radius == each[0].radius.min(each[1].radius));
    assert_eq!(e.certify_all(0, &ask)?.len(), 2);
    assert_eq!(status(e.certify_all(0, &[])), c::CERTREG_E_INVALID);
    let bounds = e.output_bounds(0, &ask[0], 0.1)?;
    assert!(bounds.output_lo < 1.5 && 1.5 < bounds.output_hi);
    let vector = Question { output: c::CERTREG_ALL_OUTPUTS, ..Question::new(1.0) };
    assert_eq!((e.prediction(&ask[1])?.len(), e.estimate(&vector)?.len()), (1, 2));
    let given = Question { prediction: vec![1.5, 0.5], ..vector };
    assert_eq!(e.prediction(&given)?, given.prediction);
    let more = Question { prediction: vec![1.5, 0.5, 0.0], ..given };
    assert_eq!(status(e.certify(0, &more)), c::CERTREG_E_INVALID);
    let kind = [c::CERTREG_OUTPUT_REAL, c::CERTREG_OUTPUT_ANGLE_PAIR];
    let mut pair = begun(Model { kind: &kind, ..Model::by_hand(2) })?;
    assert_eq!(status(pair.record(0, &[0.0, 1.0])), c::CERTREG_E_INVALID);
    pair.record(0, &[0.0, 1.0, 0.0])?;
    assert_eq!(status(begun(Model { hi: &[9.0], ..Model::new(2, two) })), c::CERTREG_E_INVALID);
    Ok(())
}

#[test]
fn questions_read_what_they_point_to() -> Result<(), Error> {
    let mut e = begun(Model { batch: 50, ..Model::new(2, two) })?;
    let target = Some(Target { radius: 0.1, looks: vec![300, 1000], growth: 0.0 });
    let stopped = e.certify(1000, &Question { target, ..Question::new(0.5) })?;
    assert_eq!((stopped.stop, stopped.samples), (c::CERTREG_STOP_TARGET, 300));
    e.begin(&Z, 0.25, 8)?;
    // The size is the crate's own, whatever a program writes.
    let of = Serving { samples: 101, failure_rate: 0.01, struct_size: 65528, ..Serving::default() };
    let served = Question { serving: Some(of), ..Question::new(0.5) };
    let answers = e.certify_all(1000, &[served, Question::new(0.5)])?;
    assert!(0.0 < answers[0].radius && answers[0].radius < answers[1].radius);
    Ok(())
}

#[test]
fn other_threads_cancel() -> Result<(), Error> {
    fn shared<T: Send + Sync>(it: T) -> T {
        it
    }
    let mut e = begun(Model::new(2, two))?;
    let cancel: Cancel = shared(e.cancel_handle());
    let other = cancel.clone();
    std::thread::spawn(move || other.cancel()).join().unwrap();
    assert_eq!(status(e.sample(0, 500)), c::CERTREG_E_CANCELLED);
    e.set_deadline(0.0)?;
    assert_eq!(status(e.sample(0, 500)), c::CERTREG_E_DEADLINE);
    e.set_deadline(f64::INFINITY)?;
    e.sample(0, 500)?;
    drop(e);
    cancel.cancel();
    Ok(())
}
