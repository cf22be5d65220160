import { setFlagsFromString } from "node:v8";

/** Maximum heap growth beyond live objects, in percent. V8's default reaches 300. */
const SLOW_PERCENT = 40;
/** V8's default. */
const OWN_PERCENT = 0;

let holders = 0;

/**
 * Makes V8 collect garbage sooner until the returned function is called, for long calls that create
 * much garbage and would take 100 MiB more. Costs other calls some time.
 */
export function holdHeapGrowth(setFlag = setFlagsFromString): () => void {
  if (holders++ === 0) setFlag(`--heap-growing-percent=${SLOW_PERCENT}`);
  return () => {
    if (--holders === 0) setFlag(`--heap-growing-percent=${OWN_PERCENT}`);
  };
}
