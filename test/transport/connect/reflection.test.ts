import {
  create,
  createFileRegistry,
  toBinary,
  fromBinary,
  type DescFile,
  type FileRegistry,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, type FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { Code, createClient, type Transport } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.js";
import { ServerReflection, type ServerReflectionRequestSchema } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { file_shipments_v1_shipment_service } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ACCOUNT_SERVICES } from "../../../src/server/services.ts";
import { ADMIN_SERVICES } from "../../../src/server/services.ts";
import { SERVICES } from "../../../src/server/services.ts";
import { frame, rawGrpc } from "../../support/raw-grpc.ts";
import { PROTOCOLS } from "../../support/rpc-client.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();

type Question = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;

/** Sends requests in one stream without a credential, and returns the responses. */
async function ask(...questions: Question[]) {
  return askOver(PROTOCOLS["gRPC on the gRPC server"](service), ServerReflection, ...questions);
}

/** Sends requests over any transport to either version of the service. Both versions have the same fields. */
async function askOver(
  transport: Transport,
  version: typeof ServerReflection | typeof ServerReflectionV1alpha,
  ...questions: Question[]
) {
  const client = createClient(version as typeof ServerReflection, transport);
  async function* requests() {
    for (const messageRequest of questions) yield { host: "x", messageRequest };
  }
  return Array.fromAsync(client.serverReflectionInfo(requests()), (it) => it.messageResponse);
}

/** Returns the names of the files in the response to one request. */
async function filesFor(question: Question): Promise<string[]> {
  const [answer] = await ask(question);
  if (answer?.case !== "fileDescriptorResponse") throw new Error(JSON.stringify(answer));
  return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
}

const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });
const file = (value: string): Question => ({ case: "fileByFilename", value });
const extension = (containingType: string, extensionNumber: number): Question => ({
  case: "fileContainingExtension",
  value: { containingType, extensionNumber },
});

describe.each(Object.entries(PROTOCOLS))("%s", (_, transportTo) => {
  test.each([ServerReflection, ServerReflectionV1alpha])("serves reflection as %s", async (version) => {
    const answers = await askOver(
      transportTo(service),
      version,
      symbol("shipments.v1.ShipmentService"),
      file("nope.proto"),
      extension("google.protobuf.MethodOptions", 50201),
      { case: "allExtensionNumbersOfType", value: "google.protobuf.FieldOptions" },
      { case: "listServices", value: "" },
    );
    expect(answers.map((it) => it.case)).toEqual([
      "fileDescriptorResponse",
      "errorResponse",
      "fileDescriptorResponse",
      "allExtensionNumbersResponse",
      "listServicesResponse",
    ]);
  });
});

test("reflection lists the services", async () => {
  const [answer] = await ask({ case: "listServices", value: "" });
  expect(answer?.case).toBe("listServicesResponse");
  const listed = answer?.value as { service: { name: string }[] } | undefined;
  expect(listed?.service.map(({ name }) => name)).toEqual([
    ...[...SERVICES, ...ADMIN_SERVICES, ...ACCOUNT_SERVICES].map(({ typeName }) => typeName),
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
  ]);
});

test.each([
  ["a service", "shipments.v1.ShipmentService", "shipments/v1/shipment_service.proto"],
  ["a method", "shipments.v1.ShipmentService.QuoteShipment", "shipments/v1/shipment_service.proto"],
  ["a message", "shipments.v1.QuoteShipmentRequest", "shipments/v1/quote.proto"],
  ["a field", "shipments.v1.Shipment.pickup_lat", "shipments/v1/shipment.proto"],
  ["an enum", "shipments.v1.ShipmentStatus", "shipments/v1/shipment.proto"],
  ["an extension", "shipments.v1.success_status", "shipments/v1/options.proto"],
  ["another package's extension", "google.api.http", "google/api/annotations.proto"],
  ["a validation rule", "buf.validate.DoubleRules", "buf/validate/validate.proto"],
  ["an operator service", "shipments.admin.v1.OperatorService", "shipments/admin/v1/operator_service.proto"],
  ["the role it needs", "shipments.admin.v1.minimum_role", "shipments/admin/v1/options.proto"],
  ["a well-known type", "google.protobuf.Timestamp", "google/protobuf/timestamp.proto"],
  ["an error's detail", "google.rpc.ErrorInfo", "google/rpc/error_details.proto"],
  ["another detail", "google.rpc.BadRequest", "google/rpc/error_details.proto"],
  ["a nested detail", "google.rpc.PreconditionFailure.Violation", "google/rpc/error_details.proto"],
  ["health", "grpc.health.v1.Health", "grpc/health/v1/health.proto"],
])("reflection finds %s: %s", async (_, name, expected) => {
  expect(await filesFor(symbol(name))).toContain(expected);
});

test("reflection finds a file by its name", async () => {
  expect(await filesFor(file("shipments/v1/quote.proto"))).toContain("shipments/v1/quote.proto");
});

