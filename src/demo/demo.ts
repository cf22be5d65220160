import { resolve } from "node:path";
import { COMMAND } from "../config/command-line.ts";
import type { Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import { Operator } from "../features/operators/operator.entity.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";
import type { App } from "../server/app.ts";
import { demoSignIn } from "./demo-sign-in.ts";
import { fillEmptyDatabase } from "./fill-empty-database.ts";

/** Route from Midtown Manhattan to Prospect Park in Brooklyn. */
const SAMPLE_ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
};

/** Addresses of a service: the URL of the HTTP server, and host and port of the gRPC server. */
export interface Addresses {
  readonly http: string;
  readonly grpc: string;
}

/** Settings that a command needs to use the service's database and print its addresses. */
type CommandSettings = Pick<Config, "databaseUrl" | "dataDir" | "publicUrl">;

/**
 * Fills an empty database. Returns the text with the addresses and instructions for a first call. The
 * text contains the new key, or a placeholder if the database was not empty.
 */
export async function demoBanner(
  { em, tasks }: Pick<App, "em" | "tasks">,
  settings: CommandSettings & Partial<Pick<Config, "dashboard">>,
  { http, grpc }: Addresses,
): Promise<string> {
  const testKey = await fillEmptyDatabase({ em, tasks });
  const signIn = settings.dashboard ? await demoSignIn(em) : undefined;
  const pages = settings.publicUrl ?? http;
  const address = addressOf(settings, http);
  const lines = [
    ...(signIn ? [`  Dashboard   ${pages}${signIn.path ?? "/"}`] : []),
    `  Guides      ${pages}/docs`,
    `  JSON        ${http}/v1`,
    `  gRPC        ${grpc}`,
    "",
    ...quoteLines(http, testKey),
    ...linkLines(signIn?.commands.map((it) => commandOn(settings, it, address)) ?? []),
    "  Create a new test key, live key or owner key. Each replaces all other keys of its kind:",
    "",
    ...(await newKeyCommands(em)).map((it) => commandOn(settings, it)),
  ];
  return ["", ...lines, "", ""].join("\n");
}

function quoteLines(http: string, testKey: string | undefined): string[] {
  const key = testKey === undefined ? "Set your test key:" : "The test key is shown only once:";
  return [
    `  Quote a delivery from Manhattan to Brooklyn, in another terminal. ${key}`,
    "",
    `export SHIPMENTS_KEY=${testKey ?? ""}`,
    quoteCommand(http),
    "",
  ];
}

function linkLines(commands: readonly string[]): string[] {
  if (commands.length === 0) return [];
  const text = "  The dashboard's link can be used once, within 15 minutes. New links, also to the platform:";
  return [text, "", ...commands, ""];
}

function quoteCommand(http: string): string {
  return `curl -sS ${http}/v1/shipments/quote -H "Authorization: Bearer $SHIPMENTS_KEY" -H 'Content-Type: application/json' -d '${JSON.stringify(SAMPLE_ROUTE)}'`;
}

/**
 * Returns the commands that create keys for the first workspace and operator. Includes commands that
 * create them if they are missing.
 */
async function newKeyCommands(em: EntityManager): Promise<string[]> {
  const reading = em.fork();
  const byId = { orderBy: { id: "asc" }, limit: 1 } as const;
  const [workspace] = await reading.find(Workspace, { twinOf: null }, byId);
  const [owner] = await reading.find(Operator, { role: "owner", revokedAt: null }, byId);
  const ofWorkspace =
    workspace === undefined
      ? ["workspace create --name Demo --payment-provider manual"]
      : [`key rotate --workspace ${workspace.id} --test`, `key rotate --workspace ${workspace.id}`];
  const ofOwner =
    owner === undefined
      ? "operator create --name owner --kind machine --role owner"
      : `operator rotate --operator ${owner.id}`;
  return [...ofWorkspace, ofOwner];
}

/**
 * Returns a command for another terminal. The command sets `DATA_DIR` if necessary, because the other
 * terminal lacks this service's environment.
 */
function commandOn({ databaseUrl, dataDir }: CommandSettings, command: string, address = ""): string {
  const needsFolder = databaseUrl === undefined && dataDir !== ".data";
  const environment = needsFolder ? `DATA_DIR='${resolve(dataDir).replaceAll("'", "'\\''")}' ` : "";
  return `${environment}${address}${COMMAND} ${command}`;
}

/** Returns the variable that a command needs to print links. */
function addressOf({ publicUrl }: CommandSettings, http: string): string {
  if (publicUrl !== undefined && publicUrl !== http) return `PUBLIC_URL=${publicUrl} `;
  const { port } = new URL(http);
  return port === "8080" ? "" : `PORT=${port} `;
}
