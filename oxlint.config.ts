import { posix } from "node:path";
import { defineConfig, type DummyRuleMap, type OxlintOverride } from "oxlint";

/** A layer of modules in `src`: folders whose import limits have the same reason. */
interface Layer {
  /** Message of the lint error. */
  readonly because: string;
  /** Pattern of packages that no module in the layer may import. */
  readonly bans?: RegExp;
  /** Allowed imports of every module in the layer. */
  readonly all?: string;
  /**
   * Additional allowed imports by module, separated by spaces: globs of files below `src`, or `gen` and `package.json`
   * in the repository root.
   */
  readonly modules: Readonly<Record<string, string>>;
}

const DATABASE = /^(pg|@mikro-orm)/;
const NODE = /^node:/;
const OUTSIDE = /^(pg|@mikro-orm|@connectrpc|@bufbuild|node:(fs|net|http|http2|child_process))/;

/** All modules, from top to bottom. */
const LAYERS: readonly Layer[] = [
  {
    because: "OpenAPI generation runs before the generated code exists. Import only types from it.",
    modules: {
      openapi: `gen package.json json/decode-scalar.ts pipeline/{call,common-reasons,file-field}.ts
        pipeline/credentials/{read-key,session-cookie}.ts
        domain/{limits,refusal,refusal-reasons}.ts`,
    },
  },
  {
    because: "The server connects the modules below it. Only commands and the demo may import it.",
    modules: {
      commands: `gen package.json config/* demo/* server/* features/** json/* db/* db/citus/distribute.ts
        embedded-postgres/* telemetry/tracing.ts domain/* domain/schedule/schedule.ts pipeline/{call,local-call}.ts
        pipeline/request/validate-request.ts`,
      demo: "gen config/* server/* features/** db/orm.ts pipeline/local-call.ts",
      server: `gen package.json config/* transport/*/* features/** pipeline/* pipeline/*/* json/*
        tracking/* oidc/* smtp/* s3/* telemetry/* db/* domain/*`,
    },
  },
  {
    because: "The configuration is read once. It may import only the parsers of its values.",
    modules: { config: "db/database-url.ts pipeline/client-address.ts domain/*" },
  },
  {
    because: "Tracing may import only the pipeline's interface and the parser of the database URL.",
    bans: DATABASE,
    modules: {
      telemetry: "pipeline/{call,call-headers,client-address,tracer}.ts db/database-url.ts domain/*",
    },
  },
  {
    because: "A transport may import the pipeline and descriptors, but no feature.",
    bans: DATABASE,
    all: "gen pipeline/* pipeline/*/* domain/*",
    modules: {
      "transport/http": "transport/{connect,connections}/* json/*",
      "transport/mcp": `transport/http/* transport/connect/request-target.ts json/*
        docs-pages/search-options.ts docs-pages/build/links.ts`,
      "transport/grpc": "transport/{connect,connections}/*",
      "transport/connect": "transport/connections/* json/decode-scalar.ts",
    },
  },
  {
    because: "Connection limits must not depend on protocols.",
    bans: DATABASE,
    modules: { "transport/connections": "pipeline/bounds/limits.ts" },
  },
  {
    because: "Features import each other in one direction, and only the types of calls and RPCs from the pipeline.",
    all: `gen pipeline/{call,page,rpc,rpc-response}.ts json/records.ts db/* domain/*
      domain/*/* features/workspaces/workspace.entity.ts`,
    modules: {
      "features/*": "",
      "features/payments": "features/payments/stripe/* features/{shipments,events,idempotency,audit,workspaces}/*",
      "features/payments/stripe": "features/payments/* features/workspaces/*",
      "features/shipments": `features/tariffs/versions/* features/quotes/*
        features/{audit,couriers,customers,events,idempotency,mails,slots,workspaces}/*`,
      "features/recipients": `features/{audit,shipments,mails,workspaces}/*
        features/customers/link-customers.ts`,
      "features/addresses": "features/shipments/shipment-filters.ts",
      "features/test-mode": "features/{payments,shipments,slots,workspaces}/*",
      "features/quotes": "features/tariffs/versions/* features/slots/* features/workspaces/*",
      "features/slots": "features/tariffs/versions/* features/{idempotency,audit}/*",
      "features/reports": `features/shipments/{shipment.entity,shipment-deps,shipment-message,shipment-row}.ts
        features/api-keys/api-keys.ts features/people/mail-backlog.ts
        features/operators/operator.entity.ts features/operators/operator-key.entity.ts
        features/slots/upcoming-slots.ts features/tariffs/versions/{load-version,tariff-cache}.ts features/workspaces/*`,
      "features/webhooks": "features/{events,idempotency,workspaces}/* pipeline/tracer.ts",
      "features/couriers": "features/{audit,mails,workspaces}/*",
      "features/customers": "features/{idempotency,workspaces}/*",
      "features/events": "features/workspaces/*",
      "features/tariffs/drafts": "features/tariffs/{versions,tasks}/* features/{idempotency,audit}/*",
      "features/tariffs/coverage": "features/tariffs/{versions,tasks}/*",
      "features/tariffs/versions": "features/tariffs/tasks/* features/{idempotency,audit}/*",
      "features/tariffs/tasks": "",
      "features/workspace-admin": `features/{api-keys,people,credentials,idempotency,audit}/*
        features/events/feed.entity.ts features/workspaces/*`,
      "features/operators": "features/{people,credentials,idempotency,audit}/*",
      "features/people": "features/{idempotency,audit,mails,workspaces}/*",
      "features/api-keys": "features/{credentials,idempotency,audit,workspaces}/*",
      "features/idempotency": "features/{audit,workspaces}/*",
    },
  },
  {
    because: "The pipeline may import the domain and descriptors. Its folders import each other in one direction.",
    bans: DATABASE,
    all: "gen domain/* pipeline/* json/records.ts",
    modules: {
      "pipeline/stages": "pipeline/{bounds,credentials,refusals,request}/* domain/webhook/webhook-schedule.ts",
      "pipeline/credentials": "pipeline/bounds/*",
      "pipeline/refusals": "pipeline/bounds/*",
      "pipeline/request": "domain/pricing/money.ts domain/shipment/shipment-reference.ts",
      "pipeline/bounds": "",
      pipeline: "",
    },
  },
  {
    because: "The JSON dialect, the tracking texts and the clients of other services depend only on the domain.",
    bans: DATABASE,
    modules: {
      json: "gen domain/*",
      oidc: "domain/{email,refusal,secret-seal}.ts",
      smtp: "domain/load-once.ts",
      s3: "domain/load-once.ts",
      tracking: "tracking/texts/* domain/* domain/*/*",
      "tracking/texts": "",
    },
  },
  {
    because: "The database layer must not import features. Entities are passed to it.",
    modules: {
      db: `db/citus/{cluster,distributed,distributed-migration}.ts db/migrations/*
        domain/refusal.ts domain/search-text.ts`,
      "db/citus": "db/*",
      "embedded-postgres": "",
    },
  },
  {
    because: "The domain contains only rules, without I/O, ORM or wire formats.",
    bans: OUTSIDE,
    modules: {
      "domain/pricing": "domain/* domain/{coverage,schedule}/*",
      "domain/schedule": "domain/*",
      "domain/coverage": "domain/*",
      "domain/shipment": "domain/*",
      "domain/webhook": "domain/*",
      domain: "",
    },
  },
  {
    because: "The client runs in other programs. It may import only the definitions.",
    bans: NODE,
    modules: { client: "gen" },
  },
  {
    because: "Modules of the dashboard import each other in one direction, and nothing from the service.",
    bans: NODE,
    all: "gen",
    modules: {
      dashboard: "dashboard/{shell,routes}/*",
      "dashboard/shell": "dashboard/*/*",
      "dashboard/routes": "dashboard/api/*",
      "dashboard/ui": "dashboard/{api,routes}/*",
      "dashboard/api": "",
    },
  },
  {
    because: "Pages may import calls and UI components. Link to other pages by URL.",
    bans: NODE,
    all: "gen dashboard/{api,routes,ui}/*",
    modules: {
      "dashboard/*": "",
      "dashboard/attention": "dashboard/{shipments,workspaces}/*",
      "dashboard/customers": "dashboard/shipments/*",
      "dashboard/couriers": "dashboard/{map,shipments}/*",
      "dashboard/search": "dashboard/{operators,people,shipments,workspaces}/*",
      "dashboard/print": "dashboard/shipments/*",
      "dashboard/shipments": "dashboard/{map,webhooks,workspaces}/*",
      "dashboard/reports": "dashboard/{attention,shipments,workspaces,test-mode}/*",
      "dashboard/workspaces": "dashboard/{keys,audit,people}/*",
      "dashboard/operators": "dashboard/{keys,audit}/*",
      "dashboard/tariffs": "dashboard/map/*",
    },
  },
  {
    because: "The courier's page must stay small. From the service it may import only distances.",
    bans: NODE,
    modules: {
      courier: "courier/{screens,sync}/*",
      "courier/screens": "courier/{inputs,texts,sync,run}/* domain/coverage/geo.ts",
      "courier/inputs": "courier/texts/*",
      "courier/texts": "courier/run/*",
      "courier/sync": "courier/run/* domain/coverage/geo.ts",
      "courier/run": "",
    },
  },
  {
    because: "Browser scripts of the documents must not import the code that builds them.",
    bans: NODE,
    modules: {
      "docs-pages/browser": "docs-pages/search-options.ts dashboard/api/person-key.ts dashboard/ui/copy-text.ts",
    },
  },
  {
    because: "Documents are built from repository files, without the service's code.",
    modules: { "docs-pages/build": "docs-pages/search-options.ts domain/escape-html.ts" },
  },
  { because: "This module has no allowed imports. Add it to oxlint.config.ts.", modules: { "**": "" } },
];

