import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { Endpoints } from "./endpoints.ts";

/** Result of a tool call: structured data and the equivalent text, or an error text. */
interface ToolResult {
  readonly json: any;
  readonly isError: boolean;
  /** Size of the text in bytes. */
  readonly bytes: number;
}

/** An agent that uses a Model Context Protocol (MCP) client. */
export interface Agent {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<ToolResult>;
}

/** Connects the official MCP client with a workspace's key. Defaults to protocol revision 2025. */
export async function connectAgent(
  { httpUrl }: Pick<Endpoints, "httpUrl">,
  apiKey: string,
  options: { readonly modern?: boolean; readonly headers?: Record<string, string> } = {},
): Promise<Agent> {
  const headers = { authorization: `Bearer ${apiKey}`, ...options.headers };
  const client = new Client(
    { name: "test", version: "1" },
    options.modern === true ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
  );
  const url = new URL("/mcp", httpUrl);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return agentOf(client);
}

export function agentOf(client: Client): Agent {
  return {
    client,
    async call(name, args = {}) {
      const {
        content,
        structuredContent,
        isError = false,
      } = await client.callTool({
        name,
        arguments: args,
      });
      const text = content[0]?.type === "text" ? content[0].text : "";
      const bytes = Buffer.byteLength(text);
      return { json: isError ? JSON.parse(text) : structuredContent, isError, bytes };
    },
  };
}
