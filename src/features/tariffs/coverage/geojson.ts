/** The media type of zones (RFC 7946, section 12). */
export const GEOJSON = "application/geo+json";
