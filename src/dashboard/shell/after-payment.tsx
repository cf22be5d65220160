import { useTitle } from "../ui/page.tsx";
import icon from "./icon.svg";
import "./sign-in.css";

/** Where customers come to from the page at which they paid, or did not; nobody has to sign in for it. */
export function AfterPaymentPage({ isPaid }: { readonly isPaid: boolean }) {
  const title = isPaid ? "Thank you" : "Not paid";
  useTitle(title);
  return (
    <main class="sign-in">
      <h1>
        <img src={icon} alt="" width="28" height="28" /> {title}
      </h1>
      <p>
        {isPaid
          ? "Whoever sent you the link has been told. You can close this page."
          : "Nothing was paid. You can pay by the same link as long as it works, or ask whoever sent it for another."}
      </p>
    </main>
  );
}
