/** The texts of the pages that the hub makes itself. `{{name}}` stands for a value. */
export const english = {
  notConnected: 'Not connected',
  wentWrong: 'Something went wrong in the hub. Its log says more.',
  wentWrongBeginAgain: 'Something went wrong in the hub. Its log says more. Begin again.',
  sentByOther: 'This form was sent by another page. Begin again in the app.',
  sentByOtherOpenThis: 'This form was sent by another page. Open the address of this one instead.',

  username: 'Username',
  password: 'Password',
  continueButton: 'Continue',
  code: 'Code of your authenticator app, or a recovery code',
  recoveryCode: 'Recovery code',
  usePasskey: 'Use a passkey',
  noPasskey: 'The browser gave no passkey. Try again, or use a code.',
  oneAdmin: 'Log in with a password (one admin can)',
  logInWith: 'Log in with {{provider}}',

  logIn: 'Log in to Tool Hub',
  logInForApp: '{{client}} wants to use this Tool Hub. Log in to say what it may do.',
  noWayIn: 'No way to log in is open for this app. Ask an admin.',

  letIn: 'Let {{client}} in?',
  wantsToUse: '{{client}} wants to use the tools of this hub as {{user}}.',
  answerAt: 'It gets its answer at {{host}}.',
  notProved: 'It has not proved who it is: any app can call itself that.',
  proved: 'It has proved who it is: {{host}} vouches for it.',
  onlySays: 'It has not proved that it is the app of {{host}}: any app on your computer can say so.',
  asksFor: 'It asks for {{resource}}. It may list and call what is there, and change no settings.',
  asksForApi: 'It asks for {{resource}}. It may list and call what is there.',
  reach: 'What it may reach',
  everything: 'Everything you may use there, unless you choose below',
  onlyGroups: 'Only these groups',
  onlyServers: 'Only these servers',
  more: 'More that it asks for',
  manage: 'Manage this hub as you can: servers, groups, settings, logs, but no accounts, passwords, keys and apps.',
  manageAsAdmin: 'You are an admin: it could run any program where the hub runs.',
  allow: 'Allow',
  deny: 'Deny',

  notSignedIn: 'Not signed in',
  signIn: 'Sign in to {{server}}',
  signInLead: 'Say who you are at Tool Hub. Then you are led to where the server wants you to sign in.',
  signInAfter: '{{link}}, then sign in to the server there.',
  signedIn: 'Signed in to {{server}}',
  signedInLead: 'The hub connects to it now. You can close this window.',

  notLoggedIn: 'Not logged in',
  backToHub: 'Back to the hub',
} as const;

/** The same in any language: a text that is missing, or one for nothing, is an error of types. */
export type PageTexts = Readonly<Record<keyof typeof english, string>>;
