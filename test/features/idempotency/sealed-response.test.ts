import { toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CreateOperatorResponseSchema,
  RotateOperatorKeyResponseSchema,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { CreateShipmentResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import {
  CreateWebhookResponseSchema,
  GetWebhookResponseSchema,
  RotateWebhookSecretResponseSchema,
} from "../../../gen/shipments/v1/webhook_service_pb.js";
import {
  holdsSecret,
  openResponse,
  sealResponse,
  type SealedFor,
} from "../../../src/features/idempotency/sealed-response.ts";
import { expectRefused } from "../../support/answers.ts";
import { rotateKeys } from "../../support/platform.ts";
import { sharedService } from "../../support/service.ts";

const FOR: SealedFor = { secretKey: "sho_secret", idempotencyKey: "order-7", request: "method 1" };

test.each([
  [true, CreateOperatorResponseSchema],
  [true, CreateWebhookResponseSchema],
  [true, RotateOperatorKeyResponseSchema],
  [true, RotateWebhookSecretResponseSchema],
  [false, CreateShipmentResponseSchema],
  [false, GetWebhookResponseSchema],
])("reports whether a response contains a secret (%j): %s", (holds, schema) => expect(holdsSecret(schema)).toBe(holds));

describe("a sealed response", () => {
  test("can be opened with the same keys for the same request", () => {
    const property = fc.property(fc.uint8Array(), (response) => {
      const opened = openResponse(sealResponse(response, FOR), FOR);
      expect(Buffer.from(opened!)).toEqual(Buffer.from(response));
    });
    fc.assert(property);
  });

  test.each([
    ["secret key", { secretKey: "sho_secret2" }],
    ["idempotency key", { idempotencyKey: "order-8" }],
    ["request", { request: "method 2" }],
  ])("cannot be opened with another %s", (_, change) => {
    const sealed = sealResponse(Buffer.from("secret"), FOR);
    expect(openResponse(sealed, { ...FOR, ...change })).toBeUndefined();
  });

  test("cannot be opened if any byte but the first is changed, or if bytes are missing", () => {
    const sealed = sealResponse(Buffer.from("secret"), FOR);
    for (let i = 1; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed[i]! ^= 1;
      expect(openResponse(changed, FOR)).toBeUndefined();
      expect(openResponse(sealed.subarray(0, i), FOR)).toBeUndefined();
    }
  });

  test("differs on every call", () => {
    const seal = () => sealResponse(Buffer.from("secret"), FOR).toString("hex");
    expect(seal()).not.toBe(seal());
  });
});

describe("for a call that creates a secret, the database", async () => {
  const service = await sharedService();

  const HOOK = { url: "https://example.org/hook" };
  const stored = async (table: string, owner: string, id: number) => {
    const select = `select response from ${table} where ${owner} = ?`;
    const rows = await service.app.em.fork().execute(select, [id]);
    return (rows as { response: Buffer }[]).map(({ response }) => response.toString("latin1"));
  };

  test("does not contain an operator's key in plain text, and a retry returns the key again", async () => {
    const { id, key: apiKey } = await service.addOperator("owner");
    const fields = { name: "Deployer", kind: "machine", role: "viewer" };
    const create = () => service.as(apiKey).createOperator(fields, { "idempotency-key": "make-one" });
    const first = await create();
    const { operator_key: key, data } = first.body;
    const [response, ...more] = await stored("operator_stored_response", "operator", id);
    expect(more).toEqual([]);
    for (const secret of [key, key.slice(4, 20), data.keys[0].id]) {
      expect(response).not.toContain(secret);
    }
    const again = await create();
    expect([again.headers.get("idempotency-replayed"), again.text]).toEqual(["true", first.text]);
  });

  test("does not contain a webhook secret in plain text, and another key of the workspace cannot read it", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const headers = { "idempotency-key": "hook-7" };
    const create = (key: string) => service.as(key).createWebhook(HOOK, headers);
    const first = await create(apiKey);
    const secret = first.body.secret as string;
    for (const response of await stored("kept_answer", "workspace_id", id)) {
      expect(response).not.toContain(secret);
    }
    expect((await create(apiKey)).text).toBe(first.text);

    const otherKey = await rotateKeys(service.app.em, id, 60);
    await expectRefused(create(otherKey), "IDEMPOTENCY_KEY_REUSED", {
      idempotency_key:
        "This idempotency key was used with another API key. The response contains a secret and is returned only to that API key. Use a new idempotency key.",
    });
  });

  test("can contain a plain response from an earlier release, which a retry returns", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const create = () => service.as(apiKey).createWebhook(HOOK, { "idempotency-key": "hook-8" });
    await create();
    const clear = Buffer.from(
      toBinary(CreateWebhookResponseSchema, {
        $typeName: "shipments.v1.CreateWebhookResponse",
        secret: "whsec_before",
      }),
    );
    await service.app.em.fork().execute("update kept_answer set response = ? where workspace_id = ?", [clear, id]);
    const { status, body } = await create();
    expect({ status, body }).toEqual({ status: 201, body: { data: null, secret: "whsec_before" } });
  });
});
