import { once } from "node:events";
import { onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";
import { spawnGroup } from "./process-group.ts";

/** A service started by an npm command. */
export interface NpmService {
  readonly url: string;
  /** Output before the service was ready. */
  readonly output: string;
  /** Sends the signal to npm only, and waits until npm and its children have exited. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts the demo with a command such as `npm start`, and waits until it is ready. All its
 * processes are killed at the end of the test.
 */
export async function startByNpm(
  [program, ...args]: readonly [string, ...string[]],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
): Promise<NpmService> {
  const { leader: npm, kill } = spawnGroup(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(kill);
  let stdout = "";
  npm.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  const ended = Promise.all([once(npm, "exit"), once(npm.stdout!, "close")]);
  const [, url] = await eventually("the curl line", () => {
    if (npm.exitCode !== null) throw new Error(`npm exited: ${stdout}`);
    return /^curl -sS (http:..127.0.0.1:\d+)\/[^]*\n\n$/m.exec(stdout) ?? undefined;
  });
  return {
    url: url!,
    output: stdout,
    async stop(signal) {
      npm.kill(signal);
      await ended;
    },
  };
}
