import { signOut } from "../api/sign-in.ts";
import { paths } from "../routes/paths.ts";
import { leavePage, navigate } from "../routes/router.ts";

/**
 * Signs out of this browser and shows the sign-in page. Asks first if the page is guarded.
 *
 * @throws ConnectError if the service cannot be reached
 */
export function leaveHere(): Promise<void> {
  return leavePage(async () => {
    await signOut();
    navigate(paths.signIn({}));
  });
}
