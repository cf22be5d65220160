import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Namespace, Service, ServiceAccount } from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";

/** An object of Kubernetes, as its manifest has it. */
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

const MODELS = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
};

/** Of the Prometheus operator, which has a schema of its own. */
const WITHOUT_MODEL = ["ServiceMonitor"];

/**
 * Checks a manifest by Kubernetes' own schema: of a kind and version that exist, with all that is
 * required and nothing that is unknown.
 *
 * @throws what is wrong with it
 */
export function assertManifestValid(manifest: Manifest): void {
  const { apiVersion, kind } = manifest;
  if (WITHOUT_MODEL.includes(kind)) return;
  const Model = MODELS[kind as keyof typeof MODELS];
  if (Model === undefined) throw new Error(`no model of ${apiVersion} ${kind}`);
  const model = new Model(manifest as never);
  if (model.apiVersion !== apiVersion) throw new Error(`${kind} is not of ${apiVersion}`);
  model.validate();
}

/** The manifests in the YAML files of a folder, without those that are for kustomize. */
export function readManifests(folder: string): Manifest[] {
  const files = readdirSync(folder).filter((name) => name !== "kustomization.yaml");
  return files.flatMap((name) => parseManifests(readFileSync(join(folder, name), "utf8")));
}

/** Whether there is a kubectl here that has a kustomize which knows components. */
export const hasKustomize = (() => {
  const version = ["version", "--client", "--output", "json"];
  const { status, stdout } = spawnSync("kubectl", version, { encoding: "utf8" });
  return status === 0 && /"kustomizeVersion": "v[5-9]\./.test(stdout);
})();

/** What kustomize makes of a folder. */
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
