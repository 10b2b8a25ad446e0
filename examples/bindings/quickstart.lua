-- quickstart.c in LuaJIT, which reads what the C compiler makes of the header.
local ffi = require 'ffi'
ffi.cdef(io.popen('cc -std=c99 -E -P $(pkg-config --cflags certreg) -x c - ' ..
    '-include certreg/certreg.h </dev/null'):read '*a')
certreg = ffi.load 'certreg' -- global, so that it is not unloaded before an estimator is destroyed

local function new(struct, fields) -- what is not given is 0
    local it = ffi.new('certreg_' .. struct, fields)
    it.struct_size = ffi.sizeof(it)
    return it
end
local function check(status, why) if status ~= 0 then error(ffi.string(why.text)) end end
local function model(b)
    for i = 0, tonumber(b.rows) - 1 do
        local x = b.x + 3 * i
        b.y[i] = x[0] + x[1] * x[2]
    end
end

local function eval(_, b) return pcall(model, b) and 0 or 1 end -- no error may leave it
local m = new('model', {eval = eval, inputs = 3, outputs = 1})
local plan = new('plan', {seed = 42, max_samples = 10000, audit = certreg.CERTREG_AUDIT_DEFAULT})
local ask, c, why = new('question', {tolerance = 0.5}), new('certificate', {}), new('error', {})
local out, z = ffi.new 'certreg_estimator *[1]', ffi.new('float[3]', {1, 0.5, -0.25})
check(certreg.certreg_estimator_create(nil, m, plan, why, out), why)
local e = ffi.gc(out[0], certreg.certreg_estimator_destroy)
check(certreg.certreg_estimator_begin(e, z, 0.25, 0), certreg.certreg_estimator_error(e))
check(certreg.certreg_certify(e, 10000, ask, 1, c), certreg.certreg_estimator_error(e))
print(('within %g of %g for every shift below %g'):format(c.tolerance, c.prediction, c.radius))
