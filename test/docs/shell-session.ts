import { spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "../support/eventually.ts";

/** A shell in which one block after another is run, so that later ones see variables of earlier ones. */
export interface ShellSession {
  /**
   * Runs a block to its end, and asserts that every command succeeded; then waits until the text, if
   * any, has been printed since, by the block or by what goes on.
   */
  run(block: string, wanted?: string): Promise<void>;
  /** Starts a block that goes on, and waits until it has printed the text. */
  start(block: string, wanted: string): Promise<void>;
  /** All that was printed so far. */
  printed(): string;
  /** Ends the shell and what goes on. */
  close(): Promise<void>;
}

/** What is printed when a block has succeeded, and when one that is to go on has ended. */
const DONE = "-- the block is done --";
const ENDED = "-- the block has ended --";

/** Starts a shell, which the first command that fails ends. */
export function startShellSession(environment: NodeJS.ProcessEnv): ShellSession {
  // A group of its own, so that what it starts ends with it.
  const bash = spawn("bash", ["-euo", "pipefail", "-s"], { env: environment, detached: true });
  const closed = once(bash, "close");
  let printed = "";
  for (const output of [bash.stdout, bash.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => (printed += text));
  }
  bash.stdin.on("error", () => {});
  const hasEnded = () => bash.exitCode !== null || bash.signalCode !== null;

  async function untilPrinted(wanted: string, from: number): Promise<void> {
    await eventually(JSON.stringify(wanted), () => {
      const since = printed.slice(from);
      if (since.includes(wanted)) return true;
      if (hasEnded() || since.includes(ENDED)) throw new Error(`it failed: ${since}`);
      return false;
    });
  }

  return {
    // In braces, so that a block cannot read what follows it.
    async run(block, wanted = DONE) {
      const from = printed.length;
      bash.stdin.write(`{ ${block}\n} </dev/null\necho '${DONE}'\n`);
      await untilPrinted(DONE, from);
      await untilPrinted(wanted, from);
    },
    async start(block, wanted) {
      const from = printed.length;
      bash.stdin.write(`{ trap "echo '${ENDED}'" EXIT\n${block}\n} </dev/null &\n`);
      await untilPrinted(wanted, from);
    },
    printed: () => printed,
    async close() {
      // The group outlives a shell that has failed, with what goes on.
      try {
        process.kill(-bash.pid!, "SIGKILL");
      } catch {
        // Nothing goes on.
      }
      await closed;
    },
  };
}
