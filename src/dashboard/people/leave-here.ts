import { signOut } from "../api/sign-in.ts";
import { paths } from "../routes/paths.ts";
import { leavePage, navigate } from "../routes/router.ts";

/**
 * Signs out of this browser, and shows the page to sign in; where leaving is guarded, once the reader agrees.
 *
 * @throws ConnectError when the service cannot be reached
 */
export function leaveHere(): Promise<void> {
  return leavePage(async () => {
    await signOut();
    navigate(paths.signIn({}));
  });
}
