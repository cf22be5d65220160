import { expect, test } from "vitest";
import { pointIn } from "../../src/dashboard/shipments/route.ts";

const BERLIN = { lat: 52.52, lng: 13.405 };

test.each([
  "52.52, 13.405",
  " 52.52 13.405 ",
  "52.52;13.405",
  "geo:52.52,13.405?z=15",
  "https://www.google.com/maps/@52.52,13.405,15z",
  "https://www.google.com/maps/place/Alex/@1.5,2.5,17z/data=!3m1!4b1!4m6!3d52.52!4d13.405",
  "https://maps.google.com/?q=52.52,13.405",
  "https://www.google.com/maps/search/?api=1&query=52.52%2C13.405",
  "https://maps.apple.com/?ll=52.52,13.405&z=12",
  "https://www.openstreetmap.org/#map=15/52.52/13.405",
  "https://www.openstreetmap.org/?mlat=52.52&mlon=13.405#map=15/1.5/2.5",
  "https://www.bing.com/maps?cp=52.52~13.405&lvl=11",
])("%s contains a point", (text) => {
  expect(pointIn(text)).toEqual(BERLIN);
});

test.each([
  "",
  "Karl-Marx-Allee 33",
  "12 34",
  "52.52",
  "91.5, 13.4",
  "52.5, 181.5",
  "https://example.org/",
  "https://www.google.com/maps/place/Berlin",
  "1.5, 2.5, 3.5",
])("%s contains no point", (text) => {
  expect(pointIn(text)).toBeUndefined();
});
