/** Writes the refusal reasons and their remedies into the errors guide, and the RPCs into the clients guide. */
import { readFileSync, writeFileSync } from "node:fs";
import { REASONS } from "../domain/refusal-reasons.ts";
import type { RefusalReason } from "../domain/refusal.ts";
import { OF_SESSIONS } from "./refusals.ts";

const DOCUMENT = new URL("../../gen/openapi/openapi.json", import.meta.url);
const ERRORS = new URL("../docs/errors.md", import.meta.url);
const CLIENTS = new URL("../docs/clients.md", import.meta.url);

/** Services whose RPCs other guides list. */
const IN_OTHER_GUIDES: readonly string[] = [
  "AddressService",
  "ApiKeyService",
  "EventService",
  "MemberService",
  "PaymentConnectionService",
  "TestService",
  "WebhookService",
];

/** Statuses that only HTTP responses have. gRPC reports these errors at the HTTP/2 level. */
const HTTP_ONLY: readonly number[] = [405, 408, 415, 431];

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
}

interface Response {
  readonly content: { readonly "application/json": { readonly examples: object } };
}

const reasons = Object.keys(REASONS) as RefusalReason[];
const { tags, paths, components } = JSON.parse(readFileSync(DOCUMENT, "utf8")) as Document;
const met = reasonsOf((path) => path.startsWith("/v1/"));
const unmet = reasonsOf((path) => !path.startsWith("/v1/")).difference(met);
const others = reasons.filter((it) => unmet.has(it) || OF_SESSIONS.includes(it));
const callers = reasons.filter((it) => !others.includes(it));
const sections = [...Map.groupBy(callers, statusOf)].map(
  ([status, group]) => `### ${status}\n\n${group.map((it) => describe(it)).join("\n")}\n`,
);
sections.push(
  `### Operators and signed-in people\n\n${others.map((it) => describe(it, `${REASONS[it].httpStatus}`)).join("\n")}\n`,
);
replaceIn(ERRORS, /^### 400.*?(?=\n## )/ms, sections.join("\n"));

const listed = tags.map(({ name }) => name).filter((it) => !IN_OTHER_GUIDES.includes(it));
const rpcs = listed.flatMap(rpcsOf);
const width = Math.max(...rpcs.map(([name]) => name.length));
const lines = rpcs.map(([name, path]) => `${name.padEnd(width)}  ${path}\n`);
replaceIn(CLIENTS, /(?<=^## RPCs\n\n```text\n).*?(?=```)/ms, lines.join(""));

function replaceIn(guide: URL, part: RegExp, text: string): void {
  writeFileSync(
    guide,
    readFileSync(guide, "utf8").replace(part, () => text),
  );
}

/** Returns the RPCs of a service that have workspace paths, with method and path. */
function rpcsOf(service: string): [name: string, path: string][] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith("/v1/"))
    .flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, operation]) => operation.tags.includes(service))
        .map(([method, { operationId }]) => [
          operationId.replace(/^./, (it) => it.toUpperCase()).replace(/By[A-Z]\w*$/, ""),
          `${method.toUpperCase()} ${path}`,
        ]),
    );
}

/** Returns the refusal reasons of the operations on some paths. */
function reasonsOf(isIncluded: (path: string) => boolean): Set<string> {
  const operations = JSON.stringify(Object.entries(paths).filter(([path]) => isIncluded(path)));
  const names = operations.matchAll(/"#\/components\/responses\/([^"]+)"/g);
  const responses = [...names].map(([, name]) => components.responses[name!]!);
  return new Set(responses.flatMap(({ content }) => Object.keys(content["application/json"].examples)));
}

function statusOf(reason: RefusalReason): string {
  const { code, httpStatus } = REASONS[reason];
  const name = code.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  return HTTP_ONLY.includes(httpStatus) ? `${httpStatus}` : `${httpStatus} ${name}`;
}

/** Whether a reason's name explains the problem, so that its message is not needed. */
function isClear(reason: RefusalReason): boolean {
  return reason.endsWith("_LIMIT") || ![400, 401, 409, 422].includes(REASONS[reason].httpStatus);
}

/**
 * Returns the guide's line for a reason: its remedy, after the first sentence of its message unless the
 * name is clear.
 */
function describe(reason: RefusalReason, status?: string): string {
  const { subject, text, remedy } = REASONS[reason];
  const key = subject === undefined ? undefined : `\`${subject}\``;
  const about = [key, status].filter((it) => it !== undefined).join(", ");
  const [beginning = ""] = text.split(/[.;] /);
  return [
    `- \`${reason}\`${about === "" ? "" : ` (${about})`}:`,
    ...(isClear(reason) ? [] : [beginning.endsWith(".") ? beginning : `${beginning}.`]),
    `**${remedy}**`,
  ].join(" ");
}
