import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import { Operator } from "../features/operators/operator.entity.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";
import type { App } from "../server/app.ts";
import { demoSignInLines } from "./demo-sign-in.ts";
import { fillEmptyDatabase, type FirstKeys } from "./fill-empty-database.ts";

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

/** What a command has to be told to work on the database of a service, and to name its address. */
type Place = Pick<Config, "databaseUrl" | "dataDir" | "publicUrl">;

/**
 * Fills an empty database, and gives the text that says where the servers are, how to sign in, and how to make first calls: with the keys
 * of the new workspace and the new owner, or, when the database was not empty, with one to paste.
 */
export async function demoBanner(
  app: Pick<App, "em" | "tasks">,
  place: Place & Partial<Pick<Config, "dashboard">>,
  { http, grpc }: Addresses,
): Promise<string> {
  const { em } = app;
  const keys = await fillEmptyDatabase(app);
  const lines =
    keys === undefined
      ? withoutKeys(http, {
          workspace: commandOn(place, await newKeyCommand(em)),
          owner: commandOn(place, await newOwnerKeyCommand(em)),
        })
      : withKeys(http, keys);
  const pages = place.publicUrl ?? http;
  const servers = [
    `  JSON        ${http}/v1`,
    `  gRPC        ${grpc}`,
    ...(place.dashboard ? [`  Dashboard   ${pages}/`] : []),
    `  Guides      ${pages}/docs`,
  ];
  const linkCommand = (command: string) => commandOn(place, command, addressOf(place, http));
  const signIn = place.dashboard ? await demoSignInLines(em, pages, linkCommand) : [];
  return ["", ...servers, "", ...signIn, ...lines, "", ""].join("\n");
}

function withKeys(http: string, { apiKey, testApiKey, operatorKey }: FirstKeys): string[] {
  return [
    `  The demo workspace's key for tests, shown this once: ${testApiKey}`,
    `  Its key for real bookings, shown this once: ${apiKey}`,
    "  Quote a delivery from Manhattan to Brooklyn:",
    "",
    quoteCommand(http, testApiKey),
    "",
    `  The key of the platform's owner, shown this once: ${operatorKey}`,
    "  List the workspaces:",
    "",
    `curl -sS ${http}/admin/v1/workspaces -H "Authorization: Bearer ${operatorKey}"`,
  ];
}

/** @param newKey the commands that make a key of a workspace, and of an owner */
function withoutKeys(
  http: string,
  newKey: { readonly workspace: string; readonly owner: string },
): string[] {
  return [
    "  Keys are shown once, when they are made. This makes a new one for tests; others for tests stop",
    "  at once, unless you add `--overlap SECONDS`:",
    "",
    newKey.workspace,
    "",
    "  Quote a delivery from Manhattan to Brooklyn, with a key pasted after the equals sign:",
    "",
    "export SHIPMENTS_KEY=",
    quoteCommand(http, "$SHIPMENTS_KEY"),
    "",
    "  And this makes a key of an owner, who runs the platform by /admin/v1:",
    "",
    newKey.owner,
  ];
}

function quoteCommand(http: string, apiKey: string): string {
  return `curl -sS ${http}/v1/shipments/quote -H "Authorization: Bearer ${apiKey}" -H 'Content-Type: application/json' -d '${JSON.stringify(SAMPLE_ROUTE)}'`;
}

/** The command that makes a key for tests of the first workspace, and the workspace if there is none. */
async function newKeyCommand(em: EntityManager): Promise<string> {
  const [workspace] = await em
    .fork()
    .find(Workspace, { twinOf: null }, { orderBy: { id: "asc" }, limit: 1 });
  return workspace === undefined
    ? "workspace create --name Demo --payment-provider manual"
    : `key rotate --workspace ${workspace.id} --test`;
}

/** The command that makes a key of the first owner, and the owner if there is none. */
async function newOwnerKeyCommand(em: EntityManager): Promise<string> {
  const [owner] = await em
    .fork()
    .find(Operator, { role: "owner", revokedAt: null }, { orderBy: { id: "asc" }, limit: 1 });
  return owner === undefined
    ? "operator create --name owner --kind machine --role owner"
    : `operator rotate --operator ${owner.id}`;
}

/** A command as it is typed in another terminal, where this service's environment is not set. */
function commandOn({ databaseUrl, dataDir }: Place, command: string, address = ""): string {
  const needsFolder = databaseUrl === undefined && dataDir !== ".data";
  const environment = needsFolder ? `DATA_DIR='${resolve(dataDir).replaceAll("'", "'\\''")}' ` : "";
  return `${environment}${address}npm run --silent shipments -- ${command}`;
}

/** What tells a command that prints links where browsers reach the service. */
function addressOf({ publicUrl }: Place, http: string): string {
  if (publicUrl !== undefined && publicUrl !== http) return `PUBLIC_URL=${publicUrl} `;
  const { port } = new URL(http);
  return port === "8080" ? "" : `PORT=${port} `;
}
