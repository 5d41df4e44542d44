export const login = {
  title: 'Log in',
  username: 'User name',
  password: 'Password',
  submit: 'Log in',
  expired: 'Your session has ended. Log in again and you are back where you were.',
  first: 'First time here?',
  firstHint:
    'The hub printed the password of "admin" in its terminal when it started for the first time; where it writes a log instead, the log names the file with the password. Lost it? Set ADMIN_PASSWORD and start with a new settings file, or ask another admin.',
  lead: 'One address for all your MCP tool servers.',
  withProvider: 'Log in with {{name}}',
  goOnAs: 'Go on as {{name}}',
  withPassword: 'Log in with a password',
} as const;

export const fresh = {
  title: 'Your password once more',
  text: 'You logged in more than 10 minutes ago. What you are about to do needs a login that is fresh.',
  go: 'Go on',
} as const;

export const strength = {
  weak: 'Weak.',
  fair: 'Fair: longer is better.',
  good: 'Good.',
  strong: 'Strong.',
  short: 'It is short: all passwords of this length can be tried.',
  common: 'It is among the most common passwords, or nearly one of them.',
  name: 'It is the user name, or nearly.',
  product: 'It is the name of this program, or nearly.',
  repeated: 'It repeats the same few characters.',
  sequence: 'It is a row of the alphabet, of digits or of the keyboard.',
} as const;
