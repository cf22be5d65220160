/** Maximum size of a photo, in bytes. */
const MAX_BYTES = 1_000_000;
const MAX_SIDE = 1_600;
const QUALITIES = [0.85, 0.7, 0.5, 0.3];
/** Bytes per base64 digit. */
const BASE64_BYTES = 3 / 4;

/**
 * Scales a photo down to at most 1 MB, and removes its metadata, because only the pixels are drawn.
 *
 * @returns a JPEG in base64, or `undefined` if the file is not a picture
 */
export async function scalePhoto(file: Blob): Promise<string | undefined> {
  const picture = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => undefined);
  if (picture === undefined) return undefined;
  const scale = Math.min(1, MAX_SIDE / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext("2d")!.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  for (const quality of QUALITIES) {
    const photo = base64Of(canvas.toDataURL("image/jpeg", quality));
    if (photo.length * BASE64_BYTES <= MAX_BYTES) return photo;
  }
  return undefined;
}

/** Returns the base64 part of a data URL. */
export function base64Of(dataUrl: string): string {
  return dataUrl.slice(dataUrl.indexOf(",") + 1);
}
