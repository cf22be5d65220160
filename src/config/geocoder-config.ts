import { z } from "zod";
import { baseLike, ConfigError, oneOf, SECRET } from "./variables.ts";

export const GEOCODER_VARIABLES = {
  GEOCODER: oneOf(["photon", "nominatim", "pelias"]).optional(),
  GEOCODER_URL: baseLike("https://photon.example.org")
    // Secret, because the URL's path can contain a key.
    .meta(SECRET),
  GEOCODER_KEY: z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]{0,998}$/, "must be at most 999 visible characters")
    .optional()
    .meta(SECRET),
  GEOCODER_KEY_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,100}$/, "must be the name of a header such as Authorization")
    .refine((name) => !/^(host|user-agent|accept|connection|content-.*)$/i.test(name), {
      error: "must be a header that carries a key, such as Authorization",
    })
    .optional(),
  GEOCODER_ATTRIBUTION: z.string().trim().max(200, "must be at most 200 characters").optional(),
};
type Variables = z.output<z.ZodObject<typeof GEOCODER_VARIABLES>>;

/** @throws ConfigError if the geocoder settings are incomplete, or the geocoder does not support them */
export function readGeocoder(variables: Variables) {
  const { GEOCODER: kind, GEOCODER_URL: url, GEOCODER_KEY: key } = variables;
  if (kind === undefined) {
    const set = Object.keys(GEOCODER_VARIABLES).find((name) => variables[name as keyof Variables]);
    if (set === undefined) return undefined;
    throw new ConfigError(`GEOCODER: must be photon, nominatim or pelias if ${set} is set`);
  }
  if (url === undefined) {
    throw new ConfigError("GEOCODER_URL: must be set to the geocoder's URL if GEOCODER is set");
  }
  if (kind !== "pelias" && key !== undefined) {
    throw new ConfigError(`GEOCODER_KEY: must not be set for ${kind}, which takes no key`);
  }
  if (key === undefined && variables.GEOCODER_KEY_HEADER !== undefined) {
    throw new ConfigError("GEOCODER_KEY: must be set if GEOCODER_KEY_HEADER is set");
  }
  const header = variables.GEOCODER_KEY_HEADER ?? "Authorization";
  const attribution = variables.GEOCODER_ATTRIBUTION;
  return { kind, url, key: key === undefined ? undefined : { header, value: key }, attribution };
}
