import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { ACCOUNT_SERVICES } from "../../src/server/services.ts";
import { ADMIN_SERVICES } from "../../src/server/services.ts";
import { SERVICES } from "../../src/server/services.ts";
import { readGuides } from "../docs/guide-blocks.ts";

const METHODS = [...SERVICES, ...ADMIN_SERVICES, ...ACCOUNT_SERVICES].flatMap((service) => service.methods);

/** Returns a method's POST and PATCH paths. Proxies do not retry these by default. */
function pathsOf(method: DescMethod): string[] {
  const rule = hasOption(method, http) ? getOption(method, http) : undefined;
  const patterns = rule === undefined ? [] : [rule, ...rule.additionalBindings];
  const bound = patterns.flatMap(({ pattern }) =>
    pattern.case === "post" || pattern.case === "patch" ? [pattern.value] : [],
  );
  const json = bound.map((template) => template.replace(/\{\w+\}/g, "some-1"));
  return [`/${method.parent.typeName}/${method.name}`, ...json];
}

const { blocks } = readGuides().find(({ name }) => name === "proxies.md")!;

test.each([
  ["nginx", "upstream http_replicas", /"~\^ (\/\S+)" 1;/g],
  ["HAProxy", "backend http_replicas", /acl repeatable path -m reg \^(\S+)/g],
])("the map of %s names exactly the calls without side effects", (_, text, line) => {
  const config = blocks.find((block) => block.text.includes(text))!.text;
  const patterns = [...config.matchAll(line)].map(([, pattern]) => new RegExp(`^${pattern}`));
  expect(patterns).toHaveLength(5);
  const isRepeatable = (path: string) => patterns.some((pattern) => pattern.test(path));
  const declared = METHODS.filter((it) => it.proto.options?.idempotencyLevel === Level.NO_SIDE_EFFECTS);
  expect(METHODS.flatMap(pathsOf).filter(isRepeatable)).toEqual(declared.flatMap(pathsOf));
});
