import { closeSync, openSync, readSync } from "node:fs";
import { z } from "zod";
import type { MapTiles } from "../domain/map-tiles.ts";
import { ConfigError, SECRET } from "./variables.ts";

export const MAP_VARIABLES = {
  MAP_TILES_URL: z
    .string()
    .refine(isTilesUrl, {
      error: "must be a URL such as https://tiles.example.org/{z}/{x}/{y}.png",
    })
    .optional()
    // Secret, because the URL's path can contain a key.
    .meta(SECRET),
  MAP_TILES_FILE: z
    .string()
    .refine(holdsImages, {
      error: "must be a readable PMTiles file, version 3, with PNG, JPEG, WebP or AVIF images",
    })
    .optional(),
  MAP_TILES_ATTRIBUTION: z.string().trim().max(200, { error: "must have at most 200 characters" }).optional(),
};
type Variables = z.output<z.ZodObject<typeof MAP_VARIABLES>>;

/** @throws ConfigError if two image sources are configured, or the settings of a source are incomplete */
export function readMapTiles(read: Variables): MapTiles | undefined {
  const { MAP_TILES_URL: url, MAP_TILES_FILE: file, MAP_TILES_ATTRIBUTION: attribution } = read;
  if (url !== undefined && file !== undefined) {
    throw new ConfigError("MAP_TILES_URL and MAP_TILES_FILE are both set: set one of them");
  }
  if (url === undefined && file === undefined) {
    if (attribution === undefined) return undefined;
    throw new ConfigError(
      "MAP_TILES_URL: must be set because MAP_TILES_ATTRIBUTION is set; alternatively, set MAP_TILES_FILE",
    );
  }
  if (attribution === undefined) {
    throw new ConfigError("MAP_TILES_ATTRIBUTION: must name the source of the map tiles, as their license requires");
  }
  return url === undefined ? { file: file!, attribution } : { url, attribution };
}

/**
 * Whether a template is a URL that contains each placeholder once, after a host that a content security
 * policy can name.
 */
function isTilesUrl(template: string): boolean {
  const placeholders = template.match(/\{[^}]*\}/g) ?? [];
  if (placeholders.toSorted().join() !== "{x},{y},{z}") return false;
  const [text, other] = ["0", "1"].map((number) => template.replaceAll(/\{[xyz]\}/g, number));
  if (/[{}\s]/.test(text!) || !URL.canParse(text!) || !URL.canParse(other!)) return false;
  const { origin, username, password, hash } = new URL(text!);
  return (
    /^https?:\/\/[\w.:[\]-]+$/.test(origin) && new URL(other!).origin === origin && username + password + hash === ""
  );
}

/** PMTiles version 3 codes of image tiles: PNG, JPEG, WebP, AVIF. */
const IMAGE_TYPES: readonly number[] = [2, 3, 4, 5];

/** Whether a file is PMTiles version 3 with image tiles. */
function holdsImages(path: string): boolean {
  const header = Buffer.alloc(127);
  try {
    const file = openSync(path, "r");
    try {
      if (readSync(file, header) < header.length) return false;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  return header.toString("latin1", 0, 8) === "PMTiles\x03" && IMAGE_TYPES.includes(header[99]!);
}
