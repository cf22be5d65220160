import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";

/**
 * Starts a line to the server of a `postgres://` URL on which everything arrives so many milliseconds
 * later, in each direction. More can be sent meanwhile.
 *
 * @returns the URL by way of the line
 */
export async function startSlowLine(
  owned: AsyncDisposableStack,
  databaseUrl: string,
  delayMs: number,
): Promise<string> {
  const url = new URL(databaseUrl);
  const { hostname: host, port } = url;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host, port: Number(port), noDelay: true });
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      from.on("data", (chunk) => setTimeout(() => to.write(chunk), delayMs));
      from.on("error", () => undefined);
      from.on("close", () => setTimeout(() => to.destroy(), delayMs));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  owned.defer(() => void server.close());
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url.href;
}
