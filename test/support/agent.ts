import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { Endpoints } from "./endpoints.ts";

/** What a tool gave: its result, of which the text says the same, or what its error says. */
export interface ToolAnswer {
  readonly json: any;
  readonly isError: boolean;
  /** The size of the text, in bytes. */
  readonly bytes: number;
}

/** An agent with a client of the Model Context Protocol. */
export interface Agent {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>;
}

/** Connects the official client with a workspace's key; by the revision of 2025 unless told otherwise. */
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

/** An agent whose client is connected. */
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
