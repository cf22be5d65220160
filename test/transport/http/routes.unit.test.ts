import {
  create,
  createFileRegistry,
  setExtension,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "../../../gen/google/api/http_pb.js";
import { success_status } from "../../../gen/shipments/v1/options_pb.js";
import { compileRoutes, readRoutes, type MatchRoute, type Route } from "../../../src/transport/http/routes.ts";
import type { Rpc } from "../../../src/pipeline/rpc.ts";

type Rule = MessageInitShape<typeof HttpRuleSchema>;
type Pattern = NonNullable<Rule["pattern"]>;

function rpcWith(name: string, rule: Rule | undefined, successStatus?: number): Rpc {
  const options = create(MethodOptionsSchema);
  if (rule !== undefined) setExtension(options, http, create(HttpRuleSchema, rule));
  if (successStatus !== undefined) setExtension(options, success_status, successStatus);
  const file = create(FileDescriptorProtoSchema, {
    name: "parcels.proto",
    package: "parcels",
    syntax: "proto3",
    messageType: [{ name: "Parcel" }],
    service: [
      {
        name: "Parcels",
        method: [{ name, inputType: ".parcels.Parcel", outputType: ".parcels.Parcel", options }],
      },
    ],
  });
  const service = createFileRegistry(file, () => undefined).getService("parcels.Parcels");
  const method = service?.methods[0] as DescMethodUnary;
  return {
    method,
    name: `parcels.Parcels/${name}`,
    readOnly: false,
    audience: "workspace",
    minimumRole: "operator",
    minimumMemberRole: "member",
    mode: undefined,
    maxRequestBytes: 65_536,
    refusalReasons: new Set(),
    forCouriers: false,
    forCourierLinks: false,
    limitClass: "write",
    run: () => create(method.output),
  };
}

const at = (kind: NonNullable<Pattern["case"]>, value: string): Rule => ({
  pattern: { case: kind, value } as Pattern,
});

describe("routes are read from the RPCs' options", () => {
  test("with their method, path, body and success status", () => {
    const get = rpcWith("GetParcel", at("get", "/v1/parcels/{parcel}"));
    const make = rpcWith("MakeParcel", { ...at("post", "/v1/parcels"), body: "*" }, 201);
    expect(readRoutes([get, make])).toEqual([
      {
        rpc: get,
        httpMethod: "GET",
        template: "/v1/parcels/{parcel}",
        segments: [
          { kind: "literal", text: "v1" },
          { kind: "literal", text: "parcels" },
          { kind: "variable", field: "parcel" },
        ],
        body: "none",
        successStatus: 200,
      },
      {
        rpc: make,
        httpMethod: "POST",
        template: "/v1/parcels",
        segments: [
          { kind: "literal", text: "v1" },
          { kind: "literal", text: "parcels" },
        ],
        body: "json",
        successStatus: 201,
      },
    ]);
  });

  test("an RPC without an http rule has no route", () => {
    expect(readRoutes([rpcWith("GetParcel", undefined)])).toEqual([]);
  });

  test("additional bindings are separate routes", () => {
    const additionalBindings = [at("patch", "/v1/b"), at("delete", "/v1/c")].map((it) => create(HttpRuleSchema, it));
    const routes = readRoutes([rpcWith("X", { ...at("put", "/v1/a"), additionalBindings })]);
    expect(routes.map((route) => route.httpMethod)).toEqual(["PUT", "PATCH", "DELETE"]);
  });

  test.each<[what: string, rule: Rule]>([
    ["without a path", { body: "*" }],
    ["with the body in one field", { ...at("post", "/v1/a"), body: "parcel" }],
    ["with a malformed path", at("get", "/v1/**")],
  ])("and a rule %s is refused at startup", (_, rule) => {
    expect(() => readRoutes([rpcWith("X", rule)])).toThrow(/http rule|path template/);
  });
});

describe("a method and a path select a route", () => {
  const [quote, cancel, get, list, make] = [
    rpcWith("Quote", at("post", "/v1/parcels/quote")),
    rpcWith("Cancel", at("post", "/v1/parcels/{parcel}/cancel")),
    rpcWith("Get", at("get", "/v1/parcels/{parcel}")),
    rpcWith("List", at("get", "/v1/parcels")),
    rpcWith("Make", at("post", "/v1/parcels")),
  ] as const;
  const match: MatchRoute<Route> = compileRoutes(readRoutes([quote, cancel, get, list, make]));

  test.each([
    ["POST", "/v1/parcels/quote", "Quote"],
    ["POST", "/v1/parcels/7/cancel", "Cancel"],
    ["POST", "/v1/parcels/quote/cancel", "Cancel"],
    ["GET", "/v1/parcels/7", "Get"],
    ["GET", "/v1/parcels", "List"],
    ["POST", "/v1/parcels", "Make"],
  ])("%s %s is %s", (httpMethod, path, name) => {
    const found = match(httpMethod, path);
    expect(found.kind).toBe("found");
    expect(found).toHaveProperty("route.rpc.name", `parcels.Parcels/${name}`);
  });

  test("HEAD selects the route of GET", () => {
    expect(match("HEAD", "/v1/parcels/7")).toEqual(match("GET", "/v1/parcels/7"));
  });

  test("the route has the path's segments as sent", () => {
    const pathSegments = ["v1", "parcels", "a%2Fb"];
    expect(match("GET", "/v1/parcels/a%2Fb")).toMatchObject({ kind: "found", pathSegments });
  });

  test.each([
    ["PUT", "/v1/parcels", "GET, HEAD, POST"],
    ["GET", "/v1/parcels/quote", "POST"],
    ["POST", "/v1/parcels/7", "GET, HEAD"],
    ["GET", "/v1/parcels/7/cancel", "POST"],
    ["post", "/v1/parcels", "GET, HEAD, POST"],
    ["HEAD", "/v1/parcels/quote", "POST"],
  ])("%s %s has the wrong method and lists the right ones", (httpMethod, path, allow) => {
    expect(match(httpMethod, path)).toEqual({ kind: "method-not-allowed", allow });
  });

  test.each([
    ["the root", "/"],
    ["nothing", ""],
    ["a prefix of a path", "/v1"],
    ["a longer path", "/v1/parcels/7/cancel/now"],
    ["a trailing slash", "/v1/parcels/"],
    ["an empty variable", "/v1/parcels//cancel"],
    ["a doubled slash", "//v1/parcels"],
    ["another case", "/V1/parcels"],
    ["a literal in percent-encoding", "/v1/%70arcels"],
    ["a name of Object.prototype", "/v1/constructor"],
  ])("%s matches no route", (_, path) => {
    expect(match("POST", path)).toEqual({ kind: "no-such-path" });
  });

  test("refuses two routes for one method and path at startup", () => {
    const other = rpcWith("Other", at("get", "/v1/parcels/{name}"));
    expect(() => compileRoutes(readRoutes([get, other]))).toThrow(
      "parcels.Parcels/Other and parcels.Parcels/Get claim the same method and path",
    );
  });
});
