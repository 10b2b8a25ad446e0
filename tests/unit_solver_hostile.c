/* Constraints that once broke the solver, one test each: at the edge, far away, and within the
 * limits of evaluations. */
#include <certreg/solver.h>
#include "bisection/bisection.h"
#include "support/solver_fixture.h"

/* ---- inputs that once broke it */
TEST(worst_case_of_the_least_variances_of_a_double)
{
    const certreg_bounds least = given(V, 0, 0, 1e-307, 0, 0, 0, 0),
                         far = given(V, 0, 0, 1e-290, 0, 0, 0, 0);
    ck_assert_double_eq_tol(within(&least, 1.685e-154).radius, 0.5, 1e-3);
    ck_assert_double_ge(shift_of(&far, 9).drop, 1e-145 * exp(40.5) * (1 - 1e-12));
}

TEST(worst_case_loses_nothing_by_rounding_of_the_radius)
{
    certreg_bounds b = given(V, 0, 0, 1638.7059222015382, 0, 0, 0, 0);
    b.sigma = 0.19978451350590259;
    const long double r = 4.728467421933324L / (long double)b.sigma;
    ck_assert((long double)shift_of(&b, 4.728467421933324).rise >=
              sqrtl((long double)b.variance_hi * expm1l(r * r)));
}

TEST(worst_case_at_the_least_radii_is_positive)
{
    const certreg_bounds b = given(ALL, 0.1, 0.1, 0.2, 0.15, 0.15, -1, 1);
    certreg_bounds coarse = b;
    coarse.sigma = 1e300;
    ck_assert_double_gt(shift_of(&coarse, 1e-300).rise, 0);
    ck_assert_double_gt(shift_of(&b, 1e-300).rise, 1.4e-301);
}

TEST(worst_case_is_not_enlarged_by_a_gradient)
{
    const double m = -0.046892412913494864, r = 0.063455700633618509;
    const certreg_bounds all = given(ALL, m, m, 0.00015672592732602551, 0.0012004993641987463,
                                     1.2004993641987463, -0.047241663060180655,
                                     0.40399393403227613);
    certreg_bounds fewer = all;
    fewer.constraints = M | V | R;
    ck_assert_double_le(shift_of(&all, r).rise, shift_of(&fewer, r).rise * (1 + 1e-9));
    ck_assert_double_le(shift_of(&all, r).drop, shift_of(&fewer, r).drop * (1 + 1e-9));
}

/* ---- places far away, and at the edge of what is feasible */
typedef struct place {
    certreg_bounds bounds;
    double radius, rise, drop; /* what a function with these constraints reaches; 0: it exists */
    double mean_greatest, mean_least;
} place;

#define LISTED(mask, unit, m0, m1, c, g0, g1, lo, hi, at, m2)                                     \
    {                                                                                             \
        .struct_size = sizeof(certreg_bounds), .constraints = mask, .sigma = unit, .mean_lo = m0, \
        .mean_hi = m1, .variance_hi = c, .gradient_lo = g0, .gradient_hi = g1, .range_lo = lo,    \
        .range_hi = hi, .moment_center = at, .moment_hi = m2                                      \
    }
#define ANYWHERE -INFINITY, INFINITY

