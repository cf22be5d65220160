import { expect, test } from "vitest";
import { createClient, ShipmentsError, type ClientOptions } from "../../src/client/client.ts";

/** A client whose requests are answered so. */
function clientOf(
  answer: (url: string, init: RequestInit) => Response | Promise<Response>,
  options: Partial<ClientOptions> = {},
) {
  const fetch = async (url: string, init: RequestInit) => answer(url, init);
  const client = createClient({
    url: "https://shipments.example.org",
    key: "shp_test_1",
    retry: { baseMs: 0 },
    ...options,
    fetch: fetch as typeof globalThis.fetch,
  });
  return { client };
}

/** What a call fails with. */
async function failure(call: Promise<unknown>): Promise<ShipmentsError> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  if (error instanceof ShipmentsError) return error;
  throw new Error(`no ShipmentsError: ${String(error)}`);
}

const EMPTY = () => new Response("", { headers: { "content-type": "application/proto" } });

test("a redirect is refused, also where fetch knows no redirect of error", async () => {
  // As Cloudflare's workers do.
  const { client } = clientOf((_, { redirect }) => {
    if (redirect === "error") throw new TypeError("Invalid redirect value");
    return redirect === "manual" ? Response.redirect("https://elsewhere.example.org") : EMPTY();
  });
  expect(await failure(client.workspace.getWorkspace({}))).toMatchObject({
    message: "HTTP 302",
    reason: undefined,
  });
});

test("a redirect that a browser hides is refused", async () => {
  const { client } = clientOf(() => {
    const hidden = { type: "opaqueredirect", status: 0, headers: new Headers() };
    return hidden as unknown as Response;
  });
  expect((await failure(client.workspace.getWorkspace({}))).message).toBe("HTTP redirect");
});
