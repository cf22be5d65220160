import { escapeHtml } from "../../domain/escape-html.ts";
import { isolateText } from "../../domain/isolate-text.ts";
import {
  mailButton,
  type MailContent,
  mailHeading,
  mailHtml,
  mailLink,
  mailParagraph,
} from "../../domain/mail-html.ts";

export interface SignInMail {
  /** Public URL of the service, such as `https://book.example.org`. */
  readonly publicUrl: string;
  readonly signInPath: string;
  /** Name of the workspace to which the person is invited. `undefined` if they requested the link. */
  readonly workspace: string | undefined;
}

export function mailContent({ publicUrl, signInPath, workspace }: SignInMail): MailContent {
  const link = publicUrl + signInPath;
  const { host } = new URL(publicUrl);
  const renew = `${publicUrl}/sign-in`;
  const why =
    workspace === undefined
      ? `You requested a link to sign in to Shipments at ${host}.`
      : `You are invited to ${isolateText(workspace)}, a workspace on Shipments at ${host}.`;
  const once = "The link can be used once and expires after 15 minutes. To get a new link, enter your email address at";
  const ignore =
    workspace === undefined
      ? "If you did not request it, ignore this email. No one can sign in without the link."
      : "If you did not expect this, ignore this email.";
  const subject = workspace === undefined ? "Your link to Shipments" : `Your invitation to ${isolateText(workspace)}`;
  return {
    subject,
    text: `${why} Sign in:\n\n${link}\n\n${once}\n${renew}\n\n${ignore}\n`,
    html: mailHtml(
      { language: "en", title: "Shipments" },
      mailHeading(subject),
      mailParagraph(escapeHtml(why)),
      mailButton(link, "Sign in"),
      mailParagraph(`${once} ${mailLink(renew)}.`),
      mailParagraph(`If the button does not work, copy this address into your browser:<br>${escapeHtml(link)}`),
      mailParagraph(ignore),
    ),
  };
}
