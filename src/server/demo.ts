import { resolve } from "node:path";
import type { Config } from "../config.ts";
import type { EntityManager } from "../db/orm.ts";
import { publishDocument } from "../features/tariffs/publish-document.ts";
import sampleTariff from "./sample-tariff.json" with { type: "json" };
import { TariffVersion } from "../features/tariffs/tariff.entity.ts";
import { createWorkspace } from "../features/workspace-admin/create-workspace.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";
import { localCall } from "../pipeline/local-call.ts";
import type { App } from "./app.ts";

/** Midtown Manhattan to Prospect Park in Brooklyn. */
const SAMPLE_ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
};

/** Where a service is reached: the URL of the HTTP server, and the gRPC server's host and port. */
export interface Addresses {
  readonly http: string;
  readonly grpc: string;
}

/**
 * Fills an empty database with the sample tariff and a workspace that can book, and says where the
 * servers are and how to make a first call: with the new workspace's key, or, when the database was
 * not empty, with one to paste.
 */
export async function introduce(
  app: Pick<App, "em" | "tasks">,
  config: Pick<Config, "databaseUrl" | "dataDir">,
  addresses: Addresses,
): Promise<string> {
  const { em } = app;
  const apiKey = await fillIfEmpty(app);
  const lines =
    apiKey === undefined
      ? withoutKey(addresses.http, await newKeyCommand(em, config))
      : withKey(addresses.http, apiKey);
  const servers = [`  JSON   ${addresses.http}/v1`, `  gRPC   ${addresses.grpc}`];
  return ["", ...servers, "", ...lines, "", ""].join("\n");
}

async function fillIfEmpty({ em, tasks }: Pick<App, "em" | "tasks">): Promise<string | undefined> {
  const reading = em.fork();
  if ((await reading.count(TariffVersion)) > 0 || (await reading.count(Workspace)) > 0) {
    return undefined;
  }
  await publishDocument(
    { em, tasks, now: () => new Date() },
    {
      document: sampleTariff,
      name: "Sample",
      note: "sample: the five counties of New York City",
      callOf: (method) => localCall(method, "service", "demo"),
    },
  );
  const { apiKey } = await createWorkspace(em, { name: "Demo", paymentProvider: "manual" });
  return apiKey;
}

function withKey(http: string, apiKey: string): string[] {
  return [
    `  The demo workspace's key, shown this once: ${apiKey}`,
    "  Quote a delivery from Manhattan to Brooklyn:",
    "",
    quoteCommand(http, apiKey),
  ];
}

function withoutKey(http: string, newKey: string): string[] {
  return [
    "  Keys are shown once, when they are made. This makes a new one; others of the workspace stop",
    "  at once, unless you add `--overlap SECONDS`:",
    "",
    newKey,
    "",
    "  Quote a delivery from Manhattan to Brooklyn, with a key pasted after the equals sign:",
    "",
    "export SHIPMENTS_KEY=",
    quoteCommand(http, "$SHIPMENTS_KEY"),
  ];
}

function quoteCommand(http: string, apiKey: string): string {
  return `curl -sS ${http}/v1/shipments/quote -H "Authorization: Bearer ${apiKey}" -H 'Content-Type: application/json' -d '${JSON.stringify(SAMPLE_ROUTE)}'`;
}

/** The command that makes a key of the first workspace, and the workspace if there is none. */
async function newKeyCommand(
  em: EntityManager,
  { databaseUrl, dataDir }: Pick<Config, "databaseUrl" | "dataDir">,
): Promise<string> {
  const [workspace] = await em.fork().find(Workspace, {}, { orderBy: { id: "asc" }, limit: 1 });
  const command =
    workspace === undefined
      ? "workspace create --name Demo --payment-provider manual"
      : `key rotate --workspace ${workspace.id}`;
  // In another terminal, where this service's environment is not set.
  const needsFolder = databaseUrl === undefined && dataDir !== ".data";
  const environment = needsFolder ? `DATA_DIR='${resolve(dataDir).replaceAll("'", "'\\''")}' ` : "";
  return `${environment}npm run --silent shipments -- ${command}`;
}
