const controller = new AbortController();

/**
 * Aborts when somebody ends the bench early: the load under way ends with it, and each case then
 * ends what it had started. A terminal and npm may both send the signal.
 */
export const interrupted: AbortSignal = controller.signal;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => controller.abort(new Error(`ended by ${signal}`)));
}
