import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageValidType,
} from "@bufbuild/protobuf";
import { compileValidateRequest } from "../pipeline/request/validate-request.ts";

/**
 * Makes a request of what a command was given, normalized and checked as one that comes in by the
 * servers.
 *
 * @throws Refusal FIELD_INVALID
 */
export function readRequest<D extends DescMessage>(
  schema: D,
  fields: MessageInitShape<D>,
): MessageValidType<D> {
  const request = create(schema, fields);
  compileValidateRequest(schema)(request, []);
  return request as MessageValidType<D>;
}
