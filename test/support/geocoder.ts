import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../../src/config/config.ts";
import type { GeocoderKind } from "../../src/features/addresses/geocoder-client.ts";
import { whenOver } from "./when-over.ts";

/** A place that the stand-in can find. */
interface Place {
  readonly number?: string;
  readonly street?: string;
  readonly name?: string;
  readonly postcode?: string;
  readonly city: string;
  readonly country: string;
  readonly countryCode: string;
  readonly lat: number;
  readonly lng: number;
  readonly kind: "building" | "street" | "area";
  readonly confidence?: number;
}

/** Places in Berlin and New York. */
const PLACES: readonly Place[] = [
  {
    street: "Karl-Marx-Allee",
    number: "33",
    postcode: "10178",
    city: "Berlin",
    country: "Deutschland",
    countryCode: "DE",
    lat: 52.5203,
    lng: 13.4217,
    kind: "building",
    confidence: 0.92,
  },
  {
    name: "Karl-Marx-Straße",
    postcode: "12043",
    city: "Berlin",
    country: "Deutschland",
    countryCode: "DE",
    lat: 52.4781,
    lng: 13.4392,
    kind: "street",
    confidence: 0.7,
  },
  {
    street: "West 44th Street",
    number: "12",
    postcode: "10036",
    city: "New York",
    country: "United States",
    countryCode: "US",
    lat: 40.755,
    lng: -73.981,
    kind: "building",
    confidence: 1,
  },
  {
    street: "East 10th Street",
    number: "200",
    postcode: "10003",
    city: "New York",
    country: "United States",
    countryCode: "US",
    lat: 40.73,
    lng: -73.986,
    kind: "building",
    confidence: 0.9,
  },
  {
    name: "Brooklyn",
    city: "New York",
    country: "United States",
    countryCode: "US",
    lat: 40.65,
    lng: -73.95,
    kind: "area",
    confidence: 0.6,
  },
];

/** A request that the stand-in received. */
interface GeocoderCall {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

/** A geocoder stand-in on a free loopback port. */
export interface GeocoderStandIn {
  readonly url: string;
  /** Settings for a service that uses the stand-in. */
  readonly settings: { readonly geocoder: NonNullable<Config["geocoder"]> };
  readonly requests: GeocoderCall[];
  /** Overrides the responses. `undefined` for normal responses. */
  answer: ((response: ServerResponse) => void) | undefined;
}

/** Starts a geocoder of the given kind that finds `PLACES` by any of their words. */
export async function startGeocoder(kind: GeocoderKind): Promise<GeocoderStandIn> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://geocoder");
    const parameters = Object.fromEntries(searchParams);
    standIn.requests.push({ path: pathname, parameters, headers: request.headers });
    if (standIn.answer !== undefined) return standIn.answer(response);
    const body = ANSWERS[kind](pathname, parameters);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  whenOver(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const geocoder = {
    kind,
    url: kind === "pelias" ? `${url}/v1` : url,
    key: undefined,
    attribution: undefined,
  };
  const standIn: GeocoderStandIn = { url, settings: { geocoder }, requests: [], answer: undefined };
  return standIn;
}

type Parameters = Readonly<Record<string, string>>;

const ANSWERS: Readonly<Record<GeocoderKind, (path: string, query: Parameters) => unknown>> = {
  photon(path, { q, lat, lon, limit }) {
    const collection = (places: readonly Place[]) => ({
      type: "FeatureCollection",
      features: places.map((place) => ({
        type: "Feature",
        geometry: { type: "Point", coordinates: [place.lng, place.lat] },
        properties: {
          osm_type: "N",
          osm_id: 240109189,
          osm_key: place.kind === "street" ? "highway" : "place",
          osm_value: "house",
          type: { building: "house", street: "street", area: "district" }[place.kind],
          name: place.name,
          housenumber: place.number,
          street: place.street,
          postcode: place.postcode,
          city: place.city,
          country: place.country,
          countrycode: place.countryCode,
          extent: [place.lng, place.lat, place.lng, place.lat],
        },
      })),
    });
    if (path === "/api") return collection(matching(q!).slice(0, Number(limit)));
    return path === "/reverse" ? collection(near(lat, lon)) : undefined;
  },
  nominatim(path, { q, lat, lon, limit, format }) {
    if (format !== "jsonv2") return undefined;
    const toPlace = (place: Place) => ({
      place_id: 100149,
      licence: "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright",
      osm_type: "node",
      osm_id: 107775,
      lat: String(place.lat),
      lon: String(place.lng),
      category: "place",
      type: "house",
      place_rank: { building: 30, street: 26, area: 16 }[place.kind],
      importance: 0.00001,
      addresstype: "place",
      name: place.name ?? "",
      display_name: partsOf(place).join(", "),
      boundingbox: ["1", "2", "3", "4"],
    });
    if (path === "/search") return matching(q!).slice(0, Number(limit)).map(toPlace);
    if (path !== "/reverse") return undefined;
    return near(lat, lon).map(toPlace)[0] ?? { error: "Unable to geocode" };
  },
  pelias(path, query) {
    const collection = (places: readonly Place[]) => ({
      geocoding: { version: "0.2", attribution: "http://pelias/attribution", engine: {} },
      type: "FeatureCollection",
      features: places.map((place) => ({
        type: "Feature",
        geometry: { type: "Point", coordinates: [place.lng, place.lat] },
        properties: {
          gid: "openaddresses:address:1",
          layer: { building: "address", street: "street", area: "borough" }[place.kind],
          source: "openaddresses",
          confidence: place.confidence,
          accuracy: "point",
          label: partsOf(place).join(", "),
        },
      })),
      bbox: [0, 0, 1, 1],
    });
    if (path === "/v1/autocomplete") {
      return collection(matching(query["text"]!).slice(0, Number(query["size"])));
    }
    const { "point.lat": lat, "point.lon": lon } = query;
    return path === "/v1/reverse" ? collection(near(lat, lon)) : undefined;
  },
};

function partsOf({ name, number, street, postcode, city, country }: Place): string[] {
  return [name, number, street, postcode, city, country].filter((part) => part !== undefined);
}

/** Returns the places that have a matching word for every prefix in the text. */
function matching(text: string): readonly Place[] {
  const words = text.toLowerCase().split(/[\s,]+/);
  return PLACES.filter((place) => {
    const own = partsOf(place).flatMap((part) => part.toLowerCase().split(/[\s,]+/));
    return words.every((word) => own.some((it) => it.startsWith(word)));
  });
}

/** Returns the nearest place within about a kilometer. */
function near(lat: string | undefined, lon: string | undefined): readonly Place[] {
  const distanceTo = (place: Place) => Math.hypot(place.lat - Number(lat), place.lng - Number(lon));
  return PLACES.filter((place) => distanceTo(place) < 0.01)
    .toSorted((a, b) => distanceTo(a) - distanceTo(b))
    .slice(0, 1);
}