test.each([
  ["google.api.http", "google.protobuf.MethodOptions", 72295728, "google/api/annotations.proto"],
  ["success_status", "google.protobuf.MethodOptions", 50201, "shipments/v1/options.proto"],
  ["buf.validate.field", "google.protobuf.FieldOptions", 1159, "buf/validate/validate.proto"],
])("reflection finds the custom option %s by its number", async (_, type, number, expected) => {
  expect(await filesFor(extension(type, number))).toContain(expected);
  const [numbers] = await ask({ case: "allExtensionNumbersOfType", value: type });
  expect(numbers).toMatchObject({
    case: "allExtensionNumbersResponse",
    value: { baseTypeName: type, extensionNumber: expect.arrayContaining([number]) },
  });
});

describe("reflection returns NOT_FOUND and keeps the stream open for", () => {
  test.each<[what: string, question: Question]>([
    ["an unknown symbol", symbol("shipments.v1.Nope")],
    ["an unknown file", file("nope.proto")],
    ["an extension", extension("google.protobuf.MethodOptions", 1)],
    ["a name of Object.prototype", symbol("constructor")],
  ])("%s", async (_, question) => {
    const [missing, next] = await ask(question, symbol("shipments.v1.Shipment"));
    expect(missing).toMatchObject({ case: "errorResponse", value: { errorCode: Code.NotFound } });
    expect(next?.case).toBe("fileDescriptorResponse");
  });
});

test("a tool without our proto files can rebuild them through reflection, including custom options", async () => {
  const registry = await rebuild("shipments.v1.ShipmentService", "google.rpc.ErrorInfo");
  for (const original of [file_shipments_v1_shipment_service, file_google_rpc_error_details]) {
    for (const ours of withDependencies(original)) {
      const served = registry.getFile(`${ours.name}.proto`)?.proto;
      expect(served && bytesOf(served), ours.name).toEqual(bytesOf(ours.proto));
    }
  }
  expect(registry.getExtension("google.api.http")?.number).toBe(72295728);
  expect(registry.getExtension("shipments.v1.success_status")?.number).toBe(50201);
});

test("a stream sends a file again only if it is requested", async () => {
  const quote = symbol("shipments.v1.QuoteShipmentRequest");
  const answers = await ask(quote, quote);
  const files = answers.map((answer) =>
    answer.case === "fileDescriptorResponse"
      ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
      : [],
  );
  expect(files[0]!.length).toBeGreaterThan(1);
  expect(files[1]).toEqual(["shipments/v1/quote.proto"]);
});

test("a stream sends at most 200 responses", async () => {
  const questions = Array.from({ length: 201 }, () => symbol("shipments.v1.Nope"));
  expect(await ask(...questions.slice(1))).toHaveLength(200);
  expect(await rpcError(ask(...questions))).toEqual({
    code: "ResourceExhausted",
    message: "This stream has reached its limit. Continue in another stream.",
    details: {
      ErrorInfo: { reason: "RATE_LIMITED", domain: "shipments.v1" },
      RetryInfo: { retryDelay: "1s" },
    },
  });
});

test("reflection ends at the deadline of an idle caller", async () => {
  const { trailers } = await rawGrpc(
    service.grpcUrl,
    `/${ServerReflection.typeName}/ServerReflectionInfo`,
    { "content-type": "application/grpc", te: "trailers", "grpc-timeout": "300m" },
    frame(new Uint8Array()),
    { ends: false },
  );
  expect(trailers["grpc-status"]).toBe(String(Code.DeadlineExceeded));
});

/** Returns all files that a client can find: first by symbol, then through imports. */
async function rebuild(...symbols: string[]): Promise<FileRegistry> {
  const found = new Map<string, FileDescriptorProto>();
  const questions: Question[] = symbols.map(symbol);
  const read = (bytes: Uint8Array) => fromBinary(FileDescriptorProtoSchema, bytes);
  for (let question = questions.shift(); question !== undefined; question = questions.shift()) {
    const [answer] = await ask(question);
    if (answer?.case !== "fileDescriptorResponse") throw new Error(JSON.stringify(answer));
    for (const proto of answer.value.fileDescriptorProto.map(read)) {
      if (found.has(proto.name)) continue;
      found.set(proto.name, proto);
      questions.push(...proto.dependency.filter((name) => !found.has(name)).map(file));
    }
  }
  return createFileRegistry(create(FileDescriptorSetSchema, { file: sortByImports([...found.values()]) }));
}

/** Sorts files so that each follows its imports, as a registry requires. */
function sortByImports<T extends { name: string; dependency: string[] }>(files: readonly T[]): T[] {
  const sorted = new Map<string, T>();
  const add = (it: T) => {
    if (sorted.has(it.name)) return;
    for (const name of it.dependency) add(files.find((other) => other.name === name) as T);
    sorted.set(it.name, it);
  };
  files.forEach(add);
  return [...sorted.values()];
}

function bytesOf(proto: FileDescriptorProto): string {
  return Buffer.from(toBinary(FileDescriptorProtoSchema, proto)).toString("base64");
}

function withDependencies(root: DescFile): DescFile[] {
  return [root, ...root.dependencies.flatMap(withDependencies)];
}