/** Returns the rule that refuses imports from other folders, except the allowed ones. */
function restrict(module: string, { because, bans, all = "", modules }: Layer): OxlintOverride {
  const allowed = `${all} ${modules[module]}`
    .split(/\s+/)
    .filter(Boolean)
    .map((path) => {
      const outside = { gen: "../gen/**", "package.json": "../package.json" }[path];
      const target = posix.relative(module, outside ?? path);
      return target.startsWith(".") ? `!${target}` : `!./${target}`;
    });
  const patterns: object[] = [{ group: ["../**", "./*/**", ...allowed], message: because }];
  if (bans !== undefined) patterns.push({ regex: bans.source, message: because });
  return {
    files: [`src/${module}/*`],
    rules: { "eslint/no-restricted-imports": ["error", { patterns }] },
  } as OxlintOverride;
}

/** Disables the rules in these lists, whose names are separated by spaces. */
function off(...lists: string[]): DummyRuleMap {
  return Object.fromEntries(lists.flatMap((list) => list.split(" ")).map((rule) => [rule, "off"]));
}

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise"],
  options: { typeAware: true },
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "eslint/no-console": "error",
    "eslint/max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
    "eslint/max-params": ["error", { max: 5 }],
    "import/no-cycle": ["error", { ignoreTypes: false }],
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
    // The last matching override applies, so the override for unlisted modules comes first.
    ...LAYERS.toReversed().flatMap((layer) => Object.keys(layer.modules).map((module) => restrict(module, layer))),
    {
      files: ["src/docs-pages/browser/*", "src/{courier,dashboard}/**"],
      rules: { "import/no-unassigned-import": ["error", { allow: ["**/*.css"] }] },
    },
    {
      // Files whose default exports and imports the tools require.
      files: [
        "*.config.ts",
        "src/**/vite.config.ts",
        "src/client/build/*",
        "src/courier/build/*",
        "src/dashboard/{build/*,assets.d.ts}",
      ],
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
