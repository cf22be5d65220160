import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { parse } from "yaml";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { END_MS } from "../../src/commands/serve.ts";
import { documentedVariables } from "../support/documented-variables.ts";
import {
  assertManifestValid,
  buildManifests,
  findUnknownFields,
  hasKustomize,
  readManifests,
  type Manifest,
} from "../support/manifests.ts";
import { startUnprepared } from "../support/service.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const FOLDER = "src/deploy/kubernetes";
const base = readManifests(`${FOLDER}/base`);
const component = ["gateway", "ingress", "service-monitor"].flatMap((name) =>
  readManifests(`${FOLDER}/components/${name}`),
);
const kustomization = parse(readFileSync(`${FOLDER}/base/kustomization.yaml`, "utf8"));
const PRODUCTION = "overlays/production";
const production = parse(readFileSync(`${FOLDER}/${PRODUCTION}/kustomization.yaml`, "utf8"));

/** File from which the overlay generates its secret. */
const secrets = readFileSync(`${FOLDER}/${PRODUCTION}/secrets.env`, "utf8");

/** Number of connections that PostgreSQL reserves for superusers by default. */
const RESERVED_CONNECTIONS = 3;

const find = (kind: string): Manifest => base.find((it) => it.kind === kind)!;
const deployment = find("Deployment").spec;
const pod = deployment.template.spec;
const [server] = pod.containers;

/** Returns the literal variables of a kustomization. */
function literalsOf({ configMapGenerator }: any): Record<string, string> {
  const literals: string[] = configMapGenerator[0].literals;
  return Object.fromEntries(literals.map((literal) => /^([^=]*)=(.*)$/.exec(literal)!.slice(1, 3)));
}

