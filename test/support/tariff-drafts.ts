import type { Answer } from "./client.ts";
import type { Endpoints } from "./endpoints.ts";

/** Drafts of a service for an operator over JSON. */
export interface Drafts {
  /** Calls a path below `/admin/v1`. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates a draft with the fees and zones of a document, and returns it. */
  begin(document: Readonly<Record<string, any>>, name?: string): Promise<any>;
  /** Uploads zones, or a chunk of them, unchanged. */
  upload(draft: number, zones: unknown, query?: string): Promise<Answer>;
  /** Publishes a draft, replacing a version. */
  publish(draft: number, replaces: number, more?: object): Promise<Answer>;
}

/** Returns the drafts of a service with an operator's key. */
export function draftsOf(service: Endpoints, apiKey: string): Drafts {
  const call = (method: string, path: string, body?: unknown) =>
    service.request(`/admin/v1/${path}`, { apiKey, method, body });
  const upload = (draft: number, zones: unknown, query = "") =>
    service.request(`/admin/v1/tariff_drafts/${draft}/zones${query}`, {
      apiKey,
      method: "PUT",
      body: zones,
      headers: { "content-type": "application/geo+json" },
    });
  return {
    call,
    upload,
    async begin(document, name = "Spring") {
      const { zones, ...fees } = document;
      const { body } = await call("POST", "tariff_drafts", { name, fees });
      return (await upload(body.data.id, JSON.stringify(zones))).body.data;
    },
    publish: (draft, replaces, more = {}) =>
      call("POST", `tariff_drafts/${draft}/publish`, { replaces, ...more }),
  };
}
