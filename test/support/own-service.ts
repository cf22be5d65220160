import {
  create,
  createFileRegistry,
  setExtension,
  type DescService,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { Registry } from "@prometheus-io/client";
import { pino } from "pino";
import { http } from "../../gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "../../gen/google/api/http_pb.js";
import { max_request_bytes } from "../../gen/shipments/v1/options_pb.js";
import type { RpcResponse } from "../../src/pipeline/rpc-response.ts";
import { createMemoryLimiter } from "../../src/pipeline/bounds/rate-limiter.ts";
import { createPipeline } from "../../src/pipeline/stages/pipeline.ts";
import { listRpcs } from "../../src/pipeline/rpc.ts";
import { createRpcHandler } from "../../src/transport/connect/connect-handler.ts";
import type { ConnectionLimits } from "../../src/pipeline/bounds/limits.ts";
import { createGrpcFastPath } from "../../src/transport/grpc/fast-path.ts";
import { createGrpcServer } from "../../src/transport/grpc/grpc-server.ts";
import { createHttpServer } from "../../src/transport/http/http-server.ts";
import { createJsonGateway } from "../../src/transport/http/json-gateway.ts";
import { callOf } from "./call-of.ts";
import { endpointsAt, type Endpoints } from "./endpoints.ts";
import { whenOver } from "./when-over.ts";

/** The only key that the service accepts. */
export const OWN_KEY = "shp_of_a_test";

/** Request and response message `own.Parcel` with an id, a tag and bytes. */
export interface Parcel extends Message {
  id: bigint;
  tag: string;
  data: Uint8Array;
}

/** Both servers with a single RPC whose handler is defined by a test. */
export interface OwnService extends Endpoints {
  /** Descriptor of `own.Parcels`. Its method `Send` takes and returns a parcel. */
  readonly desc: DescService;
}

/** Starts the two servers with the RPC `own.Parcels/Send` until the end of the test or its file. */
export async function startOwnService(options: {
  readonly rule: MessageInitShape<typeof HttpRuleSchema>;
  readonly maxRequestBytes?: number;
  readonly limits?: Partial<ConnectionLimits>;
  readonly run: (parcel: Parcel, makeParcel: MakeParcel) => RpcResponse | Promise<RpcResponse>;
}): Promise<OwnService> {
  const desc = describe(options.rule, options.maxRequestBytes);
  const makeParcel: MakeParcel = (fields) => create(desc.methods[0]!.output, fields) as Parcel;
  const send = (parcel: Message) => options.run(parcel as Parcel, makeParcel);
  const rpcs = listRpcs(desc, { send } as object, undefined);
  const log = pino({ level: "silent" });
  const { caller } = callOf(1);
  const recall = (key: string) => (key === OWN_KEY ? caller : undefined);
  const pipeline = createPipeline({
    rpcs,
    streams: [],
    keys: {
      workspace: { recall, find: async (key) => recall(key) },
      operator: { recall: () => undefined, find: async () => undefined },
    },
    sessions: { find: async () => undefined, findCourier: async () => undefined },
    clientAddress: () => "",
    isHttps: false,
    countUsage: () => undefined,
    logRequest: () => undefined,
    shutdownSignal: new AbortController().signal,
    endSignal: new AbortController().signal,
    refusalOf: () => undefined,
    onBehalfOf: (_, work) => work(),
    onRateLimited: () => undefined,
    limiter: createMemoryLimiter(() => performance.now()),
    log,
    registry: new Registry(),
  });
  const rpcHandler = (grpc: boolean) =>
    createRpcHandler({
      rpcs,
      streams: [],
      pipeline,
      grpc,
      addServices: () => undefined,
    });
  const limits = { sweepMs: 20, ...options.limits };
  const httpServer = createHttpServer({
    serviceNames: [desc.typeName],
    handleRpc: rpcHandler(false),
    gateway: createJsonGateway(rpcs, pipeline),
    handlers: [],
    limits,
  });
  const grpcServer = createGrpcServer(rpcHandler(true), createGrpcFastPath(rpcs, pipeline), limits);
  const [atHttp, atGrpc] = await Promise.all(
    [httpServer, grpcServer].map((server) => server.listen({ host: "127.0.0.1", port: 0 })),
  );
  whenOver(() => Promise.all([httpServer.close(0), grpcServer.close(0)]));
  return {
    ...endpointsAt(`http://127.0.0.1:${atHttp!.port}`, `http://127.0.0.1:${atGrpc!.port}`),
    desc,
  };
}

export type MakeParcel = (fields: Partial<Omit<Parcel, keyof Message>>) => Parcel;

function describe(rule: MessageInitShape<typeof HttpRuleSchema>, maxRequestBytes?: number) {
  const methodOptions = create(MethodOptionsSchema);
  setExtension(methodOptions, http, create(HttpRuleSchema, rule));
  if (maxRequestBytes !== undefined) {
    setExtension(methodOptions, max_request_bytes, maxRequestBytes);
  }
  const { INT64, STRING, BYTES } = FieldDescriptorProto_Type;
  const field = (name: string, number: number, type: FieldDescriptorProto_Type) => ({
    name,
    jsonName: name,
    number,
    type,
    label: FieldDescriptorProto_Label.OPTIONAL,
  });
  const fields = [field("id", 1, INT64), field("tag", 2, STRING), field("data", 3, BYTES)];
  const [inputType, outputType] = [".own.Parcel", ".own.Parcel"];
  const file = create(FileDescriptorProtoSchema, {
    name: "own.proto",
    package: "own",
    syntax: "proto3",
    messageType: [{ name: "Parcel", field: fields }],
    service: [
      {
        name: "Parcels",
        method: [{ name: "Send", inputType, outputType, options: methodOptions }],
      },
    ],
  });
  return createFileRegistry(file, () => undefined).getService("own.Parcels")!;
}
