import type { DescMessage, Message } from "@bufbuild/protobuf";
import { compileEncodeJson } from "../../src/json/encode-json.ts";

/** A message of the gRPC server as the HTTP server writes it in JSON, to compare the two. */
export function inDialect(schema: DescMessage, message: Message): any {
  return compileEncodeJson(schema)(message);
}
