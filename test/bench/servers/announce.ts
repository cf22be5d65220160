import type { AddressInfo, Server } from "node:net";

/** Listens on a free loopback port, prints its address, and ends when standard input does. */
export function announce(server: Server): void {
  server.listen(0, "127.0.0.1", () => announcePort((server.address() as AddressInfo).port));
}

/** As `announce`, for a server that listens already. */
export function announcePort(port: number): void {
  process.stdout.write(`http://127.0.0.1:${port}\n`);
  process.stdin.resume().on("end", () => process.exit());
}
