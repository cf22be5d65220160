import { encode } from "uqr";
import "./qr-code.css";

/** A QR code (ISO/IEC 18004) with the quiet zone that scanners need. */
export function QrCode(props: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(props.text, { ecc: "M", border: 4 });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={props.label}>
      <path d={dark.join("")} />
    </svg>
  );
}
