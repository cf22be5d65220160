import type { Registry } from "@bufbuild/protobuf";
import type { Json } from "./options.ts";
import type { Schemas } from "./schemas.ts";

const PARAMETERS: readonly Json[] = [
  parameter("webhook-id", "The event's id, the same in every attempt.", {}),
  parameter("webhook-timestamp", "Time of the attempt, in seconds since 1970.", {
    pattern: "^[0-9]+$",
  }),
  parameter(
    "webhook-signature",
    "`v1,` and the HMAC-SHA256 of id, timestamp and body in base64, for each of the webhook's secrets. Several signatures are separated by spaces.",
    { pattern: "^v1,\\S+( v1,\\S+)*$" },
  ),
];

function parameter(name: string, description: string, rules: Json): Json {
  return { name, in: "header", required: true, description, schema: { type: "string", ...rules } };
}

const RESPONSES: Json = {
  "2XX": { description: "The event was received. Respond within 15 seconds." },
  "410": { description: "Disables the webhook." },
  default: { description: "The delivery is retried, with up to 10 attempts in total." },
};

/** Returns the webhook events by type, which the rules of `Event` list. */
export function webhooksOf(registry: Registry, schemas: Schemas): Json {
  const desc = registry.getMessage("shipments.v1.Event")!;
  const types = schemas.field(desc.field["type"]!, "response") as { enum: readonly string[] };
  const event = schemas.message(desc, "response");
  const webhook = (type: string): Json => ({
    post: {
      operationId: `receive${type.replace(/(^|[._])([a-z])/g, (_, _before, letter: string) => letter.toUpperCase())}`,
      tags: ["WebhookService"],
      summary: `An event of type ${type}`,
      description: "Sent at least once, in no particular order, to the webhooks subscribed to this type.",
      security: [],
      parameters: PARAMETERS,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              allOf: [
                event,
                {
                  type: "object",
                  properties: { type: { const: type, description: "What happened." } },
                },
              ],
            },
          },
        },
      },
      responses: RESPONSES,
    },
  });
  return Object.fromEntries(types.enum.map((type) => [type, webhook(type)]));
}
