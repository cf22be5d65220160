import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on a free loopback port, prints its address, and ends when standard input does. */
export function announce(server: Server): void {
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}\n`);
  });
  process.stdin.resume().on("end", () => process.exit());
}
