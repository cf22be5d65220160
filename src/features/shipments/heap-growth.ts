import { setFlagsFromString } from "node:v8";

/** By how much the heap grows at most beyond what is alive, in percent; V8 by itself takes up to 300. */
const SLOW_PERCENT = 40;
/** Leaves it to V8. */
const OWN_PERCENT = 0;

let holders = 0;

/**
 * Has V8 collect garbage sooner until the returned function is called: for calls that make very much of it for a long
 * time, which would take 100 MiB more while memory is there. It costs others some time, so not for ever.
 */
export function holdHeapGrowth(setFlag = setFlagsFromString): () => void {
  if (holders++ === 0) setFlag(`--heap-growing-percent=${SLOW_PERCENT}`);
  return () => {
    if (--holders === 0) setFlag(`--heap-growing-percent=${OWN_PERCENT}`);
  };
}
