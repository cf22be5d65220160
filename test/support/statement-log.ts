import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { whenOver } from "./when-over.ts";

/** What stands before a database and keeps every statement that it is sent, and every notice of it. */
export interface StatementLog {
  /** The database's URL, by way of the log. */
  readonly url: string;
  /** The texts of all statements so far, in their order; values that travel apart are not in them. */
  readonly statements: readonly string[];
  /** The texts of those prepared, each as often as it was run. */
  readonly runs: readonly string[];
  /** The texts of all notices so far, in their order. */
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** Starts a log before the server of a `postgres://` URL. */
export async function startStatementLog(databaseUrl: string): Promise<StatementLog> {
  const target = new URL(databaseUrl);
  const statements: string[] = [];
  const runs: string[] = [];
  const notices: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    near.on("data", readMessages(false, keepStatements(statements, runs)));
    far.on("data", readMessages(true, keepNotices(notices)));
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
    notices,
    close: whenOver(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    }),
  };
}

type OnMessage = (type: string, content: Buffer) => void;

/**
 * Reads what one side sends, by PostgreSQL's protocol 3: messages of a type, a length and a content. A
 * client begins with a start-up message, which has no type.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
function readMessages(started: boolean, onMessage: OnMessage): (chunk: Buffer) => void {
  let left = Buffer.alloc(0);
  let hasType = started;
  return (chunk) => {
    left = Buffer.concat([left, chunk]);
    for (;;) {
      const typeLength = hasType ? 1 : 0;
      if (left.length < typeLength + 4) return;
      const end = typeLength + left.readUInt32BE(typeLength);
      if (left.length < end) return;
      if (hasType) onMessage(String.fromCharCode(left[0]!), left.subarray(typeLength + 4, end));
      left = left.subarray(end);
      hasType = true;
    }
  };
}

/** Query and Parse have the text of a statement, and Bind the name of one that was parsed. */
function keepStatements(statements: string[], runs: string[]): OnMessage {
  const prepared = new Map<string, string>();
  return (type, content) => {
    if (type === "Q") statements.push(textAt(content, 0));
    // Parse begins with the name of the prepared statement, and Bind with that of a portal.
    const second = () => textAt(content, content.indexOf(0) + 1);
    if (type === "P") {
      statements.push(second());
      prepared.set(textAt(content, 0), second());
    }
    if (type === "B") runs.push(prepared.get(second())!);
  };
}

/** A notice has fields, each with a letter before it: M is the text. */
function keepNotices(notices: string[]): OnMessage {
  return (type, content) => {
    if (type !== "N") return;
    for (let at = 0; content[at]! > 0; at = content.indexOf(0, at) + 1) {
      if (content[at] === "M".charCodeAt(0)) notices.push(textAt(content, at + 1));
    }
  };
}

function textAt(content: Buffer, start: number): string {
  return content.subarray(start, content.indexOf(0, start)).toString();
}
