import { toBinary, type DescExtension, type DescFile, type DescMessage, type DescService } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.js";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { refuse, unavailable } from "../../domain/refusal.ts";
import { deadlineError } from "../../pipeline/stages/deadline.ts";
import { connectError } from "./connect-error.ts";
import { isPastDeadline } from "./deadlines.ts";

/** Versions of the reflection service, which differ only in their names. Many tools use the older version. */
export const REFLECTION_SERVICES = [ServerReflection, ServerReflectionV1alpha];

/** Maximum number of responses per stream. Tools send a few dozen requests. */
const MAX_ANSWERS = 200;

/**
 * Serves `grpc.reflection.v1.ServerReflection` and `v1alpha` for the given services, their dependencies
 * and error details, so that `buf curl` and grpcurl need no proto files. Requires no credential,
 * because the definitions are public. As in grpc-go, a stream sends each dependency only once.
 */
export function addReflection(
  router: ConnectRouter,
  services: readonly DescService[],
  shutdownSignal: AbortSignal,
): void {
  const index = indexFiles([...services.map((it) => it.file), file_google_rpc_error_details]);
  const names = services.map((it) => it.typeName);
  async function* serverReflectionInfo<R extends Request>(requests: AsyncIterable<R>, { signal }: HandlerContext) {
    let answers = 0;
    const sent = new Set<DescFile>();
    const ending = AbortSignal.any([signal, shutdownSignal]);
    for await (const request of untilAborted(requests, ending)) {
      if (++answers > MAX_ANSWERS) {
        const text = "This stream has reached its limit. Continue in another stream.";
        throw connectError(refuse("RATE_LIMITED", text, { retryAfterSeconds: 1 }));
      }
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answer(request.messageRequest, index, names, sent),
      };
    }
  }
  router.service(ServerReflection, { serverReflectionInfo });
  router.service(ServerReflectionV1alpha, { serverReflectionInfo });
}

/**
 * Yields items until the signal aborts, because a caller may neither send nor end its stream.
 *
 * @throws ConnectError DEADLINE_EXCEEDED if the deadline aborted the signal, otherwise UNAVAILABLE
 */
async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  const aborted = Promise.withResolvers<undefined>();
  const abort = () => aborted.resolve(undefined);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([iterator.next(), aborted.promise]);
    if (isPastDeadline(signal)) throw connectError(deadlineError());
    if (next === undefined) {
      throw connectError(unavailable("The service is shutting down. Reconnect."));
    }
    if (next.done) return;
    yield next.value;
  }
}

interface Request {
  readonly host: string;
  readonly messageRequest: Question;
}

type Question =
  | { case: "fileByFilename" | "fileContainingSymbol"; value: string }
  | { case: "allExtensionNumbersOfType" | "listServices"; value: string }
  | {
      case: "fileContainingExtension";
      value: { readonly containingType: string; readonly extensionNumber: number };
    }
  | { case: undefined; value?: undefined };

/** Response fields, the same for both versions. */
type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | {
      case: "allExtensionNumbersResponse";
      value: { baseTypeName: string; extensionNumber: number[] };
    }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

/** Files by file name, by full name, and by extended type and number. */
interface FileIndex {
  readonly byName: ReadonlyMap<string, DescFile>;
  readonly bySymbol: ReadonlyMap<string, DescFile>;
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

function answer(request: Question, index: FileIndex, services: readonly string[], sent: Set<DescFile>): Answer {
  switch (request.case) {
    case "listServices": {
      const service = services.map((name) => ({ name }));
      return { case: "listServicesResponse", value: { service } };
    }
    case "fileByFilename":
      return describeFile(index.byName.get(request.value), request.value, sent);
    case "fileContainingSymbol":
      return describeFile(index.bySymbol.get(request.value), request.value, sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = request.value;
      const file = index.extensions.get(containingType)?.get(extensionNumber);
      return describeFile(file, `extension ${extensionNumber} of ${containingType}`, sent);
    }
    case "allExtensionNumbersOfType":
      return listExtensions(index, request.value);
    default:
      return failure(Code.InvalidArgument, "The request is empty.");
  }
}

function describeFile(file: DescFile | undefined, what: string, sent: Set<DescFile>): Answer {
  if (file === undefined) return failure(Code.NotFound, `There is no ${what} here.`);
  const dependencies = [...withDependencies(file, new Set())].slice(1);
  const files = [file, ...dependencies.filter((it) => !sent.has(it))];
  for (const it of files) sent.add(it);
  const fileDescriptorProto = files.map((it) => toBinary(FileDescriptorProtoSchema, it.proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function listExtensions(index: FileIndex, baseTypeName: string): Answer {
  if (!index.bySymbol.has(baseTypeName)) {
    return failure(Code.NotFound, `There is no ${baseTypeName} here.`);
  }
  const extensionNumber = [...(index.extensions.get(baseTypeName)?.keys() ?? [])];
  return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
}

function failure(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function indexFiles(roots: readonly DescFile[]): FileIndex {
  const files = new Set<DescFile>();
  for (const root of roots) withDependencies(root, files);
  const byName = new Map<string, DescFile>();
  const bySymbol = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();
  for (const file of files) {
    byName.set(file.proto.name, file);
    for (const symbol of symbolsIn(file)) bySymbol.set(symbol, file);
    for (const extension of extensionsIn(file)) {
      const numbers = extensions.get(extension.extendee.typeName) ?? new Map<number, DescFile>();
      extensions.set(extension.extendee.typeName, numbers.set(extension.number, file));
    }
  }
  return { byName, bySymbol, extensions };
}

/** Returns the file and all its imports, each once. */
function withDependencies(file: DescFile, seen: Set<DescFile>): Set<DescFile> {
  if (!seen.has(file)) {
    seen.add(file);
    for (const dependency of file.dependencies) withDependencies(dependency, seen);
  }
  return seen;
}

function* symbolsIn(file: DescFile): Iterable<string> {
  for (const type of nestedTypes(file)) {
    yield type.typeName;
    if (type.kind === "service") yield* type.methods.map((it) => `${type.typeName}.${it.name}`);
    if (type.kind === "message") yield* fieldNames(type);
  }
}

function fieldNames(message: DescMessage): string[] {
  return message.fields.map((field) => `${message.typeName}.${field.name}`);
}

function extensionsIn(file: DescFile): DescExtension[] {
  return [...nestedTypes(file)].filter((type) => type.kind === "extension");
}
