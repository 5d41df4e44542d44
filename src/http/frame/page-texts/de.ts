import type { PageTexts } from './en.ts';

export const texts: PageTexts = {
  notConnected: 'Nicht verbunden',
  wentWrong: 'Im Hub ist etwas schiefgegangen. Sein Log sagt mehr.',
  wentWrongBeginAgain: 'Im Hub ist etwas schiefgegangen. Sein Log sagt mehr. Beginnen Sie von vorn.',
  sentByOther: 'Dieses Formular hat eine andere Seite gesendet. Beginnen Sie in der App von vorn.',
  sentByOtherOpenThis:
    'Dieses Formular hat eine andere Seite gesendet. Öffnen Sie stattdessen die Adresse dieser Seite.',

  username: 'Benutzername',
  password: 'Passwort',
  continueButton: 'Weiter',
  code: 'Code Ihrer Authenticator-App oder ein Wiederherstellungscode',
  recoveryCode: 'Wiederherstellungscode',
  usePasskey: 'Passkey verwenden',
  noPasskey: 'Der Browser hat keinen Passkey geliefert. Versuchen Sie es noch einmal, oder verwenden Sie einen Code.',
  oneAdmin: 'Mit Passwort anmelden (ein Admin kann das)',
  logInWith: 'Mit {{provider}} anmelden',

  logIn: 'Bei Tool Hub anmelden',
  logInForApp: '{{client}} möchte diesen Tool Hub benutzen. Melden Sie sich an, um zu sagen, was die App darf.',
  noWayIn: 'Für diese App ist keine Anmeldung möglich. Fragen Sie einen Admin.',

  letIn: '{{client}} einlassen?',
  wantsToUse: '{{client}} möchte die Tools dieses Hubs als {{user}} benutzen.',
  answerAt: 'Die Antwort geht an {{host}}.',
  notProved: 'Die App hat nicht nachgewiesen, wer sie ist: Jede App kann sich so nennen.',
  proved: 'Die App hat nachgewiesen, wer sie ist: {{host}} bürgt für sie.',
  onlySays:
    'Sie hat nicht nachgewiesen, dass sie die App von {{host}} ist: Jede App auf Ihrem Computer kann das sagen.',
  asksFor:
    'Sie möchte Zugriff auf {{resource}}. Sie darf auflisten und aufrufen, was dort ist, und keine Einstellungen ändern.',
  asksForApi: 'Sie möchte Zugriff auf {{resource}}. Sie darf auflisten und aufrufen, was dort ist.',
  reach: 'Worauf sie zugreifen darf',
  everything: 'Alles, was Sie dort benutzen dürfen, wenn Sie unten nichts wählen',
  onlyGroups: 'Nur diese Gruppen',
  onlyServers: 'Nur diese Server',
  more: 'Was sie außerdem möchte',
  manage:
    'Diesen Hub verwalten, wie Sie es können: Server, Gruppen, Einstellungen, Logs, aber keine Konten, Passwörter, Schlüssel und Apps.',
  manageAsAdmin: 'Sie sind Admin: Die App könnte dort, wo der Hub läuft, jedes Programm starten.',
  allow: 'Erlauben',
  deny: 'Ablehnen',

  notSignedIn: 'Nicht angemeldet',
  signIn: 'Bei {{server}} anmelden',
  signInLead: 'Sagen Sie Tool Hub, wer Sie sind. Dann geht es weiter dorthin, wo Sie sich beim Server anmelden.',
  signInAfter: '{{link}}, dann dort beim Server anmelden.',
  signedIn: 'Bei {{server}} angemeldet',
  signedInLead: 'Der Hub verbindet sich jetzt damit. Sie können dieses Fenster schließen.',

  notLoggedIn: 'Nicht angemeldet',
  backToHub: 'Zurück zum Hub',
};
