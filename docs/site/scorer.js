// How Sphinx ranks what a search finds: as its default, but a name first, then the questions, then
// the guide.
var Scorer = {
  score: ([page, , , , score]) =>
    score + 20 * /^(README|docs.guide.*)$/.test(page) + 20 * /guide.README/.test(page),
  objNameMatch: 60, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
