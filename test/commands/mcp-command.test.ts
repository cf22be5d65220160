import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { agentOf, connectAgent } from "../support/agent.ts";
import { BOOKING } from "../support/bookings.ts";
import { runProcess, startCommand } from "../support/command.ts";
import { sharedService } from "../support/service.ts";

const service = await sharedService();
const { twin } = await service.addWorkspace();

/** Starts `shipments mcp` and connects the official MCP client. */
async function startAgent(modern: boolean) {
  const client = new Client(
    { name: "test", version: "1" },
    modern ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ["src/cli.js", "mcp", "--url", service.httpUrl],
    env: { SHIPMENTS_KEY: twin.apiKey },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return agentOf(client);
}

test("the guide for agents lists the available tools", async () => {
  const { client } = await connectAgent(service, twin.apiKey);
  const { tools } = await client.listTools();
  const rows = readFileSync("src/docs/agents.md", "utf8").matchAll(/^- `([a-z_]+)`/gm);
  // Without a geocoder, there is no tool for searching addresses.
  const named = ["search_addresses", ...tools.map(({ name }) => name)];
  expect([...rows].map(([, name]) => name)).toEqual(named);
});

test("responds to calls that are in flight when standard input closes", async () => {
  const requests = [
    {
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      },
    },
    { method: "tools/call", params: { name: "list_shipments", arguments: {} } },
    { method: "tools/call", params: { name: "no_such_tool", arguments: {} } },
  ];
  const environment = { SHIPMENTS_KEY: twin.apiKey, SHIPMENTS_URL: service.httpUrl };
  const { process: child, ended } = startCommand(["mcp"], environment, "pipe");
  child.stdin!.end(requests.map((it, id) => `${JSON.stringify({ jsonrpc: "2.0", id, ...it })}\n`).join(""));
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const replies = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(replies.toSorted((a, b) => a.id - b.id)).toMatchObject([
    { id: 0, result: { protocolVersion: "2025-11-25" } },
    { id: 1, result: { structuredContent: { notice: expect.any(String) } } },
    { id: 2, error: { code: -32602 } },
  ]);
});

test.each([false, true])(
  "an agent on the same machine can use the service's tools (2026 protocol: %s)",
  async (modern) => {
    const here = await startAgent(modern);
    const there = await connectAgent(service, twin.apiKey);
    expect(await here.client.listTools()).toMatchObject(await there.client.listTools());
    expect(here.client.getInstructions()).toBe(there.client.getInstructions());

    const args = { ...BOOKING, idempotency_key: `modern-${modern}` };
    const booked = await here.call("create_shipment", args);
    const { reference: shipment } = booked.json.data;
    expect(await there.call("get_shipment", { shipment })).toEqual(booked);
    expect(await here.call("get_shipment", { shipment: "SHP-000000000000" })).toMatchObject({
      isError: true,
      json: { code: "SHIPMENT_NOT_FOUND" },
    });
  },
);

test.each([
  ["no key", { SHIPMENTS_URL: service.httpUrl }, "SHIPMENTS_KEY is not set"],
  [
    "a wrong key",
    { SHIPMENTS_URL: service.httpUrl, SHIPMENTS_KEY: "shp_wrong" },
    "The credential is not an API key of this service.",
  ],
  [
    "no service at the address",
    { SHIPMENTS_URL: "http://127.0.0.1:1", SHIPMENTS_KEY: twin.apiKey },
    "http://127.0.0.1:1 cannot be reached: ",
  ],
])("reports %s and exits", async (_, environment, message) => {
  const { code, stdout, stderr } = await runProcess(["mcp"], environment);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(message),
  });
});