static const place places[] = {
    {LISTED(EVERY_KIND, 0.87504802679147153, -1081223.0786552636, INFINITY, 0.070470359242503694,
            0.14340744864851224, 0.1437092491318627, -1081224.0023548061, -1081223.0023548061,
            -1081223.0786454235, 0.070470362223892788),
     28.39228775894108, 0, 0.9237093826539346, ANYWHERE},
    {LISTED(EVERY_KIND, 1, -INFINITY, 152785464266.64178, 0.2353636813028557, 0.38045468595112408,
            0.38045468595456294, 152785464266.02078, 152785464267.02078, 152785464266.64175,
            0.23536368138339808),
     10.088675571085687, 0, 0.620980654226799, ANYWHERE},
    {LISTED(EVERY_KIND, 64, 88827962464.800934, 88827962465.770981, 0.029067333849620354,
            0.067976585076491125, 0.067976585076491139, 88827962464.770981, 88827962465.770981,
            88827962464.800949, 0.029067852515682609),
     1272.5036754747643, 0.9700347499391717, 0, ANYWHERE},
    {LISTED(G | R, 7.4029831519160697e+224, 0, 0, 0, 0.32928528230502557, 0.33215110769073813,
            277675589.45191163, 277675590.45191163, 0, 0),
     1.1926971272998077e+226, 0, 0.7322076089286823, ANYWHERE},
    {LISTED(M | V | G | Q, 1, -1.7976931348623157e+308, -8.8994338142219541e-68,
            1.2723705290714766e-135, 0, 2.2878021162324993e-68, 0, 0, -8.899433814801131e-68,
            1.2723697534395478e-135),
     1.9128465397751284e-129, 1e-197, 1e-197, ANYWHERE},
    {LISTED(ALL, 1, -5.7519772435631197e-129, 1.7976931348623157e+308, 1.1215384750196276e-61,
            6.0741123789384787e-131, 6.0741123856769538e-131, -5.7706116382114285e-129,
            4.9259626215052284e-140, 0, 0),
     25.407475460081905, 5.75e-129, 0, ANYWHERE},
    {LISTED(EVERY_KIND, 0.5020336192206647, -4194304, 1.7976931348623157e+308,
            2.8161281113849061e-186, 0, 2.5729806899054453e-177, -3.0615948651504005e-08,
            1.4691251457428597e-09, -3.0615875712537334e-08, 2.8161281113849061e-186),
     12.472227181397669, 3.7677759e-11, 0, ANYWHERE},
    {LISTED(EVERY_KIND, 17592186044416, -4.6667370513179343, 6.7983439653004449,
            0.77495467151946151, 0.71137782413227479, 0.71138370677259799, -7.859837943755787,
            -1.0218075901228578, -3.9901330545914711, 6.9588725856974749),
     18185978184682.789, 0, 1.164712952348565, -1.2598904837075191, INFINITY},
    {LISTED(EVERY_KIND, 9.6714065569170334e+24, -3.202559649100222, 3.6195754126578614,
            0.23258554308305629, 0.30575238945416133, 0.30575238945416139, -5, -1,
            -5.3107282754406215, 17.736928393819966),
     7.261156094762092e+24, 0, 0.3627635176911761, -1.0365990524379091, INFINITY},
    /* means at an end of the range, between two neighbouring doubles, and at an open end */
    {LISTED(M | G | R, 1, -0.97000990550163402, -0.97000983103561056, 0, 4.579677425256509e-11,
            4.5796790817065048e-11, -0.97000983104217109, 0.68898101074825258, 0, 0),
     1, 0, 0, ANYWHERE},
    {LISTED(M | G | R, 1, 1.0409141636138175, 1.0409141636138179, 0, 0, 8.3613689935725915e-18,
            -4.7792701476601289, 1.0409141636138177, 0, 0),
     0.12367791422060131, 0, 0, ANYWHERE},
    {LISTED(EVERY_KIND, 1, 0.65558791061610611, INFINITY, 0.015927288195311574,
            0.074190203870388521, 0.074190203870388549, -0.070994163397230525, 0.9145633044176209,
            0.9145633044176209, 0.082995542789961199),
     8.9530884393978667, 0, 0, ANYWHERE},
    {LISTED(ALL, 0.57381527332180804, 4.0496084142056653e-116, 4.0496084142056658e-116,
            6.3311701808243934e-292, 7.472468290935637e-147, 7.5964746731204398e-147,
            4.0496084142056653e-116, 4.0496084142056658e-116, 0, 0),
     5.5459938088759406, 0, 0, ANYWHERE},
    {LISTED(EVERY_KIND, 2.3283064365386963e-10, 0.26487909022547912, 0.26487909022547923,
            3.876812072890337e-135, 3.628144743520849e-133, 3.6281447435208498e-133,
            -0.38256188173875955, 0.26487909022547917, 0.26487909022547917, 3.876812072890337e-135),
     2.9743654603103911e-13, 0, 0, ANYWHERE},
};

TEST_ROWS(worst_case_covers_functions_far_away_and_at_edges, places)
{
    const place *p = places + _i;
    const certreg_mean_change got = shift_of(&p->bounds, p->radius);
    ck_assert_double_ge(got.rise, p->rise);
    ck_assert_double_ge(got.drop, p->drop);
    ck_assert_double_ge(got.mean_greatest, p->mean_greatest);
    ck_assert_double_le(got.mean_least, p->mean_least);
}

/* Without an end in the way the worst function is a multiple of the likelihood ratio, which
 * stays above this lower end. */
TEST(worst_case_covers_an_open_range_at_large_radii)
{
    const double C = 4.4724997385795018e112, r = 16.504923567370735;
    const long double square = (long double)r * r;
    certreg_bounds b = given(ALL, 0.0030433896395022707, 0.0030433896395022711, C,
                             0.030263948667128348, 0.030263948667128351, -0.053825667221990531,
                             INFINITY);
    ck_assert((long double)shift_of(&b, r).rise >= sqrtl(C * expm1l(square)) * (1 - 1e-15L));
    b.constraints = 11;
    ck_assert((long double)shift_of(&b, r).rise >= sqrtl(C * expm1l(square)) * (1 - 1e-17L));
}

TEST(bisection_that_took_seconds_stays_within_the_limit)
{
    const certreg_bounds b = LISTED(EVERY_KIND, 1, -47.873715343617263, -47.873689479612608,
                                    9.281110893181246e-6, 0, 6.6274271639035881e-7,
                                    -47.873713032367753, 3.7246940731550415, 4000.6684415048426,
                                    16390693.576159326);
    ck_assert_double_ge(within(&b, 1.3024635654435492e-7).radius, 0);
    ck_assert_int_le(bisection->info.evaluations, CERTREG_RADIUS_EVALUATIONS);
}

/* Where the range hardly matters the closed form has the radius already, and a search that ends
 * just below it has found it again. */
TEST(bisection_of_ordinary_bounds_takes_few_evaluations)
{
    const certreg_bounds b = given(ALL, 0.90050486722305645, 0.90050486722305645,
                                   0.00067630122281964059, 0.022588746129505052,
                                   0.022588746129505052, -1, 1);
    within(&b, 0.001399430549705322);
    ck_assert_int_le(bisection->info.evaluations, 60);
}

SOLVER_MAIN("solver_broken_before")
