export const MEDIA_TYPES = { photo: "image/jpeg", signature: "image/png" } as const;

export type PictureKind = keyof typeof MEDIA_TYPES;
