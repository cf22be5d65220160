import { escapeHtml } from "../../domain/escape-html.ts";
import { isolateText } from "../../domain/isolate-text.ts";
import { mailButton, type MailContent, mailHeading, mailHtml, mailParagraph } from "../../domain/mail-html.ts";

export interface CourierMail {
  readonly url: string;
  /** Name of the workspace. */
  readonly sender: string;
  readonly expiresAt: Date;
  /** IANA time zone of the workspace. */
  readonly timeZone: string;
}

interface Texts {
  readonly subject: (sender: string) => string;
  readonly intro: (sender: string) => string;
  readonly open: string;
  readonly validUntil: (time: string) => string;
  readonly secret: string;
  readonly copy: string;
}

const TEXTS = {
  en: {
    subject: (sender) => `${sender}: Your link to your stops`,
    intro: (sender) => `${sender} has sent you a link to your stops. Open it on your phone.`,
    open: "Open stops",
    validUntil: (time) => `The link is valid until ${time}.`,
    secret: "Anyone with the link can act as you. Do not forward this email.",
    copy: "If the button does not work, copy this address into your browser:",
  },
  es: {
    subject: (sender) => `${sender}: Su enlace a sus paradas`,
    intro: (sender) => `${sender} le ha enviado un enlace a sus paradas. Ábralo en su teléfono.`,
    open: "Abrir paradas",
    validUntil: (time) => `El enlace es válido hasta el ${time}.`,
    secret: "Cualquiera que tenga el enlace puede actuar en su nombre. No reenvíe este correo.",
    copy: "Si el botón no funciona, copie esta dirección en su navegador:",
  },
  fr: {
    subject: (sender) => `${sender} : votre lien vers vos arrêts`,
    intro: (sender) => `${sender} vous a envoyé un lien vers vos arrêts. Ouvrez-le sur votre téléphone.`,
    open: "Ouvrir les arrêts",
    validUntil: (time) => `Le lien est valable jusqu’au ${time}.`,
    secret: "Toute personne qui a le lien peut agir à votre place. Ne transférez pas cet e-mail.",
    copy: "Si le bouton ne fonctionne pas, copiez cette adresse dans votre navigateur :",
  },
  de: {
    subject: (sender) => `${sender}: Ihr Link zu Ihren Stopps`,
    intro: (sender) => `${sender} hat Ihnen einen Link zu Ihren Stopps gesendet. Öffnen Sie ihn auf Ihrem Telefon.`,
    open: "Stopps öffnen",
    validUntil: (time) => `Der Link ist bis ${time} gültig.`,
    secret: "Wer den Link hat, kann in Ihrem Namen handeln. Leiten Sie diese E-Mail nicht weiter.",
    copy: "Wenn die Schaltfläche nicht funktioniert, kopieren Sie diese Adresse in Ihren Browser:",
  },
} satisfies Readonly<Record<string, Texts>>;

/** Creates the email that gives a courier a link. */
export function courierMail(mail: CourierMail, language: keyof typeof TEXTS): MailContent {
  const texts: Texts = TEXTS[language];
  const { url, timeZone } = mail;
  const sender = isolateText(mail.sender);
  const subject = texts.subject(sender);
  const times = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone });
  const validUntil = `${texts.validUntil(times.format(mail.expiresAt))} ${texts.secret}`;
  return {
    subject,
    text: `${texts.intro(sender)}\n\n${url}\n\n${validUntil}\n`,
    html: mailHtml(
      { language, title: sender },
      mailHeading(subject),
      mailParagraph(escapeHtml(texts.intro(sender))),
      mailButton(url, texts.open),
      mailParagraph(escapeHtml(validUntil)),
      mailParagraph(`${escapeHtml(texts.copy)}<br>${escapeHtml(url)}`),
    ),
  };
}
