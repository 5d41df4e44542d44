import type { Texts } from '../../texts.ts';

export const palette: Texts['palette'] = {
  title: 'Alles durchsuchen',
  open: 'Suchen …',
  placeholder: 'Server, Tools, Gruppen, Seiten, Aktionen',
  found_one: '{{number}} Treffer',
  found_other: '{{number}} Treffer',
  kinds: {
    page: 'Seite',
    action: 'Aktion',
    server: 'Server',
    group: 'Gruppe',
    tool: 'Tool',
    key: 'Schlüssel',
    user: 'Benutzer',
  },
  reconnect: '{{name}} neu verbinden',
  paste: 'Server aus eingefügten Einstellungen hinzufügen',
  policy: 'Richtlinie hinzufügen',
  theme: 'Design wechseln: {{theme}}',
  keys: 'Tastenkürzel',
  keysText: 'Sie wirken nicht, solange Sie in ein Feld tippen oder ein Dialog offen ist.',
  everywhere: 'Auf jeder Seite',
  pages: 'Zu einer Seite',
  slash: 'Auf dieser Seite suchen',
  escape: 'Schließen oder Suche leeren',
  records: 'Nächster und voriger Aufruf, solange einer geöffnet ist',
};
