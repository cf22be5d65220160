import { posix } from "node:path";
import { defineConfig, type DummyRuleMap, type OxlintOverride } from "oxlint";

/** Folders of `src` with one reason for what their files may import besides each other. */
interface Floor {
  /** For whoever is refused. */
  readonly because: string;
  /** Packages that none of them may import, as a regular expression. */
  readonly bans?: RegExp;
  /** What all of them may import. */
  readonly all?: string;
  /**
   * What each of them may import besides: globs of files below `src`, parted by spaces; or `gen` and
   * `package.json` of the repository.
   */
  readonly rooms: Readonly<Record<string, string>>;
}

const DATABASE = /^(pg|@mikro-orm)/;
const NODE = /^node:/;
const OUTSIDE = /^(pg|@mikro-orm|@connectrpc|@bufbuild|node:(fs|net|http|http2|child_process))/;

/** Every room, from the top to the bottom. */
const FLOORS: readonly Floor[] = [
  {
    because: "The document is made before there is generated code: of that, import types.",
    rooms: {
      openapi: `gen package.json json/decode-scalar.ts pipeline/{call,common-reasons,file-field}.ts
        pipeline/credentials/{read-key,session-cookie}.ts
        domain/{limits,refusal,refusal-reasons}.ts`,
    },
  },
  {
    because: "The server wires everything below it; only commands and the demo stand above it.",
    rooms: {
      commands: `gen package.json config/* demo/* server/* features/** json/* db/* db/citus/distribute.ts
        embedded-postgres/* telemetry/tracing.ts domain/* domain/schedule/schedule.ts pipeline/{call,local-call}.ts
        pipeline/request/validate-request.ts`,
      demo: "gen config/* server/* features/** db/orm.ts pipeline/local-call.ts",
      server: `gen package.json config/* transport/*/* features/** pipeline/* pipeline/*/* json/*
        tracking/* oidc/* smtp/* s3/* telemetry/* db/* domain/*`,
    },
  },
  {
    because: "Settings are read once, and know the forms of what they hold.",
    rooms: { config: "db/database-url.ts pipeline/client-address.ts domain/*" },
  },
  {
    because: "Tracing sees calls through the pipeline's interface, and of the database its address.",
    bans: DATABASE,
    rooms: {
      telemetry: "pipeline/{call,call-headers,client-address,tracer}.ts db/database-url.ts domain/*",
    },
  },
  {
    because: "A transport knows the pipeline and descriptors, never a feature.",
    bans: DATABASE,
    all: "gen pipeline/* pipeline/*/* domain/*",
    rooms: {
      "transport/http": "transport/{connect,connections}/* json/*",
      "transport/mcp": `transport/http/* transport/connect/request-target.ts json/*
        docs-pages/search-options.ts docs-pages/build/links.ts`,
      "transport/grpc": "transport/{connect,connections}/*",
      "transport/connect": "transport/connections/* json/decode-scalar.ts",
    },
  },
  {
    because: "Connections are bounded without knowing what is said on them.",
    bans: DATABASE,
    rooms: { "transport/connections": "pipeline/bounds/limits.ts" },
  },
  {
    because: "Features import each other one way only, and of the pipeline only what calls and RPCs are.",
    all: `gen pipeline/{call,page,rpc,rpc-response}.ts json/records.ts db/* domain/*
      domain/*/* features/workspaces/workspace.entity.ts`,
    rooms: {
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
      "features/people": "features/{idempotency,audit,mails,workspaces}/* features/events/waiter.ts",
      "features/api-keys": "features/{credentials,idempotency,audit,workspaces}/*",
      "features/idempotency": "features/{audit,workspaces}/*",
    },
  },
  {
    because: "The pipeline knows the domain and descriptors, and its folders import downwards.",
    bans: DATABASE,
    all: "gen domain/* pipeline/* json/records.ts",
    rooms: {
      "pipeline/stages": "pipeline/{bounds,credentials,refusals,request}/* domain/webhook/webhook-schedule.ts",
      "pipeline/credentials": "pipeline/bounds/*",
      "pipeline/refusals": "pipeline/bounds/*",
      "pipeline/request": "domain/pricing/money.ts domain/shipment/shipment-reference.ts",
      "pipeline/bounds": "",
      pipeline: "",
    },
  },
  {
    because: "JSON and the clients of identity providers and mail servers know nothing else of ours.",
    bans: DATABASE,
    rooms: {
      json: "gen domain/*",
      oidc: "domain/{email,refusal,secret-seal}.ts",
      smtp: "domain/load-once.ts",
      s3: "domain/load-once.ts",
      tracking: "tracking/texts/* domain/* domain/*/*",
      "tracking/texts": "",
    },
  },
  {
    because: "The database knows no feature: entities are passed to it.",
    rooms: {
      db: `db/citus/{cluster,distributed,distributed-migration}.ts db/migrations/*
        domain/refusal.ts domain/search-text.ts`,
      "db/citus": "db/*",
      "embedded-postgres": "",
    },
  },
  {
    because: "The domain is pure rules: no I/O, ORM or wire formats.",
    bans: OUTSIDE,
    rooms: {
      "domain/pricing": "domain/* domain/{coverage,schedule}/*",
      "domain/schedule": "domain/*",
      "domain/coverage": "domain/*",
      "domain/shipment": "domain/*",
      "domain/webhook": "domain/*",
      domain: "",
    },
  },
  {
    because: "Programs of others run the client: it knows definitions, and nothing of the service.",
    bans: NODE,
    rooms: { client: "gen" },
  },
  {
    because: "Parts of the dashboard import each other one way only, and nothing of the service.",
    bans: NODE,
    all: "gen",
    rooms: {
      dashboard: "dashboard/{shell,routes}/*",
      "dashboard/shell": "dashboard/*/*",
      "dashboard/routes": "dashboard/api/*",
      "dashboard/ui": "dashboard/{api,routes}/*",
      "dashboard/api": "",
    },
  },
  {
    because: "Pages know calls and the kit, and most others by address alone.",
    bans: NODE,
    all: "gen dashboard/{api,routes,ui}/*",
    rooms: {
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
    because: "The courier's page is small, and knows nothing of the service or the dashboard, except distances.",
    bans: NODE,
    rooms: {
      courier: "courier/{screens,sync}/*",
      "courier/screens": "courier/{inputs,texts,sync,run}/* domain/coverage/geo.ts",
      "courier/inputs": "courier/texts/*",
      "courier/texts": "courier/run/*",
      "courier/sync": "courier/run/* domain/coverage/geo.ts",
      "courier/run": "",
    },
  },
  {
    because: "What documents do in browsers knows nothing of how they are built.",
    bans: NODE,
    rooms: {
      "docs-pages/browser": "docs-pages/search-options.ts dashboard/api/person-key.ts dashboard/ui/copy-text.ts",
    },
  },
  {
    because: "Documents are made of files of the repository, without the service's code.",
    rooms: { "docs-pages/build": "docs-pages/search-options.ts domain/escape-html.ts" },
  },
  { because: "A room that oxlint.config.ts does not list imports nothing.", rooms: { "**": "" } },
];

/** Refuses the imports from another folder that a room may not have. */
function restrict(room: string, { because, bans, all = "", rooms }: Floor): OxlintOverride {
  const allowed = `${all} ${rooms[room]}`
    .split(/\s+/)
    .filter(Boolean)
    .map((path) => {
      const outside = { gen: "../gen/**", "package.json": "../package.json" }[path];
      const target = posix.relative(room, outside ?? path);
      return target.startsWith(".") ? `!${target}` : `!./${target}`;
    });
  const patterns: object[] = [{ group: ["../**", "./*/**", ...allowed], message: because }];
  if (bans !== undefined) patterns.push({ regex: bans.source, message: because });
  return {
    files: [`src/${room}/*`],
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
    // The last that matches a file holds, so that what is listed comes after what is not.
    ...FLOORS.toReversed().flatMap((floor) => Object.keys(floor.rooms).map((room) => restrict(room, floor))),
    {
      files: ["src/docs-pages/browser/*", "src/{courier,dashboard}/**"],
      rules: { "import/no-unassigned-import": ["error", { allow: ["**/*.css"] }] },
    },
    {
      // What the tools ask for.
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
