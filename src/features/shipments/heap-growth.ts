import { setFlagsFromString } from "node:v8";

/** Maximum heap growth beyond live objects, in percent. V8's default allows up to 300. */
const SLOW_PERCENT = 40;
/** Value that restores V8's default. */
const OWN_PERCENT = 0;

let holders = 0;

/**
 * Makes V8 collect garbage more often until the returned function is called. Otherwise, long calls that create a lot of
 * garbage would use 100 MiB more. Slightly slows down other calls.
 */
export function holdHeapGrowth(setFlag = setFlagsFromString): () => void {
  if (holders++ === 0) setFlag(`--heap-growing-percent=${SLOW_PERCENT}`);
  return () => {
    if (--holders === 0) setFlag(`--heap-growing-percent=${OWN_PERCENT}`);
  };
}
