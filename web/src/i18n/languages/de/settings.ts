import type { Texts } from '../../texts.ts';

export const settings: Texts['settings'] = {
  withSecretsText:
    'Unverändert, für ein Backup. Zugriffsschlüssel sind auch dann nur Hashes. Verwahren Sie die Datei wie ein Passwort.',
  withoutSecretsText:
    'Werte von Umgebungsvariablen und Headern werden zu Variablen, die am Ziel zu setzen sind; Passwörter und Zugriffsschlüssel fehlen. Zum Weitergeben oder für den erneuten Import hier: Was eine Variable ist, behält dann seinen bisherigen Wert.',
  withoutSecrets: 'Ohne Geheimnisse',
  exportText: 'Eine Einstellungsdatei, mit der ein anderer Hub starten kann.',
  why: {
    user: 'ist schon vorhanden und bleibt, wie er ist',
    key: 'ist ein Zugriffsschlüssel: Erstellen Sie hier einen neuen',
    section: 'ist diesem Hub unbekannt',
    publication: 'ist hier noch nicht öffentlich: Das legt ein Admin fest',
    owner:
      'gehört einem Benutzer, den es hier nicht gibt: gehört jetzt Ihnen, und ein entfernter Server ist deaktiviert',
  },
  skipped: 'Übersprungen',
  done: 'Fertig',
  cidrsHint:
    'Ein Bereich pro Zeile, etwa 10.1.0.0/16. Sonst erreichen Server, deren Eigentümer kein Admin ist, nur das öffentliche Internet.',
  baseUrlHint:
    'Wie Browser den Hub erreichen, ohne Pfad: https://hub.example.com. INSTALL_BASE_URL in der Umgebung hat Vorrang.',
  payloadHint: 'Zu sehen auf der Seite „Aktivität“, je 8.000 Zeichen, unverändert. Sie können Geheimnisse enthalten.',
  pageSizeHint: '0 liefert alles auf einmal, was jeder Client versteht.',
  separatorHint: 'Damit ändern sich die Namen der Tools: Clients müssen ihre Tool-Liste neu abrufen.',
  openApiHint:
    'GET und POST /api/tools/<Server>/<Tool>, für Programme, die OpenAPI können, aber kein MCP. Seiten fremder Websites werden in jedem Fall abgewiesen.',
  bearerHint:
    'Ein Zugriffsschlüssel oder eine Anmeldung. Mitgesendete Zugangsdaten werden immer geprüft. Mit „Nie“ kann jeder, der den Hub erreicht, alle Server verwenden, die nicht privat sind.',
  queriesHint:
    'Ohne sie kann die Aktivität nicht zeigen, warum eine Suche nichts fand. Treffer, Plätze und Aufrufe werden in jedem Fall gespeichert.',
  undo: 'Änderungen verwerfen',
  lead: 'Einstellungen für den ganzen Hub. Änderungen wirken sofort.',
  tabs: {
    general: 'Allgemein',
    transfer: 'Export und Import',
  },
  access: 'Zugriff',
  bearer: 'MCP-Endpunkte verlangen Zugangsdaten',
  bearerAuto: 'Nur wenn von außen erreichbar',
  bearerOn: 'Immer',
  bearerOff: 'Nie',
  openApi: 'Tools über einfaches HTTP (OpenAPI)',
  openApiOpen: 'Für alle',
  openApiAuth: 'Mit Zugangsdaten',
  openApiOff: 'Aus',
  secondFactor: 'Zweiter Faktor bei Anmeldung mit Passwort',
  secondFactorHint:
    'Wer noch keinen hat, muss ihn dann zuerst einrichten. Bei der Anmeldung über einen Anbieter ist dieser dafür zuständig.',
  secondFactorNo: 'Nur wer einen eingerichtet hat',
  secondFactorAdmins: 'Pflicht für Admins',
  secondFactorEveryone: 'Pflicht für alle',
  globalRoute: 'Ein Endpunkt mit allen Servern (/mcp)',
  globalRouteHint:
    'Ohne ihn verwenden Clients Gruppen und einzelne Server; auch /mcp/$smart und /mcp/$code sind dann geschlossen.',
  names: 'Namen und Listen',
  separator: 'Trennzeichen zwischen Server und Tool im Namen',
  pageSize: 'Einträge je Seite in Listen für Clients',
  records: 'Aufzeichnung',
  payload: 'Argumente und Ergebnisse von Aufrufen speichern',
  queries: 'Suchanfragen an $smart speichern',
  network: 'Netzwerk',
  baseUrl: 'Adresse von außen',
  cidrs: 'Private Netze, in denen Server von Benutzern liegen dürfen',
  exportTitle: 'Export',
  exportButton: 'Einstellungen herunterladen',
  exportSecrets: 'Mit allen Geheimnissen',
  secretsTitle: 'Mit allen Geheimnissen herunterladen?',
  secretsText:
    'Die Datei enthält die Geheimnisse aller Server im Klartext. Das Log vermerkt, dass Sie sie heruntergeladen haben.',
  importTitle: 'Import',
  importText:
    'Eine Einstellungsdatei dieses oder eines anderen Hubs. Sie sehen die Änderungen, bevor sie übernommen werden.',
  file: 'Einstellungsdatei auswählen',
  paste: 'Oder hier einfügen',
  mode: 'Was nicht in der Datei steht',
  merge: 'Bleibt',
  replace: 'Server und Gruppen werden entfernt',
  look: 'Änderungen anzeigen',
  same: 'Es würde sich nichts ändern.',
  apply_one: '{{number}} Änderung übernehmen',
  apply_other: '{{number}} Änderungen übernehmen',
  applied_one: '{{number}} Änderung übernommen.',
  applied_other: '{{number}} Änderungen übernommen.',
  removeTitle_one: '{{number}} Server oder Gruppe entfernen?',
  removeTitle_other: '{{number}} Server und Gruppen entfernen?',
  removeText: 'Was nicht in der Datei steht, wird mit seiner Konfiguration und seinen Geheimnissen entfernt.',
  change: {
    added: 'Neu',
    changed: 'Geändert',
    removed: 'Entfernt',
  },
  kind: {
    server: 'Server',
    group: 'Gruppe',
    user: 'Benutzer',
    system: 'Einstellungen',
  },
  diff: 'Unterschied bei {{name}}',
};
