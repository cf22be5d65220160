import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Ingress, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Namespace, Service, ServiceAccount } from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";
import { makeTemporaryFolder } from "./temporary-folder.ts";

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests assert its shape themselves
  readonly [field: string]: any;
}

/** Kubernetes models and the modules that export them. */
const MODELS = {
  ConfigMap: [ConfigMap, "v1"],
  Deployment: [Deployment, "apps/v1"],
  HorizontalPodAutoscaler: [HorizontalPodAutoscaler, "autoscaling/v2"],
  Ingress: [Ingress, "networking.k8s.io/v1"],
  Namespace: [Namespace, "v1"],
  NetworkPolicy: [NetworkPolicy, "networking.k8s.io/v1"],
  PodDisruptionBudget: [PodDisruptionBudget, "policy/v1"],
  Service: [Service, "v1"],
  ServiceAccount: [ServiceAccount, "v1"],
} as const;

/**
 * Kinds that are not validated: those of the Prometheus operator and the Gateway API, which have their own schemas,
 * and secrets, whose values kustomize wraps in a way that Kubernetes accepts but its schema does not.
 */
const WITHOUT_MODEL = ["PrometheusRule", "ServiceMonitor", "Gateway", "HTTPRoute", "GRPCRoute", "Secret"];

/**
 * Validates a manifest with Kubernetes' schema, including its kind and version.
 *
 * @throws Error with the violations
 */
export function assertManifestValid(manifest: Manifest): void {
  if (WITHOUT_MODEL.includes(manifest.kind)) return;
  const [Model] = modelOf(manifest);
  new Model(manifest as never).validate();
}

function modelOf({ apiVersion, kind }: Manifest) {
  const found = MODELS[kind as keyof typeof MODELS];
  if (found?.[1] !== apiVersion) throw new Error(`no model of ${apiVersion} ${kind}`);
  return found;
}

/**
 * Returns the fields that Kubernetes does not know. The TypeScript compiler reports them for object
 * literals, while the schemas allow unknown fields.
 */
export function findUnknownFields(manifests: readonly Manifest[]): string[] {
  const folder = makeTemporaryFolder("manifests");
  try {
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const known = manifests.filter(({ kind }) => !WITHOUT_MODEL.includes(kind));
    const lines = known.map((manifest, index) => {
      const [, module] = modelOf(manifest);
      const type = `import("kubernetes-models/${module}").I${manifest.kind}`;
      return `export const it${index}: ${type} = ${JSON.stringify(manifest)};`;
    });
    writeFileSync(join(folder, "manifests.ts"), lines.join("\n"));
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
    const compiler = resolve("node_modules/.bin/tsc");
    const { stdout } = spawnSync(compiler, [...options, "manifests.ts"], {
      cwd: folder,
      encoding: "utf8",
    });
    return stdout.split("\n").filter((line) => line !== "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the manifests in a folder's YAML files, without files for kustomize. */
export function readManifests(folder: string): Manifest[] {
  const files = readdirSync(folder).filter((name) => name !== "kustomization.yaml");
  return files.flatMap((name) => parseManifests(readFileSync(join(folder, name), "utf8")));
}

/** Whether kubectl is installed with a kustomize that supports components. */
export const hasKustomize = (() => {
  const version = ["version", "--client", "--output", "json"];
  const { status, stdout } = spawnSync("kubectl", version, { encoding: "utf8" });
  return status === 0 && /"kustomizeVersion": "v[5-9]\./.test(stdout);
})();

/** Runs kustomize on a folder and returns the manifests. */
export function buildManifests(folder: string): Manifest[] {
  const options = { encoding: "utf8", maxBuffer: 2 ** 24 } as const;
  const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", folder], options);
  if (status !== 0) throw new Error(stderr);
  return parseManifests(stdout);
}

function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if ("errors" in document && document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}
