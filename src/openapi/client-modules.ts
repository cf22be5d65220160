import type { FileRegistry, Registry } from "@bufbuild/protobuf";
import { audienceOf, commonReasons } from "../pipeline/common-reasons.ts";
import type { RefusalReason } from "../domain/refusal.ts";
import { createOptions } from "./options.ts";

/** Returns the module that exports the messages, enums and services of the workspace API. */
export function clientDefinitions({ files }: FileRegistry): string {
  const names = [...files]
    .filter(({ name, proto }) => proto.package === "shipments.v1" && !name.endsWith("/options"))
    .map(({ name }) => name)
    .toSorted();
  return names.map((name) => `export * from "../${name}_pb.js";\n`).join("");
}

/** Returns the TypeScript type of the refusal reasons for workspace calls. */
export function clientReasons(registry: Registry): string {
  const options = createOptions(registry);
  const reasons = new Set<RefusalReason>(commonReasons({ audience: "workspace", readOnly: false, hasBody: true }));
  for (const service of registry) {
    if (service.kind !== "service") continue;
    for (const method of service.methods.filter((it) => audienceOf(it) === "workspace")) {
      const declared = options<RefusalReason[]>(method, "shipments.v1.refusal_reasons") ?? [];
      declared.forEach((reason) => reasons.add(reason));
    }
  }
  const lines = [...reasons].toSorted().map((reason) => `  | "${reason}"`);
  return `/** Reason why a workspace call is refused. See the errors guide. */
export type Reason =
${lines.join("\n")};
`;
}
