import { create, createFileRegistry } from "@bufbuild/protobuf";
import {
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { runNodeJs } from "@bufbuild/protoplugin";
import packageJson from "../../package.json" with { type: "json" };
import { clientDefinitions, clientReasons } from "./client-modules.ts";
import { describeApi } from "./describe-api.ts";

const { version } = packageJson;

/** A buf plugin that writes the OpenAPI document of the JSON API and the client library's definitions and reasons. */
runNodeJs({
  name: "protoc-gen-openapi",
  version,
  run({ protoFile }) {
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: protoFile }));
    const content = `${JSON.stringify(describeApi(registry, version), undefined, 1)}\n`;
    return create(CodeGeneratorResponseSchema, {
      supportedFeatures: BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL),
      file: [
        { name: "openapi/openapi.json", content },
        ...["js", "d.ts"].map((extension) => ({
          name: `client/definitions.${extension}`,
          content: clientDefinitions(registry),
        })),
        { name: "client/reasons.d.ts", content: clientReasons(registry) },
      ],
    });
  },
});
