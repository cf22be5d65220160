/** A piece of work for one call; it does not throw. */
type Step = () => void;

/**
 * Work put off to the end of the current turn of the event loop, when the requests that arrived
 * together have all been read: first all calls are performed, then all are answered, then all are
 * recorded. One thing done to many calls in a row costs half of what it does between other things,
 * since its code is in the processor's caches, and a caller whom the first answer woke up is awake
 * for the next.
 */
export interface TickBatcher {
  perform(step: Step): void;
  answer(step: Step): void;
  record(step: Step): void;
}

export function createTickBatcher(): TickBatcher {
  const perform: Step[] = [];
  const answer: Step[] = [];
  const record: Step[] = [];
  let isDue = false;

  function end(): void {
    isDue = false;
    doAll(perform);
    doAll(answer);
    doAll(record);
  }

  const putInto = (steps: Step[]) => (step: Step) => {
    steps.push(step);
    if (isDue) return;
    isDue = true;
    setImmediate(end);
  };
  return { perform: putInto(perform), answer: putInto(answer), record: putInto(record) };
}

/** Does what has been put in so far, in order; steps put in meanwhile wait for the next turn. */
function doAll(steps: Step[]): void {
  for (const step of steps.splice(0)) step();
}
