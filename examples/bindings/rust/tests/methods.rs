use certreg::{c, Alternatives, Cancel, Error, Estimator, Model, Plan, Question};
use certreg::{Queue, QueueInput, QueuePlan, Serving, Target};
use std::sync::Arc;

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
fn shared<T: Send + Sync>(it: T) -> T {
    it
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
    let mut e = begun(Model::new(2, two))?;
    let cancel: Arc<Cancel> = shared(e.cancel_handle());
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

#[test]
fn a_queue_certifies_an_input_with_alternatives() -> Result<(), Error> {
    let room = QueuePlan { capacity: 2, sets: 1, alternatives: 2, ..QueuePlan::default() };
    let mut q = Queue::new(Model { outputs: 2, ..Model::new(2, two) }, &plan(), &room)?;
    let ask = [Question::new(0.5)];
    let of = |tag| QueueInput { tag, noise_id: 7 + tag, sigma: 0.25, ..QueueInput::default() };
    assert!(q.take()?.is_none());
    assert!(q.add(&of(0), &Z, &ask, None)?);
    let again = q.add(&of(0), &Z, &ask, None).unwrap_err();
    assert_eq!(again.text, "tag 0 is open already");
    q.run()?;
    let alone = q.take()?.unwrap().certificates?[0];
    assert_eq!(alone.radius, begun(Model::new(2, two))?.certify(1000, &ask[0])?.radius);
    // The queue keeps a copy, and nothing that is freed and overwritten; another thread may run it.
    let set = |margins| Alternatives {
        z: vec![1.1, 0.5, 0.9, 0.4], margins, first_noise_id: 20, ..Alternatives::default()
    };
    let short = q.add(&of(1), &Z, &ask, Some(&set(vec![0.0]))).unwrap_err();
    assert_eq!(short.text, "alternatives.margins has 1 numbers, not 2");
    assert!(q.add(&of(1), &Z, &ask, Some(&set(vec![0.0, 0.05])))?);
    let _over: Vec<_> = (0..99).map(|_| [vec![9f32; 4], vec![9f32; 2]]).collect();
    let mut q = std::thread::spawn(move || q.run().map(|()| q)).join().unwrap()?;
    let found = q.take()?.unwrap();
    assert_eq!((found.tag, found.limiting, found.proved), (1, vec![2], 3));
    for (one, sum) in found.alternatives.iter().zip([1.5, 1.6, 1.3]) {
        assert!((one.estimate - sum).abs() < 0.05);
    }
    let all = found.certificates?[0];
    assert!(0.0 < all.radius && all.radius < alone.radius);
    // Other threads cancel it, and it is full.
    for tag in 2..5 {
        assert_eq!(q.add(&of(tag), &Z, &ask, None)?, tag < 4);
    }
    let cancel: Arc<Cancel<c::Queue>> = shared(q.cancel_handle());
    std::thread::spawn(move || cancel.cancel()).join().unwrap();
    q.run()?;
    assert_eq!(q.take()?.unwrap().certificates?[0].stop, c::CERTREG_STOP_CANCELLED);
    Ok(())
}

#[test]
fn a_panic_leaves_a_queue_and_fails_its_inputs() -> Result<(), Error> {
    for (flags, then) in [(0, c::CERTREG_E_MODEL_FAILED), (c::CERTREG_QUEUE_SPLIT, 0)] {
        let mut calls = 0;
        let model = Model::new(2, |_, y| {
            calls += 1;
            assert!(calls != 1, "off");
            y.fill(1.0)
        });
        let room = QueuePlan { capacity: 2, flags, ..QueuePlan::default() };
        let mut q = Queue::new(model, &plan(), &room)?;
        for tag in 0..2 {
            let of = QueueInput { tag, noise_id: tag, sigma: 0.25, ..QueueInput::default() };
            q.add(&QueueInput { samples: 50, ..of }, &Z, &[Question::new(0.5)], None)?;
        }
        let off = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| q.run())).unwrap_err();
        assert_eq!(off.downcast_ref(), Some(&"off"));
        for _ in 0..2 {
            q.run()?;
            assert_eq!(status(q.take()?.unwrap().certificates), then);
        }
    }
    Ok(())
}
