import type { DescMessage, Message } from "@bufbuild/protobuf";
import { compileEncodeJson } from "../../src/json/encode-json.ts";

/** Converts a gRPC message to the HTTP server's JSON dialect, for comparisons. */
export function inDialect(schema: DescMessage, message: Message): any {
  return compileEncodeJson(schema)(message);
}
