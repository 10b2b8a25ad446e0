import certreg, numpy as np, pandas as pd, traceback
def t(name,f):
    try: print(name,'->',f())
    except BaseException as e: print(name,'RAISED',type(e).__name__,str(e)[:300])
# category order
codes=[]
def model(f):
    return f['x'].to_numpy()+10*f['c'].cat.codes.to_numpy()
a=pd.DataFrame({'x':np.linspace(0,1,60),'c':pd.Categorical(['a','b']*30,categories=['a','b'])})
b=pd.DataFrame({'x':[0.5],'c':pd.Categorical(['b'],categories=['b','a'])})
print('model(b) itself', model(b), 'as trained', model(a.iloc[[1]]))
e=certreg.Estimator(model,a,max_samples=2000,seed=1)
c=e.certify(b,0.1,2000,0.5); print('reordered', c.prediction)
b2=pd.DataFrame({'x':[0.5],'c':pd.Categorical(['b'],categories=['b'])})
c=e.certify(b2,0.1,2000,0.5); print('subset', c.prediction)
# integer labels
a2=a.copy(); a2.columns=[0,1]
def m2(f): return f[0].to_numpy()+10*f[1].cat.codes.to_numpy()
b3=b2.copy(); b3.columns=[0,1]
e2=certreg.Estimator(m2,a2,max_samples=2000,seed=1)
t('int labels', lambda: e2.certify(b3,0.1,2000,0.5).prediction)
# ordered
