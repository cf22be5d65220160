import { getOption, type DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { field as rules } from "../../../gen/buf/validate/validate_pb.js";
import { pattern_means } from "../../../gen/shipments/v1/options_pb.js";
import { describedMethods } from "../../support/described-services.ts";

const ONE_LINE = "^[^\\n\\r]*$";

test("every pattern but that of one line says what it means", async () => {
  const methods = await Promise.all(
    (["workspace", "operator", "person"] as const).map(describedMethods),
  );
  const unsaid = methods.flat().flatMap(({ input }) => unsaidIn(input));
  expect([...new Set(unsaid)]).toEqual([]);
});

function unsaidIn({ fields, typeName }: DescMessage): string[] {
  return fields.flatMap((field) => {
    if (field.fieldKind === "message") return unsaidIn(field.message);
    const { type } = getOption(field, rules);
    const pattern = type.case === "string" ? type.value.pattern : "";
    const isSaid = pattern === "" || pattern === ONE_LINE || getOption(field, pattern_means) !== "";
    return isSaid ? [] : [`${typeName}.${field.name}`];
  });
}
