import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { whenOver } from "./when-over.ts";

/** A proxy in front of a database that records statements and notices. */
export interface StatementLog {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** Texts of all statements so far, in order. Parameters that are sent separately are not included. */
  readonly statements: readonly string[];
  /** Texts of executed prepared statements, one entry per execution. */
  readonly runs: readonly string[];
  /** Texts of all notices so far, in order. */
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** Starts a recording proxy in front of a `postgres://` URL. */
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
 * Parses one direction of PostgreSQL's protocol version 3. Messages consist of type, length and content. Only the
 * client's startup message has no type. https://www.postgresql.org/docs/current/protocol-message-formats.html
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

/** Records statements. Query and Parse messages contain the text, Bind messages the name of a parsed statement. */
function keepStatements(statements: string[], runs: string[]): OnMessage {
  const prepared = new Map<string, string>();
  return (type, content) => {
    if (type === "Q") statements.push(textAt(content, 0));
    // The content starts with the name of the prepared statement in Parse, and with the portal's in Bind.
    const second = () => textAt(content, content.indexOf(0) + 1);
    if (type === "P") {
      statements.push(second());
      prepared.set(textAt(content, 0), second());
    }
    if (type === "B") runs.push(prepared.get(second())!);
  };
}

/** Records notices. A notice consists of fields, each marked by a letter. M marks the text. */
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
