import { posix } from "node:path";
import { defineConfig, type DummyRuleMap, type OxlintOverride } from "oxlint";

/** A folder of `src`, or of one of its rooms, and what its files may import besides each other. */
interface Room {
  /** Folders and files below `src`, as globs; or `gen` and `package.json` of the repository. */
  readonly imports: readonly string[];
  /** Packages that it may not import, as a regular expression. */
  readonly bans?: RegExp;
  /** Whether its files stand in folders of their own, which may import each other. */
  readonly wings?: true;
  /** Why, for whoever is refused. */
  readonly because: string;
}

const DATABASE = /^(pg|@mikro-orm)/;
const NODE = /^node:/;
const OUTSIDE = /^(pg|@mikro-orm|@connectrpc|@bufbuild|node:(fs|net|http|http2|child_process))/;

const DOMAIN = ["domain/*", "domain/*/*"];
const PIPELINE = ["pipeline/*", "pipeline/*/*"];

/** A transport knows the pipeline and descriptors, never a feature. */
function transport(...imports: string[]): Room {
  const because = "A transport knows the pipeline and descriptors, never a feature.";
  return { imports: ["gen", ...PIPELINE, ...imports], bans: DATABASE, because };
}

/** A feature, and the other features that it imports: one way only. */
function feature(...features: string[]): Room {
  const below = features.map((name) => `features/${name.includes("/") ? name : `${name}/*`}`);
  return {
    imports: ["gen", "pipeline/{call,page,rpc-response}.ts", "db/*", ...DOMAIN, ...below],
    because: "Features import each other one way only, and of the pipeline only the call.",
  };
}

/** A wing of the pipeline, and those that it imports: what a call is stands below them all. */
function wing(...wings: string[]): Room {
  const below = ["*", ...wings.map((name) => `${name}/*`)].map((path) => `pipeline/${path}`);
  const because = "The pipeline knows the domain and descriptors, and its wings import downwards.";
  return { imports: ["gen", ...DOMAIN, ...below], bans: DATABASE, because };
}

/** A part of the dashboard, and the other parts that it imports: one way only. */
function pages(...parts: string[]): Room {
  const imports = ["gen", ...parts.map((name) => `dashboard/${name}/*`)];
  const because = "Pages know calls and the kit, and each other by address.";
  return { imports, bans: NODE, because };
}
const KIT = ["api", "routes", "ui"];

function domain(...imports: string[]): Room {
  const because = "The domain is pure rules: no I/O, ORM or wire formats.";
  return { imports, bans: OUTSIDE, because };
}

/** Every room, from the top to the bottom. */
const ROOMS: Record<string, Room> = {
  openapi: {
    imports: [
      "gen",
      "package.json",
      "json/decode-scalar.ts",
      "pipeline/{call,common-reasons}.ts",
      "pipeline/credentials/{read-key,session-cookie}.ts",
      "pipeline/refusals/refusal-status.ts",
      "domain/{limits,refusal}.ts",
    ],
    because: "The document is made before there is generated code: of that, import types.",
  },
  commands: {
    imports: [
      "gen",
      "package.json",
      "config/*",
      "demo/*",
      "server/*",
      "features/**",
      "db/*",
      "embedded-postgres/*",
      "telemetry/*",
      ...DOMAIN,
      "pipeline/{call,local-call,tracer}.ts",
      "pipeline/request/validate-request.ts",
    ],
    because: "Commands import what is below them.",
  },
  demo: {
    imports: [
      "gen",
      "config/*",
      "server/*",
      "features/**",
      "db/*",
      "domain/*",
      "pipeline/{call,local-call}.ts",
    ],
    because: "The demo fills a database with what the features offer.",
  },
  server: {
    imports: [
      "gen",
      "package.json",
      "config/*",
      "transport/*/*",
      "features/**",
      ...PIPELINE,
      "json/*",
      "oidc/*",
      "telemetry/*",
      "db/*",
      ...DOMAIN,
    ],
    because: "The server wires everything below it; nothing below imports it.",
  },
  config: {
    imports: ["db/database-url.ts", "pipeline/client-address.ts", "domain/*"],
    because: "Settings are read once, and know the forms of what they hold.",
  },
  telemetry: {
    imports: [
      "pipeline/{call,call-headers,client-address,tracer}.ts",
      "db/database-url.ts",
      "domain/*",
    ],
    bans: DATABASE,
    because:
      "Tracing sees calls through the pipeline's interface, and of the database its address.",
  },
  "transport/http": transport("transport/{connect,connections}/*", "json/*", "domain/*"),
  "transport/grpc": transport("transport/{connect,connections}/*", "domain/*"),
  "transport/connect": transport("transport/connections/*", "domain/*"),
  "transport/connections": {
    imports: ["pipeline/bounds/limits.ts"],
    because: "Connections are bounded without knowing what is said on them.",
  },
  "features/payments": feature("workspaces", "idempotency", "shipments"),
  "features/shipments": feature(
    "workspaces",
    "tariffs/versions/*",
    "idempotency",
    "customers",
    "events",
  ),
  "features/reports": feature(
    "workspaces",
    "events/feed-delay.ts",
    "shipments/shipment.entity.ts",
    "tariffs/versions/load-version.ts",
  ),
  // And the trace of its attempts.
  "features/webhooks": feature("workspaces", "idempotency", "events", "../pipeline/tracer.ts"),
  "features/customers": feature("workspaces", "idempotency"),
  "features/events": feature("workspaces"),
  "features/tariffs/drafts": feature(
    "tariffs/versions/*",
    "tariffs/tasks/*",
    "idempotency",
    "audit",
  ),
  "features/tariffs/coverage": feature("tariffs/versions/*", "tariffs/tasks/*"),
  "features/tariffs/versions": feature("tariffs/tasks/*", "idempotency", "audit"),
  "features/tariffs/tasks": feature(),
  "features/workspace-admin": feature(
    "workspaces",
    "credentials",
    "api-keys",
    "people",
    "idempotency",
    "audit",
  ),
  "features/operators": feature("credentials", "people", "idempotency", "audit"),
  "features/people": feature("workspaces", "idempotency", "audit"),
  "features/api-keys": feature("workspaces", "credentials", "idempotency", "audit"),
  "features/idempotency": feature("audit", "workspaces"),
  "features/credentials": feature(),
  "features/audit": feature(),
  "features/workspaces": feature(),
  "pipeline/stages": wing("bounds", "credentials", "refusals", "request"),
  "pipeline/credentials": wing("bounds"),
  "pipeline/refusals": wing("bounds"),
  "pipeline/request": wing(),
  "pipeline/bounds": wing(),
  pipeline: wing(),
  json: {
    imports: ["gen", "domain/*"],
    bans: DATABASE,
    because: "The JSON dialect knows descriptors only.",
  },
  oidc: {
    imports: ["domain/refusal.ts"],
    bans: DATABASE,
    because: "The client of identity providers knows nothing else of ours.",
  },
  db: { imports: [], because: "The database layer knows nothing else; entities are handed to it." },
  "embedded-postgres": {
    imports: [],
    because: "The embedded database knows nothing else of ours.",
  },
  domain: domain(),
  "domain/coverage": domain("domain/*"),
  "domain/pricing": domain("domain/*", "domain/coverage/*"),
  "domain/shipment": domain("domain/*"),
  "domain/webhook": domain("domain/*"),

  dashboard: pages("shell", "routes"),
  "dashboard/shell": pages("*"),
  "dashboard/customers": pages(...KIT, "shipments"),
  "dashboard/shipments": pages(...KIT, "map", "webhooks", "workspaces"),
  "dashboard/reports": pages(...KIT, "workspaces"),
  "dashboard/workspaces": pages(...KIT, "keys", "audit"),
  "dashboard/operators": pages(...KIT, "keys", "audit"),
  "dashboard/keys": pages(...KIT),
  "dashboard/people": pages(...KIT),
  "dashboard/webhooks": pages(...KIT),
  "dashboard/tariffs": pages(...KIT, "map"),
  "dashboard/audit": pages(...KIT),
  "dashboard/map": pages(...KIT),
  "dashboard/ui": pages("api", "routes"),
  "dashboard/routes": pages("api"),
  "dashboard/api": pages(),
  "docs-pages/browser": {
    imports: ["docs-pages/search-options.ts", "dashboard/ui/copy-text.ts"],
    bans: NODE,
    because: "What documents do in browsers knows nothing of how they are built.",
  },
  "docs-pages/build": {
    imports: ["docs-pages/search-options.ts"],
    because: "Documents are made of files of the repository, without the service's code.",
  },
};

/** The files of a room that stand `depth` folders below it, and what they may import. */
function restrict(name: string, room: Room, depth: number): OxlintOverride {
  const up = "../".repeat(depth);
  const folder = posix.join(name, "x/".repeat(depth));
  const inside = Array.from({ length: depth }, (_, level) => `!${"../".repeat(level + 1)}*`);
  const allowed = room.imports.flatMap((path) => {
    const target =
      path === "gen" ? "../gen/**" : path === "package.json" ? "../package.json" : path;
    return `!${posix.relative(folder, target)}`;
  });
  const wings = depth === 0 ? [] : [...inside, `!${up}*/*`, `${up}../**`];
  const patterns: object[] = [{ group: ["../**", ...wings, ...allowed], message: room.because }];
  if (room.bans !== undefined) patterns.push({ regex: room.bans.source, message: room.because });
  return {
    files: [`src/${name}/${"*/".repeat(depth)}*`],
    rules: { "eslint/no-restricted-imports": ["error", { patterns }] },
  } as OxlintOverride;
}

/** Switches off the rules of these lists, parted by spaces. */
function off(...lists: string[]): DummyRuleMap {
  return Object.fromEntries(lists.flatMap((list) => list.split(" ")).map((rule) => [rule, "off"]));
}

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise"],
  options: { typeAware: true },
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "eslint/no-console": "error",
    "eslint/max-lines-per-function": [
      "error",
      { max: 60, skipBlankLines: true, skipComments: true },
    ],
    "eslint/max-params": ["error", { max: 5 }],
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "typescript/no-explicit-any": "error",
    ...off(
      "typescript/no-non-null-assertion typescript/unbound-method typescript/consistent-return",
      "typescript/no-unsafe-type-assertion typescript/no-unnecessary-type-assertion",
      "typescript/no-unnecessary-type-parameters promise/no-callback-in-promise",
      "import/no-named-as-default-member",
    ),
    "typescript/consistent-type-imports": "error",
  },
  ignorePatterns: ["gen", "src/db/migrations"],
  overrides: [
    restrict(
      "**",
      { imports: [], because: "A room that oxlint.config.ts does not list imports nothing." },
      0,
    ),
    ...Object.entries(ROOMS).flatMap(([name, room]) =>
      room.wings ? [restrict(name, room, 0), restrict(name, room, 1)] : [restrict(name, room, 0)],
    ),
    {
      files: ["src/docs-pages/browser/*", "src/dashboard/**"],
      rules: { "import/no-unassigned-import": ["error", { allow: ["**/*.css"] }] },
    },
    {
      // What the tools ask for.
      files: ["*.config.ts", "src/**/vite.config.ts", "src/dashboard/{build/*,assets.d.ts}"],
      rules: off("import/no-default-export eslint/no-restricted-imports"),
    },
    { files: ["src/*.{ts,js}"], rules: off("eslint/no-restricted-imports") },
    {
      files: ["test/**"],
      rules: off(
        "typescript/no-explicit-any typescript/restrict-template-expressions",
        "typescript/no-misused-spread import/no-default-export",
        "unicorn/consistent-function-scoping unicorn/no-array-sort unicorn/no-array-reverse",
        "unicorn/no-array-fill-with-reference-type eslint/no-unmodified-loop-condition",
        "eslint/max-params eslint/no-shadow eslint/max-lines-per-function",
      ),
    },
  ],
});
