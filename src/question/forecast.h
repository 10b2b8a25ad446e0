/* How many samples a target radius takes. */
#ifndef CR_QUESTION_FORECAST_H
#define CR_QUESTION_FORECAST_H
#include "question/conditions.h"

/* certreg_estimator_forecast, of a question that was taken. */
certreg_status cr_forecast_tell(cr_view *, cr_conditions *, certreg_forecast *, certreg_error *why);

#endif
