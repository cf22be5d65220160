import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { END_MS } from "../../src/server/serve.ts";
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

const FOLDER = "src/deploy/kubernetes";
const base = readManifests(`${FOLDER}/base`);
const component = readManifests(`${FOLDER}/components/service-monitor`);
const kustomization = parse(readFileSync(`${FOLDER}/base/kustomization.yaml`, "utf8"));
const production = parse(readFileSync(`${FOLDER}/overlays/production/kustomization.yaml`, "utf8"));

/** How many connections PostgreSQL has for others than superusers unless it is configured. */
const DATABASE_CONNECTIONS = 97;

const find = (kind: string): Manifest => base.find((it) => it.kind === kind)!;
const deployment = find("Deployment").spec;
const pod = deployment.template.spec;
const [server] = pod.containers;

/** The variables that a kustomization sets by literals. */
function literalsOf({ configMapGenerator }: any): Record<string, string> {
  const literals: string[] = configMapGenerator[0].literals;
  return Object.fromEntries(literals.map((literal) => /^([^=]*)=(.*)$/.exec(literal)!.slice(1, 3)));
}

test.each([...base, ...component])("the manifest of the $kind $metadata.name is valid", (it) => {
  assertManifestValid(it);
});

test("no manifest has a field that Kubernetes does not know", () => {
  expect(findUnknownFields([...base, ...component])).toEqual([]);
});

test("a field that Kubernetes does not know is found", () => {
  const misspelt = { ...pod, enableServiceLink: false };
  const template = { ...deployment.template, spec: misspelt };
  const manifest = { ...find("Deployment"), spec: { ...deployment, template } };
  const unknown = `'"enableServiceLink"' does not exist in type 'IPodSpec'`;
  expect(findUnknownFields([manifest])).toEqual([expect.stringContaining(unknown)]);
});

test.runIf(hasKustomize).each(["base", "overlays/production"])(
  "kustomize makes valid manifests of %s, whose parts find each other",
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
    for (const container of [
      ...spec.template.spec.initContainers,
      ...spec.template.spec.containers,
    ])
      expect(container.envFrom).toEqual([
        { configMapRef: { name: configMap!.metadata.name } },
        { secretRef: { name: "shipment-booking" } },
      ]);
  },
);

test.runIf(hasKustomize)("the overlay for production is watched by its monitor", () => {
  const built = buildManifests(`${FOLDER}/overlays/production`);
  const monitor = built.find(({ kind }) => kind === "ServiceMonitor")!.spec;
  const { matchLabels } = monitor.selector;
  const watched = built.filter(
    ({ kind, metadata }) =>
      kind === "Service" &&
      Object.entries(matchLabels).every(([name, value]) => metadata.labels?.[name] === value),
  );
  expect(watched.map(({ metadata }) => metadata.name)).toEqual(["shipment-booking-operations"]);
  expect(watched[0]!.spec.ports[0].name).toBe(monitor.endpoints[0].port);
});

test("every variable that is set is one that the service reads", () => {
  const set = [...Object.keys(literalsOf(kustomization)), ...Object.keys(literalsOf(production))];
  expect(documentedVariables()).toEqual(expect.arrayContaining(set));
  expect(() =>
    readConfig({ ...literalsOf(kustomization), ...literalsOf(production) }),
  ).not.toThrow();
});

test("the ports are those of the configuration, and are the service's own defaults", () => {
  const { PORT, GRPC_PORT, OPERATIONS_PORT } = literalsOf(kustomization);
  expect(server.ports).toEqual([
    { name: "http", containerPort: Number(PORT) },
    { name: "grpc", containerPort: Number(GRPC_PORT) },
    { name: "operations", containerPort: Number(OPERATIONS_PORT) },
  ]);
  expect(readConfig({})).toMatchObject({ port: Number(PORT), grpcPort: Number(GRPC_PORT) });
  const targets = [...base, ...component].flatMap(({ kind, spec }) =>
    kind === "Service"
      ? spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort)
      : [],
  );
  expect(targets).toEqual(["http", "grpc", "operations"]);
});

test("the service answers at the paths of the probes, alive before it is ready", async () => {
  const service = await startUnprepared();
  onTestFinished(() => service.app.close());
  const statusOf = async ({ httpGet }: { httpGet: { path: string } }) =>
    (await service.request(httpGet.path)).status;
  expect(await statusOf(server.startupProbe)).toBe(200);
  expect(await statusOf(server.livenessProbe)).toBe(200);
  expect(await statusOf(server.readinessProbe)).toBe(503);
});

test("a replica has the time to leave the load balancers and to end by itself", () => {
  const seconds = server.lifecycle.preStop.sleep.seconds + END_MS / 1000;
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds);
});

test("the replicas and one more of a rollout fit into a PostgreSQL of the default settings", async () => {
  const { app } = await startUnprepared();
  onTestFinished(() => app.close());
  const { maxSurge, maxUnavailable } = deployment.strategy.rollingUpdate;
  expect({ maxSurge, maxUnavailable }).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  const replicas = find("HorizontalPodAutoscaler").spec.maxReplicas + maxSurge;
  expect(replicas * app.maxDatabaseConnections).toBeLessThanOrEqual(DATABASE_CONNECTIONS);
});

describe("a pod", () => {
  test("keeps the rules of the restricted profile, on a file system that cannot be written to", () => {
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

  test("gets no token for Kubernetes' API and no variables of other services", () => {
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(find("ServiceAccount")).toMatchObject({ automountServiceAccountToken: false });
  });

  test("migrates before it serves, by commands that there are", () => {
    expect(pod.initContainers.map(({ args }: { args: string[] }) => args)).toEqual([["migrate"]]);
    expect(server.args).toEqual(["serve"]);
  });

  test("shows its metrics to the namespace that watches alone", () => {
    const { ingress } = find("NetworkPolicy").spec;
    const monitoring = { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } };
    expect(ingress).toEqual([
      { ports: [{ port: "http" }, { port: "grpc" }] },
      { from: [{ namespaceSelector: monitoring }], ports: [{ port: "operations" }] },
    ]);
  });
});
