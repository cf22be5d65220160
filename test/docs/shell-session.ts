import { once } from "node:events";
import { eventually } from "../support/eventually.ts";
import { spawnGroup } from "../support/process-group.ts";

/** A shell that runs blocks one after another, so that later blocks see variables from earlier ones. */
export interface ShellSession {
  /**
   * Runs a block and asserts that every command succeeded. Also waits until the block or a
   * background block has printed `text`.
   */
  run(block: string, text?: string): Promise<void>;
  /** Starts a block in the background and waits until it has printed `text`. */
  start(block: string, text: string): Promise<void>;
  /** Returns all output so far. */
  printed(): string;
  /** Stops the shell and all background blocks. */
  close(): Promise<void>;
}

/** Text that is printed when a block has succeeded, or when a background block has ended. */
const DONE = "-- the block is done --";
const ENDED = "-- the block has ended --";

/** Starts a shell that exits as soon as a command fails. */
export function startShellSession(environment: NodeJS.ProcessEnv): ShellSession {
  const args = ["-euo", "pipefail", "-s"];
  const { leader: bash, kill } = spawnGroup("bash", args, { env: environment, stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(bash, "close");
  let printed = "";
  for (const output of [bash.stdout!, bash.stderr!]) {
    output.setEncoding("utf8").on("data", (text: string) => (printed += text));
  }
  bash.stdin!.on("error", () => {});
  const hasEnded = () => bash.exitCode !== null || bash.signalCode !== null;

  async function untilPrinted(text: string, from: number): Promise<void> {
    await eventually(JSON.stringify(text), () => {
      const since = printed.slice(from);
      if (since.includes(text)) return true;
      if (hasEnded() || since.includes(ENDED)) throw new Error(`the block failed: ${since}`);
      return false;
    });
  }

  return {
    // Braces keep the block from reading the input that follows.
    async run(block, text = DONE) {
      const from = printed.length;
      bash.stdin!.write(`{ ${block}\n} </dev/null\necho '${DONE}'\n`);
      await untilPrinted(DONE, from);
      await untilPrinted(text, from);
    },
    async start(block, text) {
      const from = printed.length;
      bash.stdin!.write(`{ trap "echo '${ENDED}'" EXIT\n${block}\n} </dev/null &\n`);
      await untilPrinted(text, from);
    },
    printed: () => printed,
    async close() {
      kill();
      await closed;
    },
  };
}
