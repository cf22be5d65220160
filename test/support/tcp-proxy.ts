import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { whenOver } from "./when-over.ts";

/** A proxy between a service and its database that simulates network failures. */
export interface TcpProxy {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** Closes all connections and refuses new ones, like a stopped server. */
  goDown(): Promise<void>;
  /** Accepts connections again. */
  comeBack(): Promise<void>;
  /** Closes all connections, but accepts new ones. */
  cut(): void;
  /** Silently drops all traffic in both directions. */
  hang(): void;
  /** Resumes traffic, delayed data first. */
  resume(): void;
  /** Leaves existing connections hanging forever. New ones work. */
  forget(): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of a `postgres://` URL on a free port. */
export async function startTcpProxy(databaseUrl: string): Promise<TcpProxy> {
  const target = new URL(databaseUrl);
  let pairs = new Set<readonly [Socket, Socket]>();
  const forgotten: Socket[] = [];
  let hanging = false;

  const server = createServer({ pauseOnConnect: true, noDelay: true }, (near) => {
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on("error", () => undefined);
      from.on("data", (chunk) => to.write(chunk));
      from.on("end", () => to.end());
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
      if (hanging) from.pause();
      else from.resume();
    }
  });
  const port = await listen(server, 0);
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);

  const cut = () => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  };
  return {
    url: url.href,
    cut,
    async goDown() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
    async comeBack() {
      await listen(server, port);
    },
    hang() {
      hanging = true;
      for (const socket of [...pairs].flat()) socket.pause();
    },
    resume() {
      hanging = false;
      for (const socket of [...pairs].flat()) socket.resume();
    },
    forget() {
      for (const [near, far] of pairs) {
        near.pause();
        far.destroy();
        far.removeAllListeners("close");
        forgotten.push(near);
      }
      pairs = new Set();
    },
    close: whenOver(async () => {
      for (const socket of forgotten) socket.destroy();
      cut();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    }),
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
