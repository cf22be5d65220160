import type { DescService, FileRegistry } from "@bufbuild/protobuf";
import { COVERAGE, HEADERS, PARAMETERS, REFUSAL, SECURITY_SCHEMES } from "./components.ts";
import { operationsOf } from "./operations.ts";
import { createOptions, descriptionOf, type Json } from "./options.ts";
import { createRefusals } from "./refusals.ts";
import { createSchemas } from "./schemas.ts";
import { webhooksOf } from "./webhooks.ts";

const ABOUT = `The JSON API. These rules apply to all calls:

- Unknown parameters are refused. Unknown body fields are ignored and named in \`Ignored-Fields\`, or refused with \`Prefer: handling=strict\`.
- In a request, \`null\` and blank text count as absent; text is trimmed. In an update (\`PATCH\`), blank text and an empty list or map clear what is optional.
- Every field of an answer is present, \`null\` when unset. Fields and values may be added later.
- Whole numbers are exact up to 2^53 - 1. Amounts are in the currency's major unit.
- Times are in RFC 3339; those of answers are in UTC, to the millisecond.
- Zones are sent and answered as GeoJSON documents.
- The dashboard calls the same paths with a session, and then names the workspace in the header \`X-Workspace\`; what is here of \`/v1\` and \`/admin\` is for keys.`;

export function describeApi(registry: FileRegistry, version: string): Json {
  const options = createOptions(registry);
  const schemas = createSchemas(options, registry);
  const refusals = createRefusals(options, registry);
  const services = [...registry.files]
    .filter((file) => file.proto.package.startsWith("shipments."))
    .flatMap((file) => file.services);
  const paths: Record<string, Record<string, Json>> = {};
  const ids = new Set<string>();
  for (const method of services.flatMap((it) => it.methods)) {
    for (const { path, httpMethod, operation } of operationsOf(method, {
      schemas,
      refusals,
      options,
    })) {
      if (ids.has(operation.operationId)) throw new Error(`two are named ${operation.operationId}`);
      ids.add(operation.operationId);
      (paths[path] ??= {})[httpMethod] = operation;
    }
  }
  const webhooks = webhooksOf(registry, schemas);
  return {
    openapi: "3.1.1",
    info: {
      title: "Shipments",
      version,
      description: ABOUT,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The server that this document comes from." }],
    tags: services.toSorted((a, b) => rankOf(a) - rankOf(b)).map(tagOf),
    paths: sorted(paths),
    webhooks,
    components: {
      schemas: sorted({ ...schemas.components, Refusal: REFUSAL, Coverage: COVERAGE }),
      responses: refusals.components(),
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** Returns the sort position of a service: services for workspaces come first, starting with shipments. */
function rankOf({ typeName }: DescService): number {
  if (typeName === "shipments.v1.ShipmentService") return 0;
  return typeName.startsWith("shipments.v1.") ? 1 : 2;
}

function tagOf(service: DescService): Json {
  return { name: service.name, ...descriptionOf(service) };
}

function sorted(members: Json): Json {
  return Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
