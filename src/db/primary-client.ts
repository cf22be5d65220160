import type { Client, ClientConfig } from "pg";
import { DatabaseClient } from "./client.ts";
import { primaryFinder, type PrimaryFinder } from "./primary-finder.ts";
import { assertTarget } from "./server-status.ts";

/** A client that connects to the writable server among several, and verifies it after connecting. */
class PrimaryClient extends DatabaseClient {
  readonly #finder: PrimaryFinder;
  #url: string | undefined;
  #isEnding = false;

  constructor(finder: PrimaryFinder, config?: ClientConfig) {
    super(config);
    this.#finder = finder;
    this.once("end", () => {
      if (!this.#isEnding) finder.lost(this.#url);
    });
  }

  override connect(): Promise<Client>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<Client> | void {
    const connected = this.#open();
    if (callback === undefined) return connected;
    connected.then((client) => callback(null, client), callback);
  }

  async #open(): Promise<Client> {
    const { url, host, port } = await this.#finder.find();
    if (this.#isEnding) throw new Error("Connection terminated");
    this.#url = url;
    // The configuration has the host and port of the first server.
    Object.assign(this, { host, port });
    this.#finder.add(this, url);
    try {
      await super.connect();
      await assertTarget(this, this.#finder.target, url);
      return this;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    this.#isEnding = true;
    return callback === undefined ? super.end() : super.end(callback);
  }
}

type ConnectCallback = (error: Error | null, client?: Client) => void;

/** Creates an unconnected client. If the URL names several servers, it connects to the writable one. */
export function createClient(databaseUrl: string, config: ClientConfig): DatabaseClient {
  const finder = primaryFinder(databaseUrl);
  const options = { ...config, pipeline: true, connectionString: finder?.firstUrl ?? databaseUrl };
  return finder === undefined ? new DatabaseClient(options) : new PrimaryClient(finder, options);
}

/** Returns the client class for a pool whose configuration names the first server of a URL. */
export function clientClass(databaseUrl: string): new (config?: ClientConfig) => Client {
  const finder = primaryFinder(databaseUrl);
  if (finder === undefined) return DatabaseClient;
  return class extends PrimaryClient {
    constructor(config?: ClientConfig) {
      super(finder!, config);
    }
  };
}
