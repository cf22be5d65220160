import type { DescMessage } from "@bufbuild/protobuf";
import { refuse } from "../../domain/refusal.ts";

/** Matches a strong entity tag (RFC 9110, section 8.8.3), with or without quotes. */
const STRONG_TAG = /^(?:"([\x21\x23-\x7e]{1,100})"|([\w-]{1,100}))$/;

/**
 * Converts an `If-Match` header to the request field `etag`, which is checked together with the change.
 * `*` matches any existing resource and returns no field.
 *
 * @param json the request body as received
 * @throws Refusal FIELD_INVALID if the request type has no etag, the header is not one strong entity
 *   tag, or the request contains another etag
 */
export function readIfMatch(
  ifMatch: string,
  input: DescMessage,
  json: Readonly<{ etag?: unknown }>,
): { readonly etag?: string } {
  if (input.fields.every(({ name }) => name !== "etag")) {
    throw invalid("is not supported by this call, which has no etag. Omit it.");
  }
  if (ifMatch.trim() === "*") return {};
  const [, quoted, bare] = STRONG_TAG.exec(ifMatch.trim()) ?? [];
  const etag = quoted ?? bare;
  if (etag === undefined) throw invalid('must be one strong etag, such as "3".');
  const { etag: fieldEtag = etag } = json;
  if (fieldEtag !== null && fieldEtag !== "" && fieldEtag !== etag)
    throw invalid("differs from the etag in the request. Send only one of them.");
  return { etag };
}

function invalid(problem: string) {
  return refuse("FIELD_INVALID", `If-Match ${problem}`, { subject: "if_match" });
}
