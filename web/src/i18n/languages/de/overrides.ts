import type { Texts } from '../../texts.ts';

export const overrides: Texts['overrides'] = {
  open: 'Ändern, was Clients sehen',
  openOf: 'Ändern, was Clients dieser Gruppe von {{tool}} sehen',
  badge: 'überschrieben',
  title: 'Was Clients von {{tool}} sehen',
  ofServer: 'Gilt an jedem Endpunkt. Der Server „{{server}}“ selbst wird nicht geändert.',
  ofGroup:
    'Gilt an den Endpunkten der Gruppe „{{group}}“ und hat Vorrang vor dem, was für den Server „{{server}}“ festgelegt ist.',
  nameOnly: 'Diesen Server verwalten andere. In Ihrer Gruppe können Sie seinen Tools andere Namen geben.',
  unknown: 'Der Server hat dieses Tool noch nicht gelistet, deshalb lässt sich nichts vergleichen.',
  name: 'Name für Clients',
  nameHint: 'Buchstaben, Ziffern, „_“ und „-“.',
  toolTitle: 'Titel',
  toolTitleHint: 'Was Clients Menschen anzeigen.',
  description: 'Beschreibung',
  descriptionHint: 'Jedes Modell liest sie in jedem Gespräch. Leer: der Text des Servers.',
  hintsHint:
    'Richtlinien und Zugriffsschlüssel, die nur lesen, richten sich danach. Korrigieren Sie sie, wo der Server nichts oder Falsches sagt.',
  hintsOfGroup:
    'Clients der Gruppe sehen sie. Richtlinien und Zugriffsschlüssel richten sich nach dem, was der Server oder dessen eigene Überschreibung sagt.',
  hints: {
    readOnlyHint: 'Liest nur',
    destructiveHint: 'Kann etwas zerstören',
    idempotentHint: 'Ein zweiter Aufruf ändert nichts weiter',
    openWorldHint: 'Erreicht die Welt außerhalb',
  },
  saysYes: 'Wie der Server sagt: ja',
  saysNo: 'Wie der Server sagt: nein',
  saysNothing: 'Der Server sagt nichts',
  yes: 'Ja',
  no: 'Nein',
  arguments: 'Argumente',
  argumentsHint:
    'Werte sind kein Ort für Geheimnisse: Wer den Server verwaltet, sieht sie, und sie stehen in Aufzeichnungen von Aufrufen.',
  required: 'erforderlich',
  gone: 'hat das Tool derzeit nicht',
  way: 'Wer es angibt',
  ways: {
    open: 'Der Client, wie der Server es sagt',
    default: 'Der Client, sonst dieser Wert',
    value: 'Immer dieser Wert',
  },
  value: 'Wert',
  asJson: 'Als JSON: 20, true, "Text", ["a", "b"]',
  noJson: 'Das ist kein JSON-Wert. Ein Text braucht Anführungszeichen.',
  hide: 'Vor Clients verbergen',
  preview: 'Wie Clients es sehen',
  difference: 'Das gelistete Tool, vorher und nachher',
  same: 'Wie sein Server es hat.',
  costs: 'vorher ≈ {{before}} Token, nachher ≈ {{after}}',
  overtaken:
    'Diese Überschreibung wurde inzwischen anderswo geändert. Speichern ersetzt sie durch das, was hier steht.',
  remove: 'Zurück zum Tool des Servers',
  removeTitle: 'Die Überschreibung entfernen?',
  removeText: 'Clients sehen das Tool mit dem Namen, den Texten und den Argumenten, die es vorher hatte.',
  removed: 'Die Überschreibung ist entfernt.',
};

export const parts: Texts['parts'] = {
  title: 'Große Ergebnisse',
  were: 'Ergebnisse dieses Tools hatten in den letzten 30 Tagen bis zu ≈ {{tokens}} Token.',
  offer: 'In Teilen zurückgeben',
  most: 'Höchstzahl der Token je Ergebnis',
  mostHint:
    'Clients erhalten die ersten ganzen Einträge und lesen bei Bedarf weiter. 0: immer ganz. Leer: wie beim Server.',
  ofServer: 'Höchstzahl der Token je Ergebnis',
  ofServerHint: 'Größere Ergebnisse kommen in Teilen. 0: immer ganz. Leer: wie in den Einstellungen.',
  ofGroupHint:
    'An den Endpunkten dieser Gruppe. Größere Ergebnisse kommen in Teilen. 0: immer ganz. Leer: wie beim Server.',
  ofHubHint:
    'Größere Ergebnisse kommen in Teilen; ein Server, eine Gruppe oder ein Tool kann eine eigene Grenze haben. Leer: immer ganz.',
  context: 'Was Modelle lesen',
  skills: 'Ordner mit Skills',
  skillsHint:
    'Auf dem Rechner des Hubs. Jeder Ordner darin mit einer SKILL.md wird allen Clients an jedem Endpunkt angeboten.',
  code: 'Code-Modus',
  codeHint: 'Grenzen für einen Lauf unter /mcp/$code.',
  codeSeconds: 'Sekunden',
  codeMemory: 'Speicher (MB)',
  codeCalls: 'Aufrufe',
};

export const secrets: Texts['secrets'] = {
  title: 'Geheimnisse in Aufrufen',
  secretsIn: 'Geheimnisse in Argumenten',
  secretsOut: 'Geheimnisse in Ergebnissen',
  hint: 'Token und Schlüssel, die an ihrer Form zu erkennen sind.',
  allow: 'Werden nicht gesucht',
  mask: 'Werden verdeckt',
  refuse: 'Der Aufruf wird abgelehnt',
};
