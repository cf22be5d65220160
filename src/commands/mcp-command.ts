import type { CallToolResult, InitializeResult, ListToolsResult } from "@modelcontextprotocol/server";
import { Command, Option } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { CommandRefused } from "./command.ts";

export const mcpCommand = new Command("mcp")
  .description("serve the MCP tools of a running service on standard input and output")
  .addOption(new Option("--url <url>", "URL of the service").env("SHIPMENTS_URL").default("http://127.0.0.1:8080"))
  .action(async ({ url }: { url: string }) => {
    const key = process.env["SHIPMENTS_KEY"];
    if (!key) throw new CommandRefused("SHIPMENTS_KEY is not set. Set it to a workspace key.");
    await serveAgent(createCallMcp(url, key));
  });

/**
 * Calls a method of the Model Context Protocol on a service.
 *
 * @throws Error with a message for the user
 */
type CallMcp = (method: string, params: object) => Promise<object>;

/** Protocol revision that this command and the service use. */
const PROTOCOL_VERSION = "2025-11-25";

function createCallMcp(url: string, key: string): CallMcp {
  let lastId = 0;
  return async (method, params) => {
    const response = await fetch(new URL("/mcp", url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json",
        "mcp-protocol-version": PROTOCOL_VERSION,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params }),
    }).catch((error: Error) => {
      const { message } = (error.cause ?? error) as Error;
      throw new CommandRefused(`${url} cannot be reached: ${message}`);
    });
    const { result, error, message } = parseReply(await response.text());
    if (result !== undefined) return result;
    if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
    throw new Error(message ?? `${url} returned status ${response.status}.`);
  };
}

interface McpReply {
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string };
  readonly message?: string;
}

/** Parses a reply. Returns an empty object for text that is not JSON, such as a proxy's error page. */
function parseReply(text: string): McpReply {
  try {
    return JSON.parse(text) as McpReply;
  } catch {
    return {};
  }
}

/** Serves until the agent has closed the input and all its calls have responses. */
async function serveAgent(callMcp: CallMcp): Promise<void> {
  const clientInfo = { name: manifest.name, version: manifest.version };
  // Called before the agent gets a response, so that a wrong URL or key is reported immediately.
  const { serverInfo, instructions } = (await callMcp("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo,
  })) as InitializeResult;
  const { Server } = await import("@modelcontextprotocol/server");
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  const { createAnsweringTransport } = await import("./answering-transport.ts");
  const { transport, closed } = createAnsweringTransport(process.stdin, process.stdout);
  serveStdio(
    () => {
      const server = new Server(serverInfo, { capabilities: { tools: {} }, instructions });
      server.setRequestHandler(
        "tools/list",
        ({ params = {} }) => callMcp("tools/list", params) as Promise<ListToolsResult>,
      );
      server.setRequestHandler("tools/call", ({ params }) => callMcp("tools/call", params) as Promise<CallToolResult>);
      return server;
    },
    { transport },
  );
  await closed;
}
