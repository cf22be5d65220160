import { getOption, type DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type FieldRules, field as rules } from "../../../gen/buf/validate/validate_pb.js";
import { pattern_means } from "../../../gen/shipments/v1/options_pb.js";
import { describedMethods } from "../../support/described-services.ts";

const ONE_LINE = "^[^\\n\\r]*$";

test("every pattern except the single-line one has a description", async () => {
  const methods = await Promise.all((["workspace", "operator", "person"] as const).map(describedMethods));
  const undescribed = methods.flat().flatMap(({ input }) => undescribedIn(input));
  expect([...new Set(undescribed)]).toEqual([]);
});

function undescribedIn({ fields, typeName }: DescMessage): string[] {
  return fields.flatMap((field) => {
    const { message, name } = field;
    if (message) return undescribedIn(message);
    const patterns = patternsOf(getOption(field, rules)).filter((it) => it !== ONE_LINE);
    const isDescribed = patterns.length === 0 || getOption(field, pattern_means) !== "";
    return isDescribed ? [] : [`${typeName}.${name}`];
  });
}

/** Returns the patterns for a text field, or for the texts in a list or map. */
function patternsOf({ type }: FieldRules): string[] {
  if (type.case === "string") return type.value.pattern === "" ? [] : [type.value.pattern];
  const inner =
    type.case === "repeated" ? [type.value.items] : type.case === "map" ? [type.value.keys, type.value.values] : [];
  return inner.flatMap((each) => (each === undefined ? [] : patternsOf(each)));
}