/** Builds the production overlay with all commented options enabled. */
function buildWithOptions(): Manifest[] {
  const folder = makeTemporaryFolder("overlay");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(FOLDER, folder, { recursive: true });
  const path = `${folder}/${PRODUCTION}`;
  const text = readFileSync(`${path}/kustomization.yaml`, "utf8");
  const offered = text.replace(/^# ?((components:| +- | +files:).*)$/gm, "$1");
  writeFileSync(`${path}/kustomization.yaml`, offered);
  writeFileSync(`${path}/ca.crt`, "a certificate");
  return buildManifests(path);
}

test.each([...base, ...component])("the manifest of the $kind $metadata.name is valid", (it) => {
  assertManifestValid(it);
});

test("no manifest has an unknown Kubernetes field", () => {
  expect(findUnknownFields([...base, ...component])).toEqual([]);
});

test("detects an unknown Kubernetes field", () => {
  const misspelt = { ...pod, enableServiceLink: false };
  const template = { ...deployment.template, spec: misspelt };
  const manifest = { ...find("Deployment"), spec: { ...deployment, template } };
  const unknown = `'"enableServiceLink"' does not exist in type 'IPodSpec'`;
  expect(findUnknownFields([manifest])).toEqual([expect.stringContaining(unknown)]);
});

test.runIf(hasKustomize).each(["base", PRODUCTION])(
  "kustomize builds valid manifests from %s, whose selectors match",
  (folder) => {
    const built = buildManifests(`${FOLDER}/${folder}`);
    for (const it of built) assertManifestValid(it);
    expect(findUnknownFields(built)).toEqual([]);
    const { spec } = built.find(({ kind }) => kind === "Deployment")!;
    const { labels } = spec.template.metadata;
    for (const { spec: service } of built.filter(({ kind }) => kind === "Service")) {
      expect(labels).toMatchObject(service.selector);
    }
    for (const kind of ["NetworkPolicy", "PodDisruptionBudget"]) {
      const { podSelector, selector } = built.find((it) => it.kind === kind)!.spec;
      expect(labels).toMatchObject((podSelector ?? selector).matchLabels);
    }
    const [configMap] = built.filter(({ kind }) => kind === "ConfigMap");
    // The base does not create the secret.
    const secret = built.find(({ kind }) => kind === "Secret")?.metadata.name;
    expect(secret === undefined).toBe(folder === "base");
    for (const container of [...spec.template.spec.initContainers, ...spec.template.spec.containers])
      expect(container.envFrom).toEqual([
        { configMapRef: { name: configMap!.metadata.name } },
        { secretRef: { name: secret ?? "shipment-booking" } },
      ]);
  },
);

test.runIf(hasKustomize)("kustomize keeps the allowed egress peers as written", () => {
  const { egress } = find("NetworkPolicy").spec;
  const builtEgress = (folder: string) =>
    buildManifests(`${FOLDER}/${folder}`).find(({ kind }) => kind === "NetworkPolicy")!.spec.egress;
  expect(builtEgress("base")).toEqual(egress);
  const added = parse(readFileSync(`${FOLDER}/${PRODUCTION}/database-elsewhere.yaml`, "utf8")) as { value: object }[];
  expect(builtEgress(PRODUCTION)).toEqual([...egress, ...added.map(({ value }) => value)]);
});

test.runIf(hasKustomize)("the production overlay requires no custom resource of an operator", () => {
  const built = buildManifests(`${FOLDER}/${PRODUCTION}`);
  expect(built.filter(({ apiVersion }) => apiVersion.startsWith("monitoring."))).toEqual([]);
});

test.runIf(hasKustomize)("the overlay's optional monitor selects the service", () => {
  const built = buildWithOptions();
  const monitor = built.find(({ kind }) => kind === "ServiceMonitor")!.spec;
  const { matchLabels } = monitor.selector;
  const watched = built.filter(
    ({ kind, metadata }) =>
      kind === "Service" && Object.entries(matchLabels).every(([name, value]) => metadata.labels?.[name] === value),
  );
  expect(watched.map(({ metadata }) => metadata.name)).toEqual(["shipment-booking-operations"]);
  expect(watched[0]!.spec.ports[0].name).toBe(monitor.endpoints[0].port);
});

test.runIf(hasKustomize)("routes direct the browsers' host to HTTP and another host to gRPC", () => {
  const built = buildWithOptions();
  const of = (kind: string) => built.filter((it) => it.kind === kind).map(({ spec }) => spec);
  /** Resolves a service's port, which may be given by name. */
  const portOf = ({ name, port }: { name: string; port: string | number }) =>
    built
      .find((it) => it.kind === "Service" && it.metadata.name === name)!
      .spec.ports.find((it: any) => it.name === port || it.port === port).port;
  const browsers = new URL(literalsOf(production).PUBLIC_URL!).hostname;
  const expected = [
    [browsers, "shipment-booking", 80],
    [`grpc.${browsers}`, "shipment-booking-grpc", 9090],
  ];

  const ingresses = of("Ingress");
  const backends = ingresses.map(({ rules: [{ host, http }], tls }) => {
    const { name, port } = http.paths[0].backend.service;
    expect(tls[0].hosts).toEqual([host]);
    return [host, name, portOf({ name, port: port.name })];
  });
  expect(backends).toEqual(expected);

  const [gateway] = of("Gateway");
  const routed = [...of("HTTPRoute"), ...of("GRPCRoute")].map(({ parentRefs, hostnames, rules }) => {
    const listener = gateway.listeners.find((it: any) => it.name === parentRefs[0].sectionName);
    expect([listener.hostname, listener.protocol]).toEqual([hostnames[0], "HTTPS"]);
    const [backend] = rules[0].backendRefs;
    return [hostnames[0], backend.name, portOf(backend)];
  });
  expect(routed).toEqual(expected);
});

test.runIf(hasKustomize)("mounts the database's CA certificate at the path in DATABASE_URL", () => {
  const { spec } = buildWithOptions().find(({ kind }) => kind === "Deployment")!.spec.template;
  const { secret } = spec.volumes.find(({ name }: { name: string }) => name === "database-ca");
  expect(secret).toEqual({
    optional: true,
    secretName: expect.stringMatching(/^shipment-booking-database-ca-./),
  });
  const [, file] = /sslrootcert=(\S+)/.exec(secrets)!;
  for (const { volumeMounts } of [...spec.initContainers, ...spec.containers]) {
    expect(volumeMounts).toContainEqual({
      name: "database-ca",
      mountPath: file!.replace(/\/ca\.crt$/, ""),
      readOnly: true,
    });
  }
});

test("the Prometheus operator gets all alerts", () => {
  const { spec } = component.find(({ kind }) => kind === "PrometheusRule")!;
  expect(spec).toEqual(parse(readFileSync("src/deploy/monitoring/alerts.yaml", "utf8")));
});

test("the guide never pipes into kubectl", () => {
  expect(readFileSync("src/docs/deployment.md", "utf8")).not.toMatch(/\| *kubectl/);
});

test("the service reads every variable that the manifests set", () => {
  const secretValues = parseEnv(secrets) as Record<string, string>;
  const set = { ...literalsOf(kustomization), ...literalsOf(production), ...secretValues };
  expect(documentedVariables()).toEqual(expect.arrayContaining(Object.keys(set)));
  expect(() => readConfig(set)).not.toThrow();
});

test("the ports match the configuration and the service's defaults", () => {
  const { PORT, GRPC_PORT, OPERATIONS_PORT } = literalsOf(kustomization);
  expect(server.ports).toEqual([
    { name: "http", containerPort: Number(PORT) },
    { name: "grpc", containerPort: Number(GRPC_PORT) },
    { name: "operations", containerPort: Number(OPERATIONS_PORT) },
  ]);
  expect(readConfig({})).toMatchObject({ port: Number(PORT), grpcPort: Number(GRPC_PORT) });
  const targets = [...base, ...component].flatMap(({ kind, spec }) =>
    kind === "Service" ? spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort) : [],
  );
  expect(targets).toEqual(["http", "grpc", "operations"]);
});

