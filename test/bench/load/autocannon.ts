import { fileURLToPath } from "node:url";
import { runCommand } from "../run-command.ts";
import type { HttpLoad, Outcome } from "./http-load.ts";

const SCRIPT = fileURLToPath(new URL("autocannon-process.ts", import.meta.url));

/**
 * Puts load on a server with autocannon, in a process of its own. With `requestsPerSecond`, no more
 * than so many; autocannon then makes each second's requests as fast as it can, and rests.
 */
export async function runAutocannon(
  load: HttpLoad & { readonly requestsPerSecond?: number },
): Promise<Outcome> {
  return JSON.parse(await runCommand(process.execPath, [SCRIPT, JSON.stringify(load)])) as Outcome;
}
