import { z } from "zod";
import { baseLike, requireSet, SECRET } from "./variables.ts";

const key = z.string().regex(/^[\x21-\x7e]{1,500}$/, "must be at most 500 visible characters");

export const PICTURES_VARIABLES = {
  PICTURES_S3_URL: baseLike("https://pictures.s3.eu-central-1.amazonaws.com"),
  PICTURES_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,50}$/, "must be the name of a region such as eu-central-1")
    .optional(),
  PICTURES_S3_ACCESS_KEY_ID: key.optional(),
  PICTURES_S3_SECRET_ACCESS_KEY: key.optional().meta(SECRET),
};
type Variables = z.output<z.ZodObject<typeof PICTURES_VARIABLES>>;

/** @throws ConfigError if the bucket settings are incomplete */
export function readPictures(variables: Variables) {
  const { PICTURES_S3_URL, PICTURES_S3_ACCESS_KEY_ID, PICTURES_S3_SECRET_ACCESS_KEY } = variables;
  const own = { PICTURES_S3_URL, PICTURES_S3_ACCESS_KEY_ID, PICTURES_S3_SECRET_ACCESS_KEY };
  const region = variables.PICTURES_S3_REGION;
  if (region === undefined && Object.values(own).every((value) => value === undefined)) {
    return undefined;
  }
  const all = requireSet(own, "pictures in a bucket");
  return {
    url: all.PICTURES_S3_URL,
    region: region ?? "us-east-1",
    accessKeyId: all.PICTURES_S3_ACCESS_KEY_ID,
    secretAccessKey: all.PICTURES_S3_SECRET_ACCESS_KEY,
  };
}
