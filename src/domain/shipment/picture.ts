/** A picture reduced to the parts that a decoder needs, or the problem with it, worded to follow the field's name. */
export type CleanedPicture =
  | { readonly picture: Buffer; readonly problem?: undefined }
  | { readonly picture?: undefined; readonly problem: string };

export const MIB = 1024 * 1024;

/** Returns the same bytes as a Buffer. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
