import certreg, numpy as np, pandas as pd, traceback
from certreg import Question
def t(name,f):
    try: print(name,'->',f())
    except BaseException as e: print(name,'RAISED',type(e).__name__,str(e)[:300])
def r(c): return (c.prediction,c.radius,c.output_lo,c.output_hi,c.tolerance,c.status)
print([x for x in dir(certreg) if not x.startswith('_')])
help(Question.__init__) if False else None
import inspect; print(inspect.signature(Question)); 
base=1e8
f64=lambda x: base+3.0*x[:,0].astype(np.float64)
E=lambda m,**k: certreg.Estimator(m,1,max_samples=2000,seed=1,**k)
t('tol', lambda: r(E(f64).certify([0.],0.25,2000,1.0)))
i64=lambda x: np.round(base+3.0*x[:,0].astype(np.float64)).astype(np.int64)
t('int64', lambda: r(E(i64).certify([0.],0.25,2000,1.0)))
obj=lambda x: (base+3.0*x[:,0].astype(np.float64)).astype(object)
t('object', lambda: r(E(obj).certify([0.],0.25,2000,1.0)))
lst=lambda x: (base+3.0*x[:,0].astype(np.float64)).tolist()
t('list', lambda: r(E(lst).certify([0.],0.25,2000,1.0)))
dec=lambda x: [__import__('decimal').Decimal(float(base+3.0*v)) for v in x[:,0]]
t('Decimal', lambda: r(E(dec).certify([0.],0.25,2000,1.0)))
ser=lambda x: pd.Series(base+3.0*x[:,0].astype(np.float64),dtype='Float64')
t('pd Float64', lambda: r(E(ser).certify([0.],0.25,2000,1.0)))
big=lambda x: [int(base)+int(3*v) for v in x[:,0]]
t('intlist', lambda: r(E(big).certify([0.],0.25,2000,1.0)))
ld=lambda x: (np.longdouble(base)+3.0*x[:,0])
t('longdouble', lambda: r(E(ld).certify([0.],0.25,2000,1.0)))
def rec():
    e=E(None); e.begin([0.],0.25); x=e.draw(0,2000); e.record(0,f64(x)); return r(e.certify(0,1.0))
t('record', rec)
def imp():
    e=E(f64); e.begin([0.],0.25); e.sample(0,2000); d=e.export()
    e2=E(f64); e2.begin([0.],0.25); e2.import_(d); return r(e2.certify(0,1.0))
t('import',imp)
t('sample+certify',lambda: (lambda e:(e.begin([0.],.25),e.sample(0,2000),r(e.certify(0,1.0))))(E(f64)))
