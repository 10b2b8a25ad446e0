/* Three loops with an adversary who adapts (theory 14). The strongest attack of each is known, and
 * its effect exactly: an episode that is out with probability Phi(-a) is out with probability
 * Phi(budget - a). So a certificate is false iff its radius exceeds a. */
#ifndef MISSES_EPISODES_H
#define MISSES_EPISODES_H

/* Certifies each loop 4,000 times and prints a line. Returns the number of loops in which attacks
 * at 0.999 of the radius succeed more often than alpha, or the attack is not the known one. */
int episodes_exceed(void);

#endif
