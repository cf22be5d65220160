import type { Answer } from "./client.ts";
import type { Endpoints } from "./endpoints.ts";

/** Calls an operator's draft methods over JSON. */
export interface Drafts {
  /** Calls a path below `/admin/v1`. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates and returns a draft with a document's fees and zones. */
  begin(document: Readonly<Record<string, any>>, name?: string): Promise<any>;
  /** Uploads zones, or one chunk of them, unchanged. */
  upload(draft: number, zones: unknown, query?: string): Promise<Answer>;
  /** Publishes a draft in place of the version `replaces`. */
  publish(draft: number, replaces: number, more?: object): Promise<Answer>;
}

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
    publish: (draft, replaces, more = {}) => call("POST", `tariff_drafts/${draft}/publish`, { replaces, ...more }),
  };
}
