import type { DescMessage, Message } from "@bufbuild/protobuf";
import { compileEncodeJson } from "../../src/json/encode-json.ts";

/** A message of the gRPC door as the JSON door would write it, to hold the two against each other. */
export function inDialect(schema: DescMessage, message: Message): any {
  return compileEncodeJson(schema)(message);
}