test("the service responds at the probes' paths, and is live before it is ready", async () => {
  const service = await startUnprepared();
  onTestFinished(() => service.app.close());
  const statusOf = async ({ httpGet }: { httpGet: { path: string } }) => (await service.request(httpGet.path)).status;
  expect(await statusOf(server.startupProbe)).toBe(200);
  expect(await statusOf(server.livenessProbe)).toBe(200);
  expect(await statusOf(server.readinessProbe)).toBe(503);
});

/** Returns the maximum time from SIGTERM to the exit of a replica, in seconds. */
function endSeconds(): number {
  const { shutdownDelaySeconds } = readConfig(literalsOf(kustomization));
  expect(shutdownDelaySeconds).toBe(5);
  return shutdownDelaySeconds + END_MS / 1000;
}

test("a replica has enough time to leave the load balancers and stop", () => {
  const seconds = endSeconds();
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds);
});

test("a rollout stops one replica at a time, after the previous one has stopped", () => {
  const { maxSurge, maxUnavailable } = deployment.strategy.rollingUpdate;
  expect({ maxSurge, maxUnavailable }).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  const seconds = endSeconds();
  expect(deployment.minReadySeconds).toBeGreaterThan(seconds);
});

test.each([
  { name: "base", maxConnections: 100 },
  { name: PRODUCTION, maxConnections: 300 },
])(
  "the replicas of $name plus a starting and a stopping one fit into $maxConnections connections",
  async ({ name, maxConnections }) => {
    const { app } = await startUnprepared();
    onTestFinished(() => app.close());
    const file = `${FOLDER}/${name}/horizontal-pod-autoscaler.yaml`;
    const { maxReplicas } = parse(readFileSync(file, "utf8")).spec;
    expect((maxReplicas + 2) * app.maxDatabaseConnections).toBeLessThanOrEqual(maxConnections - RESERVED_CONNECTIONS);
  },
);

describe("a pod", () => {
  test("follows the restricted profile with a read-only file system", () => {
    expect(pod.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      seccompProfile: { type: "RuntimeDefault" },
    });
    for (const { securityContext } of [...pod.initContainers, ...pod.containers]) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  test("gets no Kubernetes API token and no variables of other services", () => {
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(find("ServiceAccount")).toMatchObject({ automountServiceAccountToken: false });
  });

  test("migrates before it serves", () => {
    expect(pod.initContainers.map(({ args }: { args: string[] }) => args)).toEqual([["migrate"]]);
    expect(server.args).toEqual(["serve"]);
  });

  test("allows access to its metrics only from the monitoring namespace", () => {
    const { ingress } = find("NetworkPolicy").spec;
    const monitoring = { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } };
    expect(ingress).toEqual([
      { ports: [{ port: "http" }, { port: "grpc" }] },
      { from: [{ namespaceSelector: monitoring }], ports: [{ port: "operations" }] },
    ]);
  });
});
