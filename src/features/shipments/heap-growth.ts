import { setFlagsFromString } from "node:v8";

/** Maximum heap growth beyond live objects, in percent. V8's default allows up to 300. */
const SLOW_PERCENT = 40;
/** Value that restores V8's default. */
const OWN_PERCENT = 0;

let holders = 0;

/**
 * Makes V8 collect garbage more often until the returned function is called. Long calls that create
 * much garbage would otherwise use 100 MiB more. Slows down other calls a little.
 */
export function holdHeapGrowth(setFlag = setFlagsFromString): () => void {
  if (holders++ === 0) setFlag(`--heap-growing-percent=${SLOW_PERCENT}`);
  return () => {
    if (--holders === 0) setFlag(`--heap-growing-percent=${OWN_PERCENT}`);
  };
}
