import type { AddressInfo, Server } from "node:net";

/**
 * Starts to listen; a port of 0 is any free one.
 *
 * @throws the server's error when the address cannot be had
 */
export function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}
