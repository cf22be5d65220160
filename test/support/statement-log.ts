import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";

/** What stands before a database and keeps every statement that it is sent. */
export interface StatementLog {
  /** The database's URL, by way of the log. */
  readonly url: string;
  /** The texts of all statements so far, in their order; values that travel apart are not in them. */
  readonly statements: readonly string[];
  /** The texts of those prepared, each as often as it was run. */
  readonly runs: readonly string[];
  close(): Promise<void>;
}

/** Starts a log before the server of a `postgres://` URL. */
export async function startStatementLog(databaseUrl: string): Promise<StatementLog> {
  const target = new URL(databaseUrl);
  const statements: string[] = [];
  const runs: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const read = readStatements(statements, runs);
    near.on("data", read);
    near.pipe(far);
    far.pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    statements,
    runs,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * Reads what one client sends, by PostgreSQL's protocol 3: a start-up message without a type, then
 * messages of a type, a length and a content, of which Query and Parse have the text of a statement,
 * and Bind the name of one that was parsed.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
function readStatements(statements: string[], runs: string[]): (chunk: Buffer) => void {
  const prepared = new Map<string, string>();
  let left = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    left = Buffer.concat([left, chunk]);
    for (;;) {
      const typeLength = started ? 1 : 0;
      if (left.length < typeLength + 4) return;
      const end = typeLength + left.readUInt32BE(typeLength);
      if (left.length < end) return;
      const type = started ? String.fromCharCode(left[0]!) : "start-up";
      const content = left.subarray(typeLength + 4, end);
      if (type === "Q") statements.push(textAt(content, 0));
      // Parse begins with the name of the prepared statement, and Bind with that of a portal.
      const second = () => textAt(content, content.indexOf(0) + 1);
      if (type === "P") {
        statements.push(second());
        prepared.set(textAt(content, 0), second());
      }
      if (type === "B") runs.push(prepared.get(second())!);
      left = left.subarray(end);
      started = true;
    }
  };
}

function textAt(content: Buffer, start: number): string {
  return content.subarray(start, content.indexOf(0, start)).toString();
}
