"""The standard normal quantile: routine PPND16, of relative accuracy about 1e-16.

M. J. Wichura, "Algorithm AS 241", Applied Statistics 37 (1988), 477-484.
"""

import math

from fairbandits.engine.elementary import log
from fairbandits.engine.protocol import inlined, not_inlined

#: How far the central branch reaches from 1/2, and that squared.
WIDTH, SQUARE = 0.425, 0.180625
#: Coefficients of the polynomials above and below the line, the highest power first.
CENTRAL_ABOVE = (
    *(2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4),
    *(4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3),
    *(1.3314166789178437745e2, 3.3871328727963666080e0),
)
CENTRAL_BELOW = (
    *(5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4),
    *(2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2),
    *(4.2313330701600911252e1, 1.0),
)
MIDDLE_ABOVE = (
    *(7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1),
    *(1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0),
    *(4.63033784615654529590e0, 1.42343711074968357734e0),
)
MIDDLE_BELOW = (
    *(1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2),
    *(1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0),
    *(2.05319162663775882187e0, 1.0),
)
TAIL_ABOVE = (
    *(2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3),
    *(2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0),
    *(5.46378491116411436990e0, 6.65790464350110377720e0),
)
TAIL_BELOW = (
    *(2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5),
    *(7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1),
    *(5.99832206555887937690e-1, 1.0),
)


@not_inlined
def quantile(p):
    """Return z with P(Z <= z) = p for p in (0, 1)."""
    q = p - 0.5
    if abs(q) <= WIDTH:
        return central(q, SQUARE - q * q)
    r = math.sqrt(-log(p if q < 0.0 else 1.0 - p))
    if r <= 5.0:
        z = _polynomial(r - 1.6, MIDDLE_ABOVE) / _polynomial(r - 1.6, MIDDLE_BELOW)
    else:
        z = _polynomial(r - 5.0, TAIL_ABOVE) / _polynomial(r - 5.0, TAIL_BELOW)
    return -z if q < 0.0 else z


@inlined
def central(q, r):
    """Return the quantile of 1/2 + q, where |q| <= WIDTH and r = SQUARE - q^2."""
    return q * _polynomial(r, CENTRAL_ABOVE) / _polynomial(r, CENTRAL_BELOW)


@inlined
def _polynomial(r, c):
    value = (((c[0] * r + c[1]) * r + c[2]) * r + c[3]) * r + c[4]
    return ((value * r + c[5]) * r + c[6]) * r + c[7]
