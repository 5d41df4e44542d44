import type { Texts } from '../../texts.ts';

export const login: Texts['login'] = {
  title: 'Anmelden',
  username: 'Benutzername',
  password: 'Passwort',
  submit: 'Anmelden',
  expired: 'Ihre Sitzung ist abgelaufen. Nach der Anmeldung sind Sie wieder dort, wo Sie waren.',
  first: 'Zum ersten Mal hier?',
  firstHint:
    'Das Passwort von „admin“ hat der Hub beim ersten Start im Terminal ausgegeben; wo er stattdessen ein Log schreibt, nennt das Log die Datei mit dem Passwort. Verloren? Setzen Sie ADMIN_PASSWORD und starten Sie mit einer neuen Einstellungsdatei, oder fragen Sie einen anderen Admin.',
  lead: 'Eine Adresse für alle Ihre MCP-Server.',
  withProvider: 'Mit {{name}} anmelden',
  goOnAs: 'Weiter als {{name}}',
  withPassword: 'Mit Passwort anmelden',
};

export const fresh: Texts['fresh'] = {
  title: 'Passwort bestätigen',
  text: 'Ihre Anmeldung liegt mehr als 10 Minuten zurück. Für diesen Schritt müssen Sie sich noch einmal anmelden.',
  go: 'Weiter',
};

export const strength: Texts['strength'] = {
  weak: 'Schwach.',
  fair: 'Mittel: Länger wäre besser.',
  good: 'Gut.',
  strong: 'Stark.',
  short: 'Es ist kurz: Alle Passwörter dieser Länge lassen sich durchprobieren.',
  common: 'Es gehört zu den häufigsten Passwörtern oder ist einem davon sehr ähnlich.',
  name: 'Es ist der Benutzername oder ihm sehr ähnlich.',
  product: 'Es ist der Name dieses Programms oder ihm sehr ähnlich.',
  repeated: 'Es wiederholt dieselben wenigen Zeichen.',
  sequence: 'Es ist eine Folge aus dem Alphabet, aus Ziffern oder von der Tastatur.',
};
